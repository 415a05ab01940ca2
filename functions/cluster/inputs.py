"""Input of a command: the resources in its PATH, and the same list after the function has run."""

import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import redirect_stdout

from krmfn import counts
from krmfn.errors import KrmfnError
from krmfn.item import Item
from krmfn.resourcelist import ResourceList
from krmfn.results import Result, placed, warning
from krmfn.runner import read_stdin
from krmfn.typed import NamedTuple

from ..all_kinds import krmfn
from ..formats.checked import Checked
from ..kmm.module import MODULE_GROUP, MODULE_KIND
from ..kustomization.documents import unreadable
from ..options import RunOptions, settings
from ..paths import manifests
from ..rendering.kinds import CONFIG, COUNTING, INPUTS, OWNERS, PROFILE, driven, is_foreign
from ..run import note, run_of
from ..settings import Intent
from . import given, served
from .survey import Root

_MODULE = (MODULE_GROUP, MODULE_KIND)
LOCAL_KINDS = frozenset({("kpt.dev", "Kptfile"), ("kustomize.config.k8s.io", "Kustomization")})


class Read(NamedTuple):
    """What was read of one root, or of loose files that are judged as one."""

    name: str
    """The folder, or the one file, as people are shown it; of several the cluster."""
    resources: ResourceList
    is_whole: bool = True
    """False when some of its files cannot be read: each is a finding then."""


def read(options: RunOptions, roots: Sequence[Root], name: str, in_full: bool = False) -> Read:
    """Return the resources of a root, or of several that are loose files.

    A kustomization is built first; what lies beside it counts when it is not meant for the cluster: inventories, and a
    functionConfig unless the kustomization calls the function itself. `in_full`: see `manifests.read`.
    Raises KrmfnError for a root of which nothing can be read.
    """
    first = roots[0]
    if first.kind == "stream":
        stdin = read_stdin("the PATH - reads resources from stdin")
        return Read(name, manifests.read("-", stdin))
    if first.kind != "kustomization":
        return _of_files(roots, name, options, in_full)
    from ..kustomization import builds  # here: most folders need no kustomize, nor what runs it

    resources = builds.built(options, first.name, first.path, first.graph)
    beside = _of_files(roots, name, options, in_full)
    # a kustomization that calls the function names the functionConfig, too
    kinds_there = COUNTING - ({CONFIG} if run_of(resources).is_rendered else set())
    unlisted: list[Item] = []
    for item in beside.resources.items:
        if (item.group, item.kind) in kinds_there:
            resources.items.append(item)
        elif not _is_local(item):
            unlisted.append(item)
    resources.report(beside.resources.results)
    resources.report(_unlisted(unlisted))
    return Read(name, resources, beside.is_whole)


def _of_files(roots: Sequence[Root], name: str, options: RunOptions, in_full: bool) -> Read:
    """Return what the files of some roots hold."""
    whole, is_whole, number = ResourceList(), True, 0
    for root in roots:
        if [file.real for file in root.files] == [root.path]:  # it was named: it may be a pipe, or /dev/null
            read, failures = _named(root.files[0].name, options, in_full)
        else:
            read, failures = manifests.read_files(root.files, in_full)
        whole.items += read.items
        number += run_of(read).files
        whole.function_config = whole.function_config or read.function_config
        whole.report(read.results)
        whole.report(unreadable(failure, file, "KRM523") for file, failure in failures.items())
        is_whole = is_whole and not failures
    note(whole, files=number, packages=tuple(root.name for root in roots if root.kind == "package"))
    return Read(name, whole, is_whole)


def _named(path: str, options: RunOptions, in_full: bool) -> tuple[ResourceList, dict[str, KrmfnError]]:
    """Return what the file that is a PATH holds, and why nothing of it can be read, by its name."""
    try:
        return manifests.read(path, root=options.root, in_full=in_full), {}
    except KrmfnError as failure:
        return ResourceList(), {os.path.normpath(path): failure}


def _unlisted(items: Iterable[Item]) -> Iterator[Result]:
    """Yield a warning for each file that lies beside a kustomization and in which something is not deployed."""
    by_file: dict[str, list[Item]] = {}
    for item in items:
        by_file.setdefault(item.place.path if item.place else "", []).append(item)
    for first, *more in by_file.values():
        others = f" (nor are {len(more):,} more in this file)" if more else ""
        message = (
            f"no kustomization lists it, so it is not deployed{others}; list the file under `resources`, or move it"
        )
        yield first.located(warning(message, rule="KRM524"))


def apply(options: RunOptions, intent: Intent, path: str, resources: ResourceList) -> None:
    """Run the function on the list of a root, with its functionConfig and the options of the command line.

    A list of nothing but functionConfigs can be checked: each in a run of its own.
    """
    note(resources, settings=settings(options, intent))
    if run_of(resources).is_rendered:
        _judge(options, path, resources)
        return
    if options.profiles_from:
        resources.report(given.untrusted(options, resources))
    configs = given.configs_of(options) if options.function_config else resources.select(CONFIG[1], CONFIG[0])
    runs = [(item, item.manifest) for item in configs]
    if len(configs) > 1 and options.function_config:
        note(resources, config_items=tuple(configs))
        runs = [(configs[0], given.joined(configs))]
    alone = intent.takes_settings_alone and not options.function_config and len(configs) == len(resources.items)
    if len(runs) > 1 and not alone:
        found = placed(Result("", ref=item.ref, place=item.place) for item in configs)
        names = ", ".join(f"{one.ref} ({one.place.path})" if one.place else str(one.ref) for one in found)
        raise KrmfnError(
            f"{path} holds {len(configs)} functionConfigs: {names}; choose one with --function-config FILE"
        )
    with redirect_stdout(sys.stderr):
        for item, manifest in runs:
            note(resources, config_item=item)
            resources.function_config = manifest
            krmfn(resources)
        if not runs:
            krmfn(resources)
    refuse_changes(resources)


def add_given(options: RunOptions, profiles: Sequence[str], resources: ResourceList) -> None:
    """Add the Profiles that a run is given beside its resources; a list that is rendered already has its own."""
    if not run_of(resources).is_rendered:
        known = {given.origin(item) for item in resources.select(PROFILE[1], PROFILE[0])}
        resources.items += [item for item in given.profiles_of(options, profiles) if given.origin(item) not in known]


def _judge(options: RunOptions, path: str, resources: ResourceList) -> None:
    """Check what a build has generated; the functionConfig is the one that the kustomization called us with."""
    if options.profiles_from:
        resources.report(given.untrusted(options, resources))
    options_ = [f"--{name}" for name in ("function-config" if options.function_config else "", *options.own) if name]
    if options_:
        raise KrmfnError(
            f"{path} calls krmfn itself, with a functionConfig of its own, so {', '.join(options_)} would have "
            "no effect on what is deployed: set it in that functionConfig"
        )
    if resources.items or not resources.failed:
        with redirect_stdout(sys.stderr):
            krmfn(resources)
        from ..kustomization import builds

        resources.report(builds.never_rendered(path, resources))
    refuse_changes(resources)


def refuse_changes(resources: ResourceList) -> None:
    """Raise KrmfnError when an item's manifest was changed in place: a bug, for commands only read."""
    for item in () if resources.failed else resources.items:
        if item.is_read and item.content.is_changed and not item.is_edited:
            raise KrmfnError(f"{item.ref} was changed in place")


def deployed(resources: ResourceList) -> list[Item]:
    """Return the items that would reach a cluster: no inputs, no Kptfile or Kustomization, no local-config."""
    theirs = run_of(resources).driven - run_of(resources).kept
    rest = [item for item in resources.items if (item.group, item.kind) not in INPUTS and not _is_local(item)]
    return [item for item in rest if (item.group, item.kind) not in theirs or is_foreign(item)] if theirs else rest


def judge_final(resources: ResourceList) -> None:
    """Report what is wrong with the list as a whole, as it reaches the cluster; not when it could not be rendered."""
    if not resources.failed:
        from ..final.judge import judge  # here: not every command asks

        items = deployed(resources)
        resources.report(judge(resources, items))
        if served.VARIABLE in os.environ:
            resources.report(served.check(items))


def _is_local(item: Item) -> bool:
    """Return True for what no cluster gets, whoever reads it: a Kptfile, a Kustomization, local-config."""
    return (item.group, item.kind) in LOCAL_KINDS or item.is_local


def kinds(resources: ResourceList) -> dict[str, int]:
    """Count the resources that the function looks into, by their kinds; a functionConfig goes by that name."""
    products = [PROFILE] if resources.select(PROFILE[1], PROFILE[0]) else []
    names = [*sorted(OWNERS | run_of(resources).driven), CONFIG, *products, _MODULE]
    counts = Counter((item.group, item.kind) for item in resources.items)
    numbers: dict[str, int] = {}
    for group, kind in names:
        name = "functionConfig" if (group, kind) == CONFIG else kind
        numbers[name] = numbers.get(name, 0) + counts[group, kind]
    if resources.function_config:
        numbers["functionConfig"] += 1
    return numbers


def counted(resources: ResourceList) -> Checked:
    """Return how much there is in a list before the function runs, and of what."""
    if profiles := resources.select(PROFILE[1], PROFILE[0]):
        note(resources, driven=driven(profiles), kept=driven(profiles, kept=True))
    kinds_ = OWNERS | run_of(resources).driven
    configs = [(item.ref, item.place) for item in resources.items if (item.ref.group, item.kind) in kinds_]
    return Checked((), len(resources.items), configs, kinds(resources), run_of(resources).files)


def nothing_of_ours(options: RunOptions, path: str, lists: Sequence[ResourceList]) -> list[Result]:
    """Return a warning when the function finds nothing to look into in a PATH: it may be another one than was meant."""
    if options.function_config or any(one.failed for one in lists):
        return []
    if any(number for one in lists for number in kinds(one).values()):
        return []
    wanted = list(dict.fromkeys(kind for _, kind in (*sorted(OWNERS), CONFIG, _MODULE)))
    extent = counts.extent(sum(len(one.items) for one in lists), sum(run_of(one).files for one in lists))
    message = (
        f"no {', '.join(wanted[:-1])} or {wanted[-1]} is in {path} ({extent}), so there is nothing to do; "
        "is it the right PATH?"
    )
    return [warning(message, rule="KRM109")]
