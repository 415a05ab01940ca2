"""Do a part of the work in a second process if there is a second processor, or in threads; hold back signals."""

from __future__ import annotations

import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from krmfn.typed import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")
_SECONDS_DEAF = 0.2
"""How long a signal may go unheard that comes just before the main thread waits: it does not end the waiting."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGALRM)


@contextmanager
def second_process(check: Callable[[], bool]) -> Iterator[Callable[[], bool]]:
    """Run a check in a second process; yield a function that waits for it and returns True when the check passed.

    The function also returns False when there is no answer: no second processor, no new process, or one that was
    killed. The caller does the work itself then, so the second process only saves time. It never outlives the block,
    and is always waited for: the first process of a container may not reap the children of others.
    """
    process = 0
    codes: list[int] = []

    def is_passed() -> bool:
        if process and not codes:
            codes.append(os.waitpid(process, 0)[1])
        return codes == [0]

    try:
        if has_room():
            with hold_signals(), suppress(OSError):  # until its id is known; a limit on processes
                process = os.fork()
                if process == 0:
                    status = 1
                    try:
                        status = int(not check())
                    finally:
                        os._exit(status)  # in any case: this process must print, flush and clean up nothing
        yield is_passed
    finally:
        if process and not codes:
            with suppress(ProcessLookupError, ChildProcessError):  # interrupted just after it was waited for
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)


def in_threads(number: int, work: Callable[[T], R], values: Sequence[T], end: Callable[[], object]) -> list[R]:
    """Return the results of `work` on several values, in their order; so many threads work at a time.

    After an error no value is begun; the error about the first of the values is raised. An interrupt calls `end`, which
    must end what the threads wait for. That of the library's pool takes as long to load as two builds.
    """
    import threading  # late: most runs have one thread

    waiting, results, failures = deque(enumerate(values)), dict[int, R](), dict[int, BaseException]()
    ended = threading.Semaphore(0)

    def serve() -> None:
        with suppress(IndexError):  # another thread has taken the last one
            while waiting:
                at, value = waiting.popleft()
                try:
                    results[at] = work(value)
                except BaseException as failure:
                    failures[at] = failure
                    waiting.clear()
        ended.release()

    threads = [threading.Thread(target=serve) for _ in range(min(number, len(values)))]
    try:
        for thread in threads:
            thread.start()
        for _ in threads:  # an interrupted `join` may take a thread that works for one that has ended (bpo-45274)
            while not ended.acquire(timeout=_SECONDS_DEAF):
                pass
    except BaseException:
        waiting.clear()
        end()
        raise
    finally:
        for thread in threads:
            if thread.ident is not None:
                thread.join()
    if failures:
        raise failures[min(failures)]
    return [results[at] for at in range(len(values))]


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def has_room() -> bool:
    """Return True when this process may fork: there is a second processor, and no thread, which is not copied.

    On macOS a process that has used the system's libraries has threads of theirs.
    """
    threading = sys.modules.get("threading")
    return sys.platform == "linux" and processors() > 1 and (threading is None or threading.active_count() == 1)


@contextmanager
def hold_signals() -> Iterator[None]:
    """Hold back signals that have a handler until the block ends; an interrupt in it would leave something behind.

    Does nothing in other threads than the main one, which get no signals.
    """
    import threading  # late: most runs have one thread

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pending: list[tuple[int, Any]] = []
    handlers: dict[int, Callable[[int, Any], object]] = {}
    number: int
    try:
        for number in _SIGNALS:
            handler = signal.getsignal(number)
            if callable(handler):
                handlers[number] = handler
                signal.signal(number, lambda *args: pending.append(args))
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number, frame in pending:
            handlers[number](number, frame)
