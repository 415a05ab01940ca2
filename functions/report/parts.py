"""What is known of each cluster of a report, as plain values: they are made here, or come as JSON from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from krmfn import Ref, Result
from krmfn.typed import NamedTuple

CONFLICTS = 100
"""Conflicts that are shown."""
SIDES = 6
"""Claims of a conflict that are shown side by side."""


class Gets(NamedTuple):
    """What becomes of one Module on some nodes."""

    module: int
    """Its position among the Modules of the cluster."""
    state: str
    mapping: str
    what: str
    """The image, or why there is no driver."""


class Alike(NamedTuple):
    """Nodes on which the same becomes of the same Modules."""

    names: tuple[str, ...]
    kernel: str
    gets: tuple[Gets, ...]


class Kernel(NamedTuple):
    """A kernel with how many of a Module's nodes have it, and the mapping that has a driver for it."""

    version: str
    nodes: int
    mapping: int | None
    failure: str = ""
    """Why KMM fails on it."""


class Used(NamedTuple):
    """A Module of a cluster."""

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


class Pulled(NamedTuple):
    """An image that nodes pull."""

    name: str
    nodes: int | None
    """How many; None when that is not known."""
    built: bool
    """Whether a build in the cluster makes it."""
    needs: tuple[tuple[Ref, str], ...]
    """Who needs it, and what for."""


class Side(NamedTuple):
    """One who takes part in a conflict."""

    who: str
    where: str


class Clash(NamedTuple):
    """A conflict, with the selectors side by side."""

    severity: str
    rule: str
    law: str
    """Why they exclude each other, and what to do."""
    nodes: Sequence[str]
    """Nodes that all of them select; none: they could select the same one."""
    sides: Sequence[Side]
    more: int
    """Further ones in it that are not shown."""
    labels: Sequence[tuple[str, Sequence[str | None]]]
    """Per label the value that each side wants; None where it wants none."""


class Part(NamedTuple):
    """One cluster of a report."""

    name: str
    modules: Sequence[Used]
    groups: Sequence[Alike]
    """What every node gets; none where nothing is concluded about nodes."""
    has_nodes: bool
    unjudged: str
    """Why nothing is concluded about nodes; "" when it is."""
    clashes: Sequence[Clash]
    """The conflicts about nodes, errors first, as far as they are shown."""
    more_clashes: int
    images: Sequence[Pulled]
    unlisted: str
    """Why the images are not known; "" when they are."""
    bare: Sequence[Ref]
    """Configs that no Module was made of: what they select is not known."""
    findings: Sequence[Result] = ()
    has_errors: bool = False
    """Whether the input has errors: this is what it would come to."""
    unchecked: str = ""
    """Why the findings are not known; "" when they are."""


def together(clusters: Iterable[Sequence[Pulled]]) -> list[Pulled]:
    """Return every image of some clusters once, with all of their nodes and all who need it, sorted by name."""
    merged: dict[str, Pulled] = {}
    for images in clusters:
        for image in images:
            before = merged.get(image.name, Pulled(image.name, 0, False, ()))
            known = before.nodes is not None and image.nodes is not None
            nodes = (before.nodes or 0) + (image.nodes or 0) if known else None
            needs = tuple(dict.fromkeys((*before.needs, *image.needs)))
            merged[image.name] = Pulled(image.name, nodes, before.built or image.built, needs)
    return [merged[name] for name in sorted(merged)]
