"""Build a kustomization into a list of resources, after what it reads and calls has been checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from krmfn.errors import KrmfnError
from krmfn.item import Item
from krmfn.ownership import mark_of
from krmfn.resource import Built, Place
from krmfn.resourcelist import ResourceList
from krmfn.results import Result, error, info

from ..fleet import readings
from ..options import BUILD_SECONDS, RunOptions, kustomize_flags
from ..paths import manifests
from ..paths.failures import Unreadable
from ..rendering.kinds import PROFILE, owners_among
from ..run import note
from ..sources import Sources
from . import build_checks, kustomize, provenance, sandbox, unapplied
from .calls import Call
from .graph import Graph
from .kustomize import Decision
from .places import Places
from .traces import Trace, output_of
from .tree import tree

_LIFTED = {
    "--enable-alpha-plugins": ("KRM510", "KRM511"),
    "--enable-helm": ("KRM512",),
    "--load-restrictor": ("KRM507",),
}
"""The rules that do not apply with a flag of the user's for kustomize, which asks for what they forbid."""
_FEW_PATCHES = 5
"""So many patches of a kustomization cost kustomize less with origins than its own work on what they patch."""
_MOST_NOTED = 100_000
"""How large the work is that kustomize may have with origins: see `_work_of_origins`; it takes 2 seconds for this."""


def build(options: RunOptions, sources: Sources, path: str, folder: str, graph: Graph) -> ResourceList:
    """Return the resources that kustomize builds from the folder `path`, with the calls of our functions in it.

    `folder` is the path, absolute and without links, and `graph` holds its kustomization and all that it lists. The
    build becomes one of the `sources`.
    If functions are called, `is_settled` is set, and the functionConfig is that of the outermost call; an error that a
    function reports is a finding, and the list is empty. Raises Unreadable when the kustomization may not be built,
    KrmfnError when kustomize fails.
    """
    decision = decide(graph, folder, kustomize_flags(options), options.allow_remote)
    if decision.refused:
        raise Unreadable(decision.refused)
    if options.hardened and (decision.is_own or sandbox.gap()):
        reason = " with your plugins" if decision.is_own else f": {sandbox.gap()}"
        raise KrmfnError(f"--hardened: kustomize is not confined{reason}")
    try:
        trace = Trace(path, folder, graph, decision, kustomize_flags(options), options.timeout or BUILD_SECONDS)
        output, trace = _shared_output(trace)
    except unapplied.Unapplied as failure:
        failure.name_patches(unapplied.patches(graph, folder, failure.messages))
        raise
    try:
        resources = manifests.read_stream(output.stream)
    except KrmfnError as failure:
        raise KrmfnError(f"what kustomize build {path} printed: {failure}") from failure
    resources.report(finding for finding in graph.findings(folder) if finding.severity != "error")
    resources.report(build_checks.unmatched_patches(graph, folder))
    name = _named(sources, trace, resources)
    renames = graph.transformed(folder)
    if renames.prefixes or renames.suffixes:
        _note_written_names(sources, resources.where(kind=PROFILE[1], group=PROFILE[0]))
    resources.report(_at_calls(output.findings, decision.calls, name))
    resources.report(info(f"kustomize: {line}", rule="KRM106") for line in output.messages)
    resources.changes.extend(output.changes)
    note(resources, sources=sources, transformed=renames, is_plain=not graph.calls(folder))
    if decision.calls:
        resources.report(build_checks.later_changes(output.inputs, resources))
        note(resources, is_settled=True, config_item=decision.calls[0].config)
        resources.function_config = decision.calls[0].config.manifest
    return resources


def _named(sources: Sources, trace: Trace, resources: ResourceList) -> str:
    """Add a build to the sources, let its items stand in it, and return its name."""
    name = sources.add(trace.folder, Places(trace, resources.items))
    for number, item in enumerate(resources.items):
        item.file = Place("", number, built=Built(name, number))
    return name


def _at_calls(findings: Iterable[Result], calls: Sequence[Call], name: str) -> Iterator[Result]:
    """Yield the findings that functions have reported during the build, which is called `name`, with their places."""
    configs = {call.config.ref.id: call.config for call in calls}
    for finding in findings:
        if finding.ref and (config := configs.get(finding.ref.id)):
            yield config.located(finding)
        else:
            is_built = finding.ref and not finding.place
            yield finding._replace(place=Place(built=Built(name))) if is_built else finding


def _note_written_names(sources: Sources, profiles: Iterable[Item]) -> None:
    """Note for Profiles the name in their files: configs name it, whatever kustomize adds."""
    for item in profiles:
        ref = sources.located(item.located(Result(""))).ref
        readings.note_written(item, ref.name if ref else "")


def decide(graph: Graph, folder: str, flags: Sequence[str] = (), allow_remote: bool = False) -> Decision:
    """Return how the kustomization in `folder` is built with the user's `flags` for kustomize and --allow-remote.

    What is fetched may list functions that krmfn has not checked, so it is not built together with functions.
    """
    names = {flag.partition("=")[0] for flag in flags}
    lifted = {rule for flag, rules in _LIFTED.items() if flag in names for rule in rules}
    own_plugins = "--enable-alpha-plugins" in names
    calls = graph.calls(folder)
    if allow_remote and not calls and not own_plugins:
        lifted.add("KRM509")
    findings = graph.findings(folder)
    refused = [finding for finding in findings if finding.severity == "error" and finding.rule not in lifted]
    if not refused and own_plugins and {"--enable-exec", "--enable-exec=true"}.isdisjoint(flags):
        for call in calls:
            if call.program and not call.image:  # kustomize would silently skip it
                message = f"{call.field}: kustomize should call {call.program} here, but skips it with these flags"
                remedy = "pass --enable-exec as well, or no flags at all"
                place = call.config.place
                refused.append(error(message, rule="KRM516", ref=call.config.ref, place=place, remedy=remedy))
    if refused:
        return Decision(tuple(refused))
    is_open = own_plugins or bool(lifted.intersection(finding.rule for finding in findings) - {"KRM507"})
    return Decision((), () if own_plugins else tuple(calls), is_open, own_plugins)


def _shared_output(trace: Trace) -> tuple[kustomize.Output, Trace]:
    """Return the output as `_output` does, from one build where several clusters get the folder."""
    workspace = trace.graph.workspace
    return workspace.once((trace.folder, "output"), partial(_output, trace)) if workspace else _output(trace)


def _output(trace: Trace) -> tuple[kustomize.Output, Trace]:
    """Return the output of kustomize for a folder, and how to get the origin of each resource."""
    path, folder, graph, decision = trace[:4]
    if _work_of_origins(graph, folder) > _MOST_NOTED:
        untraced = output_of(trace)
        return untraced, trace._replace(traced=untraced)
    if not graph.workspace or trace.flags or decision.is_open or decision.calls or not graph.is_untouched(folder):
        return output_of(trace), trace
    unwrapped = tree(graph, folder, build_name=graph.workspace.build_name)
    call = kustomize.BuildCall(path, unwrapped, decision=decision, seconds=trace.seconds, shared=graph.workspace)
    traced = kustomize.build(call)
    stream = provenance.without_notes(traced.stream)
    output = output_of(trace) if stream is None else traced._replace(stream=stream)
    return output, trace._replace(traced=traced)


def _work_of_origins(graph: Graph, folder: str) -> int:
    """Return how much work kustomize has with origins: per kustomization its patches squared times what they patch.

    kustomize notes each transformation in each resource, and reads all notes of a resource again for the next one: 125
    patches of 125 resources take 11 seconds in place of 0.2. Measured with v5.8.2.
    """
    work = 0
    for base in graph.below(folder):
        patches = sum(reference.is_patch for reference in base.references)
        if patches > _FEW_PATCHES:  # else the files need not be read for this
            files = (file for inner in graph.below(base.folder) for file in provenance.resource_files(inner))
            work += patches**2 * sum(len(graph.resources(file)) for file in files)
    return work


def never_rendered(path: str, resources: ResourceList) -> Iterator[Result]:
    """Yield an error for each resource from which the build should have generated something, and did not."""
    marks = [mark_of(item.annotations) for item in resources.marked()]
    owners = {mark.owner for mark in marks if mark}
    owners.update([*map(provenance.without_namespace, owners)])
    for item in owners_among(resources.items):
        if item.ref.id not in owners:
            message = (
                f"nothing in the build of {path} was generated from it: krmfn is called before it is added or "
                "renamed, or not for its kind"
            )
            yield item.located(error(message, rule="KRM514", remedy="call krmfn in the outermost kustomization"))
