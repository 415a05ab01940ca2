"""A build of kustomize, and the same build again with the origins of its resources."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from krmfn.typed import NamedTuple

from . import kustomize
from .graph import Graph
from .kustomize import Decision, Output
from .tree import tree


class Trace(NamedTuple):
    """How a folder is built, once more if need be."""

    path: str
    """The folder, as users name it."""
    folder: str
    """The same, absolute and without links."""
    graph: Graph
    decision: Decision
    flags: Sequence[str]
    """Those of the user's for kustomize."""
    seconds: int
    """How long a build may take."""
    traced: Output | None = None
    """What is known of the origins, where no second build tells more."""


def output_of(trace: Trace, origins: bool = False) -> Output:
    """Return the output of a build, each resource with its origin if that is asked for. Raises KrmfnError."""
    graph, decision = trace.graph, trace.decision
    source = None if decision.is_own else tree(graph, trace.folder, decision.is_open)
    manifest = graph.kustomizations[trace.folder].manifest
    call = kustomize.BuildCall(trace.path, source, trace.flags, decision, manifest, origins, trace.seconds)
    return kustomize.build(call)


def origins_of(trace: Trace) -> Output:
    """Return the output of the second build, in which each resource has its origin. Raises KrmfnError."""
    if trace.traced is not None:
        return trace.traced
    again = partial(output_of, trace, origins=True)
    workspace = trace.graph.workspace
    return workspace.once((trace.folder, "origins"), again) if workspace else again()
