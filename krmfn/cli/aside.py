"""Have a second process do a part of the work, where there is a second processor for it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable


def started(check: Callable[[], bool]) -> Callable[[], bool]:
    """Start a check in a process of its own; return what waits for its end and returns True when it was passed.

    It returns False as well where that is not known: no second processor, no process to be had, one that was ended.
    Then whoever asks does the work, so nothing depends on the second process but time.
    """
    if not _has_room():
        return lambda: False
    try:
        process = os.fork()
    except OSError:  # a limit on processes
        return lambda: False
    if process == 0:
        status = 1
        try:
            status = int(not check())
        finally:
            os._exit(status)  # whatever happened: this process has nothing to say, to flush or to clean up
    return lambda: os.waitpid(process, 0)[1] == 0


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
