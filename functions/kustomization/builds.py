"""Build a kustomization into a list of resources, after what it reads and calls has been checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from krmfn.errors import KrmfnError
from krmfn.findings import placed
from krmfn.item import Item
from krmfn.ownership import mark_of
from krmfn.resourcelist import ResourceList
from krmfn.results import Result, error, info

from ..fleet import readings
from ..options import BUILD_SECONDS, RunOptions, kustomize_flags
from ..paths import manifests
from ..paths.failures import Unreadable
from ..rendering.kinds import PROFILE, owners_among
from ..run import note
from . import build_checks, kustomize, provenance, sandbox, unapplied
from .graph import Graph
from .kustomize import Decision
from .places import Places
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


def build(options: RunOptions, path: str, folder: str, graph: Graph) -> ResourceList:
    """Return the resources that kustomize builds from the folder `path`, with the calls of our functions in it.

    `folder` is the path, absolute and without links, and `graph` holds its kustomization and all that it lists.
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
        output, trace = _shared_output(options, path, folder, graph, decision)
    except unapplied.Unapplied as failure:
        failure.name_patches(unapplied.patches(graph, folder, failure.messages))
        raise
    try:
        resources = manifests.read_stream(output.stream)
    except KrmfnError as failure:
        raise KrmfnError(f"what kustomize build {path} printed: {failure}") from failure
    resources.report(finding for finding in graph.findings(folder) if finding.severity != "error")
    resources.report(build_checks.unmatched_patches(graph, folder))
    places = Places(graph, folder, decision.calls, trace)
    places.attach(resources.items)
    renames = graph.transformed(folder)
    if renames.prefixes or renames.suffixes:
        _note_written_names(resources.where(kind=PROFILE[1], group=PROFILE[0]))
    resources.report(map(places.locate, output.findings))
    resources.report(info(f"kustomize: {line}", rule="KRM106") for line in output.messages)
    resources.changes += output.changes
    note(resources, transformed=renames, is_plain=not graph.calls(folder))
    if decision.calls:
        resources.report(build_checks.later_changes(output.inputs, resources))
        note(resources, is_settled=True, config_item=decision.calls[0].config)
        resources.function_config = decision.calls[0].config.manifest
    return resources


def _note_written_names(profiles: Iterable[Item]) -> None:
    """Note for Profiles the name in their files: configs name it, whatever kustomize adds."""
    for item in profiles:
        ref = placed([item.located(Result(""))])[0].ref
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


def _shared_output(
    options: RunOptions, path: str, folder: str, graph: Graph, decision: Decision
) -> tuple[kustomize.Output, Callable[[], kustomize.Output]]:
    """Return the output as `_output` does, from one build where several clusters get the folder."""
    build = partial(_output, options, path, folder, graph, decision)
    if not graph.workspace:
        return build()
    output, trace = graph.workspace.once((folder, "output"), build)
    return output, partial(graph.workspace.once, (folder, "origins"), trace)


def _output(
    options: RunOptions, path: str, folder: str, graph: Graph, decision: Decision
) -> tuple[kustomize.Output, Callable[[], kustomize.Output]]:
    """Return the output of kustomize for a folder, and a function that returns it with the origin of each resource."""
    flags, manifest = kustomize_flags(options), graph.kustomizations[folder].manifest
    seconds = options.timeout or BUILD_SECONDS

    def output(origins: bool = False) -> kustomize.Output:
        source = None if decision.is_own else tree(graph, folder, decision.is_open)
        return kustomize.build(kustomize.BuildCall(path, source, flags, decision, manifest, origins, seconds))

    if _work_of_origins(graph, folder) > _MOST_NOTED:
        untraced = output()
        return untraced, lambda: untraced
    if not graph.workspace or flags or decision.is_open or decision.calls or not graph.is_untouched(folder):
        return output(), partial(output, origins=True)
    unwrapped = tree(graph, folder, build_name=graph.workspace.build_name)
    call = kustomize.BuildCall(path, unwrapped, decision=decision, seconds=seconds, shared=graph.workspace)
    traced = kustomize.build(call)
    stream = provenance.without_notes(traced.stream)
    return output() if stream is None else traced._replace(stream=stream), lambda: traced


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
