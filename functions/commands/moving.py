"""Kernels that nodes would move to, and the nodes that are asked about: `--kernel` and `--where`."""

import argparse
from collections.abc import Callable, Collection, Sequence
from fnmatch import fnmatchcase

from krmfn import KrmfnError, ResourceList
from krmfn.typed import NamedTuple

from ..exclusivity.node import Node
from ..fleet import table
from ..fleet.nodes import Fleet
from ..report import local

NO_NODES = "no nodes are known in {}: is it the right PATH? Add a NodeInventory (`krmfn inventory`), or pass --live"
"""What is said of a cluster without nodes, by its name."""


class Move(NamedTuple):
    """A kernel, and which nodes boot it."""

    kernel: str
    old: str = "*"
    """The kernel that they have now, perhaps with `*`."""


def add_arguments(parser: argparse.ArgumentParser, what: str) -> None:
    """Add --kernel and --where; `what` is what --kernel does."""
    help_ = (
        f"{what}: V is a kernel for all nodes, OLD=NEW for those that have OLD now (perhaps with *); may be repeated"
    )
    parser.add_argument("--kernel", action="append", default=[], metavar="V|OLD=NEW", help=help_)
    help_ = (
        "only nodes with this label, or with os=, kernel=, config= or state= (perhaps with *): those that --kernel "
        "moves, else those that are printed; may be repeated"
    )
    parser.add_argument("--where", action="append", default=[], metavar="KEY=VALUE", help=help_)


def moves(texts: Sequence[str]) -> list[Move]:
    """Return what the options --kernel say. Raises KrmfnError for an empty kernel, and for several for all nodes."""
    found = []
    for text in texts:
        old, sign, new = text.rpartition("=")
        if not new or (sign and not old) or "*" in new:
            raise KrmfnError(f"--kernel {text!r} must be a kernel, or OLD=NEW with a kernel as NEW")
        found.append(Move(new, old or "*"))
    return found


def where(texts: Sequence[str]) -> table.Filter:
    """Return which rows --where asks for. Raises KrmfnError for what is no KEY=VALUE."""
    labels = dict(map(label, texts))
    owner, os, kernel, state = (labels.pop(key, "") for key in ("config", "os", "kernel", "state"))
    return table.Filter(labels, owner, os=os, kernel=kernel, state=state)


def moved(
    resources: ResourceList, name: str, every: Sequence[Move], wanted: table.Filter
) -> Callable[[Fleet], Sequence[Node]]:
    """Return what moves the wanted nodes of a cluster: to the kernel of the first option that takes them."""
    if not every:
        return lambda fleet: fleet.nodes
    chosen: set[tuple[object, str]] | None = None
    if wanted != table.Filter():
        joined = local.join(name, resources)
        if not joined.wrong and joined.whole.fleet.nodes:
            check_nodes(joined.whole.fleet, name, wanted.labels)
        rows = table.rows(joined.groups, joined.whole.all_drivers)
        chosen = {(row.node.cluster, row.node.name) for row in rows if wanted.matches(row)}

    def boots(node: Node) -> Node:
        new = next((one.kernel for one in every if fnmatchcase(node.kernel, one.old)), node.kernel)
        if new == node.kernel or not (chosen is None or (node.cluster, node.name) in chosen):
            return node
        return node._replace(kernel=new, last_kernel=node.kernel)

    return lambda fleet: [boots(node) for node in fleet.nodes]


def check_moved(every: Sequence[Move], wanted: Sequence[str], texts: Sequence[str], nodes: Sequence[Node]) -> None:
    """Raise KrmfnError when --kernel moves none of the nodes that there are, and none has such a kernel already."""
    there = tuple(one.kernel for one in every if one.old == "*")
    labels = {text.partition("=")[::2] for text in wanted}
    have_it = (node.kernel in there and labels <= {*node.labels.items()} for node in nodes)
    if every and nodes and not any(node.last_kernel for node in nodes) and not any(have_it):
        what = f" with {' and '.join(wanted)}" if wanted else ""
        raise KrmfnError(f"--kernel {', '.join(texts)}: no node{what} has such a kernel, so none moves")


def check_nodes(fleet: Fleet, path: str, keys: Collection[str]) -> None:
    """Raise KrmfnError when a cluster has no nodes, or when labels are not known of them."""
    if not fleet.nodes:
        raise KrmfnError(NO_NODES.format(path))
    if missing := fleet.missing_labels(keys):
        labels = ",".join(sorted(keys))
        raise KrmfnError(f"{missing}; regenerate it with `krmfn inventory`, adding `--labels {labels}` to its options")


def label(text: str) -> tuple[str, str]:
    """Return the key and the value of `KEY=VALUE`. Raises KrmfnError for anything else."""
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise KrmfnError(f"{text!r} is not a label; write it as KEY=VALUE, or as KEY= if the value is empty")
    return key, value
