"""Functions and modules are as large as a reader takes in: 40 lines, 250 lines, five parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.commands import ROOT

LINES, MODULE_LINES, PARAMETERS = 40, 250, 5
FOLDERS = ("krmfn", "functions", "tools", "sdk", "benchmark")
WIDE = {
    "krmfn/item.py __init__": "made for each item of a list of 100,000, without a value in between",
    "krmfn/patterns.py field_spec": "of the SDK, keywords only: the fields of kustomize's fieldSpec",
    "krmfn/program.py function": "of the SDK, keywords only: what a function says of itself, in one call",
    "functions/kmm/crd/apitext.py refusals": "four make the API server's sentence, two say where it stands",
    "functions/profile/expansion.py expand": "a Profile and a config in, and what the caller knows of both",
    "functions/rendering/generated.py __init__": "a generated object has as many facts; three have defaults",
    "functions/rendering/generated.py metadata": "one for each part of the metadata that it makes",
    "functions/rendering/leftovers.py sort_out": "all that decides what becomes of a left-over",
    "tools/schema_crds.py crd": "one for each part of a CRD",
}
"""Functions of more parameters, with the reason: the list may only get shorter."""


class Size(NamedTuple):
    """A function, and how large it is."""

    name: str
    """Its file and its name."""
    lines: int
    parameters: int


def sizes(path: Path) -> Iterator[Size]:
    """Yield the functions of a file, those in others included."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            args = node.args
            named = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
            parameters = [arg for arg in named if arg and arg.arg not in ("self", "cls")]
            lines = (node.end_lineno or 0) - node.lineno + 1
            yield Size(f"{path.relative_to(ROOT).as_posix()} {node.name}", lines, len(parameters))


BUILT = {".cache", "build"}
"""Folders that `make bench`, or a wheel that is built here, leaves behind."""
PATHS = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py")) if not BUILT & {*path.parts}]


@cache
def functions() -> list[Size]:
    """Return all functions; not while tests are collected, which each worker does by itself."""
    return [size for path in PATHS for size in sizes(path)]


def test_a_function_is_read_on_one_screen() -> None:
    assert len(functions()) > 2000
    assert {size.name for size in functions() if size.lines > LINES} == set()


def test_a_function_has_few_parameters() -> None:
    assert {size.name for size in functions() if size.parameters > PARAMETERS} == WIDE.keys()


def test_a_module_is_about_one_thing() -> None:
    lines = {path.relative_to(ROOT).as_posix(): len(path.read_text().splitlines()) for path in PATHS}
    assert {name for name, number in lines.items() if number > MODULE_LINES} == set()


def test_what_is_excused_is_there() -> None:
    assert WIDE.keys() <= {size.name for size in functions()}
