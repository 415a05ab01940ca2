"""How much RE2 may match in one run: each kernel against all regexps of each Module, once for those that are equal.

A few hundred kilobytes of Modules and nodes would take hours else; what is not tried is said (rule KRM604).
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, lru_cache

from krmfn import KrmfnError

LARGEST = 500_000_000
"""How many of RE2's instructions the kernels of a run may be held against, in all: half a minute at 70 ns, as large
regexps take; usual ones take 13 ns (google-re2 1.1, Python 3.11)."""
_budget: list[int] = []
"""What a run may still do of that; nothing where there is no bound, as in a function that kustomize ends."""


class TooMuch(KrmfnError):
    """The bound on the work of a run is reached."""


@contextmanager
def bounded(instructions: int = LARGEST) -> Iterator[None]:
    """Raise TooMuch in the block when kernels would be held against more instructions than these."""
    _budget[:] = [instructions]
    hits.cache_clear()
    try:
        yield
    finally:
        _budget.clear()


@cache
def hits(regexps: tuple[str, ...], text: str) -> tuple[int, ...]:
    """Return the positions of the regexps that match anywhere in a text, in no order; each must compile by itself.

    Raises TooMuch where the bound of the run is reached.
    """
    if _budget:
        _budget[0] -= _sizes(regexps)
        if _budget[0] < 0:
            raise TooMuch("the regexps and kernels of this run are too many to be judged")
    return tuple(_matching(regexps)(text))


@lru_cache(maxsize=256)  # each takes some megabytes
def _matching(regexps: tuple[str, ...]) -> Callable[[str], list[int]]:
    from .regexps import matcher  # here: many runs match nothing

    return matcher(regexps)


@lru_cache(maxsize=4096)
def _sizes(regexps: tuple[str, ...]) -> int:
    """Return how many instructions some regexps have together."""
    from .regexps import size  # here: many runs match nothing

    return sum(map(size, {*regexps}))
