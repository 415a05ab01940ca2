"""Have a second process do a part of the work, where there is a second processor for it; hold back interrupts."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from krmfn.typed import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


@contextmanager
def alongside(check: Callable[[], bool]) -> Iterator[Callable[[], bool]]:
    """Have a process of its own make a check; yield what waits for its end and returns True when it was passed.

    It returns False as well where that is not known: no second processor, no process to be had, one that was ended.
    Then whoever asks does the work, so nothing depends on the second process but time. It never outlives the block, nor
    is its end left for somebody else to ask for: the first process of a container may ask for none.
    """
    process = 0
    codes: list[int] = []

    def is_passed() -> bool:
        if process and not codes:
            codes.append(os.waitpid(process, 0)[1])
        return codes == [0]

    try:
        if _has_room():
            with held(), suppress(OSError):  # until its id is known; a limit on processes
                process = os.fork()
                if process == 0:
                    status = 1
                    try:
                        status = int(not check())
                    finally:
                        os._exit(status)  # whatever happened: this process has nothing to say, to flush or to clean up
        yield is_passed
    finally:
        if process and not codes:
            with suppress(ProcessLookupError, ChildProcessError):  # an interrupt came just when it had ended
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _has_room() -> bool:
    """Return True when this process may have a twin: a processor for it, and no thread, which would not be copied.

    macOS has threads of its own in any process that has used its libraries.
    """
    threading = sys.modules.get("threading")
    return sys.platform == "linux" and processors() > 1 and (threading is None or threading.active_count() == 1)


@contextmanager
def held() -> Iterator[None]:
    """Hold back signals that have a handler until the block ends, where one would leave something behind.

    Other threads than the main one get none anyway.
    """
    import threading  # here: most runs have one thread

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting: list[tuple[int, Any]] = []
    handlers: dict[int, Callable[[int, Any], object]] = {}
    number: int
    try:
        for number in _SIGNALS:
            handler = signal.getsignal(number)
            if callable(handler):
                handlers[number] = handler
                signal.signal(number, lambda *args: waiting.append(args))
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number, frame in waiting:
            handlers[number](number, frame)
