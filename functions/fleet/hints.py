"""Hints about a selector that selects no node: which of its labels is at fault, and what may have been meant."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from functools import cached_property

from krmfn.counts import SHOWN, some

from .drivers import Driver
from .nodes import Fleet

_COMPARED = 100_000
"""How many words are compared, at most, to say which one was meant: of thousands of selectors the first get a hint."""


class Hints:
    """The labels that nodes have, as far as selectors without nodes are about them, and the hints that follow."""

    def __init__(self, fleet: Fleet, idle: Iterable[Driver]) -> None:
        self._nodes = fleet.nodes
        self._compared = 0
        self._shown: dict[str, list[str]] = {}
        self._values: defaultdict[str, Counter[str]] = defaultdict(Counter)
        """How many nodes have each value of each label."""
        wanted = {key for driver in idle for key in driver.selector}
        for node in self._nodes if wanted else ():
            labels = node.labels
            for key in wanted if len(wanted) < len(labels) else wanted & labels.keys():
                if key in labels:
                    self._values[key][labels[key]] += 1

    @cached_property
    def _keys(self) -> set[str]:
        return set[str]().union(*(node.labels for node in self._nodes))

    def about(self, driver: Driver) -> str:
        """Return which label of a selector is at fault, and what may have been meant; "" where nothing can be said."""
        for key, value in sorted(driver.selector.items()):
            values = self._values.get(key)
            if values is None:
                near = self._near(key, sorted(self._keys))
                return f": none has the label {key}" + (f"; did you mean {near}?" if near else "")
            if value not in values:
                near = self._near(value, values)
                meant = f"did you mean {near!r}?" if near else f"there are {some(self._usual(key), len(values))}"
                return f": none has {key} with the value {value!r}; {meant}"
        return ": each of its labels is on some node, but no node has all of them" if len(driver.selector) > 1 else ""

    def _near(self, word: str, known: Collection[str]) -> str:
        """Return the known word that is most like this one; "" without any, and when enough have been compared."""
        if self._compared > _COMPARED:
            return ""
        from difflib import get_close_matches

        self._compared += len(known)
        return next(iter(get_close_matches(word, known, 1)), "")

    def _usual(self, key: str) -> list[str]:
        """Return the values of a label that most nodes have, in quotes."""
        if key not in self._shown:
            self._shown[key] = [repr(name) for name, _ in self._values[key].most_common(SHOWN)]
        return self._shown[key]
