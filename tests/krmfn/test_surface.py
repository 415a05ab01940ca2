"""The surface of the SDK: what each module offers, and what stays (see docs/sdk.md, "What stays")."""

from __future__ import annotations

import ast
import os
from importlib import import_module
from pathlib import Path
from typing import get_origin

import pytest

import krmfn
from tests.commands import ROOT

MODULES = sorted(path for path in (ROOT / "krmfn").rglob("*.py") if "template" not in path.parts)
PUBLIC = ("krmfn", "krmfn.testing", "krmfn.ownership", "krmfn.schema")
SNAPSHOT = Path(__file__).with_name("surface.txt")
"""`KRMFN_UPDATE=1 python -m pytest tests/krmfn/test_surface.py` writes it."""


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_module_names_all_that_it_offers(path: Path) -> None:
    module = import_module(".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"))
    named = set(module.__all__)
    assert {name for name in named if not hasattr(module, name)} == set()
    defined = set[str]()
    body = ast.parse(path.read_text()).body
    for node in [*body, *(node for branch in body if isinstance(branch, ast.If) for node in branch.orelse)]:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            defined.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            parts = (part for target in targets for part in getattr(target, "elts", [target]))
            defined |= {part.id for part in parts if isinstance(part, ast.Name)}
    public = {name for name in defined if not name.startswith("_") and name not in ("C", "T")}
    assert public == named if path.name != "__init__.py" else public <= named


def surface() -> list[str]:
    """Return each public name, and the public members of each class among them."""
    names = list[str]()
    for module in PUBLIC:
        for name in import_module(module).__all__:
            value = getattr(import_module(module), name)
            is_class = isinstance(value, type) and not get_origin(value)  # to Python 3.10 dict[str, Any] is one, too
            members = [member for member in dir(value) if not member.startswith("_")] if is_class else []
            inherited = {member for base in getattr(value, "__mro__", ())[1:] for member in dir(base)}
            names.append(f"{module}.{name}")
            names += [f"{module}.{name}.{attribute}" for attribute in members if attribute not in inherited]
    return names


def test_the_surface_is_what_it_was() -> None:
    """A name that is added is one that stays; one that goes is announced in the CHANGELOG a version before."""
    text = "".join(f"{name}\n" for name in surface())
    if os.environ.get("KRMFN_UPDATE") == "1":
        SNAPSHOT.write_text(text)
    assert SNAPSHOT.read_text() == text


def test_the_page_names_the_surface() -> None:
    assert krmfn.__all__ == sorted(krmfn.__all__)
    page = (ROOT / "docs/sdk.md").read_text()
    names = page.partition("<!-- krmfn.__all__ -->\n```text\n")[2].partition("```")[0].split()
    assert names == krmfn.__all__
