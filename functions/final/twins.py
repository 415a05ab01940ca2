"""Names that kustomize has changed: which of the names in a list is meant by one that is not there."""

import re
from collections.abc import Iterable

from ..run import Transformed

_HASH = re.compile(r"-[2456789bcdfghkmt]{10}\Z")
"""A hash that kustomize appends to a generated name: ten characters, without those that make words.

Source: kustomize v5, api/hasher/hasher.go (encode).
"""
_DEEPEST = 8
"""How many prefixes and suffixes are taken off one name."""


class Twins:
    """The names of one kind in one namespace, by what remains of them without prefixes, suffixes and a hash.

    They are looked up, not compared one by one: a list may have thousands of names, and thousands that are missing.
    """

    def __init__(self, present: Iterable[str], transformed: Transformed, hashed: bool) -> None:
        """Take the names; `hashed` says that kustomize may append a hash to names of this kind."""
        self._transformed, self._hashed = transformed, hashed
        self._by_plain: dict[str, list[str]] = {}
        self._by_stem: dict[str, list[str]] = {}
        for name in sorted(present):
            for plain in _plain(name, hashed):
                self._by_plain.setdefault(plain, []).append(name)
            for stem in _stems(name, transformed, hashed):
                self._by_stem.setdefault(stem, []).append(name)

    def of(self, name: str) -> str:
        """Return the first name that differs from `name` only by prefixes, suffixes and a hash of kustomize's, or "".

        Two names with different prefixes are no twins: each may come from an overlay of its own.
        """
        longer = [self._by_stem.get(plain, []) for plain in _plain(name, self._hashed)]
        shorter = [self._by_plain.get(stem, []) for stem in _stems(name, self._transformed, self._hashed)]
        # each list is sorted, and holds `name` itself at most once
        firsts = [other for names in (*longer, *shorter) for other in names[:2] if other != name]
        return min(firsts, default="")


def _plain(name: str, hashed: bool) -> set[str]:
    """Return a name, and also the name without its hash."""
    return {name, _HASH.sub("", name)} if hashed else {name}


def _stems(name: str, transformed: Transformed, hashed: bool) -> set[str]:
    """Return a name, and what remains of it without the prefixes and suffixes of kustomize, and without a hash."""
    stems = _plain(name, hashed)
    for _ in range(_DEEPEST):
        shorter = {stem.removeprefix(prefix) for stem in stems for prefix in transformed.prefixes}
        shorter |= {stem.removesuffix(suffix) for stem in stems for suffix in transformed.suffixes}
        if shorter <= stems:
            break
        stems |= shorter
    return stems - {""}
