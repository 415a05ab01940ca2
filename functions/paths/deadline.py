"""The time that a run may take, all work of krmfn's own included: then it is interrupted, wherever it is.

Nothing is written by then: the limit holds until the first output is begun, and no longer.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

GRACE = 10
"""How many seconds an interrupted run may take to end what it has started; then its process ends at once."""
_begun: list[int] = []
"""The seconds of the run that may be interrupted; none when there is no such run."""


class OutOfTime(KeyboardInterrupt):
    """The run has taken all of its time. It ends like an interrupted one, so that nothing of it is left behind."""


@contextmanager
def bounded(seconds: int, tell: Callable[[], object]) -> Iterator[None]:
    """Raise OutOfTime in the block when it has not begun its output after so many seconds.

    Where that does not end it, within GRACE seconds, `tell` says so and the process ends with exit code 2: a thread
    cannot be interrupted. Call it in the main thread.
    """

    def leave(_: int, __: FrameType | None) -> None:
        try:
            tell()
        finally:
            os._exit(2)

    def interrupt(_: int, __: FrameType | None) -> None:
        _begun.clear()
        signal.signal(signal.SIGALRM, leave)
        signal.setitimer(signal.ITIMER_REAL, GRACE)
        raise OutOfTime

    signal.signal(signal.SIGALRM, interrupt)
    _begun.append(seconds)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        finish()


def finish() -> None:
    """Let the run take its time from here on: its answer is known, and is written whole.

    An interrupted run still has no more than GRACE, also when its threads are at work as Python ends.
    """
    if _begun:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, _ignore)
        _begun.clear()


def _ignore(_: int, __: FrameType | None) -> None:
    """Do nothing, for a signal that has come a moment too late; Python complains about one without a handler."""
