"""A program that is run within bounds of time, output, processors and memory, and ended with all that it has started.

Everywhere the time and the output are bounded. The limits on processors and memory are Linux's; they also hold for what
the program starts, and when krmfn itself is killed.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from time import monotonic

from krmfn.errors import KrmfnError
from krmfn.printing import counted
from krmfn.streams import max_bytes

from ..paths.workers import hold_signals, processors
from . import landlock
from .landlock import Bounds

_MANAGERS = ("asdf", "mise")
"""Those that print with `which NAME` what they would run."""
_MEMORY = 4 << 30
"""Bytes of address space that a process may have."""

_lock = threading.Lock()
_running: set[subprocess.Popen[bytes]] = set()
_ended: list[bool] = []


def run(
    command: Sequence[str], env: Mapping[str, str], name: str, seconds: int, folder: str | None, bounds: Bounds | None
) -> subprocess.CompletedProcess[bytes]:
    """Run a program in a folder, None for ours, to its end, or end it with us.

    Its address space is bounded, too, unless it has our own environment: a plugin may be a Node.js, which reserves
    more; with `bounds` also what it may reach, where the kernel can.

    Raises KrmfnError when it cannot be run, and when it goes beyond a bound; that calls the work `name`.
    """
    process = None
    try:
        with hold_signals(), _lock:  # an interrupt while the process is started would leave it running
            if _ended:
                raise KeyboardInterrupt
            pipe, none = subprocess.PIPE, subprocess.DEVNULL

            def start() -> subprocess.Popen[bytes]:
                return subprocess.Popen(
                    command, cwd=folder, stdin=none, stdout=pipe, stderr=pipe, env=env, start_new_session=True
                )

            process = landlock.started(bounds, start) if bounds else start()
            _running.add(process)
            _limit(process.pid, seconds * processors(), is_small=env is not os.environ)
        stdout, stderr = _output(process, name, seconds)
    except OSError as failure:
        raise KrmfnError(f"{command[0]} cannot be run: {failure.strerror}; install kustomize") from failure
    finally:
        if process:
            with process:  # closes its pipes, and waits
                end(process)
    return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)


def end(process: subprocess.Popen[bytes]) -> None:
    """End a program that `run` has started with all that it has started; one that has ended is left as it is."""
    _running.discard(process)
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):  # macOS has the second one for a process that has ended
            os.killpg(process.pid, signal.SIGKILL)


def end_all() -> None:
    """End the programs of other threads, which no interrupt reaches, and let them start none any more."""
    with _lock:
        _ended.append(True)
        for process in list(_running):
            end(process)


def _output(process: subprocess.Popen[bytes], name: str, seconds: int) -> list[bytes]:
    """Return what a program writes to stdout and stderr until its end. Raises KrmfnError beyond a bound."""
    late = KrmfnError(
        f"{name} took longer than {counted(seconds, 'second')} and was stopped; raise the limit with --timeout SECONDS"
    )
    end_of_time = monotonic() + seconds
    bound = max_bytes()
    most = {"stdout": bound, "stderr": max(1 << 20, bound // 8)}  # the sentence about a bound fits into any
    parts = {pipe: bytearray() for pipe in most}
    names = {pipe.fileno(): kind for kind, pipe in zip(most, (process.stdout, process.stderr), strict=True) if pipe}
    pipes = select.poll()
    for number in names:
        pipes.register(number, select.POLLIN)
    while names:
        if not (ready := pipes.poll(max(0, end_of_time - monotonic()) * 1000)):
            raise late
        for number, _ in ready:
            kind, part = names[number], os.read(number, 1 << 16)
            if not part:
                pipes.unregister(number)
                del names[number]
            parts[kind] += part
            if len(parts[kind]) > most[kind]:
                much = f"{most[kind]:,} bytes to {kind}"
                raise KrmfnError(f"{name} wrote more than {much} and was stopped; raise the limit with KRMFN_MAX_BYTES")
    try:
        process.wait(max(0, end_of_time - monotonic()))
    except subprocess.TimeoutExpired as failure:
        raise late from failure
    return [*map(bytes, parts.values())]


def _limit(process: int, seconds: int, is_small: bool) -> None:
    """Give a process less time of the processors and less memory than it may have; a lower limit of ours stays."""
    if sys.platform != "linux":
        return
    import resource

    limits = [(resource.RLIMIT_CPU, seconds), *([(resource.RLIMIT_AS, _MEMORY)] if is_small else [])]
    for kind, most in limits:
        low, high = (most if old == resource.RLIM_INFINITY else min(old, most) for old in resource.getrlimit(kind))
        with suppress(ProcessLookupError):
            resource.prlimit(process, kind, (low, high))


@lru_cache  # a version manager may take longer than kustomize
def program(path: str) -> str:
    """Return the program to run for a kustomize on PATH: `path` itself, or what a version manager would run for it.

    kustomize runs with a PATH that holds no other program, where a script that begins with `#!/usr/bin/env` finds no
    interpreter, and a version manager not itself. It is asked beforehand, as the user's shell would.

    Raises KrmfnError for a script that can run only with programs of PATH, and when the manager names none.
    """
    name, head = os.path.basename(os.path.realpath(path)), b""
    with suppress(OSError), open(path, "rb") as file:  # whether it can be run shows when it is
        head = file.read(4096)
    is_script = head.startswith(b"#!")
    named = (one for one in _MANAGERS if is_script and f"{one} ".encode() in head)
    if manager := name if name in _MANAGERS else next(named, ""):
        return _behind(path, manager)
    if not is_script or not head.partition(b"\n")[0].split()[0].endswith(b"/env"):
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
