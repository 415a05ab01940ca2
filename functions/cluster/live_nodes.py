"""Live nodes (--live): those of a dump stand in the place of the nodes that are committed."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cache, partial
from io import BufferedReader

from krmfn import Item, KrmfnError, Place, ResourceList, Result
from krmfn.printing import counted, did_you_mean, some
from krmfn.streams import max_bytes

from ..command import Context
from ..exclusivity.node import Node
from ..fleet import json_stream, live, nodes, readings
from ..fleet.live import Live
from ..kmm.module import LABELS
from ..paths import files, manifests
from ..rendering.kinds import NODES

_OBJECT = re.compile(r"apiVersion:|kind:|metadata:|items:|spec:|- |---|#|%")
"""How YAML of Kubernetes objects begins."""
Lists = Mapping[str, Sequence[ResourceList]]
"""The lists of each cluster by its name."""


def read_yaml(source: BufferedReader, name: str = "") -> ResourceList:
    """Return the objects of YAML. Raises KrmfnError for too much of it, none, and what two readers read differently."""
    text = source.read(max_bytes() + 1)
    if len(text) > max_bytes():
        raise KrmfnError(f"is YAML of more than {max_bytes():,} bytes; pass JSON instead")
    if not text.strip():
        raise KrmfnError("is empty; expected the output of `kubectl get nodes -o json`")
    try:
        resources = manifests.read_stream(text, name)
        if findings := [*resources.results, *readings.check(*resources.items)]:
            raise KrmfnError(*map(str, findings))
    except KrmfnError as failure:
        first = text.lstrip().partition(b"\n")[0][:200].decode(errors="replace").rstrip()
        if _OBJECT.match(first):
            raise
        said = f"it begins with {first!r}; redirect only the output of `kubectl get ... -o json`, without its messages"
        raise KrmfnError(f"is no dump, neither JSON nor YAML: {said}") from failure
    return resources


@cache  # stdin can be read once, and a dump may be half a gigabyte
def read(name: str) -> Live:
    """Return what a dump says. Raises KrmfnError that names it."""
    try:
        with files.open_named(name) as source:
            if json_stream.begins(source):
                return live.read(json_stream.objects(source.read, max_bytes()), name)
            items = read_yaml(source, "" if name == "-" else name).items
            return live.read((item.manifest for item in items), name, items)
    except KrmfnError as failure:
        raise KrmfnError(*(f"--live {name}: {line}" for line in failure.args)) from failure


def by_cluster(texts: Sequence[str], names: Sequence[str]) -> dict[str, Live]:
    """Return the dump of each cluster that has one, from `DUMP` or `CLUSTER=DUMP`.

    Raises KrmfnError for a text that does not say which of several clusters it is about, for two about one, and for a
    dump that cannot be read.
    """
    made: dict[str, Live] = {}
    for text in texts if names else ():
        name, sign, dump = text.partition("=")
        if not (sign and name in names):
            if len(names) > 1:
                hint = did_you_mean(name, names if sign else ()) or f": {some(names, len(names))}"
                raise KrmfnError(f"--live {text}: write --live CLUSTER=DUMP with one of {len(names):,} clusters{hint}")
            name, dump = names[0], text
        if name in made:
            raise KrmfnError(f"--live {text}: the cluster {name} has a dump already; dump it once")
        made[name] = read(dump)
    return made


def replace(context: Context, name: str, lists: Sequence[ResourceList], dump: Live, every: Lists) -> None:
    """Put the nodes of a dump into the first of some lists of a cluster, and take those that are committed out of all.

    `every` has the lists of the other clusters, too. Raises KrmfnError for a dump that has none of the nodes that are
    committed: it is of another cluster.
    """
    committed = _committed(lists)
    for resources in lists:
        resources.items = [item for item in resources.items if (item.group, item.kind) not in NODES]
    dump.committed[name] = committed
    items = _items(dump)
    labels = {node.name: node.labels for node in nodes.read(ResourceList(items)).nodes}
    there = {*dump.nodes, *labels}
    if committed and there and there.isdisjoint(committed):
        owner = _owner(there, every, name)
        theirs = f"they are nodes of {owner}: pass --live {owner}={dump.name}"
        raise KrmfnError(
            f"--live: none of the {counted(len(there), 'node')} of the dump is among the {len(committed):,} that "
            f"are committed for {name}; {theirs if owner else 'pass a dump of that cluster, or renew its inventory'}"
        )
    for resources in lists[:1]:
        resources.items += items
    before = f" in place of {len(committed):,} committed" if committed else ""
    what = "live node" if dump.nodes else "node"
    context.log.say(f"{name}: {counted(len(there), what)}{before}")
    lost = sorted(
        f"{node.name} {key}={value}"
        for node in committed.values()
        for key, value in node.labels.items()
        if dump.nodes and labels.get(node.name, node.labels).get(key) != value and not key.startswith(LABELS)
    )
    if lost:
        context.log.say(f"{name}: committed, and not on the live node: {some(lost, len(lost))}")
    if committed and dump.nodes:
        _say_who_differs(context, name, there, committed.keys(), every)


def _committed(lists: Iterable[ResourceList]) -> dict[str, Node]:
    """Return the nodes in some lists by their names."""
    held = (item for resources in lists for item in resources.items if (item.group, item.kind) in NODES)
    return {node.name: node for node in nodes.read(ResourceList([*held])).nodes}


def _owner(names: Set[str], every: Lists, here: str) -> str:
    """Return the cluster beside `here` that most of some nodes are of; "" for none."""
    others = ((name, _committed(lists)) for name, lists in every.items() if name != here)
    return next((name for name, nodes in others if len(names & nodes.keys()) * 2 > len(names)), "")


def _say_who_differs(context: Context, name: str, there: Set[str], committed: Set[str], every: Lists) -> None:
    """Write which nodes only one of the dump and the inventory of a cluster has."""
    if gone := sorted(committed - there):
        context.log.say(f"{name}: committed, and not in the dump: {some(gone, len(gone))}")
    if new := sorted(there - committed):
        context.log.say(f"{name}: in the dump, and not committed: {some(new, len(new))}")
    if len(new) * 2 > len(there):
        owner = _owner({*new}, every, name)
        why = f"{len(new):,} of its {counted(len(there), 'node')} are not committed"
        why += f", and most of them are nodes of {owner}" if owner else ""
        context.log.say(f"{name}: warning: this may be a dump of another cluster: {why}", "warning")


def _items(dump: Live) -> list[Item]:
    """Return the nodes of a dump: an inventory in YAML as it stands there, with its lines, the others with its file."""
    written = [item for item in dump.items if (item.group, item.kind) in NODES and item.kind != "Node"]
    manifests_ = [*dump.nodes.values(), *(() if written else dump.inventories)]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": manifests_})
    items = manifests.read_stream(text.encode()).items
    for item in items if dump.name != "-" else ():
        item.file = Place("", finder=partial(Result._replace, place=Place(dump.name)))
    return items + written


def replace_each(context: Context, lists: Lists) -> None:
    """Put the dumps of --live into the first list of each cluster that has one; see `replace`."""
    for name, dump in by_cluster(context.options.live, [*lists]).items():
        replace(context, name, lists[name], dump, lists)


def join(context: Context, sides: Lists, names: Sequence[str]) -> None:
    """Put the dumps of --live into both sides of each cluster that has one; `names` are those of all clusters."""
    for name, dump in by_cluster(context.options.live, names).items():
        if lists := sides.get(name):
            replace(context, name, lists[:1], dump, sides)
            for other in lists[1:]:
                replace(context._replace(log=context.log._replace(quiet=True)), name, [other], dump, {})
