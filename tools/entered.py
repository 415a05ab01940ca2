"""Print what of the product one run enters: `python tools/entered.py check examples/quickstart`, `... < LIST`.

A file is entered when one of its functions is called, also while it is imported. It is what a person who follows the
run has to have open. A file of rules, with a `Rule(...)` at its top, is read by itself, and not counted.
"""

from __future__ import annotations

import ast
import inspect
import json
import os
import runpy
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

REPO = Path(__file__).resolve().parent.parent
ROOMS = tuple(str(REPO / room) + os.sep for room in ("krmfn", "functions"))
COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
"""Functions to Python up to 3.11, and statements of what they stand in to everybody else."""


class Entered(NamedTuple):
    """What one run enters."""

    files: list[str]
    """By their paths in the repository, those of rules aside, sorted."""
    functions: int
    """How many functions with a name were called, those of files of rules among them."""
    depth: int
    """How many frames of the product stood on each other, at most."""


def entered(args: Sequence[str] = (), stdin: bytes = b"") -> Entered:
    """Return what `krmfn` enters with these arguments, in a process of its own.

    Raises subprocess.CalledProcessError when it fails.
    """
    command = [sys.executable, __file__, "--watched", *args]
    text = subprocess.run(command, input=stdin, capture_output=True, check=True, cwd=REPO).stdout
    functions, depth = json.loads(text)
    files = {file for file, _ in functions}
    named = sum(name != "<lambda>" for _, name in functions)
    return Entered(sorted(file for file in files if not _is_of_rules(REPO / file)), named, depth)


def _is_of_rules(file: Path) -> bool:
    """Return True for a file with a `Rule(...)` at its top, also in a tuple."""
    top = (node.value for node in ast.parse(file.read_bytes()).body if isinstance(node, ast.Assign))
    values = (part for value in top if value for part in (value.elts if isinstance(value, ast.Tuple) else [value]))
    return any(
        isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "Rule" for value in values
    )


def _watch(args: Sequence[str]) -> None:
    """Run the program between stdin and nowhere, and print (file, name) of each function, and the depth, as JSON."""
    functions: set[tuple[str, str]] = set()
    deepest = 0

    def is_ours(frame: FrameType) -> bool:
        code = frame.f_code  # of a function, and not of a module or a class: those have no CO_OPTIMIZED
        is_function = code.co_flags & inspect.CO_OPTIMIZED and code.co_name not in COMPREHENSIONS
        return bool(is_function) and code.co_filename.startswith(ROOMS)

    def profile(frame: FrameType, event: str, _: Any) -> None:
        nonlocal deepest
        if event == "call" and is_ours(frame):
            code = frame.f_code
            functions.add((code.co_filename, code.co_name))
            depth, above = 0, frame.f_back
            while above:
                depth += is_ours(above)
                above = above.f_back
            deepest = max(deepest, depth + 1)

    stdout = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.argv[1:] = args
    sys.setprofile(profile)
    try:
        runpy.run_module("krmfn_functions", run_name="__main__")
    except SystemExit as end:
        sys.setprofile(None)
        if end.code:
            raise
    names = sorted((str(Path(file).relative_to(REPO)), name) for file, name in functions)
    os.write(stdout, json.dumps([names, deepest]).encode())


if __name__ == "__main__":
    if sys.argv[1:2] == ["--watched"]:
        _watch(sys.argv[2:])
    else:
        run = entered(sys.argv[1:], b"" if sys.argv[1:] else sys.stdin.buffer.read())
        counts = f"{len(run.files)} files, {run.functions} functions, {run.depth} frames deep"
        sys.stdout.write("\n".join([*run.files, "", counts, ""]))
