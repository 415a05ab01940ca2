"""Where two values of YAML differ, field by field, as Kubernetes compares them."""

from collections.abc import Iterator
from itertools import zip_longest

from krmfn.resource import join
from krmfn.typed import Any, NamedTuple

Part = str | int


ABSENT: Any = object()
"""The value of a field that is not there; null is a value."""


class FieldChange(NamedTuple):
    """A field with another value: `parts` are its keys and indexes (`name=driver` for an entry with that name)."""

    parts: tuple[Part, ...]
    old: Any
    new: Any

    @property
    def path(self) -> str:
        """Return the field's path: `spec.template.spec.containers[name=driver].image`."""
        return join(self.parts)


def differences(old: Any, new: Any, parts: tuple[Part, ...] = ()) -> Iterator[FieldChange]:
    """Yield the innermost fields in which two values differ; keys in the new value's order."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*new, *(key for key in old if key not in new)]:
            yield from differences(old.get(key, ABSENT), new.get(key, ABSENT), (*parts, key))
    elif isinstance(old, list) and isinstance(new, list):
        yield from _in_lists(old, new, parts)
    elif old != new or isinstance(old, bool) != isinstance(new, bool):  # true is not 1 to Kubernetes, but 1.0 is
        yield FieldChange(parts, old, new)


def _in_lists(old: list[Any], new: list[Any], parts: tuple[Part, ...]) -> Iterator[FieldChange]:
    """Yield the changes of a list: named entries match by name, others by position between equal starts and ends."""
    before, after = _by_name(old), _by_name(new)
    if before and after:
        yield from differences(before, after, parts)
        if [name for name in before if name in after] != [name for name in after if name in before]:
            yield FieldChange(parts, *([entry["name"] for entry in entries] for entries in (old, new)))
        return
    start = _equal_start(old, new)
    end = _equal_start(old[start:][::-1], new[start:][::-1])
    pairs = zip_longest(old[start : len(old) - end], new[start : len(new) - end], fillvalue=ABSENT)
    for index, pair in enumerate(pairs, start):
        yield from differences(*pair, (*parts, index))


def _by_name(entries: list[Any]) -> dict[str, Any]:
    """Return the entries by `name=...`; {} unless each is a mapping with a name of its own."""
    named = {f"name={entry['name']}": entry for entry in entries if isinstance(entry, dict) and "name" in entry}
    return named if len(named) == len(entries) else {}


def _equal_start(old: list[Any], new: list[Any]) -> int:
    """Return how many equal entries the two lists begin with."""
    pairs = enumerate(zip(old, new, strict=False))
    return next((index for index, pair in pairs if not _is_same(*pair)), min(len(old), len(new)))


def _is_same(old: Any, new: Any) -> bool:
    """Return whether two values have no differences.

    Were it asked of `differences`, each level of a nested list would compare the next one several times.
    """
    if isinstance(old, dict) and isinstance(new, dict):
        return old.keys() == new.keys() and all(_is_same(old[key], new[key]) for key in old)
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(_is_same, old, new))
    return bool(old == new) and isinstance(old, bool) == isinstance(new, bool)
