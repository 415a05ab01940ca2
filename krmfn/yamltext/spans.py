"""Parts of a text, and whether a place is in one of them: thousands may be asked about thousands."""

from bisect import bisect_left, bisect_right

__all__ = ["Spans"]


class Spans:
    """Parts of a text as numbers of characters, each from its start to before its end; those that meet are one."""

    __slots__ = ("_ends", "_starts")

    def __init__(self) -> None:
        """Begin without a part."""
        self._starts: list[int] = []
        self._ends: list[int] = []

    def add(self, start: int, end: int) -> None:
        """Add a part."""
        if start >= end:
            return
        first = bisect_left(self._ends, start)
        last = bisect_right(self._starts, end)
        if first < last:
            start, end = min(start, self._starts[first]), max(end, self._ends[last - 1])
        self._starts[first:last], self._ends[first:last] = [start], [end]

    def __contains__(self, place: int) -> bool:
        """Return True for a place in one of the parts."""
        at = bisect_right(self._starts, place) - 1
        return at >= 0 and place < self._ends[at]
