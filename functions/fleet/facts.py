"""Facts about a node that decide what it gets: name, labels, kernel, taints."""

from collections.abc import Collection, Mapping

from krmfn import Item, KrmfnError, Manifest, itemtext
from krmfn.typed import Any
from krmfn.yamltext import peek, simple

from ..exclusivity.node import Node, Taint
from ..kmm.lookup import listing, table, tables, text

PASSING: Mapping[str, str] = {
    "node.kubernetes.io/unschedulable": "cordoned",
    "node.kubernetes.io/not-ready": "not ready",
    "node.kubernetes.io/unreachable": "unreachable",
    "node.kubernetes.io/network-unavailable": "without a network",
    "node.kubernetes.io/out-of-service": "out of service",
    "node.kubernetes.io/memory-pressure": "short of memory",
    "node.kubernetes.io/disk-pressure": "short of disk space",
    "node.kubernetes.io/pid-pressure": "short of process ids",
    "node.cloudprovider.kubernetes.io/uninitialized": "not initialized",
}
"""Taints that come and go with the state of a node, with the words for it; an inventory leaves them out.

Source: Kubernetes, Taints and Tolerations (built-in taints).
"""
_PRESSURE = tuple((key, "NoSchedule") for key in PASSING if key.endswith("-pressure"))
_KEPT = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
LOADER_TOLERATES = _PRESSURE
"""What KMM tolerates for every Module that loads something, key and effect.

Source: KMM v2.6.0, internal/module/helper.go.
"""
DAEMON_TOLERATES = (
    *_PRESSURE,
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
    *((key, "NoExecute") for key in _KEPT),
)
"""What Kubernetes tolerates for the pods of every DaemonSet, as those of a plugin are, key and effect.

Source: Kubernetes 1.34, pkg/controller/daemon/util/daemonset_util.go, AddOrUpdateDaemonPodTolerations.
"""
API_VERSION, KIND = "krmfn.dev/v1alpha1", "NodeInventory"
"""Of a NodeInventory."""
NODE_INFO = ("kernelVersion", "architecture", "osImage", "kubeletVersion")
"""The strings of status.nodeInfo that are facts."""
_NODE_INFO_KEYS = tuple(map(str.encode, NODE_INFO))
UNKNOWN = "-"
"""The kernel in an inventory of a node that has not reported one."""
REPELLING = ("NoSchedule", "NoExecute")
EFFECTS = (*REPELLING, "PreferNoSchedule")
"""The effects of a taint. The last one keeps no pod away, and KMM ignores it."""


def cluster_uid(manifest: Manifest) -> str:
    """Return the uid of a cluster, which is that of its Namespace kube-system; "" for any other object.

    Raises KrmfnError for one that is not a line of text.
    """
    metadata = table(manifest, "metadata")
    if (manifest.get("apiVersion"), manifest.get("kind")) != ("v1", "Namespace") or metadata.get(
        "name"
    ) != "kube-system":
        return ""
    uid = text(metadata, "uid")
    if not uid.isprintable():
        raise KrmfnError(f"the uid of the Namespace kube-system {uid[:80]!r} is not one line of text")
    return uid


def of_manifest(manifest: Manifest, keys: Collection[str] | None = None) -> Node:
    """Return the facts of a Node object; with `keys` only its name and the labels with these keys are read and checked.

    Raises KrmfnError, a sentence without the node's name, for labels and facts that are no strings, and for invalid
    taints.
    """
    name, labels = text(table(manifest, "metadata"), "name"), table(manifest, "metadata", "labels")
    if not labels and table(manifest, "metadata").get("labels"):
        raise KrmfnError("its labels are not a mapping")
    kept_labels = labels if keys is None else {key: labels[key] for key in keys if key in labels}
    if not set(map(type, kept_labels.values())) <= {str}:
        key, value = next((key, value) for key, value in kept_labels.items() if type(value) is not str)
        raise KrmfnError(f"its label {key} is {value!r}, not a string; put it in quotes")
    if keys is not None:
        return Node(name, kept_labels)
    info = table(manifest, "status", "nodeInfo")
    for key in NODE_INFO:
        if not isinstance(info.get(key, ""), str | None):
            raise KrmfnError(f"its status.nodeInfo.{key} is {info[key]!r}, not a string; put it in quotes")
    taints = tuple(taints_of(manifest)) if "taints" in table(manifest, "spec") else ()
    kernel, architecture, os_image, kubelet = (text(info, key) for key in NODE_INFO)
    return Node(name, labels, kernel, taints, architecture, os_image, kubelet=kubelet)


def words_of(keys: Collection[str] | None) -> tuple[bytes, ...]:
    """Return the words by which `of_item` finds the labels with these keys; () where it reads all labels."""
    return tuple(map(str.encode, keys)) if keys and simple.WORDS.keys().isdisjoint(keys) else ()


def of_item(item: Item, keys: Collection[str] | None, words: tuple[bytes, ...] = ()) -> Node:
    """Return the facts of a Node object; `words` are those of the keys (see `words_of`).

    Raises KrmfnError for what no API server accepts.
    """
    if item.is_read:
        return of_manifest(item.manifest, keys)
    labels = itemtext.strings(item, "metadata", "labels", words=words)
    if keys is not None:  # the common case of a large list, where each step counts
        return Node(item.name, {key: labels[key] for key in keys if key in labels})
    kernel, architecture, system, kubelet = info = _node_info(item)
    if not all(info) and any(not text and item.mentions(name) for name, text in zip(NODE_INFO, info, strict=True)):
        return of_manifest(item.manifest)  # it may be no string
    taints = taints_of({"spec": itemtext.part(item, "spec")}) if item.mentions("taints") else ()
    return Node(item.name, labels, kernel, tuple(taints), architecture, system, kubelet=kubelet)


def _node_info(item: Item) -> list[str]:
    """Return the strings of `NODE_INFO` of a Node object, "" where there is none."""
    block = itemtext.mapping(item, "status", "nodeInfo")
    strings = block.strings(_NODE_INFO_KEYS) if isinstance(block, peek.Mapping) else {}
    known = strings if isinstance(strings, dict) else {}
    return [known[key] if key in known else itemtext.string(item, "status", "nodeInfo", key) for key in NODE_INFO]


def taints_of(manifest: Manifest) -> list[Taint]:
    """Return the taints of a Node object that repel pods, sorted.

    Raises KrmfnError for an invalid taint.
    """
    spec = table(manifest, "spec")
    if spec.get("taints") is not None and listing(spec, "taints") is None:
        raise KrmfnError("its taints are not a list")
    taints = set()
    for index, entry in tables(spec, "taints"):
        taint = Taint(text(entry, "key"), text(entry, "value"), text(entry, "effect"))
        if not taint.key or taint.effect not in EFFECTS:
            raise KrmfnError(f"its taint spec.taints[{index}] has no key, or none of the effects {', '.join(EFFECTS)}")
        if taint.effect in REPELLING:
            taints.add(taint)
    return sorted(taints)


def tolerates(tolerations: Any, taint: Taint) -> bool:
    """Return True when one of a pod's tolerations (a list, or None) tolerates the taint.

    Source: k8s.io/api/core/v1 Toleration.ToleratesTaint, as the scheduler and KMM call it.
    """
    for _, entry in tables({"tolerations": tolerations}, "tolerations"):
        effect, key, operator = text(entry, "effect"), text(entry, "key"), text(entry, "operator")
        if effect not in ("", taint.effect) or key not in ("", taint.key):
            continue
        if operator == "Exists" or (operator in ("", "Equal") and text(entry, "value") == taint.value):
            return True
    return False
