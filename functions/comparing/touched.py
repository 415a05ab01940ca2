"""Findings that have two places, at the one that a change touches: reviewers and servers look there."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from functools import cache

from krmfn import KrmfnError, Place, Result
from krmfn.results import Related
from krmfn.streams import max_bytes

from ..paths import files, git, history
from .base import root_of

_LINES = 5_000
"""Lines of a file of which it is looked up which of them a change touches; of a longer one any line may be."""


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
    before, after = old.splitlines(), new.splitlines()
    if not old or max(len(before), len(after)) > _LINES:
        return True, frozenset(range(1, len(after) + 1))
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    changed = (range(block[3], block[4]) for block in blocks if block[0] != "equal")
    return True, frozenset(at + 1 for numbers in changed for at in numbers)


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
