"""Twice the input may take two and a half times the work, and no rule says more than it may."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise

from .findings import Finding, Refused, Work, watched

FLOOR = 0.04
"""Seconds of CPU below which nothing is compared: start-up and caches are too large a part of it."""
LARGEST = 400_000
MOST = 2.5


def check(work: Work, before: bytes, piece: bytes, after: bytes) -> None:
    """Raise Finding when the work grows faster than an input in which a piece is repeated.

    It is CPU time of this process, the shortest of three at the larger size against the longest at the smaller, and it
    has to grow too fast in two steps: neither a busy machine nor a single threshold inside makes a finding.
    """
    count = 1
    while len(piece) * count < LARGEST:
        text = before + piece * count + after
        if _seconds(work, text, 1, min) >= FLOOR:
            break
        count *= 2
    else:
        return
    sizes = [before + piece * (count << step) + after for step in range(3)]
    ratios = []
    for smaller, larger in pairwise(sizes):
        slow, fast = _seconds(work, smaller, 3, max), _seconds(work, larger, 3, min)
        ratios.append(fast / max(slow, FLOOR))
        if ratios[-1] <= MOST:
            return
    raise Finding("twice the input, 2.5 times the work", ratios=ratios, times=count, piece=piece[:200])


def large(work: Work, before: bytes, piece: bytes, after: bytes) -> None:
    """Do the work for an input in which a piece is repeated as often as there is room; raise Finding as a run does."""
    with watched():
        work(before + piece * (LARGEST // len(piece)) + after)


def _seconds(work: Work, text: bytes, times: int, choose: Callable[..., float]) -> float:
    seconds = []
    for _ in range(times):
        start = time.process_time()
        try:
            with watched():
                work(text)
        except Refused:
            pass
        seconds.append(time.process_time() - start)
    return choose(seconds)
