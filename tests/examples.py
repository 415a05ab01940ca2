"""How many examples each Hypothesis property tries, and how many of many cases that are alike."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

_T = TypeVar("_T")

EXAMPLES = int(os.environ.get("KRMFN_EXAMPLES", "15"))
"""Few, so that `make test` is quick: .ci/run asks for four times as many, and `make fuzz` goes on from there."""

IS_EACH = EXAMPLES >= 60
"""Whether each of many cases that are alike is tried, as in CI."""


def some_of(cases: Sequence[_T]) -> Sequence[_T]:
    """Return a third of many cases that are alike and made from others; with the examples of CI, all of them."""
    return cases if IS_EACH else cases[::3]
