"""Findings that have two places, at the one that a change touches: reviewers and servers look there."""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from functools import cache

from krmfn import KrmfnError, Place, Result
from krmfn.results import Related
from krmfn.streams import max_bytes

from ..paths import files, git, history
from .base import root_of

_LINES, _PAIRS = 1_000, 30_000
"""Up to so many lines, and pairs of an old and a new one that are equal, a changed part of a file is compared in a
second or two; of a larger one each line counts as touched. The work grows with the cube."""


def at_the_change(ref: str, paths: Sequence[str], results: Sequence[Result]) -> list[Result]:
    """Return the findings, those with related places at the place that the change since the merge base touches most.

    Raises KrmfnError as `check_out` does.
    """
    if not any(result.related for result in results):
        return [*results]
    root = root_of(paths or ["."])
    commit = history.merge_base(root, ref)
    names = {entry.path: entry.object for entry in git.entries(root, commit, ())}
    with git.objects(root) as read:

        @cache
        def lines(path: str) -> tuple[bool, frozenset[int]]:
            name = names.get(os.path.relpath(os.path.realpath(path), root))
            old = read(name, max_bytes()) if name else b""
            return _touched(old if isinstance(old, bytes) else b"", path)

        def rank(place: Place) -> int:
            is_touched, numbers = lines(place.path)
            return is_touched + (place.line in numbers)

        return [_moved(result, rank) for result in results]


def _touched(old: bytes, path: str) -> tuple[bool, frozenset[int]]:
    """Return whether a file differs from its old content, and which of its lines do."""
    new = b""
    with suppress(KrmfnError):
        new = files.read_regular(path, path, max_bytes())
    if old == new:
        return False, frozenset()
    return True, frozenset(at + 1 for at in _changed(old.splitlines(), new.splitlines()))


def _changed(before: Sequence[bytes], after: Sequence[bytes]) -> Iterator[int]:
    """Yield the positions of the new lines that a change touches."""
    head = _alike(before, after)
    before, after = before[head:], after[head:]
    tail = _alike(before[::-1], after[::-1])
    before, after = before[: len(before) - tail], after[: len(after) - tail]
    counts = Counter(before)
    if max(len(before), len(after)) > _LINES or sum(counts[line] for line in after) > _PAIRS:
        yield from range(head, head + len(after))
        return
    for kind, _, _, start, end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            yield from range(head + start, head + end)


def _alike(first: Sequence[bytes], second: Sequence[bytes]) -> int:
    """Return how many lines at the beginning of two texts are the same."""
    pairs = zip(first, second, strict=False)
    return next((at for at, (line, twin) in enumerate(pairs) if line != twin), min(len(first), len(second)))


def _moved(result: Result, rank: Callable[[Place], int]) -> Result:
    """Return a finding at the place of the highest rank; of equal ones the first."""
    if not (result.related and result.place and result.place.path):
        return result
    present = Related(result.place, result.message)
    best = max((present, *result.related), key=lambda related: rank(related.place))
    if best is present:
        return result
    rest = (present, *(related for related in result.related if related is not best))
    return result._replace(place=best.place, message=best.message, related=rest)
