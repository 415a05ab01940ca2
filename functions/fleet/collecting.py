"""Making a NodeInventory: the facts of Node objects, and which labels stand with groups of nodes or in their lines.

Only what an API server accepts comes into it.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, count, pairwise

from krmfn import KrmfnError, Manifest
from krmfn.item import LOCAL
from krmfn.typed import Any, NamedTuple
from krmfn.yamltext.simple import MAX_NODES

from ..exclusivity.node import Taint
from ..kmm.lookup import text
from ..kmm.module import VERSION_LABELS, is_set_by_kmm
from ..kmm.names import label_key_errors, label_value_errors, subdomain_errors
from . import dumped_kinds, facts
from .inventory import EVERY

SHOWN = 20
"""How many problems are named one by one."""
KUBELET = re.compile(r"v?[0-9]+\.[0-9]+[-+.0-9A-Za-z]{0,100}")
"""The version of a kubelet: `v1.34.2`, `v1.33.1+k3s1`."""
LONGEST = 4096
"""Characters of a line of text, as the schema has it."""

Shape = tuple[str, str, tuple[Taint, ...]]
"""Architecture, OS image and taints."""


class Entry(NamedTuple):
    """A node on its way into an inventory; equal parts of many nodes are one object."""

    name: str
    kernel: str
    shape: Shape
    keys: tuple[str, ...]
    """Of its labels, sorted."""
    values: tuple[str, ...]
    """Of its labels, in the order of their keys."""
    kubelet: str = ""
    """The version of its kubelet."""


def collect(manifests: Iterable[Manifest], keys: Collection[str] | None) -> list[Entry]:
    """Return the nodes, sorted by name; `keys` are the labels to keep, None for all.

    Labels that choose versions are always kept, those that KMM sets never. Other kinds of a dump are passed over.
    Raises KrmfnError with a line for each manifest that is not a valid Node (the first SHOWN), and without any node.
    """
    entries: list[Entry] = []
    problems: list[str] = []
    others: list[str] = []
    allowed = None if keys is None else frozenset(keys)
    for number, manifest in enumerate(manifests, 1):
        is_other = _is_other(manifest)
        if is_other and (entries or others):
            continue
        try:
            entries.append(_entry(manifest, allowed))
        except KrmfnError as failure:
            kind, name = text(manifest, "kind") or "Node", text(manifest.get("metadata"), "name")
            line = f"item {number:,}{f' ({kind} {name})' if name else ''}: {failure}"
            (others if is_other else problems).append(line)
    problems += [] if entries else others
    entries.sort()
    repeated = sorted({entry.name for entry, following in pairwise(entries) if entry.name == following.name})
    problems += [f"Node {name} appears twice; pass one dump, of one cluster" for name in repeated]
    if problems:
        rest = [f"and {len(problems) - SHOWN:,} more"] if len(problems) > SHOWN else []
        raise KrmfnError(*problems[:SHOWN], *rest)
    if not entries:
        raise KrmfnError("it contains no Node; expected the output of `kubectl get nodes -o json`")
    return entries


def noting_uids(manifests: Iterable[Manifest], uids: set[str]) -> Iterator[Manifest]:
    """Yield the manifests, and add the uid of the cluster (see `facts.cluster_uid`) where one of them has it.

    Raises KrmfnError for those of two clusters.
    """
    for manifest in manifests:
        uids.update({facts.cluster_uid(manifest)} - {""})
        if len(uids) > 1:
            raise KrmfnError("it holds dumps of two clusters (two Namespaces kube-system); pass that of one cluster")
        yield manifest


def _is_other(manifest: Manifest) -> bool:
    """Return True for an object of another kind that a dump may have."""
    kind = text(manifest, "apiVersion").rpartition("/")[0], text(manifest, "kind")
    return kind in dumped_kinds.NAMES and kind != ("", "Node")


def _entry(manifest: Manifest, allowed: frozenset[str] | None) -> Entry:
    """Return the entry of a node, with the labels that are allowed; equal parts are judged once.

    Raises KrmfnError for what no API server would return as a Node: its text would break the lines.
    """
    kind = manifest.get("kind", "Node")  # the items of a NodeList have none
    if kind != "Node" or manifest.get("apiVersion", "v1") != "v1":
        kind = f"{kind} ({manifest.get('apiVersion')})"
        raise KrmfnError(f"is a {kind}, not a Node; pass the output of `kubectl get nodes`")
    node = facts.of_manifest(manifest)
    if not node.name:
        raise KrmfnError("this Node has no metadata.name")
    if errors := subdomain_errors(node.name):
        raise KrmfnError(f"{node.name!r} is not a valid name: {errors[0]}")
    taints = tuple(taint for taint in node.taints if taint.key not in facts.PASSING)
    shape = node.architecture, node.os_image, taints
    kernel, kubelet, shape = _facts(node.kernel or facts.UNKNOWN, node.kubelet, shape)
    try:
        keys = _kept_keys(tuple(node.labels), allowed)
        values = tuple(map(_value, map(node.labels.__getitem__, keys)))
    except KrmfnError as failure:
        raise KrmfnError(_problem(node.labels)) from failure
    return Entry(node.name, kernel, shape, keys, values, kubelet)


@cache
def _facts(kernel: str, kubelet: str, shape: Shape) -> tuple[str, str, Shape]:
    """Return a node's facts. Raises KrmfnError for text or taints that no API server accepts."""
    if not kernel.isprintable() or kernel.split() != [kernel]:
        raise KrmfnError(f"its kernel version {kernel!r} is not one word")
    if kubelet and not KUBELET.fullmatch(kubelet):
        raise KrmfnError(f"its kubelet version {kubelet!r} is not a version such as v1.34.2")
    for field, line in zip(("architecture", "osImage"), shape[:2], strict=True):
        if not line.isprintable() or len(line) > LONGEST:
            raise KrmfnError(f"its status.nodeInfo.{field} {line[:80]!r} is not one line of text")
    for taint in shape[2]:
        if errors := [*label_key_errors(taint.key), *label_value_errors(taint.value)]:
            raise KrmfnError(f"its taint {taint} is not valid: {errors[0]}")
    return kernel, kubelet, shape


@cache
def _kept_keys(keys: tuple[str, ...], allowed: frozenset[str] | None) -> tuple[str, ...]:
    """Return the keys of labels to keep, sorted. Raises KrmfnError for one that no API server accepts."""
    kept = [key for key in keys if allowed is None or key in allowed or key.startswith(VERSION_LABELS)]
    if any(map(label_key_errors, kept)):
        raise KrmfnError
    return tuple(sorted(key for key in kept if not is_set_by_kmm(key)))


@cache
def _value(value: str) -> str:
    """Return the value of a label. Raises KrmfnError for one that no API server accepts."""
    if label_value_errors(value):
        raise KrmfnError
    return value


def _problem(labels: Mapping[str, str]) -> str:
    """Return what is wrong with the first label that no API server accepts."""
    pairs = sorted(labels.items())
    judged = ((key, value, [*label_key_errors(key), *label_value_errors(value)]) for key, value in pairs)
    return next(f"its label {key}: {value!r} is not valid: {errors[0]}" for key, value, errors in judged if errors)


FEWEST = 4
"""A label divides the groups while they keep this many nodes on average; otherwise it stands in the nodes' lines."""
RAREST = 16
"""A label that fewer than one in this many nodes have stands in the nodes' lines."""
MOST = MAX_NODES // 2
"""Labels divide the groups while all of them together have no more keys and values: a reader takes twice as many."""
_PER_GROUP, _PER_TAINT = 11, 7
"""The keys, values, lists and mappings of a group without labels and taints, and of a taint."""


def manifest(
    entries: Sequence[Entry], name: str, keys: Collection[str] | None, head: Mapping[str, str | None]
) -> Manifest:
    """Return the NodeInventory of the entries, which are sorted by name; `head` are its first fields."""
    kubelets = sorted({entry.kubelet for entry in entries if entry.kubelet})
    shared, group_of = _divide(entries)
    formats = {}  # for the values of the labels that stand in the lines
    for labels in {entry.keys for entry in entries}:
        formats[labels] = "".join(f" {key}={{{index}}}" for index, key in enumerate(labels) if key not in shared)
    lines: defaultdict[int, list[str]] = defaultdict(list)
    for number, (node, kernel, _, labels, values, _) in zip(group_of, entries, strict=True):
        lines[number].append(f"{node} {kernel}{formats[labels].format(*values)}\n")
    groups = []
    for number, entry in dict(zip(group_of, entries, strict=True)).items():
        pairs = zip(entry.keys, entry.values, strict=True)
        groups.append((entry.shape, tuple(pair for pair in pairs if pair[0] in shared), number))
    return {
        "apiVersion": facts.API_VERSION,
        "kind": facts.KIND,
        "metadata": {"name": name, "annotations": {LOCAL: "true"}},
        "spec": {
            **{field: value for field, value in head.items() if value},
            **({"kubeletVersions": kubelets} if kubelets else {}),
            "nodeCount": len(entries),
            "labelKeys": [EVERY] if keys is None else sorted({*keys, *chain.from_iterable(formats)}),
            "groups": [_group(shape, shared_labels, lines[number]) for shape, shared_labels, number in sorted(groups)],
        },
    }


def _group(shape: Shape, labels: tuple[tuple[str, str], ...], lines: list[str]) -> dict[str, Any]:
    """Return a group of nodes as the inventory has it, without empty fields."""
    architecture, os_image, taints = shape
    entries = [{key: value for key, value in taint._asdict().items() if value} for taint in taints]
    fields = {"architecture": architecture, "osImage": os_image, "labels": dict(labels), "taints": entries}
    return {**{key: value for key, value in fields.items() if value}, "nodes": "".join(lines)}


def _divide(entries: Sequence[Entry]) -> tuple[set[str], list[int]]:
    """Return the labels that stand with groups of nodes, and the number of each node's group.

    Labels with few values come first, and a label is taken while the groups stay large and are not too many.
    """
    columns, taints = _columns(entries), max(len(entry.shape[2]) for entry in entries)
    shapes: dict[Shape, int] = {}
    group = [shapes.setdefault(entry.shape, len(shapes)) for entry in entries]
    groups, shared = len(shapes), set[str]()
    for key in sorted(columns, key=lambda key: (max(columns[key]), key)):
        numbers: defaultdict[tuple[int, int], int] = defaultdict(count().__next__)
        numbered = list(map(numbers.__getitem__, zip(group, columns[key], strict=True)))
        size = len(numbers) * (_PER_GROUP + _PER_TAINT * taints + 2 * (len(shared) + 1))
        if size <= MOST and (len(numbers) == groups or len(numbers) * FEWEST <= len(entries)):
            shared.add(key)
            group, groups = numbered, len(numbers)
    return shared, group


def _columns(entries: Sequence[Entry]) -> dict[str, array[int]]:
    """Return the labels that many nodes have: by key, a number for each node's value, 0 without the label."""
    nodes_of: Counter[str] = Counter()
    for keys, number in Counter(entry.keys for entry in entries).items():
        nodes_of.update(dict.fromkeys(keys, number))
    zeros = array("i", [0]) * len(entries)
    columns = {key: zeros[:] for key, number in nodes_of.items() if number * RAREST >= len(entries)}
    numbers = {key: defaultdict[str, int](count(1).__next__) for key in columns}  # 0 is no label
    for index, entry in enumerate(entries):
        for key, value in zip(entry.keys, entry.values, strict=True):
            if key in columns:
                columns[key][index] = numbers[key][value]
    return columns
