"""Live nodes (--live): the nodes of a dump replace those that are committed."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence, Set

from krmfn import Item, KrmfnError, Place, ResourceList, editing, warning
from krmfn.printing import counted, did_you_mean, some

from ..command import Context
from ..exclusivity.node import Node
from ..fleet import nodes
from ..fleet.live import Live
from ..kmm.lookup import table, text
from ..kmm.module import LABELS
from ..options import RunOptions
from ..paths import manifests
from ..rendering.kinds import CONFIG, NODES, of_kinds
from ..run import note
from . import contexts, dumps

Lists = Mapping[str, Sequence[ResourceList]]
"""The lists of each cluster by its name."""


def by_cluster(
    options: RunOptions, names: Sequence[str], read: Callable[[str, str], Live] = lambda _, source: dumps.read(source)
) -> dict[str, Live]:
    """Return the dump of each cluster that has one, from `DUMP` or `CLUSTER=DUMP`, or `[CLUSTER=]NAME` of --context.

    `read` takes the name of a cluster and that of its dump.
    Raises KrmfnError for a text that does not say which of several clusters it is for, for two dumps of one cluster,
    and for a dump or a context that cannot be read.
    """
    by_name: dict[str, Live] = {}
    pairs = [("--live", word) for word in options.live] + [("--context", word) for word in options.contexts]
    for option, word in pairs if names else ():
        name, sign, source = word.partition("=")
        metavar = "DUMP" if option == "--live" else "NAME"
        if not (sign and name in names):
            if len(names) > 1:
                close = did_you_mean(name, names if sign else ())
                hint = f"; {close}" if close else f": {some(names, len(names))}"
                expected = f"write {option} CLUSTER={metavar} with one of {len(names):,} clusters{hint}"
                raise KrmfnError(f"{option} {word}: {expected}")
            name, source = names[0], word
        if name in by_name:
            raise KrmfnError(f"{option} {word}: the cluster {name} has a dump already; dump it once")
        by_name[name] = read(name, source) if option == "--live" else contexts.of_options(source, options)
    return by_name


def replace(context: Context, name: str, lists: Sequence[ResourceList], dump: Live, clusters: Lists) -> None:
    """Replace the committed nodes in the lists of a cluster by those of a dump, which are put into the first list.

    `clusters` has the lists of the other clusters, too. Raises KrmfnError for a dump of another cluster: by the uid of
    the cluster, or where an inventory does not say it, when most of its nodes are not committed.
    """
    committed, is_same = _committed(lists), _is_same(name, lists, dump, clusters)
    for resources in lists:
        editing.leave_out(resources, of_kinds(resources.items, NODES))
        note(resources, crds=tuple(dump.objects.crds), kmm_version=dump.objects.kmm_version)
    dump.committed[name] = committed
    items = _items(dump)
    labels = {node.name: node.labels for node in nodes.read(ResourceList(items)).nodes}
    names = {*dump.nodes, *labels}
    if not is_same and committed:
        _refuse_strangers(name, names, committed.keys(), dump, clusters)
    for resources in lists:
        note(resources, live=dump)
    for resources in lists[:1]:
        resources.items.extend(items)
    replaced = f" in place of {len(committed):,} committed" if committed else ""
    context.log.findings(map(warning, dump.gaps))
    noun = "live node" if dump.nodes else "node"
    context.log.say(f"{name}: {counted(len(names), noun)}{replaced}")
    lost = sorted(
        f"{node.name} {key}={value}"
        for node in committed.values()
        for key, value in node.labels.items()
        if dump.nodes and labels.get(node.name, node.labels).get(key) != value and not key.startswith(LABELS)
    )
    if lost:
        context.log.say(f"{name}: committed, and not on the live node: {some(lost, len(lost))}")
    if committed and dump.nodes:
        _log_differences(context, name, names, committed.keys())


def _committed(lists: Iterable[ResourceList]) -> dict[str, Node]:
    """Return the nodes in some lists by their names."""
    items = [item for resources in lists for item in resources.items if (item.group, item.kind) in NODES]
    return {node.name: node for node in nodes.read(ResourceList(items)).nodes}


def _is_same(name: str, lists: Sequence[ResourceList], dump: Live, clusters: Lists) -> bool:
    """Return whether a dump is surely of a cluster: its inventory has the same uid.

    Raises KrmfnError for another uid.
    """
    uids = _uids(lists)
    if dump.uid and uids and dump.uid not in uids:
        owner = next((other for other, parts in clusters.items() if dump.uid in _uids(parts)), "")
        other = f"pass {dump.option} {owner}={dump.context or dump.name}"
        remedy = other if owner else f"pass a dump of {name}, or renew its inventory"
        known = f"the inventory of {name} has clusterUID {min(uids)}"
        raise KrmfnError(
            f"{dump.option}: the dump is of another cluster: its kube-system has the uid {dump.uid}, {known}; {remedy}"
        )
    return bool(dump.uid) and dump.uid in uids


def _refuse_strangers(name: str, names: Set[str], committed: Set[str], dump: Live, clusters: Lists) -> None:
    """Raise KrmfnError when most nodes of a dump, `names`, are not committed: they are those of another cluster."""
    strangers = names - committed
    if not _is_foreign(names, committed):
        return
    owner, is_part = _owner(strangers, clusters, name), len(strangers) < len(names)
    subject = f"{len(strangers):,} of" if is_part else "none of"
    predicate = f"{'are not' if is_part else 'is'} among the {len(committed):,} that are committed for {name}"
    remedy = "pass a dump of that cluster, or renew its inventory"
    if owner:
        remedy = f"they are nodes of {owner}: pass {dump.option} {owner}={dump.context or dump.name}"
    nodes_of_dump = f"{subject} the {counted(len(names), 'node')} of the dump"
    raise KrmfnError(f"{dump.option}: {nodes_of_dump} {predicate}; {remedy}")


def _is_foreign(names: Set[str], committed: Set[str]) -> bool:
    """Return True when most nodes of a dump are not committed."""
    return len(names - committed) * 2 > len(names)


def _uids(lists: Iterable[ResourceList]) -> set[str]:
    """Return the uids of the cluster that the inventories in some lists have."""
    items = (item for resources in lists for item in resources.where(kind="NodeInventory", group=CONFIG[0]))
    return {text(table(item.manifest, "spec"), "clusterUID") for item in items} - {""}


def _owner(names: Set[str], clusters: Lists, cluster: str) -> str:
    """Return the name of another cluster, which has more than half of some nodes; "" for none."""
    others = ((name, _committed(lists)) for name, lists in clusters.items() if name != cluster)
    return next((name for name, nodes in others if len(names & nodes.keys()) * 2 > len(names)), "")


def _log_differences(context: Context, cluster: str, live: Set[str], committed: Set[str]) -> None:
    """Log the names of the nodes that only the dump or only the inventory of a cluster has."""
    if gone := sorted(committed - live):
        context.log.say(f"{cluster}: committed, and not in the dump: {some(gone, len(gone))}")
    if new := sorted(live - committed):
        context.log.say(f"{cluster}: in the dump, and not committed: {some(new, len(new))}")


def _items(dump: Live) -> list[Item]:
    """Return the nodes of a dump. Inventories in YAML keep their lines; the other items only have the file's name."""
    objects = [*dump.nodes.values(), *(() if dump.items else dump.inventories)]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
    items, file = manifests.read_stream(text.encode()).items, Place(dump.name, is_fixed=True)
    if dump.name != "-":
        items = [Item(item.data, item.start, item.end, item.indent, item.sure, file) for item in items]
    return [*items, *dump.items]


def replace_each(context: Context, lists: Lists, others: Lists) -> None:
    """Put the dumps of --live into the lists of their clusters, as `replace` does.

    `others` are the lists of clusters that nobody asks for: a dump may be of one of them.
    """
    for name, dump in by_cluster(context.options, [*lists]).items():
        replace(context, name, lists[name], dump, {**others, **lists})


def is_any_of_others(options: RunOptions, lists: Lists) -> bool:
    """Return True where a dump of --live is not of the cluster that it is passed for, as `replace` judges that."""
    for name, dump in by_cluster(options, [*lists]).items():
        names = {*dump.nodes, *(node.name for node in nodes.read(ResourceList(_items(dump))).nodes)}
        committed, uids = _committed(lists[name]).keys(), _uids(lists[name])
        if (dump.uid and uids and dump.uid not in uids) or (committed and _is_foreign(names, committed)):
            return True
    return False


def join(context: Context, sides: Lists, names: Sequence[str]) -> None:
    """Put the dumps of --live into both sides of their clusters; `names` are those of all clusters."""
    for name, dump in by_cluster(context.options, names).items():
        if lists := sides.get(name):
            replace(context, name, lists[:1], dump, sides)
            for other in lists[1:]:
                replace(context._replace(log=context.log._replace(quiet=True)), name, [other], dump, {})
