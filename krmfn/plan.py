"""Changes on a cluster when one list of manifests takes the place of another. Pure: lists in, changes out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import Any, Literal, NamedTuple

from .fieldpath import join
from .resource import Manifest, Ref, ref

Part = str | int


class Absent(Enum):
    """The value of a field that is not there; null is a value."""

    ABSENT = "absent"


ABSENT = Absent.ABSENT
_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


class FieldChange(NamedTuple):
    """A field with another value: `parts` are its keys and indexes (`name=driver` for an entry with that name)."""

    parts: tuple[Part, ...]
    old: Any
    new: Any

    @property
    def path(self) -> str:
        """Return the field's path: `spec.template.spec.containers[name=driver].image`."""
        return join(self.parts)


class Change(NamedTuple):
    """An object that is created, changed or deleted."""

    what: Literal["created", "changed", "deleted"]
    ref: Ref
    """The new object's reference; the old one's when it is deleted."""
    old: Manifest | None
    new: Manifest | None
    fields: tuple[FieldChange, ...] = ()


class Plan(NamedTuple):
    """Two lists of manifests and what leads from one to the other."""

    old: Sequence[Manifest]
    new: Sequence[Manifest]
    changes: tuple[Change, ...]
    unchanged: int


def plan(old: Sequence[Manifest], new: Sequence[Manifest]) -> Plan:
    """Return the changes in the order of the new list, then what is deleted, in the order of the old one.

    Objects are matched by group, kind, namespace and name; those that share all four (a generateName) in their order.
    """
    before, after = _by_id(old), _by_id(new)
    changes: list[Change] = []
    unchanged = 0
    for key, manifest in after.items():
        former = before.get(key)
        if former is None:
            changes.append(Change("created", ref(manifest), None, manifest))
        elif fields := tuple(differences(former, manifest)):
            changes.append(Change("changed", ref(manifest), former, manifest, fields))
        else:
            unchanged += 1
    gone = (manifest for key, manifest in before.items() if key not in after)
    changes += (Change("deleted", ref(manifest), manifest, None) for manifest in gone)
    return Plan(old, new, tuple(map(_redacted, changes)), unchanged)


def differences(old: Any, new: Any, parts: tuple[Part, ...] = ()) -> Iterator[FieldChange]:
    """Yield the innermost fields in which two values differ; keys in the new value's order."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*new, *(key for key in old if key not in new)]:
            yield from differences(old.get(key, ABSENT), new.get(key, ABSENT), (*parts, key))
    elif isinstance(old, list) and isinstance(new, list):
        yield from _in_lists(old, new, parts)
    elif not same(old, new):
        yield FieldChange(parts, old, new)


def same(old: Any, new: Any) -> bool:
    """Return True when two values are equal to Kubernetes: true is not 1, as it is in Python, but 1.0 is."""
    if isinstance(old, dict) and isinstance(new, dict):
        return old.keys() == new.keys() and all(same(value, new[key]) for key, value in old.items())
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(same, old, new))
    return bool(old == new) and isinstance(old, bool) == isinstance(new, bool)


def _in_lists(old: list[Any], new: list[Any], parts: tuple[Part, ...]) -> Iterator[FieldChange]:
    """Yield the changes of a list: named entries match by name, others by position between equal starts and ends."""
    before, after = _by_name(old), _by_name(new)
    if before and after:
        yield from differences(before, after, parts)
        orders = [[name for name in one if name in other] for one, other in ((before, after), (after, before))]
        if orders[0] != orders[1]:
            yield FieldChange(parts, *([entry["name"] for entry in entries] for entries in (old, new)))
        return
    start = _shared(old, new)
    end = _shared(old[start:][::-1], new[start:][::-1])
    left, right = old[start : len(old) - end], new[start : len(new) - end]
    for index in range(max(len(left), len(right))):
        one, other = (entries[index] if index < len(entries) else ABSENT for entries in (left, right))
        yield from differences(one, other, (*parts, start + index))


def _by_name(entries: list[Any]) -> dict[str, Any]:
    """Return the entries by `name=...`; {} unless each is a mapping with a name of its own."""
    named = {f"name={entry['name']}": entry for entry in entries if isinstance(entry, dict) and "name" in entry}
    return named if len(named) == len(entries) else {}


def _shared(one: list[Any], other: list[Any]) -> int:
    """Return how many equal entries the two lists begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (left, right) in pairs if not same(left, right)), min(len(one), len(other)))


def _by_id(manifests: Iterable[Manifest]) -> dict[tuple[object, int], Manifest]:
    seen: Counter[object] = Counter()
    numbered: dict[tuple[object, int], Manifest] = {}
    for manifest in manifests:
        key = ref(manifest).id
        numbered[key, seen[key]] = manifest
        seen[key] += 1
    return numbered


def _redacted(change: Change) -> Change:
    """Return the change with a Secret's values as stars, since plans are posted where others read them."""
    if (change.ref.group, change.ref.kind) != ("", "Secret"):
        return change
    fields = tuple(
        FieldChange(
            field.parts, _hidden(field.old, field.parts, "*** (before)"), _hidden(field.new, field.parts, "*** (after)")
        )
        for field in change.fields
    )
    return change._replace(old=_hidden(change.old), new=_hidden(change.new), fields=fields)


def _hidden(value: Any, parts: tuple[Part, ...] = (), stars: str = "***") -> Any:
    if isinstance(value, dict):
        return {key: _hidden(child, (*parts, key), stars) for key, child in value.items()}
    secret = parts[:1] in (("data",), ("stringData",)) or parts[:3] == ("metadata", "annotations", _APPLIED)
    return stars if secret and value is not ABSENT else value
