"""Print the files of the product that one run in function mode enters: `python tools/entered.py LIST`.

A file is entered when one of its functions is called, also while it is imported. It is what a person who follows the
run has to have open.
"""

from __future__ import annotations

import inspect
import os
import runpy
import subprocess
import sys
from pathlib import Path
from types import FrameType
from typing import Any

REPO = Path(__file__).resolve().parent.parent
ROOMS = ("krmfn", "functions")
COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
"""Functions to Python up to 3.11, and statements of what they stand in to everybody else."""


def entered(resource_list: bytes) -> list[str]:
    """Return the files, by their paths in the repository, that the function `krmfn` enters on a ResourceList, sorted.

    It runs in a process of its own. Raises subprocess.CalledProcessError when the function fails.
    """
    command = [sys.executable, __file__, "--files"]
    return subprocess.run(command, input=resource_list, capture_output=True, check=True).stdout.decode().splitlines()


def _print_files() -> None:
    """Run the function between stdin and nowhere, and print the files that it enters on stdout."""
    names: set[str] = set()

    def profile(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code  # of a function, and not of a module or a class: those have no CO_OPTIMIZED
        if event == "call" and code.co_flags & inspect.CO_OPTIMIZED and code.co_name not in COMPREHENSIONS:
            names.add(code.co_filename)

    stdout = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.argv[1:] = []
    sys.setprofile(profile)
    try:
        runpy.run_module("krmfn_functions", run_name="__main__")
    except SystemExit as end:
        sys.setprofile(None)
        if end.code:
            raise
    rooms = [REPO / room for room in ROOMS]
    paths = sorted(path for path in map(Path, names) if any(path.is_relative_to(room) for room in rooms))
    os.write(stdout, "".join(f"{path.relative_to(REPO)}\n" for path in paths).encode())


if __name__ == "__main__":
    if sys.argv[1:] == ["--files"]:
        _print_files()
    else:
        files = entered(Path(sys.argv[1]).read_bytes())
        counts = [f"{sum(file.startswith(f'{room}/') for file in files)} in {room}/" for room in ROOMS]
        sys.stdout.write("\n".join([*files, "", *counts, f"{len(files)} in all", ""]))
