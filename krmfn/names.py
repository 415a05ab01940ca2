"""The names of owners: whose an object is that carries one which somebody else has, or had, too."""

from collections import Counter
from collections.abc import Iterable

from .ownership import Id

__all__ = ["Names"]


class Names:
    """By which ids the owners of a kind are known: their own, and those that they had before kustomize renamed them.

    An id that an owner has now is no other's, though that had it before.
    """

    def __init__(self, owners: Iterable[tuple[Id, set[Id]]]) -> None:
        """Take the ids that owners have now, each with all by which it is known (see `known_as`)."""
        self.known: dict[Id, set[Id]] = {}
        """All by which an owner is known, others' own ids among them, by its id now."""
        for now, names in owners:  # a functionConfig may stand in the list, too
            self.known[now] = self.known.get(now, set()) | names
        self._counts = Counter(name for names in self.known.values() for name in names)

    def of(self, owner: Id, names: Iterable[Id] = ()) -> set[Id]:
        """Return those of its `names` that are an owner's, without any those of all by which it is known."""
        return {name for name in names or self.known[owner] if name == owner or name not in self.known}

    def is_shared(self, name: Id) -> bool:
        """Return True for an id that several owners have or had."""
        return self._counts[name] > 1
