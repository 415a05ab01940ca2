"""A function between stdin and stdout: bytes in, bytes and an exit code out, and never an empty success."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout

from .envelope import Chunk
from .errors import KrmfnError, Refused
from .log import Log, from_environment
from .resourcelist import ResourceList
from .results import error
from .typed import NoReturn

__all__ = ["MAX_BYTES", "Function", "applied", "ensure_stderr", "ensure_stdout", "leave", "main", "max_bytes"]
__all__ += ["read_stdin", "run", "write"]

Function = Callable[[ResourceList], None]
"""A KRM function: it looks at a list, reports findings, changes items. It neither prints nor exits."""

_AT_ONCE = 512
"""How many chunks one system call writes; every system takes as many."""
MAX_BYTES = 1 << 29
"""Input larger than this (512 MiB) is refused; the environment variable KRMFN_MAX_BYTES sets another limit."""


def run(function: Function, data: bytes) -> tuple[bytes, int]:
    """Apply the function to a ResourceList; return the list to write, and 1 with an error finding, else 0.

    Raises KrmfnError when `data` cannot be used; whatever else the function raises is a bug and comes through.
    """
    resources, chunks = applied(function, data)
    return b"".join(chunks), int(resources.failed)


def main(function: Function) -> NoReturn:
    """Run as a KRM function: read stdin, write stdout, exit with 0 or 1. Ends the process.

    While the function runs, whatever it or its children print goes to stderr: stdout is the document.
    Findings and changes are written to stderr, since kustomize shows no results; see `log` for how.
    """
    code = 1
    gc.disable()  # the process is short; walking a large list's objects again and again costs a third of its time
    try:
        code = _main(function)
    finally:
        leave(code)


def _main(function: Function) -> int:
    log = Log()
    try:
        ensure_stderr()
        log = from_environment()
        return _between(function, log)
    except KrmfnError as failure:
        log.failure(failure)
    except KeyboardInterrupt:
        log.say("interrupted; nothing was written")
    except BaseException:  # a SystemExit(0) of the function included: it must never look like success
        log.crash("this is a bug in the function, not in your files; nothing was written")
    return 1


def ensure_stderr() -> None:
    """Open a stderr where it came closed: only what is written there is lost."""
    if sys.stderr is None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115 - for the rest of the process


def leave(code: int) -> NoReturn:
    """Exit with `code`, also when nobody reads stderr any more: what is lost there is no failure of the work."""
    gc.freeze()  # else the interpreter walks all objects once more before it ends
    try:
        for stream in filter(None, (sys.stdout, sys.stderr)):
            stream.flush()
    except (OSError, ValueError):
        os._exit(code)
    sys.exit(code)


def _between(function: Function, log: Log) -> int:
    ensure_stdout()
    stdout = os.dup(1)
    os.dup2(2, 1)
    resources, chunks = applied(function, read_stdin())
    log.findings(resources.results)
    if not resources.failed:
        log.changes(resources.changes)
    write(stdout, chunks)
    return int(resources.failed)


def ensure_stdout() -> None:
    """Raise KrmfnError when stdout came closed: the next file that is opened would stand in its place."""
    if sys.stdout is None:
        raise KrmfnError("stdout is closed, so the result cannot be written")


def applied(function: Function, data: bytes) -> tuple[ResourceList, list[Chunk]]:
    """Apply the function to a ResourceList; return the list, and what to write.

    A KrmfnError of the function, `Refused` among them, is an error result over the untouched input, so that kpt shows
    it. Raises KrmfnError when `data` cannot be used.
    """
    resources = ResourceList.parse(data)
    try:
        with redirect_stdout(sys.stderr):
            function(resources)
        chunks = resources.to_chunks()
        known = {ref for _, ref in resources.changes}
        edited = (item.ref for item in resources.items if item.is_edited)
        resources.changes += [("updated", ref) for ref in edited if ref not in known]
        return resources, chunks
    except KrmfnError as failure:
        at = failure.at if isinstance(failure, Refused) else None
        resources.report(error(failure.message, at=at) if isinstance(failure, Refused) and at else error(str(failure)))
    return resources, resources.to_chunks()


def read_stdin(expected: str = "a KRM function reads a ResourceList from it (try --help)") -> bytes:
    """Return all of stdin. Raises KrmfnError when there is nothing, or more than the limit (see MAX_BYTES).

    `expected` is what the error says about stdin.
    """
    limit = max_bytes()
    if sys.stdin is None or sys.stdin.isatty():
        raise KrmfnError(f"stdin is {'closed' if sys.stdin is None else 'a terminal'}; {expected}")
    _widen(0)
    data = sys.stdin.buffer.read(limit + 1)
    if len(data) > limit:
        raise KrmfnError(f"the input is larger than {limit:,} bytes; raise the limit with KRMFN_MAX_BYTES")
    if not data or data.isspace():
        raise KrmfnError(f"stdin is empty; {expected}")
    return data


def _widen(descriptor: int) -> None:
    """Let a pipe hold 1 MiB at a time, where the system can (Linux): a large list then changes hands faster."""
    try:
        import fcntl

        fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, 1 << 20)
    except (ImportError, AttributeError, OSError):
        return  # no pipe, not Linux, or not allowed: nothing but speed is lost


def max_bytes() -> int:
    """Return the largest size of input that is read. Raises KrmfnError when KRMFN_MAX_BYTES is no positive number."""
    setting = os.environ.get("KRMFN_MAX_BYTES", str(MAX_BYTES))
    if not setting.isdecimal() or int(setting) < 1:
        raise KrmfnError(f"KRMFN_MAX_BYTES is {setting!r}; it must be a number of bytes")
    return int(setting)


def write(descriptor: int, chunks: Iterable[Chunk]) -> None:
    """Write all chunks to a file descriptor. Raises KrmfnError when that fails (full disk, closed pipe)."""
    _widen(descriptor)
    views = [memoryview(chunk) for chunk in chunks if chunk]
    at = 0
    try:
        while at < len(views):
            written = os.writev(descriptor, views[at : at + _AT_ONCE])
            while at < len(views) and written >= len(views[at]):
                written -= len(views[at])
                at += 1
            if written:
                views[at] = views[at][written:]
        os.close(descriptor)
    except OSError as failure:
        raise KrmfnError(f"the output could not be written in full: {failure.strerror}") from failure
