"""Values that moved and were built anew meanwhile, by pydantic, JSON or hand: each is known by what it holds.

What an edit takes away at one place and puts in at another one is taken for moved when it is the same: with the same
data, and for a number, a boolean or one character the only such value there. A mapping or list that was renamed or
moved and edited at once is known by what it shares with one that went (see `likeness`).
"""

from collections import Counter
from collections.abc import Iterator
from itertools import chain

from ..resource import same
from ..typed import Any
from . import alias_comments, align, inline, likeness, origins, replaced
from .candidates import Candidates, Place, places_below, places_in
from .origins import Origin
from .replaced import Gone, Written
from .replaced import parts as _all

__all__ = ["origins_of", "went"]


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
    matches = changes.equal(changes.gone, {})
    matches.update(likeness.alike(walk, changes.gone, changes.fresh, matches, changes.used))
    onto = replaced.moved_onto(walk, changes.written, changes.gone, changes.is_free)
    walk.replaced.update(onto)
    matches.update(onto)
    matches.update(changes.equal(changes.displaced(onto), matches))
    changes.note_aliases_within()
    alias_comments.refuse(walk.root, changes.aliases, changes.unmatched(matches))
    return matches


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
        self.fresh: list[Place] = []
        self.written: list[Written] = []
        self.aliases: list[alias_comments.Lost] = []
        self.used: set[int] = set()
        """The nodes whose values have been found, by their identities, and those below them."""
        self.identified: set[int] = set()
        """Those whose collections have been found by their identities."""

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
        self.used.difference_update(id(inner.origin.node) for inner in _all(self.gone[-1], self.identified))

    def note_fresh(self, places: Iterator[Place] | list[Place]) -> None:
        """Note what has come; what is known by its identity may have been edited."""
        for data, name in places:
            known = self.walk.known(data[name])
            if known is None:
                self.fresh.append((data, name))
            elif known.walk is self.walk and id(known.node) not in self.used:
                self.used.update(id(part.origin.node) for part in _all(Gone(known, None, 0)))
                self.identified.add(id(known.node))
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
                stack += places_in(data[name])

    def displaced(self, onto: dict[tuple[int, Any], Origin]) -> list[Gone]:
        """Return what stood where others moved `onto`, with their comments: it went, too, if none of these is it."""
        self.used.update(id(origin.node) for origin in onto.values())
        places = [place for place in self.written if (id(place.data), place.name) in onto]
        return [Gone(place.old, place.name if place.old.key else None, id(place.data)) for place in places]

    def equal(self, went: list[Gone], known: dict[tuple[int, Any], Origin]) -> dict[tuple[int, Any], Origin]:
        """Return where what has come stood, for what has the data of something that went; without the `known` ones."""
        gone = [part for part in went if id(part.origin.node) not in self.used]
        if not gone:
            return {}
        candidates = Candidates(filter(_may_move, chain.from_iterable(map(_all, gone))), self.used)
        counts = Counter(align.text_of(data[name]) for data, name in places_below(self.fresh))
        matches: dict[tuple[int, Any], Origin] = {}
        stack, scalars = self.fresh[::-1], list[Place]()
        while stack:
            data, name = stack.pop()
            if (id(data), name) in known:
                continue
            value = data[name]
            match = candidates.sure((data, name))
            if not match and not (isinstance(value, (dict, list)) and value):
                scalars.append((data, name))  # another one may have its old key
            elif match := match or candidates.rest((data, name), counts[align.text_of(value)]):
                matches[id(data), name] = self._used(match)
            else:
                stack += [*places_in(value)][::-1]
        counts = Counter(align.text_of(data[name]) for data, name in scalars)
        for data, name in scalars:
            if match := candidates.rest((data, name), counts[align.text_of(data[name])]):
                matches[id(data), name] = self._used(match)
        return matches

    def _used(self, gone: Gone) -> Origin:
        """Return where a value stood that has been found; it is nobody else's."""
        self.used.update(id(part.origin.node) for part in _all(gone))
        return gone.origin


def _may_move(gone: Gone) -> bool:
    """Return False for a word that went with what it was in, and has no comment: an equal boolean is a new one."""
    return bool(gone.holder or gone.origin.comments or not replaced.is_word(gone))


def _is_other(old: Any, new: Any) -> bool:
    """Return True for values of another kind, and for mappings without a common key."""
    if isinstance(old, dict) and isinstance(new, dict):
        return old.keys().isdisjoint(new)
    kinds = [type(value) if isinstance(value, (dict, list)) else None for value in (old, new)]
    return kinds[0] is not kinds[1]
