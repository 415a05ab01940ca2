"""Confine kustomize and all that it starts, by the kernel: Landlock for files, seccomp for all that it leaves alone.

Both restrict the calling thread and what it starts from then on. So a new thread restricts itself, starts the program,
and ends. Other threads are not restricted, and nothing runs between fork and exec, where Python is not safe.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable

from krmfn.errors import KrmfnError
from krmfn.typed import TypeVar

from . import kernel, landlock, seccomp
from .landlock import Bounds

T = TypeVar("T")


def gap() -> str:
    """Return what the kernel lacks to confine kustomize in full; "" when it lacks nothing."""
    if kernel.is_off():
        return f"{kernel.VARIABLE}=off"
    if not landlock.version():
        return "this kernel has no Landlock"
    return "" if seccomp.is_available() else _seccomp_gap()


def _seccomp_gap() -> str:
    if sys.platform == "linux" and not seccomp.architecture():
        return f"no seccomp filter is made for {os.uname().machine}"
    return "this kernel has no seccomp"


def status() -> str:
    """Return how kustomize is confined on this machine, as words of a sentence."""
    if kernel.is_off():
        return f"not confined: {gap()}"
    version, is_filtered = landlock.version(), seccomp.is_available()
    if not version:
        filtered = ", but seccomp refuses the network and other processes" if is_filtered else ""
        return f"not confined: {gap()}{filtered}"
    files = f"confined by Landlock {version}"
    if is_filtered:
        signals = "" if version >= 6 else " but by signals, for which Landlock 6 is needed"
        return f"{files} and seccomp: files of the build and of the system, no network, no other process{signals}"
    network = ", no TCP" if version >= 4 else ""
    rest = "other sockets, modes, owners and times of files" if network else "sockets, modes, owners and times of files"
    return f"{files}: files of the build and of the system{network}; not {rest}: {_seccomp_gap()}"


def start_confined(bounds: Bounds, start: Callable[[], T]) -> T:
    """Call `start`, which starts a program, in a thread that is confined as far as the kernel can; return its result.

    A build that is not offline, which runs git and helm, is refused no system call.
    Raises KrmfnError when the kernel refuses the bounds, and what `start` raises.
    """
    has_landlock, is_filtered = landlock.version() > 0, bounds.is_offline and seccomp.is_available()
    if not (has_landlock or is_filtered):
        return start()
    results: list[T] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            kernel.forbid_new_privileges()
            if has_landlock:
                landlock.restrict(bounds)
            if is_filtered:
                seccomp.restrict()
            results.append(start())
        except BaseException as failure:
            failures.append(failure)

    thread = threading.Thread(target=run)
    try:
        thread.start()
    except RuntimeError as failure:  # a limit on processes
        raise KrmfnError(f"kustomize cannot be started: {failure}; raise the limit on processes") from failure
    thread.join()
    if failures:
        raise failures[0]
    return results[0]
