"""Which of the resources in one text may hold a word, whatever way it is spelled; found by one search over the text."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence


class Words:
    """The search over a text that holds many resources."""

    def __init__(self, text: bytes, spans: Sequence[tuple[int, int]]) -> None:
        """Take the text, and where its resources stand in it, in order."""
        self._text, self._spans = text, spans
        self._starts = [start for start, _ in spans]
        self._naming: dict[bytes, frozenset[int]] = {}

    def naming(self, word: bytes) -> frozenset[int]:
        """Return where the resources begin that may hold `word` (see `mentions`)."""
        if word not in self._naming:
            part = next((known for known in self._naming if known and known in word), None)
            if part is not None:  # whatever names the word names its part
                holding = self._those(self._naming[part], word)
            else:
                holding = frozenset(self._holding(word))
                holding |= self._those(self._spelled() - holding, word)
            self._naming[word] = holding
        return self._naming[word]

    def known(self, word: bytes) -> frozenset[int] | None:
        """Return what `naming` does when that was asked before; None else."""
        return self._naming.get(word)

    def _those(self, starts: frozenset[int], word: bytes) -> frozenset[int]:
        """Return those of the resources that may hold the word."""
        spans = (self._spans[bisect_right(self._starts, start) - 1] for start in starts)
        return frozenset(start for start, end in spans if mentions(self._text, start, end, word))

    def _spelled(self) -> frozenset[int]:
        """Return where the resources begin in which a word may be spelled in another way: with escapes, by a tag."""
        if b"" not in self._naming:
            self._naming[b""] = frozenset((*self._holding(b"\\"), *self._holding(b"!")))
        return self._naming[b""]

    def _holding(self, word: bytes) -> Iterator[int]:
        """Yield where each resource begins whose bytes hold `word`."""
        at = self._text.find(word, self._starts[0]) if self._starts else -1
        while at >= 0:
            start, end = self._spans[bisect_right(self._starts, at) - 1]
            if at < end:
                yield start
            at = self._text.find(word, max(at + 1, end))


def mentions(text: bytes, start: int, end: int, word: bytes) -> bool:
    """Return False when `word` is surely not in the data of the resource text[start:end].

    True is no proof: it may stand in a comment. JSON may escape a slash, so escapes are read everywhere.
    """
    if text.find(word, start, end) >= 0:
        return True
    if text.find(b"\\", start, end) < 0 and text.find(b"!", start, end) < 0:
        return False  # nothing is spelled in another way
    from .escapes import may_hold

    return may_hold(text[start:end], word)
