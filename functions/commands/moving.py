"""The options --kernel and --where: kernels that nodes would move to, and the nodes that do."""

import argparse
from collections.abc import Callable, Collection, Sequence
from fnmatch import fnmatchcase

from krmfn import KrmfnError, ResourceList
from krmfn.typed import NamedTuple

from .. import sentence
from ..exclusivity.node import Node
from ..fleet import table
from ..fleet.nodes import Fleet
from ..report import cluster_view

NO_NODES = "no nodes are known in {}: is it the right PATH? Add a NodeInventory (`krmfn inventory`), or pass --live"
"""The message about a cluster without nodes; takes its name."""


class Move(NamedTuple):
    """A kernel, and which nodes boot it."""

    kernel: str
    old: str = "*"
    """The kernel that they have now, perhaps with `*`."""


def add_arguments(parser: argparse.ArgumentParser, effect: str) -> None:
    """Add --kernel and --where; `effect` is what --kernel does, for the help."""
    help_ = f"{effect}: V for all nodes, OLD=NEW for nodes that now have OLD (* matches any text); may be repeated"
    parser.add_argument("--kernel", action="append", default=[], metavar="V|OLD=NEW", help=help_)
    help_ = "apply --kernel only to nodes with this label, or with this os=, kernel=, config= or state= (* matches any "
    help_ += "text); without --kernel print only these nodes; may be repeated"
    parser.add_argument("--where", action="append", default=[], metavar="KEY=VALUE", help=help_)


def moves(texts: Sequence[str]) -> list[Move]:
    """Return the moves that the values of --kernel name. Raises KrmfnError for a kernel that is "" or has `*`."""
    result = []
    for text in texts:
        old, sign, new = text.rpartition("=")
        if not new or (sign and not old) or "*" in new:
            raise KrmfnError(f"--kernel {text!r} must be a kernel, or OLD=NEW with a kernel as NEW")
        result.append(Move(new, old or "*"))
    return result


def row_filter(texts: Sequence[str]) -> table.Filter:
    """Return the filter that the values of --where make. Raises KrmfnError for one that is no KEY=VALUE."""
    labels = dict(map(label, texts))
    owner, os, kernel, state = (labels.pop(key, "") for key in ("config", "os", "kernel", "state"))
    return table.Filter(labels, owner, os=os, kernel=kernel, state=state)


def mover(
    resources: ResourceList, name: str, moves: Sequence[Move], filter_: table.Filter
) -> Callable[[Fleet], Sequence[Node]]:
    """Return a function that returns a cluster's nodes, those that pass the filter with the kernels that they move to.

    A node moves to the kernel of the first move that is about the one it has.
    """
    if not moves:
        return lambda fleet: fleet.nodes
    ids: set[tuple[object, str]] | None = None
    if filter_ != table.Filter():
        view = cluster_view.join(name, resources)
        if not view.errors and view.cluster.fleet.nodes:
            check_nodes(view.cluster.fleet, name, filter_.labels)
        rows = table.rows(view.groups, view.cluster.all_drivers)
        ids = {(row.node.cluster, row.node.name) for row in rows if filter_.matches(row)}

    def boot(node: Node) -> Node:
        kernel = next((move.kernel for move in moves if fnmatchcase(node.kernel, move.old)), node.kernel)
        if kernel == node.kernel or not (ids is None or (node.cluster, node.name) in ids):
            return node
        return node._replace(kernel=kernel, last_kernel=node.kernel)

    return lambda fleet: [boot(node) for node in fleet.nodes]


def check_moves(moves: Sequence[Move], filters: Sequence[str], texts: Sequence[str], nodes: Sequence[Node]) -> None:
    """Raise KrmfnError when --kernel moves none of the nodes that there are, and none has such a kernel already.

    `filters` are the values of --where, `texts` those of --kernel.
    """
    if not (moves and nodes) or any(node.last_kernel for node in nodes):
        return
    kernels = {move.kernel for move in moves if move.old == "*"}
    labels = {text.partition("=")[::2] for text in filters}
    if not any(node.kernel in kernels and labels <= {*node.labels.items()} for node in nodes):
        condition = f" with {' and '.join(filters)}" if filters else ""
        raise KrmfnError(f"--kernel {', '.join(texts)}: no node{condition} has such a kernel, so none moves")


def check_nodes(fleet: Fleet, path: str, keys: Collection[str]) -> None:
    """Raise KrmfnError when a cluster has no nodes, or when labels are not known of them."""
    if not fleet.nodes:
        raise KrmfnError(NO_NODES.format(path))
    if missing := fleet.missing_labels(keys):
        labels = ",".join(sorted(keys))
        remedy = f"regenerate it with `krmfn inventory`, adding `--labels {labels}` to its options"
        raise KrmfnError(f"{sentence.text(missing)}; {remedy}")


def label(text: str) -> tuple[str, str]:
    """Return the key and the value of `KEY=VALUE`. Raises KrmfnError for anything else."""
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise KrmfnError(f"{text!r} is not a label; write it as KEY=VALUE, or as KEY= if the value is empty")
    return key, value
