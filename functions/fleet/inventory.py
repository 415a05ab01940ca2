"""A NodeInventory: the nodes of a cluster as a file that is kept in Git, one line a node.

    spec:
      labelKeys: [topology.kubernetes.io/zone]     the labels that it holds; ["*"] is all of them
      clusterUID: 2c9b4b7e-3f1d-4a52-9d8e-0a4f5f9c1b11   of the Namespace kube-system: dumps of others are refused
      validUntil: "2026-12-31"
      kubeletVersions: [v1.34.2]                   of all nodes: a Kubernetes of the cluster is never older
      nodeCount: 1                                 a file that was cut off has fewer
      groups:
      - architecture: amd64
        osImage: Red Hat Enterprise Linux 9.5
        labels: {...}                              what all nodes of the group have
        taints: [...]
        nodes: |
          gpu-0001 5.14.0-503.11.1.el9_5.x86_64 topology.kubernetes.io/zone=a

A node's line has its name, its kernel (`-` when it is not known) and the labels that it does not share. So a kernel
upgrade changes one line, a new node adds a line and changes the count, and 100,000 nodes with 40 labels each take some
20 MB. The lines are one string, which YAML tools pass on as it is, and which a parser reads at once.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import date
from functools import lru_cache

from krmfn import Field, KrmfnError, Manifest, Result, error
from krmfn.printing import counted
from krmfn.typed import NamedTuple

from ..exclusivity.node import Node, Taint
from ..kmm.lookup import text, texts
from ..kmm.names import label_key_errors, label_value_errors, subdomain_errors
from ..mistake import Mistake
from . import facts

EVERY = "*"
"""The entry of `labelKeys` that stands for all labels."""
Facts = tuple[tuple[Taint, ...], str, str]
"""Taints, architecture and OS image of a group."""


class LineMistake(NamedTuple):
    """What is wrong with a field of an inventory, or with one line of its text."""

    path: str
    mistake: Mistake
    line: int = 0
    """From 1; 0: it is about the field."""
    text: str = ""
    """That line."""


def read(manifest: Manifest, cut: bytes = b"") -> tuple[list[Node], list[LineMistake]]:
    """Return the nodes of a NodeInventory that fits its schema, and the problems of the other lines.

    `cut` is its text where that ends a file without a last newline: a part of it may be missing.
    """
    keys, groups = label_keys(manifest), manifest["spec"]["groups"]
    nodes: list[Node] = []
    problems: list[LineMistake] = []
    for index, group in enumerate(groups):
        labels = tuple(group.get("labels", {}).items())
        taints = tuple(sorted(Taint(**taint) for taint in group.get("taints", ())))
        shared_facts = (taints, group.get("architecture", ""), group.get("osImage", ""))
        if missing := sorted(key for key, _ in labels if keys is not None and key not in keys):
            mistake = Mistake(f"{missing[0]} is not in spec.labelKeys")
            problems.append(LineMistake(f"spec.groups[{index}].labels", mistake))
        of_group, lines = _group(group["nodes"], labels, shared_facts, keys)
        nodes += of_group
        problems += [LineMistake(f"spec.groups[{index}].nodes", *line) for line in lines]
    number, count = len(nodes), manifest["spec"].get("nodeCount", len(nodes))
    if count != number and not problems:
        cause = "a part of the file may be missing" if number < count else "lines were added"
        difference = f"it says {counted(count, 'node')}, but there {'is' if number == 1 else 'are'} {number:,}"
        mistake = Mistake(f"{difference}: {cause}", "regenerate it, or correct the number")
        problems.append(LineMistake("spec.nodeCount", mistake))
    if len({node.name for node in nodes}) < number:
        problems += _repetitions(groups)
    last = _lines(groups[-1]["nodes"]) if cut else []
    if last and cut.rpartition(b"\n")[2].strip() == last[-1].encode():
        message = "the file ends in the middle of this line, so it may be cut off"
        mistake = Mistake(message, "regenerate it, or end the line")
        problems.append(LineMistake(f"spec.groups[{len(groups) - 1}].nodes", mistake, len(last), last[-1]))
    return nodes, problems


def _repetitions(groups: Iterable[Mapping[str, str]]) -> Iterator[LineMistake]:
    """Yield a problem for each line whose node stands in an earlier line of the inventory."""
    seen: set[str] = set()
    for index, group in enumerate(groups):
        for number, line in enumerate(_lines(group["nodes"]), 1):
            name = line.partition(" ")[0]
            if name in seen:
                mistake = Mistake(f"node {name} appears twice", "remove one of its lines")
                yield LineMistake(f"spec.groups[{index}].nodes", mistake, number, line)
            seen.add(name)


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n")


@lru_cache(maxsize=1 << 16)  # exclusivity and coverage read one inventory after the other
def _group(
    text: str, pairs: tuple[tuple[str, str], ...], facts: Facts, keys: frozenset[str] | None
) -> tuple[tuple[Node, ...], tuple[tuple[Mistake, int, str], ...]]:
    """Return the nodes of one group; for each other line what is wrong, its number and its text."""
    shared = dict(pairs)
    kernels: dict[str, str] = {}
    words: dict[str, tuple[str, str]] = {}  # equal labels of many nodes are one object
    nodes: list[Node] = []
    problems: list[tuple[Mistake, int, str]] = []
    for number, line in enumerate(_lines(text), 1):
        try:
            if " " not in line:
                raise KrmfnError("expected `<name> <kernel, or -> [<label>=<value> ...]`")
            name, kernel, *rest = line.split(" ")
            if subdomain_errors(name):
                raise KrmfnError(f"{name!r} is not a valid node name: {subdomain_errors(name)[0]}")
            if kernel not in kernels:
                kernels[kernel] = _kernel(kernel)
            words |= {word: _label(word, shared, keys) for word in rest if word not in words}
            labels = {**shared, **dict([words[word] for word in rest])} if rest else shared  # a list is faster
            if len(labels) < len(shared) + len(rest):
                raise KrmfnError("a label appears twice")
        except KrmfnError as failure:
            problems.append((Mistake(str(failure)), number, line))
        else:
            nodes.append(Node(name, labels, kernels[kernel], *facts))
    return tuple(nodes), tuple(problems)


def _kernel(word: str) -> str:
    """Return the kernel in a node's line, "" for one that is not known. Raises KrmfnError for any other word."""
    if not word.isprintable() or not word:
        raise KrmfnError("separate words by one space")
    if "=" in word:
        raise KrmfnError(f"{word!r} is not a kernel version")
    return "" if word == facts.UNKNOWN else word


def _label(word: str, shared: Collection[str], keys: Collection[str] | None) -> tuple[str, str]:
    """Return the label in a node's line. Raises KrmfnError when it is not valid, or does not belong there."""
    if not word.isprintable() or not word:
        raise KrmfnError("separate words by one space")
    key, equals, value = word.partition("=")
    errors = [*label_key_errors(key), *label_value_errors(value)]
    if not equals or errors:
        raise KrmfnError(f"{word!r} is not a label{f': {errors[0]}' if errors else ''}")
    if key in shared:
        raise KrmfnError(f"the label {key} is already in the group")
    if keys is not None and key not in keys:
        raise KrmfnError(f"the label {key} is not in spec.labelKeys")
    return key, value


def label_keys(manifest: Manifest) -> frozenset[str] | None:
    """Return the labels that an inventory holds; None for all."""
    keys = manifest["spec"]["labelKeys"]
    return None if EVERY in keys else frozenset(keys)


def check_freshness(manifest: Manifest, keys: Collection[str], max_age: int | None, today: str) -> Iterator[Result]:
    """Yield an error when an inventory in Git does not hold the labels, is no longer valid, or is too old.

    It is too old after `max_age` days; `today` is a day as `rules.today` returns it. The manifest need not fit its
    schema: that is for `check` to report.
    """
    spec = manifest.get("spec")
    held = texts(spec, "labelKeys")
    if missing := sorted(set(keys).difference(held)) if EVERY not in held else []:
        message, remedy = f"does not hold {', '.join(missing)}, by which nodes are selected", "regenerate it with "
        yield error(message, field=Field("spec"), remedy=f"{remedy}`krmfn inventory --for`")
    if (until := text(spec, "validUntil")) and until < today:
        yield error(f"was valid until {until}", field=Field("spec.validUntil", until), remedy="regenerate it")
    if max_age is None:
        return
    day = text(spec, "takenOn")
    try:
        age = (date.fromisoformat(today) - date.fromisoformat(day)).days
    except ValueError:
        message = "does not say when it was taken (spec.takenOn)"
        yield error(message, field=Field("spec"), remedy="regenerate it with `--taken-on`")
    else:
        if age > max_age:
            yield error(
                f"was taken {age:,} days ago, on {day}", field=Field("spec.takenOn", day), remedy="regenerate it"
            )
