"""What a sync would do on each node: the Modules as they run against those that Git renders."""

from collections.abc import Iterable, Mapping, Sequence

from krmfn import Ref, ResourceList
from krmfn.typed import NamedTuple

from ..kmm.module import MODULE_KINDS, ready_label
from ..rendering import function_config
from ..sentence import text
from ..upgrades import known_nodes, node_effects

_LOST, _RELOADED = ("lost", "blocked"), ("reloaded", "gained")
_UNKNOWN = ("unknown", "waiting")


class Nodes(NamedTuple):
    """The nodes by what happens to their drivers, each in one of the lists."""

    kept: tuple[str, ...]
    reloaded: tuple[str, ...]
    """The driver is loaded anew, or for the first time."""
    lost: tuple[str, ...]
    """The driver goes, or does not come."""
    unknown: tuple[str, ...]
    messages: tuple[str, ...]
    """What happens, in sentences."""
    doubt: str = ""
    """Why none of it is known; "" where it is."""


def judge(old: ResourceList, new: ResourceList) -> Nodes:
    """Return what happens when the new list takes the place of the old one."""
    effects, doubt = node_effects.effects(old, new)
    if doubt:
        return Nodes((), (), (), (), (), text(doubt.reason))
    words: dict[str, str] = {}
    for effect in effects:
        rank = _rank(effect.word)
        words.update({name: rank for name in effect.nodes if _worse(rank, words.get(name, ""))})
    for name in (*_planned(new), *_loaded(old, new)):
        words.setdefault(name, "kept")
    messages = tuple(f"{effect.ref}: {effect.message}" for effect in effects if effect.word != "kept")
    kept, reloaded, lost, unknown = (_with(words, word) for word in ("kept", "reloaded", "lost", "unknown"))
    return Nodes(kept, reloaded, lost, unknown, messages)


def _rank(word: str) -> str:
    """Return the list that an effect puts a node into."""
    if word in _LOST:
        return "lost"
    return "reloaded" if word in _RELOADED else "unknown" if word in _UNKNOWN else "kept"


def _worse(rank: str, other: str) -> bool:
    order = ("", "kept", "reloaded", "unknown", "lost")
    return order.index(rank) > order.index(other)


def _with(words: Mapping[str, str], word: str) -> tuple[str, ...]:
    return tuple(sorted(name for name, entry in words.items() if entry == word))


def _planned(resources: ResourceList) -> Iterable[str]:
    """Return the nodes that a Module of a list drives."""
    config, _ = function_config.read(resources)
    nodes_of = known_nodes.nodes(resources, config)
    refs: Sequence[Ref] = [item.ref for item in resources.items if (item.group, item.kind) in MODULE_KINDS]
    return sorted({name for ref in refs for name in nodes_of.get(ref.id, ())})


def _loaded(old: ResourceList, new: ResourceList) -> list[str]:
    """Return the nodes with the ready label of a Module on both sides: a tainted node keeps it, too."""
    sides = known_nodes.clusters(old, new)
    before = {item.ref.id for item in old.items}
    modules = [item.ref for item in new.items if (item.group, item.kind) in MODULE_KINDS and item.ref.id in before]
    keys = {ready_label(*module[2:]) for module in modules}
    return [node.name for node in sides[1].fleet.nodes if keys & node.labels.keys()] if sides else []
