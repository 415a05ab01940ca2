"""Variables, parameters, functions and fields are nouns and verbs of the field, not stand-ins for them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from lines import REPO, files

WORDS = """
answered asked each every found given givers here itself lacking left likeness made meant more near one own said shown
stays taken theirs there told wanted way what who whole why
"""
STAND_INS = frozenset(WORDS.split())
PUBLIC = {"Item.each", "ResourceList.own", "Mark.made", "Change.what"}
"""Names that authors use, or the template of the report."""


def bindings(node: ast.AST, holder: str = "") -> Iterator[tuple[int, str, str]]:
    """Yield what a tree binds: the line, the function or class that holds it, and the name."""
    for child in ast.iter_child_nodes(node):
        inner = holder
        if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
            yield child.lineno, holder, child.name
            inner = f"{holder}{child.name}."
        elif isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            yield child.lineno, holder, child.id
        elif isinstance(child, ast.arg):
            yield child.lineno, holder, child.arg
        yield from bindings(child, inner)


def stand_ins(text: str) -> list[str]:
    """Return `LINE: HOLDER.NAME` for each name that says nothing."""
    names = [(line, f"{holder}{name}", name) for line, holder, name in bindings(ast.parse(text))]
    return [f"{line}: {path}" for line, path, name in names if name.strip("_") in STAND_INS and path not in PUBLIC]


@pytest.mark.parametrize("room", ["krmfn", "functions", "tools", "benchmark"])
def test_a_name_says_what_the_value_is(room: str) -> None:
    texts = {path.relative_to(REPO): path.read_text() for path in files(room) if ".cache" not in path.parts}
    assert texts
    assert [f"{path}:{name}" for path, text in texts.items() for name in stand_ins(text)] == []


def test_a_stand_in_is_found_where_it_is_bound() -> None:
    text = "def told(own):\n    one: int = 1\n    return [found for found, left in own]\n\nclass A:\n    made: str\n"
    assert stand_ins(text) == ["1: told", "1: told.own", "2: told.one", "3: told.found", "3: told.left", "6: A.made"]
