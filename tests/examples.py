"""How many examples each Hypothesis property tries, and how many of many cases that are alike."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TypeVar

_T = TypeVar("_T")
_U = TypeVar("_U")

EXAMPLES = int(os.environ.get("KRMFN_EXAMPLES", "15"))
"""Few, so that `make test` is quick: .ci/run asks for four times as many, and `make fuzz` goes on from there."""

IS_EACH = EXAMPLES >= 60
"""Whether each of many cases that are alike is tried, as in CI."""


def some_of(cases: Sequence[_T]) -> Sequence[_T]:
    """Return a third of many cases that are alike and made from others; with the examples of CI, all of them."""
    return cases if IS_EACH else cases[::3]


def pairs_of(cases: Iterable[_T], others: Iterable[_U]) -> list[tuple[_T, _U]]:
    """Return the pairs of two kinds of cases: every other one, so that each case of both has some; in CI all.

    Each kind has two cases at least.
    """
    numbered = [*enumerate(others)]
    return [(case, other) for row, case in enumerate(cases) for at, other in numbered if IS_EACH or (row + at) % 2 == 0]
