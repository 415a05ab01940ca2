"""Match the entries of a new list with those of the old one, so that comments follow their entries."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from ..typed import Any, NamedTuple

__all__ = ["MERGE_KEYS", "Known", "Lists", "collections", "match_entries", "share", "text_of"]

MERGE_KEYS = ("name", "key", "containerPort", "mountPath", "devicePath", "topologyKey", "port", "ip", "type")
"""The fields by which Kubernetes' lists are merged (k8s.io/api, patchMergeKey), the usual ones first."""
_MOST_COMPARED = 50
"""How many old entries that have one and the same part are compared with a new one that has it, too."""


_Part = tuple[Any, str]
"""A part of a collection as text, and its key; None in a list."""


class Known(NamedTuple):
    """A collection that a function was lent, and may have changed in place, or a copy of it."""

    origin: Any
    """The collection that was read from the text."""
    entries: Any
    """What that held."""
    value: Any
    """The collection, or its copy."""
    renamed: Mapping[str, str] = MappingProxyType({})
    """The keys that got another name, with the one that they have in the text."""
    source: Any = None
    """The text that it came from, a `lent.Source`, where that is another one than the edited one's."""


Lists = Mapping[int, Known]
"""What is known of collections, by their ids."""


def collections(value: Any) -> Iterator[tuple[int, Known]]:
    """Yield the id of each collection in a value, with what is known of it."""
    stack = [value]  # no recursion: each item that is changed is walked
    while stack:
        value = stack.pop()
        yield id(value), Known(value, value.copy(), value)
        parts = value.values() if type(value) is dict else value
        stack += [part for part in parts if type(part) is dict or type(part) is list]


def match_entries(old: list[Any], new: list[Any], lists: Lists | None = None) -> list[int | None]:
    """Return for each new entry the index of the old one, None for an added one.

    Entries match when they are the same object in `lists`, else by their merge key where all have one, else by their
    value; then collections by what they share. One that is left over behind a matched neighbour takes the place of
    the old entry there.
    """
    lists = lists or {}
    known = lists.get(id(new))
    entries = known.entries if known and known.value is new else ()
    places = {id(entry): at for at, entry in enumerate(entries) if isinstance(entry, (dict, list))}
    is_own = bool(entries) and len(entries) == len(old)
    matches = [places.get(id(lists[id(entry)].origin)) if is_own and id(entry) in lists else None for entry in new]
    strange = {at for at, match in enumerate(matches) if is_own and match is None and id(new[at]) in lists}
    gone = {*range(len(old))} - {*matches}
    for before_names, after_names in _names(old, new) if gone and None in matches else ():
        _match_names(before_names, after_names, matches, gone)
    others = [at for at, entry in enumerate(new) if matches[at] is None and isinstance(entry, (dict, list))]
    holders = _holders(old, gone) if gone and others else {}
    for at in others if gone else ():
        if (match := _nearest(new[at], old, gone, holders)) is not None:
            matches[at] = match
            gone.discard(match)
    for at, match in enumerate(matches):
        before = matches[at - 1] if at else -1
        if at in strange:  # it came from elsewhere with its own text, so it takes nobody's place
            continue
        if match is None and before is not None and before + 1 in gone and _may_match(old[before + 1], new[at]):
            matches[at] = before + 1
            gone.discard(before + 1)
    return matches


def _match_names(before: list[str], after: list[str], matches: list[int | None], gone: set[int]) -> None:
    """Add to `matches` the old entries in `gone` that have the names of new ones, and take them out of `gone`.

    Of equal ones that stays which is in its old place.
    """
    for at in [*gone] if len(before) == len(after) else ():
        if matches[at] is None and before[at] == after[at]:
            matches[at] = at
            gone.discard(at)
    named: dict[str, list[int]] = {}
    for at in sorted(gone):
        named.setdefault(before[at], []).append(at)
    for at, name in enumerate(after):
        if matches[at] is None and named.get(name):
            match = named[name].pop(0)
            matches[at] = match
            gone.discard(match)


def _holders(old: list[Any], gone: set[int]) -> dict[_Part, list[int]]:
    """Return the old collections that have a part, by the part."""
    holders: dict[_Part, list[int]] = {}
    for at in sorted(gone):
        for part in _parts(old[at]):
            holders.setdefault(part, []).append(at)
    return holders


def _parts(value: Any) -> set[_Part]:
    """Return the parts of a collection by which it is compared with others, each with its key in a mapping."""
    if isinstance(value, dict):
        return {(key, text_of(part)) for key, part in value.items()}
    return {(None, text_of(part)) for part in value} if isinstance(value, list) else set()


def _nearest(entry: Any, old: list[Any], gone: set[int], holders: dict[_Part, list[int]]) -> int | None:
    """Return the old entry that has most in common with a new collection; None when none has anything.

    Compared are the first few of those that share a part with it, for each part: otherwise each new entry of a long
    list would be compared with each old one.
    """
    candidates = set[int]()
    for part in _parts(entry):
        if part in holders:
            candidates.update(_first(holders, part, gone))
    shares = {at: share(old[at], entry) for at in sorted(candidates)}
    best = max(shares, key=lambda at: shares[at], default=None)
    return best if best is not None and shares[best] else None


def _first(holders: dict[_Part, list[int]], part: _Part, gone: set[int]) -> list[int]:
    """Return the first holders of a part that are not matched yet; the others are forgotten where they are many."""
    first, passed = list[int](), 0
    for at in holders[part]:
        if at in gone:
            first.append(at)
        else:
            passed += 1
        if len(first) == _MOST_COMPARED:
            break
    if passed > _MOST_COMPARED:
        holders[part] = [at for at in holders[part] if at in gone]
    return first


def share(old: Any, new: Any) -> int:
    """Return how many parts two mappings, or two lists, have in common; of mappings with other names none."""
    if isinstance(old, dict) and isinstance(new, dict) and not {*old} & {*new} & {*MERGE_KEYS}:
        return sum(key in new and text_of(new[key]) == text_of(value) for key, value in old.items())
    if isinstance(old, list) and isinstance(new, list):
        return len({*map(text_of, old)} & {*map(text_of, new)})
    return 0


def _may_match(old: Any, new: Any) -> bool:
    """Return False for two mappings with different names and no equal value: then one replaced the other."""
    if isinstance(old, (dict, list)) + isinstance(new, (dict, list)) and type(old) is not type(new):
        return False
    if not (isinstance(old, dict) and isinstance(new, dict)) or not {*old} & {*new} & {*MERGE_KEYS}:
        return True
    return any(key in new and text_of(new[key]) == text_of(value) for key, value in old.items())


def _names(old: list[Any], new: list[Any]) -> list[tuple[list[str], list[str]]]:
    """Return the names of the old and the new entries: a merge key that no two old ones share, else their values.

    Where new entries share a merge key, the values come first and the key second.
    """
    shared = []
    if all(isinstance(entry, dict) for entry in (*old, *new)):
        for key in MERGE_KEYS:
            names = [text_of(entry.get(key)) for entry in old], [text_of(entry.get(key)) for entry in new]
            known = [name for name in names[1] if name != "null"]
            if known and "null" not in names[0] and len({*names[0]}) == len(old):
                if len({*known}) == len(known):
                    return [names]
                shared.append(names)
    return [(list(map(text_of, old)), list(map(text_of, new))), *shared[:1]]


def text_of(value: Any) -> str:
    """Return a text that is equal for equal values."""
    if isinstance(value, str):  # a plain date, too, which is another string to Kubernetes than to JSON
        return f"'{value}"
    import json  # here: most edits match no entries, and loading it takes a tenth of an empty process

    return json.dumps(value, sort_keys=True, default=str)
