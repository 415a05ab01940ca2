"""What a dump of a cluster says: `kubectl get nodes,modules,nodemodulesconfigs,pods,events -A -o json`.

Only named fields are kept, never env, args, commands or annotations; texts of others are cut and printable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from krmfn import Item, KrmfnError, Manifest
from krmfn.printing import counted, printable
from krmfn.typed import NamedTuple

from ..exclusivity.node import Node
from ..kmm.lookup import table, tables, text
from .facts import NODE_INFO

Key = tuple[str, str, str]
"""Node, and namespace and name of a Module."""
_ACTION, _MODULE = "kmm.node.kubernetes.io/worker-action", "kmm.node.kubernetes.io/module.name"
_LONGEST = 200


class Held(NamedTuple):
    """A Module in a NodeModulesConfig, as KMM wants it on the node or has loaded it there."""

    image: str
    kernel: str
    boot: str = ""
    """The boot of the node that it was loaded in; of what is wanted ""."""

    def __str__(self) -> str:
        return f"{self.image} for {self.kernel}"


class Worker(NamedTuple):
    """A pod of KMM's that loads or unloads."""

    pod: str
    action: str
    reason: str
    """Why it does not go on, in the cluster's words; "" when nothing is said."""


class Live(NamedTuple):
    """A cluster as it is."""

    nodes: dict[str, Manifest]
    inventories: list[Manifest]
    """NodeInventories, of which no label that KMM sets is known."""
    boots: dict[str, str]
    modules: dict[tuple[str, str], bool]
    """Whether the Module is being deleted, by namespace and name; empty: not known."""
    wanted: dict[Key, Held]
    loaded: dict[Key, Held]
    configured: set[str]
    """The nodes with a NodeModulesConfig."""
    workers: dict[Key, Worker]
    pods: dict[str, list[tuple[str, frozenset[str]]]]
    """Names and label keys that they select nodes by, of the other pods on each node."""
    committed: dict[str, dict[str, Node]]
    """By the clusters' names, the nodes that those of the dump stand for; kept by who puts them in their place."""
    name: str = ""
    """The file."""
    items: Sequence[Item] = ()
    """The objects as they stand in a file of YAML."""


def read(objects: Iterable[Manifest], name: str, items: Sequence[Item] = ()) -> Live:
    """Return what the objects of a dump say. Raises KrmfnError for a dump without a Node, and for a name twice."""
    live = Live({}, [], {}, {}, {}, {}, set(), {}, {}, {}, name, items)
    events: dict[tuple[str, str], tuple[str, str]] = {}
    workers: list[Manifest] = []
    for manifest in objects:
        kind, group = text(manifest, "kind"), text(manifest, "apiVersion").rpartition("/")[0]
        metadata = table(manifest, "metadata")
        if (group, kind) == ("", "Node"):
            _add_node(live, manifest)
        elif (group, kind) == ("krmfn.dev", "NodeInventory"):
            live.inventories.append(manifest)
        elif (group, kind) == ("kmm.sigs.x-k8s.io", "Module"):
            live.modules[text(metadata, "namespace"), text(metadata, "name")] = "deletionTimestamp" in metadata
        elif (group, kind) == ("kmm.sigs.x-k8s.io", "NodeModulesConfig"):
            live.configured.add(text(metadata, "name"))
            live.wanted.update(_held(manifest, "spec"))
            live.loaded.update(_held(manifest, "status"))
        elif (group, kind) == ("", "Pod"):
            if text(table(metadata, "labels"), _ACTION):
                workers.append(manifest)
            elif text(table(manifest, "status"), "phase") not in ("Succeeded", "Failed"):
                keys = frozenset(table(manifest, "spec", "nodeSelector"))
                name = printable(f"{text(metadata, 'namespace')}/{text(metadata, 'name')}")
                live.pods.setdefault(text(table(manifest, "spec"), "nodeName"), []).append((name, keys))
        elif kind == "Event" and group in ("", "events.k8s.io"):
            _add_event(events, manifest)
    for pod in workers:
        _add_worker(live, pod, events)
    if not (live.nodes or live.inventories):
        raise KrmfnError("it holds no Node and no NodeInventory; add `nodes` to the `kubectl get` that prints it")
    return live


def bounded(source: Callable[[int], bytes], limit: int) -> Callable[[int], bytes]:
    """Return `source`, which raises KrmfnError for more than `limit` bytes."""
    total = 0

    def read(size: int) -> bytes:
        nonlocal total
        data = source(size)
        total += len(data)
        if total > limit:
            raise KrmfnError(f"it has more than {counted(limit, 'byte')}; raise KRMFN_MAX_BYTES, or dump fewer kinds")
        return data

    return read


def _add_node(live: Live, manifest: Manifest) -> None:
    """Add the named fields of a Node; the reader of Nodes judges them. Raises KrmfnError for a name that is there."""
    metadata, info = table(manifest, "metadata"), table(manifest, "status", "nodeInfo")
    if not (name := text(metadata, "name")):
        raise KrmfnError("it holds a Node without a name")
    if name in live.nodes:
        raise KrmfnError(f"it holds node {name!r} twice: dump one cluster")
    live.boots[name] = text(info, "bootID")
    live.nodes[name] = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": metadata.get("labels") or {}},
        "spec": {"taints": table(manifest, "spec").get("taints") or []},
        "status": {"nodeInfo": {key: info[key] for key in NODE_INFO if key in info}},
    }


def _held(manifest: Manifest, part: str) -> Iterator[tuple[Key, Held]]:
    """Yield the Modules of a NodeModulesConfig (KMM v2.6.0, api/v1beta1/nodemodulesconfig_types.go)."""
    node = text(table(manifest, "metadata"), "name")
    for _, entry in tables(manifest.get(part), "modules"):
        config = table(entry, "config")
        held = Held(text(config, "containerImage"), text(config, "kernelVersion"), text(entry, "bootId"))
        yield (node, text(entry, "namespace"), text(entry, "name")), held


def _add_event(events: dict[tuple[str, str], tuple[str, str]], manifest: Manifest) -> None:
    """Keep the newest warning about each object."""
    about = table(manifest, "involvedObject") or table(manifest, "regarding")
    if text(manifest, "type") != "Warning":
        return
    when = text(manifest, "lastTimestamp") or text(manifest, "eventTime")
    said = f"{text(manifest, 'reason')}: {text(manifest, 'message') or text(manifest, 'note')}"
    key = text(about, "namespace"), text(about, "name")
    events[key] = max(events.get(key, ("", "")), (when, said))


def _add_worker(live: Live, pod: Manifest, events: Mapping[tuple[str, str], tuple[str, str]]) -> None:
    metadata, status = table(pod, "metadata"), table(pod, "status")
    labels, namespace, name = table(metadata, "labels"), text(metadata, "namespace"), text(metadata, "name")
    states = [
        table(entry, where, state)
        for part in ("initContainerStatuses", "containerStatuses")
        for _, entry in tables(status, part)
        for where, state in (("lastState", "terminated"), ("state", "waiting"), ("state", "terminated"))
    ]
    stuck = [fields for fields in states if fields and text(fields, "reason") not in _PLAIN]
    said = [": ".join(filter(None, (text(one, "reason"), text(one, "message").strip()))) for one in stuck]
    reason = "; ".join(dict.fromkeys(said)) or events.get((namespace, name), ("", ""))[1]
    worker = Worker(printable(f"{namespace}/{name}"), text(labels, _ACTION), printable(reason)[:_LONGEST])
    live.workers[text(table(pod, "spec"), "nodeName"), namespace, text(labels, _MODULE)] = worker


_PLAIN = ("ContainerCreating", "PodInitializing", "Completed")
"""Reasons of a pod that goes on."""
