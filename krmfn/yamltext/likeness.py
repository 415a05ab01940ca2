"""Collections that moved and were edited at once: each is known by what it shares with one that went."""

from collections.abc import Iterator

from ..typed import Any
from . import align, origins
from .candidates import Place, places_below
from .origins import Origin
from .replaced import Gone
from .replaced import parts as _all

__all__ = ["alike"]

_MOST = 100
"""How many values that came are compared, one by one, with those that went."""


def alike(
    walk: Any, gone: list[Gone], fresh: list[Place], matches: dict[tuple[int, Any], Origin], used: set[int]
) -> Iterator[tuple[tuple[int, Any], Origin]]:
    """Yield where collections stood that were edited, too: by what they share with one that went.

    `matches` are those that are known, `used` the nodes of what is known.
    """
    parts = (inner for part in gone for inner in _all(part) if isinstance(inner.origin.old, (dict, list)))
    candidates = [part for part in parts if id(part.origin.node) not in used][:_MOST]
    outer, places = dict[int, Origin](), [*places_below(fresh)][:_MOST]
    holders = {id(data[name]): (id(data), name) for data, name in places}
    for data, name in places:
        is_new = (id(data), name) not in matches and walk.known(data[name]) is None
        if is_new and (best := _nearest(data[name], candidates)):
            candidates.remove(best)
            outer[id(data[name])] = best.origin
            around = _around(best, candidates) if len(data) == 1 and best.name == name else None
            if around and id(data) in holders and id(data) not in outer and walk.known(data) is None:
                candidates.remove(around)
                outer[id(data)] = around.origin
                yield holders[id(data)], around.origin
            if not (id(data) in outer and _is_at_its_place(best.origin, outer[id(data)], (data, name))):
                yield (id(data), name), best.origin


def _around(gone: Gone, candidates: list[Gone]) -> Gone | None:
    """Return the mapping that went with nothing but a value in it: where that value is, under its key, it is, too."""
    mappings = (part for part in candidates if part.origin.node.id == "mapping" and len(part.origin.node.value) == 1)
    return next((part for part in mappings if part.origin.node.value[0][1] is gone.origin.node), None)


def _is_at_its_place(origin: Origin, above: Origin, place: Place) -> bool:
    """Return True for a part of a collection that moved, as it was a part of that before."""
    (data, name), parts = place, dict(origins.parts_of(above.walk, above.node, above.old))
    former = align.match_entries(above.old, data)[name] if isinstance(data, list) else name
    return former in parts and parts[former].node is origin.node


def _nearest(value: Any, gone: list[Gone]) -> Gone | None:
    """Return which that went shares most with a new one, at least a third (of scalars half); None for none."""
    shares = [(align.share(part.origin.old, value), part) for part in gone]
    best = max(shares, key=lambda pair: pair[0], default=None)
    parts = best[1].origin.old if best else ()
    least = 3 if any(isinstance(part, (dict, list)) for part in _inner_values(parts)) else 2
    return best[1] if best and least * best[0] >= max(len(parts), 1) else None


def _inner_values(value: Any) -> Iterator[Any]:
    yield from value.values() if isinstance(value, dict) else value
