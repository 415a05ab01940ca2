"""What several roots or clusters share is judged over all of them: a profile, a kernel mapping, nodes.

What a repository holds for no cluster is said, and makes no cluster of its own.
"""

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from krmfn import Item, KrmfnError, ResourceList, Result
from krmfn.ownership import OWNER, Id
from krmfn.results import placed
from krmfn.streams import max_bytes

from ..command import Context
from ..deviceconfig.reading import profile_of
from ..kmm.module import MODULE_KINDS
from ..paths import disk, files, manifests
from ..paths.excludes import excluder
from ..paths.roots import parents
from ..profile.product import name_of
from ..rendering.kinds import OURS, OWNERS, PROFILE, driven_kinds, is_foreign, of_kinds
from ..run import note, run_of
from ..settings import Intent
from .cluster_inputs import unlisted
from .cluster_lists import with_results
from .config import Config
from .deployed import Cluster, Clusters, is_local

_MAPPING = re.compile(r"kernelMappings\[\d+\] \((.*)\) is not used", re.DOTALL)
_WITHOUT_NODES = ("KRM605", "KRM608")


def absent_profiles(context: Context, laid: Clusters) -> list[Item]:
    """Return the Profiles in the repository's files where some of its clusters are not here: they count as if all were.

    What cannot be read is passed over: it says so where its cluster is looked at.
    """
    if not _is_part(laid):
        return []
    options, config = context.options, laid.config
    is_left_out = partial(
        excluder((*(one.text for one in config.exclude), *options.exclude), options.written), config.folder
    )
    top = disk.File(os.path.relpath(config.folder), config.folder)
    products, left = list[Item](), max_bytes()
    for file in disk.below(top, lambda name: name.endswith(manifests.SUFFIXES), config.folder)[0]:
        with suppress(KrmfnError):
            text = b"" if is_left_out(file.real) else files.read_regular(file.real, file.name, left)
            left -= len(text)
            if b"Profile" in text and OURS.encode() in text:
                products += manifests.read_stream(text, os.path.normpath(file.name)).select(PROFILE[1], PROFILE[0])
    return products


def note_profiles(laid: Clusters, absent: Sequence[Item]) -> None:
    """Note in the lists of all roots which profiles some config names, and whether some clusters are absent.

    And for which kinds there are Profiles that are not theirs, `absent` ones among them: a config of such a kind is not
    meant to stay as it is.
    """
    read = (*laid.clusters, *laid.apart)
    parts = [part for one in read for _, part in one.parts]
    items = (item for one in parts for item in one.items if (item.group, item.kind) in OWNERS)
    lists = [each for one in read for each in one.read]
    products = [*absent, *(item for each in lists for item in each.select(PROFILE[1], PROFILE[0]))]
    profiles = {pair: item for item in products for pair in driven_kinds([item])}
    is_part = _is_part(laid)
    named = frozenset((*map(profile_of, items), *map(name_of, products)))
    for one in read:
        for name, part in one.parts:
            resources = [*part.items, *(one.side.items if one.side else ())] if profiles else []
            missing = profiles.keys() - driven_kinds(resources)
            kinds = {(item.group, item.kind) for item in of_kinds(part.items, missing)}
            whys = {kind: _elsewhere(one, name, kind, profiles[kind], laid.config) for kind in kinds}
            run = run_of(part)
            note(part, named=named, is_part=is_part, elsewhere={**whys, **run.elsewhere})


def _elsewhere(one: Cluster, folder: str, kind: tuple[str, str], profile: Item, config: Config) -> str:
    """Return why a Profile for a kind does not count for a root of a cluster, its `folder`, and what to do."""
    (place,) = (found.place for found in placed([profile.located(Result(""))]))
    file = place.path if place else "stdin"
    name, path = one.name, os.path.relpath(os.path.realpath(file), config.folder) if config.folder else file
    remedy = f"add {path} to clusters.{name}" if name in config.clusters else f"name {path} under `profiles`"
    why, vendor = f"it is not of cluster {name}", os.path.dirname(file) or "."
    if (listing := manifests.kustomization_in(folder)) and manifests.kustomization_in(vendor):
        remedy = f"list {os.path.relpath(vendor, folder)} under `resources`"
        config = config._replace(name=os.path.normpath(listing))
    if any(kind in driven_kinds(each.items) for each in one.read):
        why, remedy = f"only another root of cluster {name} has it", f"name {path} under `profiles`"
    return f"{file} has a Profile for this kind, but {why}; {remedy} in {config.name or '.krmfn.yaml'}"


def _is_part(laid: Clusters) -> bool:
    """Return True when the configuration file has clusters that are not here."""
    return not laid.config.clusters.keys() <= {one.name for one in (*laid.clusters, *laid.apart)}


def without_needed(laid: Clusters) -> Clusters:
    """Return the clusters without findings that a mapping is not used, where another cluster may use it (KRM606).

    When some clusters are absent, or not whole, nobody knows, and none of them stays.
    """
    made = laid.clusters
    if not any(one.rule == "KRM606" for each in made for one in each.final.reported):
        return laid
    unused = [{_mapping(one) for one in each.final.results if one.rule == "KRM606"} for each in made]
    used = [_in_use(each.final) for each in made]
    is_unknown = _is_part(laid._replace(apart=())) or not all(one.is_whole for one in made)

    def is_needed(finding: Result) -> bool:
        if finding.rule != "KRM606":
            return False
        key, file = _mapping(finding), finding.place.path if finding.place else ""
        others = [there for idle, there in zip(unused, used, strict=True) if key not in idle]
        return is_unknown or any(key[0] in there or file in there for there in others)

    kept = [[finding for finding in one.final.results if not is_needed(finding)] for one in made]
    pairs = zip(made, kept, strict=True)
    return laid._replace(clusters=[one._replace(final=with_results(one.final, results)) for one, results in pairs])


def _mapping(finding: Result) -> tuple[Id, str]:
    """Return the config and the mapping that a finding is about."""
    found = _MAPPING.match(finding.message)
    return finding.ref.id if finding.ref else ("", "", "", ""), found[1] if found else finding.message


def _in_use(resources: ResourceList) -> set[Id | str]:
    """Return the configs and Modules of a cluster that select some of its nodes, as far as findings say.

    Where nobody knows, these are all that kustomize has built, and the files of others.
    """
    if resources.failed or not (resources.select("Node", "") or resources.select("NodeInventory", "krmfn.dev")):
        return {(item.place.path if item.place else "") or item.ref.id for item in resources.items}
    idle = {one.ref.id for one in resources.results if one.ref and one.rule in _WITHOUT_NODES}
    return {item.ref.id for item in resources.items if item.ref.id not in idle}


def taken_out(intent: Intent, laid: Clusters) -> Clusters:
    """Return the clusters, with those that are files that no cluster has apart.

    What would be deployed is taken out of the latter, with a warning for each file; Profiles, functionConfigs and
    inventories stay, since they are judged by themselves. Where the function does not run, all are clusters.
    """
    apart = [one for one in laid.clusters if one.is_apart] if intent.runs_function else []
    every = (item for one in laid.clusters if apart for each in one.read for item in each.items)
    kinds = OWNERS | {*MODULE_KINDS} | driven_kinds(every)
    for cluster in apart:
        for resources in cluster.read:
            # what krmfn has made nothing of, and somebody meant a cluster to get
            ours = (one for one in resources.items if (one.group, one.kind) in kinds or one.kind == "DeviceConfig")
            theirs = [one for one in ours if not is_local(one) and not is_foreign(one) and OWNER not in one.annotations]
            ids = set(map(id, theirs))
            resources.items = [item for item in resources.items if id(item) not in ids]
            resources.report(unlisted(theirs, partial(_message, cluster, laid.config)))
    return laid._replace(clusters=[one for one in laid.clusters if not (apart and one.is_apart)], apart=apart)


def _message(one: Cluster, config: Config, item: Item, others: str) -> str:
    """Return that a file is in no cluster, with the kustomization that stands nearest above it."""
    kustomizations = one.roots[0].graph.kustomizations
    folders = parents(os.path.realpath(os.path.dirname(item.place.path))) if item.place else ()
    name = next((kustomizations[folder].name for folder in folders if folder in kustomizations), "a kustomization")
    return (
        f"belongs to no cluster: no kustomization lists it and no cluster of {config.name} has it, so it is deployed "
        f"nowhere{others}; list it in {name} or in {config.name}"
    )
