"""How much work something is: the number of functions that it calls, which no clock and no load changes."""

from __future__ import annotations

from collections.abc import Callable
from cProfile import Profile
from typing import TypeVar

T = TypeVar("T")


def call_count(work: Callable[[], T]) -> tuple[T, int]:
    """Return what `work` returns, and how many functions were called, those of C included.

    The profiler of the standard library counts in C, ten times as fast as a function that `sys.setprofile` calls.
    """
    profile = Profile()
    profile.enable()
    try:
        result = work()
    finally:
        profile.disable()
    return result, sum(entry.callcount for entry in profile.getstats())
