"""The rules about the final list of a cluster (KRM7xx), and the one function that checks them all."""

from __future__ import annotations

from collections.abc import Iterator

from krmfn import Result
from krmfn.rule import apply

from . import dollars, objects, order, passed_over, ready, resolved
from .stream import Final


def check(final: Final) -> Iterator[Result]:
    """Yield the findings about what reaches one cluster."""
    yield from apply(RULES, final)


RULES = (
    *(ready.RULES + resolved.RULES + order.RULES + objects.RULES),
    *(passed_over.RULES + dollars.RULES),
)
"""The rules about the final list."""
