"""Count the code of the repository: `python tools/lines.py`.

A line of code holds a token. Blank lines, comments and docstrings are not counted, nor is what stands inside of a call
of `Rule`: its examples are data.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

REPO = Path(__file__).resolve().parent.parent
PRODUCT, TESTS = ("krmfn", "functions"), ("tests",)
LONGEST = 250
"""The number of lines, of any kind, that a file of the product may have."""
_EMPTY = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


class Size(NamedTuple):
    """The size of one file, or of several together."""

    lines: int = 0
    """Lines of code."""
    characters: int = 0
    """The characters of these lines, indentation included."""
    written: int = 0
    """Lines that are not blank: also comments, docstrings, and what is inside of a `Rule`."""
    written_characters: int = 0
    functions: int = 0
    docstrings: int = 0
    """How many of the functions have one."""

    def __str__(self) -> str:
        code, written = self.characters / max(self.lines, 1), self.written_characters / max(self.written, 1)
        share = self.docstrings / max(self.functions, 1)
        lengths = f"{code:.1f} characters each ({written:.1f} with comments and docstrings)"
        return f"{self.lines:7,} lines of code, {lengths}, docstrings for {share:.1%} of the functions"


def size(text: str) -> Size:
    """Return the size of a module."""
    tree = ast.parse(text)
    data: set[int] = set()
    functions: list[str | None] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            data.update(_lines(node))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Rule":
            data.update(_lines(node)[1:])
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            functions.append(ast.get_docstring(node))
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _EMPTY:
            code.update(range(token.start[0], token.end[0] + 1))
    lines = text.split("\n")
    lengths = [len(lines[line - 1]) for line in code - data]
    written = [len(line) for line in lines if line.strip()]
    return Size(
        *(len(lengths), sum(lengths), len(written), sum(written)),
        *(len(functions), sum(map(bool, functions))),
    )


def _lines(node: ast.expr | ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def together(sizes: Iterable[Size]) -> Size:
    """Return the size of several files."""
    return Size(*map(sum, zip(Size(), *sizes, strict=True)))


def files(*rooms: str) -> list[Path]:
    """Return the modules in some folders of the repository."""
    return sorted(path for room in rooms for path in (REPO / room).rglob("*.py"))


def too_long(paths: Iterable[Path]) -> list[str]:
    """Return each file that has more than LONGEST lines, with their number."""
    numbers = [(path, path.read_bytes().count(b"\n")) for path in paths]
    return [f"{path.relative_to(REPO)}: {number} lines" for path, number in numbers if number > LONGEST]


if __name__ == "__main__":
    for rooms in (*((room,) for room in PRODUCT), PRODUCT, TESTS):
        total = together(size(path.read_text(encoding="utf-8")) for path in files(*rooms))
        print(f"{' and '.join(rooms):19}{total}")  # noqa: T201
    print("\n".join([f"more than {LONGEST} lines:", *too_long(files(*PRODUCT, *TESTS))]))  # noqa: T201
