"""kubectl, as `--context` calls it: the one child of krmfn that is not confined.

It needs the network, the credentials and the environment of the person who asks. So it is found outside of what may
have been committed, it starts in an empty folder, so that nothing there chooses what it does, and it is only told to
`get`.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from tempfile import TemporaryDirectory, TemporaryFile
from time import monotonic
from typing import IO

from krmfn.errors import KrmfnError
from krmfn.printing import printable
from krmfn.typed import NamedTuple

from . import roots, workers

_REQUEST, _CALL = 60, 300
"""How many seconds one request to the server may take, and one call of kubectl."""
_SHOWN = 2000
"""The most bytes of what kubectl says on stderr."""


class Kubectl(NamedTuple):
    """A kubectl, and the context of its configuration that it is called with."""

    program: str
    path: str
    """The PATH that it gets, where its credential plugins are found."""
    context: str


def find(context: str, bounds: Sequence[str]) -> Kubectl:
    """Return the kubectl on PATH; entries that are not absolute or lead into one of the folders `bounds` do not count.

    Raises KrmfnError without one, and for a KUBECONFIG that depends on the working folder.
    """
    for name in os.environ.get("KUBECONFIG", "").split(os.pathsep):
        if name and not os.path.isabs(name):
            raise KrmfnError(f"KUBECONFIG names {name}, which depends on the working folder; make it absolute")
    entries = [entry for entry in os.environ.get("PATH", "").split(os.pathsep) if os.path.isabs(entry)]
    entries = [entry for entry in entries if _is_outside(entry, bounds)]
    for entry in entries:
        program = os.path.join(entry, "kubectl")
        if os.path.isfile(program) and os.access(program, os.X_OK) and _is_outside(program, bounds):
            return Kubectl(program, os.pathsep.join(entries), context)
    where = f"outside of {' and '.join(bounds)}" if bounds else "at all"
    raise KrmfnError(f"no absolute entry of PATH has a kubectl {where}; install it, or pass a dump with --live")


def bounds_of(paths: Sequence[str], root: str | None) -> list[str]:
    """Return the folders that may have been committed: that of --root, else those of the PATHs and the working folder.

    Of a PATH it is the Git work tree, else its own folder.
    """
    if root:
        return [os.path.realpath(root)]
    names = [os.path.realpath(path) for path in paths if path != "-"]
    folders = [name if os.path.isdir(name) else os.path.dirname(name) for name in names]
    tops = [roots.root_of(folder) or folder for folder in folders]
    return sorted({*tops, *filter(None, [roots.root_of(os.path.realpath(os.curdir))])})


def _is_outside(path: str, bounds: Sequence[str]) -> bool:
    return not any(
        roots.within(real, top) for top in bounds for real in (os.path.realpath(path), os.path.abspath(path))
    )


@contextmanager
def answer(kubectl: Kubectl, *words: str) -> Iterator[Callable[[int], bytes]]:
    """Yield a function that reads what `kubectl get` prints for some words, and ends kubectl with the block.

    Raises KrmfnError, with what kubectl says, when it fails, cannot be run, or takes too long.
    """
    command = [kubectl.program, f"--context={kubectl.context}", f"--request-timeout={_REQUEST}s", "get", *words]
    with TemporaryDirectory(prefix="krmfn-") as folder, TemporaryFile() as errors:
        process = _start(command, kubectl.path, folder, errors)
        deadline = monotonic() + _CALL
        try:
            yield lambda size: _read(process, size, deadline)
            while _read(process, 1 << 16, deadline):
                pass
            code = process.wait(max(1.0, deadline - monotonic()))
        except subprocess.TimeoutExpired as failure:
            raise _too_long() from failure
        finally:
            _end(process)
        if code:
            errors.seek(0)
            lines = errors.read(_SHOWN).decode(errors="replace").strip().splitlines()
            raise KrmfnError(*(map(printable, lines) if lines else [f"kubectl ended with {code} and said nothing"]))


def _start(command: Sequence[str], path: str, folder: str, errors: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start kubectl in a folder. Raises KrmfnError when it cannot be run."""
    environment = {**os.environ, "PATH": path, "PWD": folder}
    environment.pop("OLDPWD", None)
    try:
        with workers.hold_signals():  # an interrupt during the start would leave the process running
            return subprocess.Popen(
                command,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )
    except OSError as failure:
        raise KrmfnError(f"{command[0]} cannot be run: {failure.strerror}") from failure


def _read(process: subprocess.Popen[bytes], size: int, deadline: float) -> bytes:
    """Return the next bytes of stdout, b"" at its end. Raises KrmfnError after the deadline."""
    if process.stdout is None:
        return b""
    ready = select.poll()
    ready.register(process.stdout, select.POLLIN)
    if not ready.poll(max(0.0, deadline - monotonic()) * 1000):
        raise _too_long()
    return os.read(process.stdout.fileno(), size)


def _too_long() -> KrmfnError:
    return KrmfnError(f"kubectl took longer than {_CALL} seconds and was stopped; try it by hand, or pass --live DUMP")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End kubectl with all that it has started."""
    with suppress(ProcessLookupError, PermissionError):  # macOS raises the second one for an ended process
        os.killpg(process.pid, signal.SIGKILL)
    with process:  # closes its pipe, and waits
        pass
