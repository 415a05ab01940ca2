"""The commands as processes, in an environment that changes nothing of what they say."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
FLEET = "fleet"
"""The folder of examples/ that is a repository with several clusters."""
REFUSED_EXAMPLES = frozenset({"conflict", "two-teams"})
"""Folders of examples/ that show a refusal; of the second each folder by itself is fine."""
COMMANDS = Path(sys.executable).parent
"""Where `krmfn`, `deviceconfig` and `ptemplate` are: beside the Python that runs the tests."""


class Done(NamedTuple):
    """How a process ended."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        """stdout as text."""
        return self.out.decode()


def environment(**more: str) -> dict[str, str]:
    """PATH with the commands under test, a terminal of 80 columns, and no settings of ours or Argo CD's."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("ARGOCD_", "KRMFN_"))}
    path = os.pathsep.join([str(COMMANDS), str(ROOT / ".tools" / "bin"), os.environ["PATH"]])
    return {**kept, "PATH": path, "COLUMNS": "80", "LC_ALL": "C.UTF-8", **more}


def process(program: str, *args: str, stdin: str | bytes = b"", cwd: Path = ROOT, **env: str) -> Done:
    """Run one of our commands to its end; whatever it was given, it shows no traceback."""
    done = subprocess.run(
        [COMMANDS / program, *args],
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        cwd=cwd,
        env=environment(**env),
        capture_output=True,
        timeout=60,
        check=False,
    )
    err = done.stderr.decode()
    assert "Traceback" not in err, err
    return Done(done.returncode, done.stdout, err)


cached = cache(process)
"""`process` for input that no test changes: equal calls run once."""
