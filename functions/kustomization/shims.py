"""The program behind a kustomize on PATH that is a version manager's shim.

kustomize runs with a PATH that holds no other program, where a script that begins with `#!/usr/bin/env` finds no
interpreter, and a version manager not itself. It is asked beforehand, as the user's shell would.
"""

from __future__ import annotations

import os
import subprocess

from krmfn.errors import KrmfnError

_MANAGERS = ("asdf", "mise")
"""Those that print with `which NAME` what they would run."""


def program(path: str) -> str:
    """Return the program to run for a kustomize on PATH: `path` itself, or what a version manager would run for it.

    Raises KrmfnError for a script that can run only with programs of PATH, and when the manager names none.
    """
    name = os.path.basename(os.path.realpath(path))
    if name in _MANAGERS:
        return _behind(path, name)
    try:
        with open(path, "rb") as file:
            head = file.read(4096)
    except OSError:
        return path  # whether it can be run shows when it is
    manager = next((one for one in _MANAGERS if f"{one} ".encode() in head), None)
    if not head.startswith(b"#!"):
        return path
    if manager:
        return _behind(path, manager)
    if not head.partition(b"\n")[0].split()[0].endswith(b"/env"):
        return path
    raise KrmfnError(
        f"{path} is a script, but kustomize is run with no other programs on PATH, so that it can call none; put "
        "the folder of the program that the script starts before it on PATH"
    )


def _behind(path: str, manager: str) -> str:
    """Return what a version manager runs for kustomize."""
    try:
        command = [manager, "which", "kustomize"]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        found, why = done.stdout.strip(), done.stderr.strip()
    except (OSError, subprocess.TimeoutExpired) as failure:
        found, why = "", str(failure)
    if os.path.isabs(found) and os.access(found, os.X_OK):
        return found
    raise KrmfnError(f"{path} belongs to {manager}, and `{manager} which kustomize` found no program: {why or found}")
