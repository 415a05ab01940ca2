"""Run a program with limits on time, output, processors and memory, and end it with all that it has started.

Time and output are limited on every system. The limits on processors and memory are those of Linux; they also apply to
programs that it starts, and when krmfn itself is killed.
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
from krmfn.typed import NamedTuple

from ..paths import deadline
from ..paths.workers import hold_signals, processors
from . import sandbox
from .landlock import Bounds

_MANAGERS = ("asdf", "mise")
"""Version managers whose `which NAME` prints the program that they would run."""
_MEMORY = 4 << 30
"""The address space that a process may have, in bytes."""

_lock = threading.Lock()
_running: set[subprocess.Popen[bytes]] = set()
_ended: list[bool] = []


class Program(NamedTuple):
    """A program to run."""

    command: Sequence[str]
    environment: Mapping[str, str]
    """Its address space is limited unless this is our own: it may start Node.js then, which reserves more."""
    name: str
    """What its work is called in errors."""
    seconds: int
    """How long it may take."""
    folder: str | None = None
    """In which it runs; None: the working folder."""


def run(program: Program, bounds: Bounds | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run a program; it ends when krmfn does. With `bounds` it is also confined, as far as the kernel can.

    Raises KrmfnError when it cannot be run or exceeds a limit.
    """
    command, env, name, seconds, folder = program
    process = None
    try:
        with hold_signals(), _lock:  # an interrupt during the start would leave the process running
            if _ended:
                raise KeyboardInterrupt
            pipe, none = subprocess.PIPE, subprocess.DEVNULL

            def start() -> subprocess.Popen[bytes]:
                return subprocess.Popen(
                    command, cwd=folder, stdin=none, stdout=pipe, stderr=pipe, env=env, start_new_session=True
                )

            process = sandbox.start_confined(bounds, start) if bounds else start()
            _running.add(process)
            _limit(process.pid, seconds * processors(), is_small=env is not os.environ)
        stdout, stderr = _output(process, name, seconds)
    except deadline.OutOfTime:
        raise deadline.OutOfTime(f" in {name}") from None
    except OSError as failure:
        raise KrmfnError(f"{command[0]} cannot be run: {failure.strerror}; install kustomize") from failure
    finally:
        if process:
            with process:  # closes its pipes, and waits
                end(process)
    return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that `run` has started, with all that it has started; do nothing for one that has ended."""
    _running.discard(process)
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):  # macOS raises the second one for an ended process
            os.killpg(process.pid, signal.SIGKILL)


def end_all() -> None:
    """Kill the programs of other threads, which get no interrupts, and keep them from starting more."""
    with _lock:
        _ended.append(True)
        for process in list(_running):
            end(process)


def _output(process: subprocess.Popen[bytes], name: str, seconds: int) -> list[bytes]:
    """Return what a process writes to stdout and stderr until it ends. Raises KrmfnError when it exceeds a limit."""
    timeout = KrmfnError(
        f"{name} took longer than {counted(seconds, 'second')} and was stopped; raise the limit with --timeout SECONDS"
    )
    deadline = monotonic() + seconds
    limits = {"stdout": max_bytes(), "stderr": max(1 << 20, max_bytes() // 8)}  # an error message always fits
    parts = {pipe: bytearray() for pipe in limits}
    names = {pipe.fileno(): kind for kind, pipe in zip(limits, (process.stdout, process.stderr), strict=True) if pipe}
    pipes = select.poll()
    for number in names:
        pipes.register(number, select.POLLIN)
    while names:
        if not (events := pipes.poll(max(0, deadline - monotonic()) * 1000)):
            raise timeout
        for number, _ in events:
            kind, part = names[number], os.read(number, 1 << 16)
            if not part:
                pipes.unregister(number)
                del names[number]
            parts[kind] += part
            if len(parts[kind]) > limits[kind]:
                size = f"{limits[kind]:,} bytes to {kind}"
                raise KrmfnError(f"{name} wrote more than {size} and was stopped; raise the limit with KRMFN_MAX_BYTES")
    try:
        process.wait(max(0, deadline - monotonic()))
    except subprocess.TimeoutExpired as failure:
        raise timeout from failure
    return [*map(bytes, parts.values())]


def _limit(process: int, seconds: int, is_small: bool) -> None:
    """Limit the processor time and memory of a process; lower limits that krmfn has itself stay."""
    if sys.platform != "linux":
        return
    import resource

    limits = [(resource.RLIMIT_CPU, seconds), *([(resource.RLIMIT_AS, _MEMORY)] if is_small else [])]
    for kind, limit in limits:
        low, high = (limit if old == resource.RLIM_INFINITY else min(old, limit) for old in resource.getrlimit(kind))
        with suppress(ProcessLookupError):
            resource.prlimit(process, kind, (low, high))


@lru_cache  # a version manager may take longer than kustomize
def program(path: str) -> str:
    """Return the program to run for a kustomize on PATH: `path` itself, or what a version manager would run for it.

    kustomize runs with a PATH without other programs. A script that begins with `#!/usr/bin/env` would not find its
    interpreter there, and a version manager not itself. So the manager is asked before, in the user's environment.

    Raises KrmfnError for a script that needs programs on PATH, and when the manager names no program.
    """
    name, head = os.path.basename(os.path.realpath(path)), b""
    with suppress(OSError), open(path, "rb") as file:  # an error shows when it is run
        head = file.read(4096)
    is_script = head.startswith(b"#!")
    managers = [manager for manager in _MANAGERS if name == manager or (is_script and f"{manager} ".encode() in head)]
    if managers:
        return _managed_program(path, name if name in managers else managers[0])
    if not is_script or not head.partition(b"\n")[0].split()[0].endswith(b"/env"):
        return path
    raise KrmfnError(
        f"{path} is a script, but kustomize is run with no other programs on PATH, so that it can call none; put "
        "the folder of the program that the script starts before it on PATH"
    )


def _managed_program(path: str, manager: str) -> str:
    """Return the program that a version manager runs for kustomize. Raises KrmfnError when it names none."""
    try:
        command = [manager, "which", "kustomize"]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        target, reason = done.stdout.strip(), done.stderr.strip()
    except (OSError, subprocess.TimeoutExpired) as failure:
        target, reason = "", str(failure)
    if os.path.isabs(target) and os.access(target, os.X_OK):
        return target
    raise KrmfnError(
        f"{path} belongs to {manager}, and `{manager} which kustomize` found no program: {reason or target}"
    )
