"""The commands as processes, in an environment that changes nothing of what they say."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from . import warm

HANGS = 600
"""Seconds after which a process is taken to hang; where all is well no test comes near, on any machine."""
ROOT = Path(__file__).resolve().parents[1]
FLEET = "fleet"
"""The folder of examples/ that is a repository with several clusters."""
REFUSED_EXAMPLES = frozenset({"conflict", "two-teams"})
"""Folders of examples/ that show a refusal; of the second each folder by itself is fine."""
COMMANDS = Path(sys.executable).parent
"""Where `krmfn`, `deviceconfig` and `ptemplate` are: beside the Python that runs the tests."""


@cache
def example_repository() -> Path:
    """Return a repository that holds examples/ and nothing else, where the commands of the tests are run.

    Every command reads the names of all files of its repository: of the 4,000 of ours that takes 0.1 s.
    """
    folder = Path(tempfile.mkdtemp(prefix="examples-of-krmfn-")).resolve()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / ".git").mkdir()
    return folder


def example(name: str) -> Path:
    """Return a folder or file of examples/, in a repository of its own."""
    return example_repository() / "examples" / name


PROGRAMS = frozenset({"krmfn", "deviceconfig", "ptemplate"})
_OF_A_RUN = re.compile(rf"{re.escape(os.path.realpath(tempfile.gettempdir()))}/krmfn-[a-z0-9_]{{8}}\b")
"""The temporary folder of a run, which is gone at its end."""


class Done(NamedTuple):
    """How a process ended."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        """stdout as text."""
        return self.out.decode()

    @property
    def reported(self) -> str:
        """stdout as text, without the line that says what is not judged."""
        return "".join(line for line in self.text.splitlines(True) if not line.startswith("not judged: "))

    def ended(self, code: int, err: str | None = None) -> Done:
        """Return this run, whose exit code is this one, and with `err` all of its stderr, too."""
        assert (self.code, self.err) == (code, self.err if err is None else err), self
        return self

    def refused(self, code: int = 2) -> str:
        """Return the stderr of a run that has printed nothing on stdout."""
        assert (self.code, self.out) == (code, b""), self
        return self.err


def environment(**variables: str) -> dict[str, str]:
    """PATH with the commands under test, a terminal of 80 columns, and no settings of ours or Argo CD's."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("ARGOCD_", "KRMFN_"))}
    path = os.pathsep.join([str(COMMANDS), os.environ["PATH"]])
    return {**kept, "PATH": path, "COLUMNS": "80", "LC_ALL": "C.UTF-8", **variables}


def execute(
    *command: str | Path,
    stdin: bytes = b"",
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float = HANGS,
    together: bool = False,
) -> Done:
    """Run any program to its end; `together` has its stderr in its stdout, as a terminal shows them."""
    err = subprocess.STDOUT if together else subprocess.PIPE
    words = [str(word) for word in command]
    done = subprocess.run(
        words, input=stdin, cwd=cwd, env=env, timeout=timeout, stdout=subprocess.PIPE, stderr=err, check=False
    )
    return Done(done.returncode, done.stdout, (done.stderr or b"").decode(errors="replace"))


def drained(reader: int) -> bytes:
    """Return all that comes out of a pipe or a terminal whose other end is closed."""
    parts = []
    try:
        while part := os.read(reader, 30_000):
            parts.append(part)
    except OSError:
        pass  # Linux says so at the end of a terminal
    os.close(reader)
    return b"".join(parts)


def process(program: str, *args: str, stdin: str | bytes = b"", cwd: Path | None = None, **env: str) -> Done:
    """Run one of our commands to its end; whatever it was given, it shows no traceback and no file that is gone.

    That is in `example_repository` without `cwd`. PROGRAMS run in a child of a process that has loaded them; `execute`
    starts one anew.
    """
    folder = cwd or example_repository()
    data = stdin.encode() if isinstance(stdin, str) else stdin
    if program not in PROGRAMS:
        done = execute(COMMANDS / program, *args, stdin=data, cwd=folder, env=environment(**env))
    else:
        ended = warm.run([str(COMMANDS / program), *args], data, folder, environment(**env), HANGS)
        done = Done(ended.code, ended.out, ended.err.decode(errors="replace"))
    assert "Traceback" not in done.err, done.err
    assert not _OF_A_RUN.search(done.out.decode(errors="replace") + done.err), done.text + done.err
    return done


cached = cache(process)
"""`process` for input that no test changes: equal calls run once."""
