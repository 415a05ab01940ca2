"""Making a NodeInventory of nodes: which of their labels stand with groups of them, and which in their lines."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from itertools import count
from types import MappingProxyType

from krmfn import Manifest
from krmfn.item import LOCAL
from krmfn.typed import Any

from .collecting import Entry, Shape
from .inventory import API_VERSION, EVERY, KIND

FEWEST = 4
"""Nodes per group, on average, down to which a label divides groups; others stand in the nodes' lines."""
RAREST = 16
"""A label that less than one in so many nodes has stands in the nodes' lines."""


def manifest(
    entries: Sequence[Entry],
    name: str,
    keys: Collection[str] | None,
    days: Mapping[str, str | None] = MappingProxyType({}),
) -> Manifest:
    """Return the NodeInventory of the entries, which are sorted by name; `days` are fields with dates."""
    kubelets = sorted({entry.kubelet for entry in entries if entry.kubelet})
    shared, group_of = _divided(entries)
    own = {of_node: _own_labels(of_node, shared) for of_node in {entry.keys for entry in entries}}
    nodes = dict(zip(group_of, entries, strict=True))  # one of each group
    lines: dict[int, list[str]] = {number: [] for number in nodes}
    for number, (node, kernel, _, of_node, values, _) in zip(group_of, entries, strict=True):
        lines[number].append(f"{node} {kernel}{own[of_node].format(*values)}\n")
    groups = sorted((node.shape, _common(node, shared), number) for number, node in nodes.items())
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": name, "annotations": {LOCAL: "true"}},
        "spec": {
            **{field: day for field, day in days.items() if day},
            **({"kubeletVersions": kubelets} if kubelets else {}),
            "nodeCount": len(entries),
            "labelKeys": [EVERY] if keys is None else sorted({*keys, *(key for of_node in own for key in of_node)}),
            "groups": [_group(shape, labels, lines[number]) for shape, labels, number in groups],
        },
    }


def _own_labels(keys: Sequence[str], shared: Collection[str]) -> str:
    """Return a format for the values of a node's labels that writes those which do not stand with its group."""
    return "".join(f" {key}={{{at}}}" for at, key in enumerate(keys) if key not in shared)


def _common(node: Entry, shared: Collection[str]) -> tuple[tuple[str, str], ...]:
    """Return the labels of a node that stand with its group."""
    return tuple((key, value) for key, value in zip(node.keys, node.values, strict=True) if key in shared)


def _group(shape: Shape, labels: tuple[tuple[str, str], ...], lines: list[str]) -> dict[str, Any]:
    architecture, os_image, taints = shape
    fields: dict[str, Any] = {
        "architecture": architecture,
        "osImage": os_image,
        "labels": dict(labels),
        "taints": [{key: value for key, value in taint._asdict().items() if value} for taint in taints],
    }
    return {**{key: value for key, value in fields.items() if value}, "nodes": "".join(lines)}


def _divided(entries: Sequence[Entry]) -> tuple[set[str], list[int]]:
    """Return the labels that stand with groups of nodes, and the number of each node's group.

    These are the labels of few values first, while groups stay large.
    """
    columns = _columns(entries)
    shapes: dict[Shape, int] = {}
    group = [shapes.setdefault(entry.shape, len(shapes)) for entry in entries]
    groups, shared = len(shapes), set()
    for key in sorted(columns, key=lambda key: (max(columns[key]), key)):
        numbers: defaultdict[tuple[int, int], int] = defaultdict(count().__next__)
        finer = list(map(numbers.__getitem__, zip(group, columns[key], strict=True)))
        if len(numbers) == groups or len(numbers) * FEWEST <= len(entries):
            shared.add(key)
            group, groups = finer, len(numbers)
    return shared, group


def _columns(entries: Sequence[Entry]) -> dict[str, array[int]]:
    """Return the labels that many nodes have: per key the number of each node's value, 0 for none."""
    alike: dict[tuple[str, ...], list[int]] = {}  # the nodes that have labels of the same keys
    for at, entry in enumerate(entries):
        alike.setdefault(entry.keys, []).append(at)
    nodes_of: Counter[str] = Counter()
    for keys, nodes in alike.items():
        nodes_of.update(dict.fromkeys(keys, len(nodes)))
    zeros = array("i", [0]) * len(entries)
    columns = {key: zeros[:] for key, number in nodes_of.items() if number * RAREST >= len(entries)}
    numbers = {key: defaultdict[str, int](count(1).__next__) for key in columns}  # 0 is no label
    for keys, nodes in alike.items():
        for key, values in zip(keys, zip(*[entries[at].values for at in nodes], strict=True), strict=True):
            if key in columns:
                column = columns[key]
                for at, number in zip(nodes, map(numbers[key].__getitem__, values), strict=True):
                    column[at] = number
    return columns
