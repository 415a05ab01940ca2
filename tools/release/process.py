"""Run the programs that a release is made with."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path


class Refusal(Exception):
    """A release cannot be made; the text says why, and what to do."""


def environment(epoch: int) -> dict[str, str]:
    """Return the environment of every program: nothing of the caller's that could change a byte."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "LC_", "GIT_"))}
    fixed = {
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONHASHSEED": "0",
        "SOURCE_DATE_EPOCH": str(epoch),
    }
    quiet = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1"}
    return kept | fixed | quiet | {"PYTHONHASHSEED": "0"}


def output(*command: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> bytes:
    """Return what a program prints. Raises Refusal with its last words when it fails."""
    args = [str(arg) for arg in command]
    try:
        done = subprocess.run(args, cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except FileNotFoundError as failure:
        raise Refusal(f"{args[0]} is not there: {failure}") from failure
    if done.returncode:
        words = (done.stderr + done.stdout).decode(errors="replace").strip()[-3000:]
        raise Refusal(f"{' '.join(args)}: exit code {done.returncode}\n{words}")
    return done.stdout
