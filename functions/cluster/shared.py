"""Profiles and kernel mappings that several roots or clusters share: they are judged over all of them.

Also the files of a repository that no cluster lists: they get warnings, and make no cluster of their own.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from krmfn import Item, KrmfnError, ResourceList, Result, editing
from krmfn.ownership import OWNER, Id
from krmfn.streams import max_bytes

from ..command import Context
from ..deviceconfig.reading import profile_of
from ..finding import fact
from ..fleet.findings import MAPPING
from ..kmm.module import MODULE_KINDS
from ..paths import disk, files, manifests
from ..paths.excludes import excluder
from ..paths.roots import parents
from ..profile.product import name_of
from ..rendering.kinds import OURS, OWNERS, PROFILE, driven_kinds, is_foreign, of_kinds
from ..run import note, placed, run_of
from ..sources import Sources
from .cluster_inputs import unlisted_files
from .config import Config
from .deployed import Cluster, Clusters, is_local, with_results

_WITHOUT_NODES = ("KRM605", "KRM608")


def absent_profiles(context: Context, streams: Clusters) -> list[Item]:
    """Return the Profiles in all files of the repository, if some of its clusters are not here; else none.

    They count as if all clusters were here. Files that cannot be read are passed over: their own clusters report them.
    """
    if not _is_partial(streams):
        return []
    options, config = context.options, streams.config
    patterns = (*(pattern.text for pattern in config.exclude), *options.exclude)
    is_excluded = partial(excluder(patterns, options.written), config.folder)
    top = disk.File(os.path.relpath(config.folder), config.folder)
    profiles, limit = list[Item](), max_bytes()
    for file in disk.files_below(top, lambda name: name.endswith(manifests.SUFFIXES), config.folder)[0]:
        with suppress(KrmfnError):
            text = b"" if is_excluded(file.real) else files.read_regular(file.real, file.name, limit)
            limit -= len(text)
            if b"Profile" in text and OURS.encode() in text:
                stream = manifests.read_stream(text, os.path.normpath(file.name))
                profiles += stream.where(kind=PROFILE[1], group=PROFILE[0])
    return profiles


def note_profiles(streams: Clusters, absent: Sequence[Item]) -> None:
    """Note in the lists of all roots which profiles any config names, and whether some clusters are not here.

    Also note the kinds that only Profiles of other roots, or `absent` ones, are for, with the reason why these do not
    count: a config of such a kind is meant to be rendered.
    """
    clusters = (*streams.clusters, *streams.unassigned)
    parts = [part for cluster in clusters for _, part in cluster.parts]
    configs = [item for part in parts for item in part.items if (item.group, item.kind) in OWNERS]
    lists = [resources for cluster in clusters for resources in cluster.inputs]
    products = [*absent, *(item for resources in lists for item in resources.where(kind=PROFILE[1], group=PROFILE[0]))]
    profiles = {pair: item for item in products for pair in driven_kinds([item])}
    is_part = _is_partial(streams)
    used = frozenset(map(profile_of, configs))
    named = used.union(map(name_of, products))
    for cluster in clusters:
        side = cluster.side.items if cluster.side else ()
        for name, part in cluster.parts:
            missing = profiles.keys() - driven_kinds([*part.items, *side] if profiles else [])
            kinds = {(item.group, item.kind) for item in of_kinds(part.items, missing)}
            files = {kind: _file_of(profiles[kind], streams.sources) for kind in kinds}
            reasons = {kind: _elsewhere(cluster, name, kind, file, streams.config) for kind, file in files.items()}
            note(part, named=named, used=used, is_part=is_part, elsewhere={**reasons, **run_of(part).elsewhere})


def _file_of(profile: Item, sources: Sources) -> str:
    """Return the file of a Profile."""
    place = sources.located(profile.located(Result(""))).place
    return place.path if place else "stdin"


def _elsewhere(cluster: Cluster, folder: str, kind: tuple[str, str], file: str, config: Config) -> tuple[str, str]:
    """Return why the Profile in a file does not count for its kind in a cluster's root, `folder`, and what to do."""
    name, path = cluster.name, os.path.relpath(os.path.realpath(file), config.folder) if config.folder else file
    remedy = f"add {path} to clusters.{name}" if name in config.clusters else f"name {path} under `profiles`"
    reason, vendor = f"it is not in the cluster {name}", os.path.dirname(file) or "."
    if (listing := manifests.kustomization_in(folder)) and manifests.kustomization_in(vendor):
        remedy = f"list {os.path.relpath(vendor, folder)} under `resources`"
        config = config._replace(name=os.path.normpath(listing))
    if any(kind in driven_kinds(resources.items) for resources in cluster.inputs):
        reason, remedy = f"only another root of the cluster {name} has it", f"name {path} under `profiles`"
    return f"{file} has a Profile for this kind, but {reason}", f"{remedy} in {config.name or '.krmfn.yaml'}"


def _is_partial(streams: Clusters) -> bool:
    """Return True when the configuration file has clusters that are not here."""
    return not streams.config.clusters.keys() <= {cluster.name for cluster in (*streams.clusters, *streams.unassigned)}


def without_needed(streams: Clusters) -> Clusters:
    """Return the clusters without findings about unused mappings (KRM606) that another cluster may use.

    When some clusters are not here, or could not be read completely, none of these findings is kept.
    """
    clusters = streams.clusters
    if not any(finding.rule == "KRM606" for cluster in clusters for finding in cluster.final.results):
        return streams
    findings_of = [placed(cluster.final) for cluster in clusters]
    unused = [{_mapping(result) for result in findings if result.rule == "KRM606"} for findings in findings_of]
    used = [_in_use(cluster.final) for cluster in clusters]
    is_unknown = _is_partial(streams._replace(unassigned=())) or not all(cluster.is_whole for cluster in clusters)

    def is_needed(finding: Result) -> bool:
        if finding.rule != "KRM606":
            return False
        key, file = _mapping(finding), finding.place.path if finding.place else ""
        others = [names for mappings, names in zip(unused, used, strict=True) if key not in mappings]
        return is_unknown or any(key[0] in names or file in names for names in others)

    def judged(cluster: Cluster) -> Cluster:
        results = [finding for finding in placed(cluster.final) if not is_needed(finding)]
        return cluster._replace(final=with_results(cluster.final, results))

    return streams._replace(clusters=[*map(judged, clusters)])


def _mapping(finding: Result) -> tuple[Id, str]:
    """Return the config and the mapping that a finding is about."""
    return finding.ref.id if finding.ref else ("", "", "", ""), str(fact(finding, MAPPING))


def _in_use(resources: ResourceList) -> set[Id | str]:
    """Return the ids of the configs and Modules in a cluster that select some of its nodes, as far as findings tell.

    Without nodes, or with errors, nobody knows: then these are the files of all items, and the ids of those that
    kustomize has built.
    """
    nodes = resources.where(kind="Node", group="") or resources.where(kind="NodeInventory", group="krmfn.dev")
    if resources.failed or not nodes:
        return {(item.place.path if item.place else "") or item.ref.id for item in resources.items}
    idle = {finding.ref.id for finding in placed(resources) if finding.ref and finding.rule in _WITHOUT_NODES}
    return {item.ref.id for item in resources.items if item.ref.id not in idle}


def without_unassigned(streams: Clusters) -> Clusters:
    """Return the clusters without the files that are in none, which are kept as `unassigned`, if any cluster is left.

    What would be deployed of these is removed, with a warning for each file; Profiles, functionConfigs and inventories
    stay, since they are judged by themselves.
    """
    unassigned = [cluster for cluster in streams.clusters if cluster.is_unassigned]
    if not unassigned or (len(unassigned) == len(streams.clusters) and not streams.config.clusters):
        return streams
    items = (item for cluster in streams.clusters for resources in cluster.inputs for item in resources.items)
    kinds = OWNERS | {*MODULE_KINDS} | driven_kinds(items)
    for cluster in unassigned:
        for resources in cluster.inputs:
            # what krmfn has not generated, and a cluster should get
            ours = (item for item in resources.items if (item.group, item.kind) in kinds or item.kind == "DeviceConfig")
            lost = [item for item in ours if not (is_local(item) or is_foreign(item) or OWNER in item.annotations)]
            editing.leave_out(resources, lost)
            resources.report(unlisted_files(lost, partial(_message, cluster, streams.config)))
    clusters = [cluster for cluster in streams.clusters if not cluster.is_unassigned]
    return streams._replace(clusters=clusters, unassigned=unassigned)


def _message(cluster: Cluster, config: Config, item: Item, others: str) -> tuple[str, str]:
    """Return message and remedy about a file in no cluster; this names the nearest kustomization above the file."""
    kustomizations = cluster.roots[0].graph.kustomizations
    folders = parents(os.path.realpath(os.path.dirname(item.place.path))) if item.place else ()
    name = next((kustomizations[folder].name for folder in folders if folder in kustomizations), "a kustomization")
    reason = f"no kustomization lists it and no cluster of {config.name} has it"
    message = f"belongs to no cluster: {reason}, so it is deployed nowhere{others}"
    return message, f"list it in {name} or in {config.name}"
