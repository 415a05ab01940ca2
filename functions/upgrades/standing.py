"""Where an ordered upgrade stands on a cluster, by a dump of it: which nodes have gone over to the new version."""

from collections.abc import Iterable

from krmfn import KrmfnError
from krmfn.typed import NamedTuple

from ..exclusivity.node import Node
from ..fleet.drivers import Driver
from ..fleet.live import Live
from ..fleet.moves import Side
from ..kmm.lookup import table, text
from ..kmm.module import version_ready_label


class Standing(NamedTuple):
    """The nodes of an upgrade that has begun; none where it has not, or where that is not known."""

    is_begun: bool = False
    """Whether the Module on the cluster has the new version."""
    done: tuple[str, ...] = ()
    """The nodes that run the new version."""
    moved: tuple[str, ...] = ()
    """The nodes that have its label and do not run it yet."""


def standing(live: Live | None, old: Driver, new: Driver, nodes: Iterable[Node], side: Side) -> Standing:
    """Return where the upgrade stands; `side` is the cluster after the change.

    Raises KrmfnError when the Module on the cluster has neither of the two versions.
    """
    name = new.module.ref.namespace, new.module.ref.name
    module = live.objects.modules.get(name) if live else None
    if live is None or module is None or "spec" not in module:
        return Standing()
    version = text(table(module, "spec", "moduleLoader", "container"), "version")
    if version == old.module.version:
        return Standing()
    if version != new.module.version:
        present = f"version {version}" if version else "no version"
        versions = f"neither {old.module.version} nor {new.module.version}"
        raise KrmfnError(
            f"no plan: {new.ref} has {present} on the cluster, {versions}; compare with what is synced there"
        )
    selected = [node for node in nodes if side.view((node.name, node.cluster), new.ref.id).is_selected]
    moved = [node for node in selected if node.labels.get(new.version_label) == new.module.version]
    done = {node.name for node in moved if _runs(live, new, node, side)}
    names = sorted(node.name for node in moved)
    return Standing(True, tuple(n for n in names if n in done), tuple(n for n in names if n not in done))


def _runs(live: Live, new: Driver, node: Node, side: Side) -> bool:
    """Return whether a node runs the new version: by what KMM has loaded there, else by its label for that."""
    if live.configured:
        loaded = live.loaded.get((node.name, new.module.ref.namespace, new.module.ref.name))
        entry = side.view((node.name, node.cluster), new.ref.id).entry
        is_there = loaded is not None and entry is not None and loaded.image == entry["containerImage"]
        return is_there and new.ready in node.labels
    return node.labels.get(version_ready_label(*new.module.ref[2:])) == new.module.version
