"""What is known of each cluster of a report: as plain values, and as the JSON that `nodes` prints."""

import json
from collections.abc import Iterable, Sequence

from krmfn import Ref, Result, error
from krmfn.printing import json_text
from krmfn.results import reference
from krmfn.typed import Any, NamedTuple

from ..exclusivity.messages import line_of
from ..fleet import table
from ..fleet.images import Image
from ..formats.unjudged import Gap

FORMAT = "krmfn.dev/nodes/v1"
"""The format of the JSON."""

SEVERITIES = ("error", "warning", "info")
CONFLICTS = 100
"""Conflicts that are shown."""
SIDES = 6
"""Claims of a conflict that are shown side by side."""


class Outcome(NamedTuple):
    """What becomes of one Module on some nodes."""

    module: int
    """Its position among the Modules of the cluster."""
    state: str
    mapping: str
    text: str
    """The image, or why there is no driver."""


class NodeGroup(NamedTuple):
    """Nodes on which the same becomes of the same Modules."""

    names: tuple[str, ...]
    kernel: str
    outcomes: tuple[Outcome, ...]


class Kernel(NamedTuple):
    """A kernel with how many of a Module's nodes have it, and the mapping that has a driver for it."""

    kernel: str | None
    """Its version; None where it is not known, or not which mapping takes it."""
    nodes: int
    mapping: int | None
    failure: str | None = None
    """Why KMM fails on it."""


class Usage(NamedTuple):
    """A Module of a cluster, with the kernels that it is used on."""

    ref: Ref
    config: str
    """What it is made from, with the pool; of one that is written by hand its own name."""
    mappings: tuple[str, ...]
    kernels: tuple[Kernel, ...]
    """The kernels of the nodes that it selects; none for one that loads nothing."""

    @property
    def name(self) -> str:
        """The name in short: `kmm/gpu`."""
        return f"{self.ref.namespace}/{self.ref.name}" if self.ref.namespace else self.ref.name


Clash = dict[str, Any]
"""A conflict with the selectors side by side, as the JSON has it, but for the places:

`severity` and `rule`; `reason`: why they exclude each other, and what to do; `nodes` that all of them select, none
where they only could select the same one; `sides`: the `claimant` that takes part, and its `place`; `hiddenSides`:
how many further sides are not shown; `labels`: per `key` the `values` that the sides ask for, in their order, None for
none.
"""


class Part(NamedTuple):
    """One cluster of a report."""

    name: str
    modules: Sequence[Usage]
    groups: Sequence[NodeGroup]
    """What every node gets; none where nothing is concluded about nodes."""
    has_nodes: bool
    unjudged: str
    """Why nothing is concluded about nodes; "" when it is."""
    clashes: Sequence[Clash]
    """The conflicts about nodes, errors first, as far as they are shown."""
    more_clashes: int
    images: Sequence[Image]
    unlisted: str
    """Why the images are not known; "" when they are."""
    bare: Sequence[Ref]
    """Configs that no Module was made from: what they select is not known."""
    findings: Sequence[Result] = ()
    has_errors: bool = False
    """Whether the input has errors: this is what it would come to."""
    unchecked: str = ""
    """Why the findings are not known; "" when they are."""
    gaps: Sequence[Gap] = ()
    """What was not judged, as a file of `check` says."""
    nodes: int = 0
    """How many nodes there are, those of which nothing is concluded, too."""

    @property
    def is_unjudged(self) -> bool:
        """Return True where it is not known what its nodes get, or what is wrong."""
        return bool(self.unjudged or self.bare or self.unchecked)


def unknown_part(name: str, reason: str) -> Part:
    """Return a cluster of which nothing is known, for this reason."""
    return Part(name, (), (), False, reason, (), 0, (), reason, ())


def unread_part(name: str) -> Part:
    """Return a cluster that could not be read; the page shows an error for it."""
    reason = "not all of this cluster can be read, so nothing is known of it; see what the command says on stderr"
    return unknown_part(name, reason)._replace(findings=[error(reason)], has_errors=True)


def merge_groups(groups: Iterable[NodeGroup]) -> list[NodeGroup]:
    """Return the groups, those that only differ in their nodes as one, in the order of their first names."""
    names: dict[tuple[str, tuple[Outcome, ...]], list[str]] = {}
    for group in groups:
        names.setdefault((group.kernel, group.outcomes), []).extend(group.names)
    return sorted(NodeGroup(tuple(sorted(members)), *key) for key, members in names.items())


def merge_images(clusters: Iterable[Sequence[Image]]) -> list[Image]:
    """Return every image of some clusters once, with all of their nodes and all that needs it, sorted by name."""
    by_name: dict[str, Image] = {}
    for images in clusters:
        for image in images:
            before = by_name.get(image.name, Image(image.name, 0, False, ()))
            known = before.nodes is not None and image.nodes is not None
            nodes = (before.nodes or 0) + (image.nodes or 0) if known else None
            needs = tuple(dict.fromkeys((*before.needs, *image.needs)))
            waiting = before.waiting + image.waiting if known else 0
            by_name[image.name] = Image(image.name, nodes, before.built or image.built, needs, waiting)
    return [by_name[name] for name in sorted(by_name)]


def dump(clusters: Iterable[tuple[Part, Iterable[table.Row]]], is_whole: bool, kernel: str | None) -> str:
    """Return what `nodes --format json` prints: all that is known of each cluster, and a row per node and Module.

    `is_whole` is False where rows are filtered out; `kernel` is the one that nodes would move to, None for none.
    """
    head = f'{{"format": {json.dumps(FORMAT)}, "whole": {json.dumps(is_whole)}, "kernel": {json.dumps(kernel)},\n'
    return f'{head}"clusters": [\n{",".join(map(_cluster, clusters))}]}}\n'


def _cluster(cluster: tuple[Part, Iterable[table.Row]]) -> str:
    """Return the JSON of a cluster, with a line per row at its end."""
    part, rows = cluster
    facts: dict[str, Any] = {"cluster": part.name, "hasErrors": part.has_errors, "hasNodes": part.has_nodes}
    facts |= {"unknownBecause": part.unjudged or None, "modules": [_module(module) for module in part.modules]}
    facts |= {"configsWithoutModule": [reference(ref) for ref in part.bare]}
    facts |= {"conflicts": [_clash(clash) for clash in part.clashes], "hiddenConflicts": part.more_clashes}
    facts |= {"images": [image_record(image) for image in part.images], "imagesUnknownBecause": part.unlisted or None}
    lines = ",\n".join(json_text(table.record(row)) for row in rows)
    text = json_text(facts)[:-1]
    return f'{text}, "rows": [\n{lines}]}}\n' if lines else f'{text}, "rows": []}}\n'


def _clash(clash: Clash) -> dict[str, Any]:
    """Return a conflict as JSON data, in which a place is one text."""
    sides = [{"claimant": side["claimant"], "location": line_of(side["place"])} for side in clash["sides"]]
    return {**clash, "sides": sides}


def _module(module: Usage) -> dict[str, Any]:
    facts = {"module": reference(module.ref), "madeFrom": module.config, "mappings": list(module.mappings)}
    return {**facts, "kernels": [kernel._asdict() for kernel in module.kernels]}


def image_record(image: Image) -> dict[str, Any]:
    """Return an image as JSON data; `nodes` is null where their number is not known.

    `waiting` is there where some of the nodes do not pull it yet.
    """
    needs = [{**reference(ref), "for": purpose} for ref, purpose in image.needs]
    waiting = {"waiting": image.waiting} if image.waiting else {}
    return {"image": image.name, "nodes": image.nodes, **waiting, "madeInCluster": image.built, "neededBy": needs}
