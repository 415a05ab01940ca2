"""The commands as processes, in an environment that changes nothing of what they say."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

REPO = Path(__file__).resolve().parents[1]
COMMANDS = Path(sys.executable).parent
"""Where `krmfn`, `deviceconfig` and `ptemplate` are: beside the Python that runs the tests."""


class Done(NamedTuple):
    """How a process ended."""

    code: int
    out: bytes
    err: str


def environment(**more: str) -> dict[str, str]:
    """PATH with the commands under test, a terminal of 80 columns, and no settings of ours or Argo CD's."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("ARGOCD_", "KRMFN_"))}
    path = os.pathsep.join([str(COMMANDS), str(REPO / ".tools" / "bin"), os.environ["PATH"]])
    return {**kept, "PATH": path, "COLUMNS": "80", "LC_ALL": "C.UTF-8", **more}


@cache
def process(function: str, *arguments: str, stdin: bytes = b"", cwd: Path = REPO, **env: str) -> Done:
    """Run a command to its end. The answer is kept: what it reads must not change between two equal calls."""
    command = [str(COMMANDS / function), *arguments]
    done = subprocess.run(
        command, input=stdin, cwd=cwd, env=environment(**env), capture_output=True, timeout=60, check=False
    )
    return Done(done.returncode, done.stdout, done.stderr.decode())
