"""Confine kustomize and all that it starts, by the kernel: Landlock for files, seccomp for all that it leaves alone.

Both restrict the calling thread and what it starts from then on. So a new thread restricts itself, starts the program,
and ends. Other threads are not restricted, and nothing runs between fork and exec, where Python is not safe.

The kernel takes a third of a millisecond for a filter, and a thread hands it on to the threads that it starts. So where
many programs are started, one thread is filtered, and starts all those threads. Each of them still restricts itself by
Landlock, which takes less: so no program can reach another one.
"""

from __future__ import annotations

import _thread
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue

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


class _Starter:
    """A filtered thread that starts the threads which start programs."""

    def __init__(self) -> None:
        self._asked = SimpleQueue[tuple[Callable[[], None], Callable[[BaseException], None]] | None]()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def begin(self, run: Callable[[], None], fail: Callable[[BaseException], None]) -> None:
        """Call `run` in a new thread; `fail` gets the error where there can be none, or none that is filtered."""
        self._asked.put((run, fail))

    def end(self) -> None:
        """End the thread; those that it has started go on."""
        self._asked.put(None)
        self._thread.join()

    def _serve(self) -> None:
        is_filtered = False
        for run, fail in iter(self._asked.get, None):
            try:
                if not is_filtered:
                    kernel.forbid_new_privileges()
                    seccomp.restrict()
                    is_filtered = True
                _thread.start_new_thread(run, ())  # with one of `threading` a start would take half as long again
            except RuntimeError as failure:
                fail(_no_thread(failure))
            except BaseException as failure:  # whatever it is: who asks waits for an answer
                fail(failure)


_starters: list[_Starter] = []
"""What starts the threads now; none but in `many`."""


@contextmanager
def many() -> Iterator[None]:
    """Have one thread filtered for all programs that are started in the block, in place of one for each of them."""
    starter = _Starter()
    _starters.append(starter)
    try:
        yield
    finally:
        _starters.remove(starter)
        starter.end()


def start_confined(bounds: Bounds, start: Callable[[], T]) -> T:
    """Call `start`, which starts a program, in a thread that is confined as far as the kernel can; return its result.

    A build that is not offline, which runs git and helm, is refused no system call.
    Raises KrmfnError when the kernel refuses the bounds, and what `start` raises.
    """
    has_landlock, is_filtered = landlock.version() > 0, bounds.is_offline and seccomp.is_available()
    if not (has_landlock or is_filtered):
        return start()
    starter = _starters[-1] if is_filtered and _starters else None
    results: list[T] = []
    ended = SimpleQueue[BaseException | None]()

    def run() -> None:
        try:
            kernel.forbid_new_privileges()
            if has_landlock:
                landlock.restrict(bounds)
            if is_filtered and not starter:
                seccomp.restrict()
            results.append(start())
        except BaseException as failure:
            ended.put(failure)
        else:
            ended.put(None)

    if starter:
        starter.begin(run, ended.put)
    else:
        thread = threading.Thread(target=run)
        try:
            thread.start()
        except RuntimeError as failure:
            raise _no_thread(failure) from failure
        thread.join()  # a process that forks must have one thread
    if failed := ended.get():
        raise failed
    return results[0]


def _no_thread(failure: RuntimeError) -> KrmfnError:
    """Return the error for a limit on processes, which counts threads."""
    return KrmfnError(f"kustomize cannot be started: {failure}; raise the limit on processes")
