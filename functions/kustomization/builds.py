"""A kustomization as a list of resources: what it reads and calls is judged first, then kustomize builds it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from krmfn.errors import KrmfnError
from krmfn.ownership import mark_of
from krmfn.printing import some
from krmfn.resourcelist import ResourceList
from krmfn.results import Result, error, info, placed

from ..options import RunOptions, kustomize_flags
from ..paths import manifests
from ..paths.failures import Unreadable
from ..rendering.kinds import PROFILE, owners_among
from ..run import note
from . import kustomize, landlock, silent, written
from .graph import Graph
from .kustomize import Decision
from .places import Places
from .tree import tree

_LIFTED = {
    "--enable-alpha-plugins": ("KRM510", "KRM511"),
    "--enable-helm": ("KRM512",),
    "--load-restrictor": ("KRM507",),
}
"""The rules that a flag of the user's for kustomize takes away: what they are about was asked for."""
_NO_PATH = "operation does not apply: "
_PATH = rb"/[^\s:,}\"']+"


def built(options: RunOptions, path: str, folder: str, graph: Graph) -> ResourceList:
    """Return what kustomize builds of the folder `path`; functions of ours are called as the kustomization says.

    `folder` is the path, absolute and without links, and `graph` holds its kustomization and all that it lists.
    With a call `is_settled` is set, and the functionConfig is the outermost one; an error that our function reports is
    a finding, and the list is empty. Raises Unreadable when the kustomization may not be built, KrmfnError when
    kustomize fails.
    """
    flags = kustomize_flags(options)
    decided = decide(graph, folder, flags, options.allow_remote)
    if decided.refused:
        raise Unreadable(decided.refused)
    if options.hardened and (decided.is_own or not landlock.version()):
        raise KrmfnError(
            f"--hardened: kustomize is {'not confined with your plugins' if decided.is_own else landlock.holds()}"
        )
    try:
        made, again = _made(options, path, folder, graph, decided)
    except KrmfnError as failure:
        patches = _patches_with(graph, folder, " ".join(failure.args)) if kustomize.WHICH_PATCH in failure.args else []
        if not patches:
            raise
        where = f"(kustomize does not name the patch; this path is in {some(patches, len(patches))})"
        raise KrmfnError(*failure.args[:-1], where) from failure
    try:
        resources = manifests.read_stream(made.stream)
    except KrmfnError as failure:
        raise KrmfnError(f"what kustomize build {path} printed: {failure}") from failure
    resources.report(finding for finding in graph.findings(folder) if finding.severity != "error")
    resources.report(silent.unmatched(graph, folder))
    places = Places(graph, folder, decided.calls, again)
    places.give(resources.items)
    renames = graph.transformed(folder)
    for item in resources.select(PROFILE[1], PROFILE[0]) if renames.prefixes or renames.suffixes else ():
        (found,) = placed([item.located(Result(""))])
        item.written_name = found.ref.name if found.ref else ""
    resources.report(map(places.of_call, made.findings))
    resources.report(info(f"kustomize: {line}", rule="KRM106") for line in made.messages)
    resources.changes += made.changes
    note(resources, transformed=renames, is_plain=not graph.calls(folder))
    if decided.calls:
        resources.report(silent.changed_later(made.seen, resources))
        config = decided.calls[0].config
        note(resources, is_settled=True, config_item=config)
        resources.function_config = config.manifest
    return resources


def decide(graph: Graph, folder: str, flags: Sequence[str] = (), allow_remote: bool = False) -> Decision:
    """Return how the kustomization in `folder` is built with the user's `flags` for kustomize and --allow-remote.

    What is fetched may list functions that nobody has seen: it is not built together with functions, ours or others.
    """
    given = {flag.partition("=")[0] for flag in flags}
    lifted = {rule for flag, rules in _LIFTED.items() if flag in given for rule in rules}
    own_plugins = "--enable-alpha-plugins" in given
    calls = graph.calls(folder)
    if allow_remote and not calls and not own_plugins:
        lifted.add("KRM509")
    findings = graph.findings(folder)
    refused = [one for one in findings if one.severity == "error" and one.rule not in lifted]
    if not refused and own_plugins and {"--enable-exec", "--enable-exec=true"}.isdisjoint(flags):
        for call in calls:
            if call.program and not call.image:  # kustomize would not run it, and not say so
                message = (
                    f"{call.field}: kustomize should call {call.program} here, but silently skips it with these flags; "
                    "pass --enable-exec as well, or no flags at all"
                )
                refused.append(error(message, rule="KRM516", ref=call.config.ref, place=call.config.place))
    if refused:
        return Decision(tuple(refused))
    is_open = own_plugins or bool(lifted.intersection(one.rule for one in findings) - {"KRM507"})
    return Decision((), () if own_plugins else tuple(calls), is_open, own_plugins)


def _patches_with(graph: Graph, folder: str, message: str) -> list[str]:
    """Return where the patches of a build stand that have the path which kustomize could not find."""
    wanted = re.findall(_PATH, message.partition(_NO_PATH)[2].partition("\n")[0].encode())[:1]
    patches = (one for each in graph.below(folder) for one in each.references if wanted and one.is_patch)
    held = [one for one in patches if wanted[0] in re.findall(_PATH, graph.texts.get(one.real) or one.data)]
    return [f"{one.place.path}:{one.place.line}" for one in held]


def _made(
    options: RunOptions, path: str, folder: str, graph: Graph, decided: Decision
) -> tuple[kustomize.Built, Callable[[], kustomize.Built]]:
    """Return what kustomize makes of a folder, and how to have it with a note of its origin on each resource."""
    flags, like = kustomize_flags(options), graph.kustomizations[folder].manifest

    def build(origins: bool = False) -> kustomize.Built:
        given = None if decided.is_own else tree(graph, folder, decided.is_open)
        return kustomize.build(path, given, flags, decided, like, origins, options.timeout)

    if not graph.workspace or flags or decided.is_open or decided.calls or not graph.is_untouched(folder):
        return build(), partial(build, origins=True)
    direct = tree(graph, folder, aside=graph.workspace.aside)
    traced = kustomize.build(path, direct, (), decided, seconds=options.timeout, shared=graph.workspace)
    stream = written.without(traced.stream)
    return build() if stream is None else traced._replace(stream=stream), lambda: traced


def never_rendered(path: str, resources: ResourceList) -> Iterator[Result]:
    """Yield an error for each resource that should have been rendered in the build and that nothing was made from."""
    owners = {mark.owner for item in resources.marked() if (mark := mark_of(item.annotations))}
    owners.update([*map(written.anywhere, owners)])
    for item in owners_among(resources.items):
        if item.ref.id not in owners:
            message = (
                f"nothing in the build of {path} was generated from it: krmfn is called before it is added or "
                "renamed, or not for its kind; call krmfn in the outermost kustomization"
            )
            yield item.located(error(message, rule="KRM514"))
