"""What a change does by taking the config of an operator away: its findings, and the nodes that lose a driver."""

from collections.abc import Iterator, Sequence

from krmfn import ResourceList, Result

from ..adoption.leaving import Leaving
from ..finding import Locate
from ..kmm.module import MODULE_KINDS
from ..plan import Effect
from ..rendering import function_config
from ..sentence import named
from ..sources import Sources
from ..upgrades import known_nodes


def findings(leavers: Sequence[Leaving], new: ResourceList, sources: Sources, located: Locate) -> list[Result]:
    """Return an error per config that leaves, at its line in the new list, else in the old one.

    `located` gives a finding about the old side its place.
    """
    inputs = {item.ref.id: item for item in new.items}
    results = list[Result]()
    for leaver in leavers:
        item = inputs.get(leaver.config.ref.id)
        finding = (item or leaver.config).located(leaver.finding)
        results += sources.placed([finding]) if item else map(located, sources.placed([finding]))
    return results


def lost(leavers: Sequence[Leaving], new: ResourceList) -> Iterator[Effect]:
    """Yield an effect per Module that the garbage collector deletes, where the nodes that it drives are known."""
    modules = [(ref, leaver) for leaver in leavers for ref in leaver.objects if (ref.group, ref.kind) in MODULE_KINDS]
    if not modules:
        return
    config, _ = function_config.read(new)
    nodes_of = known_nodes.nodes(new, config)
    for ref, leaver in modules:
        if nodes := tuple(nodes_of.get(ref.id, ())):
            reason = f"the cluster deletes it with {leaver.config.ref}"
            yield Effect(ref, "lost", nodes, ("lost by ", named(nodes), f": {reason}"), reason)
