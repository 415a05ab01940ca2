"""One cluster after the function: what each of its roots gives, and all of that as one list."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from krmfn import Item, KrmfnError, ResourceList, Result, printing, warning
from krmfn.errors import NoData

from ..command import Context
from ..formats.checked import Checked
from ..kmm.module import MODULE_GROUP, MODULE_KIND
from ..kustomization import graph
from ..paths.failures import Failure, failure_of
from ..paths.roots import parents, within
from ..rendering.kinds import CONFIG, NODES, OWNERS, PROFILE, driven_kinds, of_kinds
from ..rendering.undriven import any_of_ours
from ..run import note, run_of
from ..settings import Settings
from . import given
from .deployed import Cluster, Clusters

MODULE = (MODULE_GROUP, MODULE_KIND)
Stays = Callable[[ResourceList], bool] | None
"""What returns True for a list on which the function is not to run."""
_OF_SELECTORS = ("KRM302", "KRM304")
"""Rules about nodes that two selectors may share, which none of the known nodes shows."""


def rendered(context: Context, failures: list[Failure], stays: Stays, read: Cluster) -> Cluster:
    """Return a cluster after the function has run on its roots; those on which it cannot run go to `failures`.

    `stays` returns True for a list on which it is not to run.
    """
    parts = [part for _, part in read.parts]
    shared = [of_kinds(part.items, NODES) for part in parts] if len(parts) > 1 else []
    seen: list[Checked] = []
    lists: list[ResourceList] = []
    for at, (name, resources) in enumerate(read.parts):
        beside = read.side.items if read.side else []
        if beside and (run_of(resources).is_settled or resources.select(CONFIG[1], CONFIG[0])):
            beside = of_kinds(beside, NODES)  # it has a functionConfig of its own
        given.add(context.options, context.profiles, resources, beside)
        counted = _counted(resources)
        resources.items += [item for items in (*shared[:at], *shared[at + 1 :]) for item in items]
        resources.items += beside
        # who names a cluster to krmfn, or where its Profiles are, has it drive something there
        is_named = bool(read.members or context.options.profiles_from)
        if is_named or (shared and any(map(any_of_ours, parts))):
            note(resources, has_ours=True)
        try:
            if context.intent.runs_function and not (stays and stays(resources)):
                given.apply(context.options, context.intent, name, resources)
        except KrmfnError as failure:
            if isinstance(failure, NoData) and not (context.in_full or name == "-"):
                raise
            failures.append(failure_of(name, failure))
            continue
        config = run_of(resources).config_item
        is_of_side = read.side and any(item is config for item in read.side.items)
        if resources.function_config and not is_of_side:
            counted = counted._replace(kinds={**counted.kinds, "functionConfig": counted.kinds["functionConfig"] or 1})
        seen.append(counted)
        lists.append(_hinted(resources, name) if run_of(resources).is_settled else resources)
    is_whole = read.is_whole and len(lists) == len(parts)
    if read.side:
        seen.append(_counted(read.side))
    final = lists[0] if len(lists) == 1 and not read.side and is_whole else _final(lists, read.side, is_whole)
    return read._replace(lists=tuple(lists), final=final, counts=joined(seen), is_whole=is_whole)


def _hinted(resources: ResourceList, path: str) -> ResourceList:
    """Return the list of a kustomization that calls krmfn: where only selectors could decide there, it says why."""
    node = next((item for item in resources.items if (item.group, item.kind) in NODES), None)
    if not node or not any(one.rule in _OF_SELECTORS for one in resources.reported):
        return resources
    place = node.place
    hint = (
        f"; {path} calls krmfn, which does not see the nodes in {place.path if place else 'the input'} there: list "
        "that file under `resources` there, with the annotation config.kubernetes.io/local-config"
    )
    results = (
        one._replace(message=one.message + hint) if one.rule in _OF_SELECTORS and one.severity == "error" else one
        for one in resources.reported
    )
    return with_results(resources, results)


def with_results(resources: ResourceList, results: Iterable[Result]) -> ResourceList:
    """Return a list of the same resources with other findings, of which none is an error that was none before."""
    made = ResourceList(resources.items, resources.function_config)
    made.changes, made.run = resources.changes, resources.run
    made.report(results)
    made.failed = resources.failed
    return made


def _final(lists: Sequence[ResourceList], side: ResourceList | None, is_whole: bool) -> ResourceList:
    """Return the one list of a cluster: each item once, and what is wrong between the lists of its roots."""
    every = [*lists, *([side] if side else [])]
    final = ResourceList({id(item): item for one in every for item in one.items}.values())
    runs = [run_of(one) for one in every]
    note(
        final,
        settings=run_of(lists[0]).settings if lists else Settings(),
        files=sum(one.files for one in runs),
        packages=tuple(name for one in runs for name in one.packages),
        transformed=graph.joined(one.transformed for one in runs),
        is_settled=True,
        turned_off=sum(one.turned_off for one in runs),
        driven=frozenset[tuple[str, str]]().union(*(one.driven for one in runs)),
        kept=frozenset[tuple[str, str]]().union(*(one.kept for one in runs)),
    )
    for one in every:
        final.report(one.results)
        final.changes += one.changes
    configs = [one for one in lists if one.function_config]
    if configs and all(one.function_config == configs[0].function_config for one in configs):
        final.function_config = configs[0].function_config
        note(final, config_item=run_of(configs[0]).config_item)
    if len(lists) > 1:
        from ..final.against import between  # here: most clusters have one root

        final.report(between(lists))
    final.failed = final.failed or not is_whole
    return final


def _counted(resources: ResourceList) -> Checked:
    """Return how much there is in a list before the function runs, and of what; a functionConfig goes by that name."""
    if profiles := resources.select(PROFILE[1], PROFILE[0]):
        note(resources, driven=driven_kinds(profiles), kept=driven_kinds(profiles, kept=True))
    own = OWNERS | run_of(resources).driven
    configs = [(item.ref, item.place) for item in resources.items if (item.ref.group, item.kind) in own]
    counts, kinds = Counter((item.group, item.kind) for item in resources.items), Counter[str]()
    for pair in (*sorted(own), CONFIG, *([PROFILE] if profiles else []), MODULE):
        kinds["functionConfig" if pair == CONFIG else pair[1]] += counts[pair]
    kinds["functionConfig"] += bool(resources.function_config)
    return Checked((), len(resources.items), configs, kinds, run_of(resources).files)


def joined(parts: Sequence[Checked]) -> Checked:
    """Return how much was read in several places, in their order; there are no findings."""
    configs = [config for part in parts for config in part.configs]
    kinds = Counter[str]()
    for part in parts:
        kinds.update(part.kinds)
    resources, files = sum(part.resources for part in parts), sum(part.files for part in parts)
    return Checked((), resources, configs, kinds, files, turned_off=sum(part.turned_off for part in parts))


def warn_of_nothing(context: Context, laid: Clusters, absent: Sequence[Item]) -> None:
    """Report each PATH below which there is nothing for the function: it may be another one than was meant.

    Not of those in which something is wrong. `absent` are Profiles of clusters that are not here.
    """
    wrong = (one.place for one in laid.findings if one.place and one.severity != "info")
    broken = {os.path.realpath(os.path.dirname(place.path)) for place in wrong}
    below: dict[str, list[Cluster]] = {}
    for one in laid.clusters:
        for top in {top for root in one.roots for top in (parents(root.path) if root.path else ("-",))}:
            below.setdefault(top, []).append(one)
    kinds = OWNERS | {CONFIG, PROFILE, MODULE} | driven_kinds(absent)
    if context.profiles:
        with suppress(KrmfnError):  # each root that needs them says so
            kinds |= driven_kinds(given.profiles_of(context.options, context.profiles))
    names = [*dict.fromkeys(kind for _, kind in (*sorted(OWNERS), CONFIG, MODULE))]
    for path, real in laid.paths.items():
        lists = [part for one in below.get(real, ()) for part in one.read]
        is_unread = any(one.failures for one in below.get(real, ()))  # there is an error about that
        is_unread = is_unread or any(within(folder, real) for folder in broken)
        present = {(item.group, item.kind) for one in lists for item in one.items}
        if is_unread or not lists or present & kinds or any(one.failed or one.function_config for one in lists):
            continue
        extent = printing.extent(sum(len(one.items) for one in lists), sum(run_of(one).files for one in lists))
        message = (
            f"no {', '.join(names[:-1])} or {names[-1]} is in {path} ({extent}), so there is nothing to do; "
            "is it the right PATH?"
        )
        lists[0].report([warning(message, rule="KRM109")])
