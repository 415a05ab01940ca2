"""A line on the terminal that shows the progress of a long run. It is erased when the run ends."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic

from krmfn.streams import Log


@contextmanager
def progress(log: Log, total: int, noun: str, after: float = 1.0) -> Iterator[Callable[[], None]]:
    """Yield a function to call, from any thread, after each of `total` steps.

    The line counts `noun`; it appears after `after` seconds. Nothing is written unless stderr is a terminal that can
    erase a line, and the log is in text and not quiet.
    """
    stream = sys.stderr
    is_dumb = os.environ.get("TERM") == "dumb"
    if log.quiet or log.format != "text" or is_dumb or stream is None or not stream.isatty():
        yield lambda: None
        return
    import threading

    lock, is_over = threading.Lock(), threading.Event()
    done, begins = 0, monotonic() + after

    def show(text: str) -> None:
        with suppress(OSError):
            print(f"\r\x1b[K{text}", end="", file=stream, flush=True)

    def step(number: int = 1) -> None:
        nonlocal done
        with lock:
            done += number
            if monotonic() >= begins and not is_over.is_set():
                show(f"{done:,} of {total:,} {noun}")

    timer = threading.Timer(after, step, [0])
    timer.daemon = True
    timer.start()
    try:
        yield step
    finally:
        timer.cancel()
        with lock:
            is_over.set()
            if monotonic() >= begins:
                show("")
