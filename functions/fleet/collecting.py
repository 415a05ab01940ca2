"""Making a NodeInventory from Node objects: which facts it holds, and which labels stand with groups of nodes."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, pairwise
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

Pair = tuple[str, str]
Shape = tuple[str, str, tuple[Taint, ...]]
"""Architecture, OS image and taints."""


class Entry(NamedTuple):
    """A node on its way into an inventory; equal parts of many nodes are one object."""

    name: str
    kernel: str
    shape: Shape
    labels: tuple[Pair, ...]
    """In the order of their keys."""


def collect(manifests: Iterable[Manifest], keys: Collection[str] | None) -> list[Entry]:
    """Return the nodes, sorted by name; `keys` are the labels to keep, None for all.

    Raises KrmfnError that names each node that is none (a line each, the first ones of many), and for no node at all.
    """
    entries: list[Entry] = []
    problems: list[str] = []
    known: dict[Any, Any] = {}
    for number, manifest in enumerate(manifests, 1):
        try:
            entries.append(_entry(_node(manifest, keys), known))
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


def _entry(node: Node, known: dict[Any, Any]) -> Entry:
    """Return a node as an entry. Raises KrmfnError for text that no API server takes: it would break the lines."""
    if errors := subdomain_errors(node.name):
        raise KrmfnError(f"{node.name!r} is no name: {errors[0]}")
    kernel = node.kernel or UNKNOWN
    if kernel not in known and (not kernel.isprintable() or kernel.split() != [kernel]):
        raise KrmfnError(f"its kernel version {kernel!r} is not one word")
    shape = (node.architecture, node.os_image, node.taints)
    if shape not in known:
        _check_shape(*shape)
    labels = sorted(node.labels.items())
    try:
        pairs = tuple([known[pair] for pair in labels])  # a list is faster, and a fleet has millions
    except KeyError:
        pairs = tuple(_pair(pair, known) for pair in labels)
    known_kernel, known_shape, known_pairs = (known.setdefault(one, one) for one in (kernel, shape, pairs))
    return Entry(node.name, known_kernel, known_shape, known_pairs)


def _pair(pair: Pair, known: dict[Any, Any]) -> Pair:
    """Return a label as the one object for it. Raises KrmfnError for what no API server takes."""
    if pair not in known and (errors := [*label_key_errors(pair[0]), *label_value_errors(pair[1])]):
        raise KrmfnError(f"its label {pair[0]}: {pair[1]!r} is none: {errors[0]}")
    return known.setdefault(pair, pair)  # type: ignore[no-any-return]


def _check_shape(architecture: str, os_image: str, taints: tuple[Taint, ...]) -> None:
    for what, line in (("architecture", architecture), ("osImage", os_image)):
        if not line.isprintable() or len(line) > LONGEST:
            raise KrmfnError(f"its status.nodeInfo.{what} {line[:80]!r} is not one line of text")
    for taint in taints:
        if errors := [*label_key_errors(taint.key), *label_value_errors(taint.value)]:
            raise KrmfnError(f"its taint {taint} is none: {errors[0]}")


def manifest(entries: Sequence[Entry], name: str, keys: Collection[str] | None, valid_until: str = "") -> Manifest:
    """Return the NodeInventory of the entries, which are sorted by name."""
    numbers = Counter(chain.from_iterable(entry.labels for entry in entries))
    shared = _shared_keys(entries, numbers)
    alone = {pair: f" {pair[0]}={pair[1]}" for pair in numbers if pair[0] not in shared}
    lines: dict[tuple[Shape, tuple[Pair, ...]], list[str]] = {}
    places: dict[tuple[int, int], tuple[list[str], str]] = {}  # by ids: equal shapes and labels are one object
    for node, kernel, shape, labels in entries:
        place = places.get((id(shape), id(labels)))
        if place is None:
            common = tuple([pair for pair in labels if pair not in alone])
            own = "".join([alone[pair] for pair in labels if pair in alone])
            place = places[id(shape), id(labels)] = lines.setdefault((shape, common), []), own
        place[0].append(f"{node} {kernel}{place[1]}\n")
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": name, "annotations": {LOCAL: "true"}},
        "spec": {
            **({"validUntil": valid_until} if valid_until else {}),
            "labelKeys": [EVERY] if keys is None else sorted(keys),
            "groups": [_group(shape, common, lines[shape, common]) for shape, common in sorted(lines)],
        },
    }


def _group(shape: Shape, labels: tuple[Pair, ...], lines: list[str]) -> dict[str, Any]:
    architecture, os_image, taints = shape
    fields: dict[str, Any] = {
        "architecture": architecture,
        "osImage": os_image,
        "labels": dict(labels),
        "taints": [{key: value for key, value in taint._asdict().items() if value} for taint in taints],
    }
    return {**{key: value for key, value in fields.items() if value}, "nodes": "".join(lines)}


def _shared_keys(entries: Sequence[Entry], pairs: Mapping[Pair, int]) -> set[str]:
    """Return the labels that stand with the groups of nodes: those of few values first, while groups stay large."""
    columns = _columns(entries, pairs)
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


def _columns(entries: Sequence[Entry], pairs: Mapping[Pair, int]) -> dict[str, array[int]]:
    """Return the labels that many nodes share: per key the number of each node's value, 0 for none.

    `pairs` are the labels of all nodes with how many have each.
    """
    nodes_of: Counter[str] = Counter()
    for (key, _), number in pairs.items():
        nodes_of[key] += number
    zeros = array("i", [0]) * len(entries)
    columns = {key: zeros[:] for key in sorted(nodes_of) if nodes_of[key] * RAREST >= len(entries)}
    values: Counter[str] = Counter()
    places: dict[Pair, tuple[array[int], int]] = {}
    for pair in sorted(pair for pair in pairs if pair[0] in columns):
        values[pair[0]] += 1  # 0 is no label
        places[pair] = columns[pair[0]], values[pair[0]]
    for at, entry in enumerate(entries):
        for pair in entry.labels:
            if place := places.get(pair):
                place[0][at] = place[1]
    return columns
