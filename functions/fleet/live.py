"""A cluster as a dump describes it: the objects of `dumped_kinds`, as an API server returned them.

Only named fields are kept, never env, args, commands or annotations. Messages from the cluster are cut, and escaped to
be printable.
"""

from collections.abc import Iterable, Iterator, Sequence

from krmfn import Item, KrmfnError, Manifest
from krmfn.printing import printable
from krmfn.typed import NamedTuple

from ..exclusivity.node import Node
from ..kmm.lookup import table, tables, text
from ..kmm.module import LABELS, NAME_LABEL, kernel_name
from . import live_objects, live_pods, one_dump, pod_status, warned
from .facts import NODE_INFO
from .live_objects import Objects
from .warned import Events

Key = tuple[str, str, str]
"""Node, and namespace and name of a Module."""
_ACTION = f"{LABELS}worker-action"


class NodeModule(NamedTuple):
    """A Module in a NodeModulesConfig, as KMM schedules it for the node or has loaded it there."""

    image: str
    kernel: str
    boot: str = ""
    """The boot of the node that it was loaded in; "" for one that is scheduled."""
    module: str = ""
    """The kernel module, as the kernel names it; "" where it is not said."""

    def __str__(self) -> str:
        return f"{self.image} for {self.kernel}"


class Worker(NamedTuple):
    """A pod of KMM's that loads or unloads."""

    pod: str
    action: str
    status: pod_status.PodStatus


class Live(NamedTuple):
    """A cluster as it is."""

    nodes: dict[str, Manifest]
    inventories: list[Manifest]
    """NodeInventories, which hold none of the labels that KMM sets."""
    boots: dict[str, str]
    modules: dict[tuple[str, str], bool]
    """Whether the Module is being deleted, by namespace and name; empty: not known."""
    scheduled: dict[Key, NodeModule]
    loaded: dict[Key, NodeModule]
    entries_on: dict[str, list[tuple[tuple[str, str], NodeModule]]]
    """Of each node what is scheduled, and what is loaded: namespace and name of a Module with its entry."""
    configured: set[str]
    """The nodes with a NodeModulesConfig."""
    workers: dict[Key, Worker]
    pods: dict[str, list[tuple[str, frozenset[str]]]]
    """The other pods on each node: the name, and the label keys that it selects nodes by."""
    troubles: dict[str, list[str]]
    """Sentences about what is wrong with a node itself, by its name."""
    committed: dict[str, dict[str, Node]]
    """The committed nodes that those of the dump replace, by cluster; filled when they are replaced."""
    name: str = ""
    """The file."""
    items: Sequence[Item] = ()
    """The NodeInventories as they stand in a file of YAML."""
    objects: Objects = live_objects.nothing()
    """What else it shows."""
    context: str = ""
    """The context of kubectl that was asked; "" for a dump."""
    gaps: tuple[str, ...] = ()
    """What a cluster that was asked did not show, in sentences."""

    @property
    def option(self) -> str:
        """The option that it was given by."""
        return "--context" if self.context else "--live"

    @property
    def uid(self) -> str:
        """The uid of the cluster, as its Namespace kube-system or its inventory has it; "" where it is not known."""
        inventories = (text(table(manifest, "spec"), "clusterUID") for manifest in self.inventories)
        return next(iter((*self.objects.uids, *filter(None, inventories))), "")

    @property
    def is_of_nodes(self) -> bool:
        """Whether the dump has nodes and nothing else, so it does not show what KMM has done."""
        return not (self.configured or self.modules or self.workers or "Pod" in self.objects.kinds)


def nothing(name: str = "", items: Sequence[Item] = ()) -> Live:
    """Return a cluster of which nothing is known."""
    return Live({}, [], {}, {}, {}, {}, {}, set(), {}, {}, {}, {}, name, items, live_objects.nothing())


def read(objects: Iterable[Manifest], name: str, items: Sequence[Item] = ()) -> Live:
    """Return the cluster that the objects of a dump describe.

    Raises KrmfnError for two clusters, for no Node, and for a Node without a name or with that of another.
    """
    live = nothing(name, items)
    events = Events()
    pods: list[Manifest] = []
    for manifest in one_dump.checked(objects):
        kind, group = text(manifest, "kind"), text(manifest, "apiVersion").rpartition("/")[0]
        metadata = table(manifest, "metadata")
        live_objects.add(live.objects, manifest)
        if (group, kind) == ("", "Node"):
            _add_node(live, manifest)
        elif (group, kind) == ("krmfn.dev", "NodeInventory"):
            live.inventories.append(manifest)
        elif (group, kind) == ("kmm.sigs.x-k8s.io", "Module"):
            live.modules[text(metadata, "namespace"), text(metadata, "name")] = "deletionTimestamp" in metadata
        elif (group, kind) == ("kmm.sigs.x-k8s.io", "NodeModulesConfig"):
            live.configured.add(text(metadata, "name"))
            for part, modules in (("spec", live.scheduled), ("status", live.loaded)):
                entries = dict(_node_modules(manifest, part))
                modules.update(entries)
                on_node = live.entries_on.setdefault(text(metadata, "name"), [])
                on_node += ((key[1:], entry) for key, entry in entries.items())
        elif (group, kind) == ("", "Pod"):
            if text(table(manifest, "status"), "phase") == "Running":  # which no event says more about
                _add_pods(live, live_pods.kept_pods(manifest), events)
            else:
                pods += live_pods.kept_pods(manifest)
            _add_holder(live, manifest)
        elif kind == "Event" and group in ("", "events.k8s.io") and text(manifest, "type") == "Warning":
            warned.add(events, manifest)
    _add_pods(live, pods, events)
    live_objects.put_in_order(live.objects)
    if len(live.objects.uids) > 1:
        raise KrmfnError("it holds dumps of two clusters (two Namespaces kube-system); pass one file for each cluster")
    if not (live.nodes or live.inventories):
        raise KrmfnError("it holds no Node and no NodeInventory; write it again with `krmfn why --kubectl`")
    return live


def _add_pods(live: Live, pods: Iterable[Manifest], events: Events) -> None:
    """Add pods that may have to do with a driver."""
    for pod in pods:
        _add_worker(live, pod, events)
        if kept := live_pods.pod_of(pod, pod_status.status_of(pod, events), pod_status.is_ready(pod)):
            live_objects.add_pod(live.objects, kept)


def _add_node(live: Live, manifest: Manifest) -> None:
    """Add the named fields of a Node; the reader of Nodes judges them.

    Raises KrmfnError for a Node without a name, and for a second one of a name.
    """
    metadata, info = table(manifest, "metadata"), table(manifest, "status", "nodeInfo")
    if not (name := text(metadata, "name")):
        raise KrmfnError("it holds a Node without a name")
    if name in live.nodes:
        raise KrmfnError(f"it holds node {name!r} twice: it is more than one dump; pass one, of one cluster")
    live.boots[name] = text(info, "bootID")
    ready, troubles = pod_status.condition(manifest, "Ready"), list[str]()
    if ready and text(ready, "status") != "True":
        reason = printable(text(ready, "message") or text(ready, "reason") or text(ready, "status"))[
            : pod_status.LONGEST
        ]
        troubles.append(f"the node is NotReady ({reason}); what the dump says about its drivers may be old")
    if "deletionTimestamp" in metadata:
        troubles.append("the node is being deleted (metadata.deletionTimestamp)")
    live.troubles[name] = troubles
    live.nodes[name] = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": metadata.get("labels") or {}},
        "spec": {"taints": table(manifest, "spec").get("taints") or []},
        "status": {"nodeInfo": {key: info[key] for key in NODE_INFO if key in info}},
    }


def _add_holder(live: Live, pod: Manifest) -> None:
    """Add a pod that may hold a kernel module, unless it has ended."""
    metadata, spec = table(pod, "metadata"), table(pod, "spec")
    is_worker = bool(text(table(metadata, "labels"), _ACTION))
    if not is_worker and text(table(pod, "status"), "phase") not in ("Succeeded", "Failed"):
        name = printable(f"{text(metadata, 'namespace')}/{text(metadata, 'name')}")
        live.pods.setdefault(text(spec, "nodeName"), []).append((name, live_pods.selected_keys(spec)))


def _node_modules(manifest: Manifest, part: str) -> Iterator[tuple[Key, NodeModule]]:
    """Yield the Modules in the spec or status of a NodeModulesConfig.

    Source: KMM v2.6.0, api/v1beta1/nodemodulesconfig_types.go.
    """
    node = text(table(manifest, "metadata"), "name")
    for _, entry in tables(manifest.get(part), "modules"):
        config = table(entry, "config")
        kernel_module = kernel_name(text(table(config, "modprobe"), "moduleName"))
        facts = text(config, "containerImage"), text(config, "kernelVersion"), text(entry, "bootId"), kernel_module
        yield (node, text(entry, "namespace"), text(entry, "name")), NodeModule(*facts)


def _add_worker(live: Live, pod: Manifest, events: Events) -> None:
    """Add a pod of KMM's that loads or unloads: one of each Module on a node, for its name is made of these."""
    metadata = table(pod, "metadata")
    labels, namespace, name = table(metadata, "labels"), text(metadata, "namespace"), text(metadata, "name")
    module, action = text(labels, NAME_LABEL), text(labels, _ACTION)
    if action:
        node = text(table(pod, "spec"), "nodeName") or name.removeprefix("kmm-worker-").removesuffix(f"-{module}")
        status = pod_status.status_of(pod, events)
        live.workers[node, namespace, module] = Worker(printable(f"{namespace}/{name}"), action, status)
