"""Values that moved and were built anew meanwhile, by pydantic, JSON or hand: each is known by what it holds.

What an edit takes away at one place and puts in at another one is taken for moved when it is the same: with the same
data, and for a number, a boolean or one character the only such value there. A mapping or list that was renamed or
moved and edited at once is known by what it shares with one that went.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import chain

from ..resource import same
from ..typed import Any
from . import alias_comments, align, inline, origins, replaced
from .candidates import Candidates
from .origins import Origin
from .replaced import Gone, Written
from .replaced import parts as _all

__all__ = ["origins_of", "went"]

_Place = tuple[Any, Any]
"""A collection of the new data, and a key or an index in it."""
_MOST = 100
"""How many values that came are compared, one by one, with those that went."""


def origins_of(walk: Any) -> dict[tuple[int, Any], Origin]:
    """Return where values stood that an edit moved, by the identities of their new collections, and their names."""
    if not _has_gone(walk.old, walk.new):  # as in nearly every edit
        return {}
    changes = _Changes(walk)
    changes.compare(walk.root, walk.old, walk.new)
    walk.gone += changes.gone
    if not changes.gone or not (changes.fresh or changes.written):
        alias_comments.refuse(walk.root, changes.aliases, changes.unmatched({}))
        return {}
    matches = changes.equal()
    matches.update(changes.alike(matches))
    onto = replaced.moved_onto(walk, changes.written, changes.gone, changes.is_free)
    walk.replaced.update(onto)
    changes.note_aliases_within()
    alias_comments.refuse(walk.root, changes.aliases, changes.unmatched(matches | onto))
    return matches | onto


def went(gone: list[Gone]) -> dict[int, Origin]:
    """Return where all stood that went, by the identities of the nodes."""
    return {id(part.origin.node): part.origin for part in chain.from_iterable(map(_all, gone))}


def _has_gone(old: Any, new: Any) -> bool:
    """Return False where nothing went from its place: values were written, and keys were added."""
    is_list = isinstance(old, list)
    if is_list and isinstance(new, list) and len(old) == len(new):
        pairs = zip(old, new, strict=True)
    elif isinstance(old, dict) and isinstance(new, dict) and old.keys() <= new.keys():
        pairs = zip(old.values(), map(new.get, old), strict=True)
    else:
        return isinstance(old, (dict, list)) or isinstance(new, (dict, list))
    for part, now in pairs:  # a loop: every item that is edited is walked
        if isinstance(part, (dict, list)) or isinstance(now, (dict, list)):
            if _has_gone(part, now):
                return True
        elif is_list and (type(part) is not type(now) or part != now):  # one may have taken another's place
            return True
    return False


class _Changes:
    """What went from its place, and what has come, in an edit."""

    def __init__(self, walk: Any) -> None:
        self.walk = walk
        self.gone: list[Gone] = []
        self.fresh: list[_Place] = []
        self.written: list[Written] = []
        self.aliases: list[alias_comments.Lost] = []
        self.used: set[int] = set()
        """The nodes whose values have been found, by their identities."""

    def compare(self, node: Any, old: Any, new: Any) -> None:
        """Collect both below a node with its old and its new data."""
        if same(old, new) or id(node) in self.walk.shared:
            return
        pairs: list[tuple[Origin, Any, Any]] = []
        parts = dict(origins.parts_of(self.walk, node, old))
        if node.id == "mapping" and isinstance(old, dict) and isinstance(new, dict):
            renamed = inline.respelled(node, new) | inline.renamed({*parts}, new, self.walk.lists)
            names = {name: renamed.get(name, name) for name in parts}
            for name, part in parts.items():
                if names[name] in new:
                    pairs.append((part, new, names[name]))
                else:
                    self.note_gone(part, name, new)
            self.note_fresh((new, name) for name in new if name not in names.values() and name not in old)
            self.aliases += alias_comments.of_gone(self.walk, node, old, new, ())
        elif node.id == "sequence" and isinstance(old, list) and isinstance(new, list):
            matches = align.match_entries(old, new, self.walk.lists)
            for part in (part for at, part in parts.items() if at not in matches):
                self.note_gone(part, None, new)
            self.note_fresh((new, at) for at, match in enumerate(matches) if match is None)
            self.aliases += alias_comments.of_gone(self.walk, node, old, new, {*matches})
            pairs += [(parts[match], new, at) for at, match in enumerate(matches) if match in parts]
        for part, data, name in pairs:
            known = self.walk.known(data[name])
            if _is_other(part.old, data[name]) and not (known and known.node is part.node):
                self.note_gone(part._replace(has_left_key=True), name if part.key else None, data)
                self.note_fresh([(data, name)])
            elif not same(part.old, data[name]):
                if align.text_of(part.old) != align.text_of(data[name]):  # else JSON made a date a string
                    self.written.append(Written(part, data, name))
                self.compare(part.node, part.old, data[name])

    def is_free(self, gone: Gone) -> bool:
        """Return True for what went where nothing is known yet of where it stands."""
        return id(gone.origin.node) not in self.used

    def note_gone(self, part: Origin, name: Any, holder: Any) -> None:
        """Note what is not in a collection any more."""
        self.gone.append(Gone(part, name, id(holder)))
        self.used.difference_update(id(inner.origin.node) for inner in _all(self.gone[-1]))

    def note_fresh(self, places: Iterator[_Place] | list[_Place]) -> None:
        """Note what has come; what is known by its identity may have been edited."""
        for data, name in places:
            known = self.walk.known(data[name])
            if known is None:
                self.fresh.append((data, name))
            elif known.walk is self.walk and id(known.node) not in self.used:
                self.used.update(id(part.origin.node) for part in _all(Gone(known, None, 0)))
                self.compare(known.node, known.old, data[name])

    def note_aliases_within(self) -> None:
        """Note the comments of aliases in what went and has not been found elsewhere."""
        for part in self.gone:
            self.aliases += alias_comments.within(self.walk, part.origin.node, part.origin.old, self.used)

    def unmatched(self, matches: dict[tuple[int, Any], Origin]) -> Iterator[Any]:
        """Yield the values that have come and are not known to have moved, with those in them."""
        written = ((part.data, part.name) for part in self.written if not isinstance(part.value, (dict, list)))
        stack = [*self.fresh, *written] if self.aliases else []
        while stack:
            data, name = stack.pop()
            if (id(data), name) not in matches:
                yield data[name]
                stack += _inner(data[name])

    def equal(self) -> dict[tuple[int, Any], Origin]:
        """Return where what has come stood, for what has the data of something that went."""
        gone = [part for part in self.gone if id(part.origin.node) not in self.used]
        candidates = Candidates(filter(_may_move, chain.from_iterable(map(_all, gone))), self.used)
        counts = Counter(align.text_of(data[name]) for data, name in _places(self.fresh))
        matches: dict[tuple[int, Any], Origin] = {}
        stack, scalars = self.fresh[::-1], list[_Place]()
        while stack:
            data, name = stack.pop()
            value = data[name]
            match = candidates.sure((data, name))
            if not match and not (isinstance(value, (dict, list)) and value):
                scalars.append((data, name))  # another one may have its old key
            elif match := match or candidates.rest((data, name), counts[align.text_of(value)]):
                matches[id(data), name] = self._used(match)
            else:
                stack += [*_inner(value)][::-1]
        counts = Counter(align.text_of(data[name]) for data, name in scalars)
        for data, name in scalars:
            if match := candidates.rest((data, name), counts[align.text_of(data[name])]):
                matches[id(data), name] = self._used(match)
        return matches

    def _used(self, gone: Gone) -> Origin:
        """Return where a value stood that has been found; it is nobody else's."""
        self.used.update(id(part.origin.node) for part in _all(gone))
        return gone.origin

    def alike(self, matches: dict[tuple[int, Any], Origin]) -> Iterator[tuple[tuple[int, Any], Origin]]:
        """Yield where collections stood that were edited, too: by what they share with one that went."""
        parts = (inner for part in self.gone for inner in _all(part) if isinstance(inner.origin.old, (dict, list)))
        candidates = [part for part in parts if id(part.origin.node) not in self.used][:_MOST]
        outer, places = dict[int, Origin](), [*_places(self.fresh)][:_MOST]
        holders = {id(data[name]): (id(data), name) for data, name in places}
        for data, name in places:
            is_new = (id(data), name) not in matches and self.walk.known(data[name]) is None
            if is_new and (best := _nearest(data[name], candidates)):
                candidates.remove(best)
                outer[id(data[name])] = best.origin
                around = _around(best, candidates) if len(data) == 1 and best.name == name else None
                if around and id(data) in holders and id(data) not in outer and self.walk.known(data) is None:
                    candidates.remove(around)
                    outer[id(data)] = around.origin
                    yield holders[id(data)], around.origin
                if not (id(data) in outer and _is_at_its_place(best.origin, outer[id(data)], (data, name))):
                    yield (id(data), name), best.origin


def _around(gone: Gone, candidates: list[Gone]) -> Gone | None:
    """Return the mapping that went with nothing but a value in it: where that value is, under its key, it is, too."""
    mappings = (part for part in candidates if part.origin.node.id == "mapping" and len(part.origin.node.value) == 1)
    return next((part for part in mappings if part.origin.node.value[0][1] is gone.origin.node), None)


def _is_at_its_place(origin: Origin, above: Origin, place: _Place) -> bool:
    """Return True for a part of a collection that moved, as it was a part of that before."""
    (data, name), parts = place, dict(origins.parts_of(above.walk, above.node, above.old))
    former = align.match_entries(above.old, data)[name] if isinstance(data, list) else name
    return former in parts and parts[former].node is origin.node


def _may_move(gone: Gone) -> bool:
    """Return False for a word that went with what it was in, and has no comment: an equal boolean is a new one."""
    return bool(gone.holder or gone.origin.comments or not replaced.is_word(gone))


def _is_other(old: Any, new: Any) -> bool:
    """Return True for values of another kind, and for mappings without a common key."""
    if isinstance(old, dict) and isinstance(new, dict):
        return old.keys().isdisjoint(new)
    kinds = [type(value) if isinstance(value, (dict, list)) else None for value in (old, new)]
    return kinds[0] is not kinds[1]


def _inner(value: Any) -> Iterator[_Place]:
    if isinstance(value, (dict, list)):
        yield from ((value, name) for name in (value if isinstance(value, dict) else range(len(value))))


def _places(places: list[_Place]) -> Iterator[_Place]:
    """Yield some places and those below them, outer ones first."""
    stack = places[::-1]
    while stack:
        data, name = stack.pop()
        yield data, name
        stack += [*_inner(data[name])][::-1]


def _nearest(value: Any, gone: list[Gone]) -> Gone | None:
    """Return which that went shares most with a new one, at least a third (of scalars half); None for none."""
    shares = [(align.share(part.origin.old, value), part) for part in gone]
    best = max(shares, key=lambda pair: pair[0], default=None)
    parts = best[1].origin.old if best else ()
    least = 3 if any(isinstance(part, (dict, list)) for part in _inner_values(parts)) else 2
    return best[1] if best and least * best[0] >= max(len(parts), 1) else None


def _inner_values(value: Any) -> Iterator[Any]:
    yield from value.values() if isinstance(value, dict) else value
