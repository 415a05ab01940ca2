"""How much work something is: the number of functions that it calls, which no clock and no load changes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


def call_count(work: Callable[[], T]) -> tuple[T, int]:
    """Return what `work` returns, and how many functions were called, those of C included."""
    count = 0

    def note(*event: Any) -> None:
        nonlocal count
        count += event[1] in ("call", "c_call")

    sys.setprofile(note)
    try:
        result = work()
    finally:
        sys.setprofile(None)
    return result, count
