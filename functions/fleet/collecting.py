"""Making a NodeInventory from Node objects: which facts it holds, and which labels stand with groups of nodes."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import compress, pairwise
from typing import Any, NamedTuple

from krmfn.errors import KrmfnError
from krmfn.item import LOCAL
from krmfn.resource import Manifest

from ..kmm.lookup import text
from ..kmm.names import label_key_errors, label_value_errors, subdomain_errors
from . import facts
from .facts import Node, Taint
from .inventory import API_VERSION, EVERY, KIND, UNKNOWN

FEWEST = 4
"""Nodes per group, on average, down to which a label divides groups; others stand in the nodes' lines."""
RAREST = 16
"""A label that less than one in so many nodes has stands in the nodes' lines."""
SHOWN = 20
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


class _Known(NamedTuple):
    """The parts of the entries so far, each with the one object for it; all of them are what an API server takes."""

    kernels: dict[str, str]
    shapes: dict[Shape, Shape]
    keys: dict[tuple[str, ...], tuple[str, ...]]
    """Sorted, by how they stand in a Node."""
    values: dict[str, str]


def collect(manifests: Iterable[Manifest], keys: Collection[str] | None) -> list[Entry]:
    """Return the nodes, sorted by name; `keys` are the labels to keep, None for all.

    Raises KrmfnError that names each node that is none (a line each, the first ones of many), and for no node at all.
    """
    entries: list[Entry] = []
    problems: list[str] = []
    known = _Known({}, {}, {}, {})
    kept = None if keys is None else sorted(keys)
    for number, manifest in enumerate(manifests, 1):
        try:
            entries.append(_entry(_node(manifest, kept), known))
        except KrmfnError as failure:
            kind, name = text(manifest, "kind") or "Node", text(manifest.get("metadata"), "name")
            problems.append(f"item {number:,}{f' ({kind} {name})' if name else ''}: {failure}")
    entries.sort()
    names = [entry.name for entry in entries]
    twice = sorted({name for name, after in pairwise(names) if name == after})
    problems += [f"Node {name} stands there twice; an inventory is of one cluster" for name in twice]
    if problems:
        more = [f"and {len(problems) - SHOWN:,} more"] if len(problems) > SHOWN else []
        raise KrmfnError(*problems[:SHOWN], *more)
    if not entries:
        raise KrmfnError("there is no Node in it; expected what `kubectl get nodes -o json` prints")
    return entries


def _node(manifest: Manifest, keys: Collection[str] | None) -> Node:
    """Return the facts of one item. Raises KrmfnError for what no API server would give back as a Node."""
    kind = manifest.get("kind", "Node")  # the items of a NodeList have none
    if kind != "Node" or manifest.get("apiVersion", "v1") != "v1":
        raise KrmfnError(
            f"is a {kind} ({manifest.get('apiVersion')}), not a Node; give what `kubectl get nodes` prints"
        )
    node = facts.of_manifest(manifest, keys)
    if not node.name:
        raise KrmfnError("this Node has no metadata.name")
    return node


def _entry(node: Node, known: _Known) -> Entry:
    """Return a node as an entry. Raises KrmfnError for text that no API server takes: it would break the lines."""
    if errors := subdomain_errors(node.name):
        raise KrmfnError(f"{node.name!r} is no name: {errors[0]}")
    kernel = node.kernel or UNKNOWN
    if kernel not in known.kernels and (not kernel.isprintable() or kernel.split() != [kernel]):
        raise KrmfnError(f"its kernel version {kernel!r} is not one word")
    shape = (node.architecture, node.os_image, node.taints)
    if shape not in known.shapes:
        _check_shape(*shape)
    labels = node.labels
    order = tuple(labels)
    new = set(labels.values()).difference(known.values)
    if order not in known.keys or any(map(label_value_errors, new)):
        _check_labels(labels)
        keys = tuple(sorted(labels))
        known.keys[order] = known.keys.setdefault(keys, keys)
    known.values.update(zip(new, new, strict=True))
    keys = known.keys[order]
    values = tuple(map(known.values.__getitem__, map(labels.__getitem__, keys)))
    shape, kernel = known.shapes.setdefault(shape, shape), known.kernels.setdefault(kernel, kernel)
    return Entry(node.name, kernel, shape, keys, values)


def _check_labels(labels: Mapping[str, str]) -> None:
    for key, value in sorted(labels.items()):
        if errors := [*label_key_errors(key), *label_value_errors(value)]:
            raise KrmfnError(f"its label {key}: {value!r} is none: {errors[0]}")


def _check_shape(architecture: str, os_image: str, taints: tuple[Taint, ...]) -> None:
    for what, line in (("architecture", architecture), ("osImage", os_image)):
        if not line.isprintable() or len(line) > LONGEST:
            raise KrmfnError(f"its status.nodeInfo.{what} {line[:80]!r} is not one line of text")
    for taint in taints:
        if errors := [*label_key_errors(taint.key), *label_value_errors(taint.value)]:
            raise KrmfnError(f"its taint {taint} is none: {errors[0]}")


def manifest(entries: Sequence[Entry], name: str, keys: Collection[str] | None, valid_until: str = "") -> Manifest:
    """Return the NodeInventory of the entries, which are sorted by name."""
    shared = _shared_keys(entries)
    layouts = {keys: _layout(keys, shared) for keys in {entry.keys for entry in entries}}
    lines: dict[tuple[Shape, tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for node, kernel, shape, of_node, values in entries:
        common, of_group, own = layouts[of_node]
        group = lines.setdefault((shape, common, tuple(compress(values, of_group))), [])
        group.append(f"{node} {kernel}{own.format(*values)}\n")
    groups = sorted((shape, tuple(zip(*labels, strict=True)), group) for (shape, *labels), group in lines.items())
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": name, "annotations": {LOCAL: "true"}},
        "spec": {
            **({"validUntil": valid_until} if valid_until else {}),
            "labelKeys": [EVERY] if keys is None else sorted(keys),
            "groups": [_group(*group) for group in groups],
        },
    }


def _layout(keys: Sequence[str], shared: Collection[str]) -> tuple[tuple[str, ...], list[bool], str]:
    """Return where the labels of a node with these keys stand.

    These are the keys of those that stand with its group, for each key whether it is one of them, and a format for the
    others, which stand in the node's line.
    """
    of_group = [key in shared for key in keys]
    own = "".join(f" {key}={{{at}}}" for at, key in enumerate(keys) if not of_group[at])
    return tuple(compress(keys, of_group)), of_group, own


def _group(shape: Shape, labels: tuple[tuple[str, str], ...], lines: list[str]) -> dict[str, Any]:
    architecture, os_image, taints = shape
    fields: dict[str, Any] = {
        "architecture": architecture,
        "osImage": os_image,
        "labels": dict(labels),
        "taints": [{key: value for key, value in taint._asdict().items() if value} for taint in taints],
    }
    return {**{key: value for key, value in fields.items() if value}, "nodes": "".join(lines)}


def _shared_keys(entries: Sequence[Entry]) -> set[str]:
    """Return the labels that stand with the groups of nodes: those of few values first, while groups stay large."""
    columns = _columns(entries)
    numbers: dict[Shape, int] = {}
    group: list[int] = [numbers.setdefault(entry.shape, len(numbers)) for entry in entries]
    groups, shared = len(numbers), set()
    for key in sorted(columns, key=lambda key: (max(columns[key]), key)):
        width = max(columns[key]) + 1
        divided = [number * width + value for number, value in zip(group, columns[key], strict=True)]
        finer = dict.fromkeys(divided)
        if len(finer) == groups or len(finer) * FEWEST <= len(entries):
            shared.add(key)
            order = {one: number for number, one in enumerate(finer)}
            group, groups = [order[one] for one in divided], len(finer)
    return shared


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
    numbers: dict[str, dict[str, int]] = {key: {} for key in columns}
    for keys, nodes in alike.items():
        for key, values in zip(keys, zip(*[entries[at].values for at in nodes], strict=True), strict=True):
            if key in columns:
                column, number = columns[key], numbers[key]
                for at, value in zip(nodes, values, strict=True):
                    column[at] = number.setdefault(value, len(number) + 1)  # 0 is no label
    return columns
