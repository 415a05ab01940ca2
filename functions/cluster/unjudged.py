"""What of some clusters was not judged: files, roots, clusters without nodes, kinds, and what no rule decides."""

import os
from collections.abc import Iterator, Sequence

from krmfn import KrmfnError, ResourceList, Result

from ..deployments.holders import applies
from ..final.wrappers import wrappers
from ..formats.unjudged import UNREAD, UNTRIED, Gap, joined
from ..kmm.module import HUB_GROUP, HUB_KIND, MODULE_GROUP, MODULE_KIND
from ..kmm.versions import is_newer, target
from ..rendering import function_config
from ..rendering.kinds import NODES, has_nodes, owners_among
from ..run import run_of
from . import flux_unbuilt
from .beside import ROOT
from .deployed import Clusters, Lists
from .engines import Engines
from .reached import NAMES
from .root_files import may_be_ours

_WHICH, _WHOLE = "which nodes get a driver", "what reaches the cluster as a whole"
_OF_RULES = {
    "KRM216": Gap("areas", "regexps of kernel mappings", "too large"),
    "KRM305": Gap("areas", "node exclusivity", "not decided within a limit on the work"),
    "KRM547": Gap("areas", "what is applied", "an engine changes it after krmfn"),
    **dict.fromkeys(("KRM601", "KRM602", "KRM603"), Gap("clusters", _WHICH, "its nodes or their labels are not known")),
}
"""What a finding of a rule says that was not judged; of the nodes only an error does."""
_FORK = "openshift.io"
_JSONNET = (".jsonnet", ".libsonnet")


def of_clusters(streams: Clusters) -> tuple[Gap, ...]:
    """Return what was not judged of some clusters, after the function has run on them, each gap once."""
    return joined(_gaps(streams), [cluster.name for cluster in streams.clusters])


def _gaps(streams: Clusters) -> Iterator[Gap]:
    yield from _of_files(streams)
    names = tuple(dict.fromkeys(failure.name for failure in streams.failures))
    if names:
        yield Gap("roots", "what stands in roots", "not built or not read", names)
    for cluster in streams.clusters:
        if others := tuple(dict.fromkeys(dict(finding.tags)[ROOT] for finding in cluster.trouble)):
            yield Gap("roots", "roots of others", "they have problems", others, is_meant=True)
    if streams.is_repository and (folders := flux_unbuilt.folders_of_others(streams.engines)):
        yield Gap("roots", "folders of others", "Flux cannot build them", folders, is_meant=True)
    yield from _of_revisions(streams)
    yield from _of_unknown_clusters(streams)
    if streams.engines.templates and any(_concerns_us(cluster.final) for cluster in streams.clusters):
        names = tuple(streams.engines.templates)
        yield Gap("files", "objects of engines that Helm makes", "not known", names, is_meant=True)
    if streams.engines.elsewhere and any(_concerns_us(cluster.final) for cluster in streams.clusters):
        names = tuple(dict.fromkeys(str(other.source.ref) for other in streams.engines.elsewhere))
        yield Gap("roots", "what engines bring from elsewhere", "not here", names, is_meant=True)
    if streams.unread:
        yield Gap("clusters", "all of a cluster", "cannot be read", streams.unread)
    if streams.unasked:
        names = tuple(cluster.name for cluster in streams.unasked)
        yield Gap("clusters", "all of a cluster", "not asked for", names, is_meant=True)
    yield from of_lists(streams.lists)


def _of_revisions(streams: Clusters) -> Iterator[Gap]:
    """Yield the folders of which an engine deploys a tag or a commit, which may be another state than this one."""
    for cluster in streams.clusters:
        for deployment in cluster.deployments:
            if revision := deployment.declaration.revision:
                reason = f"{NAMES[deployment.declaration.engine]} deploys {revision}"
                yield Gap("roots", "whether this state is deployed", reason, (deployment.path,), is_meant=True)


def _of_unknown_clusters(streams: Clusters) -> Iterator[Gap]:
    """Yield the clusters of which nobody knows which they are: each may be one that other objects name."""
    deployed = [cluster for cluster in streams.clusters if cluster.deployments and _concerns_us(cluster.final)]
    deployments = [deployment for cluster in deployed for deployment in cluster.deployments]
    declarations = [(deployment.cluster, deployment.declaration) for deployment in deployments]
    joined_with_each = {declaration for name, declaration in declarations if name != declaration.target}
    for cluster in deployed if deployed[1:] else ():
        unknown = {declaration for name, declaration in declarations if declaration.unknown == name == cluster.name}
        if unknown - joined_with_each:
            yield Gap("clusters", "together with other clusters", "it may be one of them", (cluster.name,))


def _concerns_us(resources: ResourceList) -> bool:
    kinds = ((MODULE_KIND, MODULE_GROUP), (HUB_KIND, HUB_GROUP))
    return any(resources.where(kind=kind[0], group=kind[1]) for kind in kinds) or bool(owners_among(resources.items))


def _of_files(streams: Clusters) -> Iterator[Gap]:
    """Yield the files that nobody has read or looked into."""
    lists = (cluster.final for cluster in (*streams.clusters, *streams.unassigned))
    findings = [*streams.findings, *(finding for resources in lists for finding in resources.results)]
    for finding in findings:
        if unread := dict(finding.tags).get(UNREAD):
            yield Gap("files", "files of other tools, charts and submodules", "not read", tuple(unread.split("\n")))
        elif finding.rule == "KRM536" and finding.place:
            names, is_meant = (os.path.normpath(finding.place.path),), finding.severity == "info"
            yield Gap("files", "files in folders of Argo CD", "it leaves them out", names, is_meant=is_meant)
        elif finding.rule == "KRM523" and finding.place:
            yield Gap("files", "files", "cannot be read", (os.path.normpath(finding.place.path),))
    if jsonnet := _jsonnet(streams.engines):
        yield Gap("files", "jsonnet of Argo CD", "not run", jsonnet)
    if number := len(streams.excluded):
        yield Gap("files", "files", "excluded, or of Helm charts", number=number, is_meant=True)
    if streams.foreign:
        yield Gap("files", "files", "nothing of krmfn's or KMM's in them", number=streams.foreign, is_meant=True)


def _jsonnet(engines: Engines) -> tuple[str, ...]:
    """Return the jsonnet about us in folders that Argo CD applies as they stand: it runs it."""
    names = dict[str, None]()
    for deployment in engines.deployments:
        declaration, real = deployment.declaration, deployment.real(engines.top)
        if declaration.engine == "argocd" and declaration.how == "raw":
            for folder, _, entries in os.walk(real):
                paths = (os.path.join(folder, name) for name in sorted(entries) if name.endswith(_JSONNET))
                chosen = [path for path in paths if applies(declaration.directory, os.path.relpath(path, real))]
                names.update(dict.fromkeys(os.path.relpath(path) for path in chosen if may_be_ours(path)))
    return tuple(names)


def of_lists(lists: Lists) -> Iterator[Gap]:
    """Yield what was not judged of the final lists of some clusters, by their names."""
    for name, resources in lists.items():
        for gap in _of_list(resources):
            yield gap if gap.names else gap._replace(names=(name,))


def _of_list(resources: ResourceList) -> Iterator[Gap]:
    """Yield what was not judged of one final list; a gap without names is about the whole list."""
    modules = resources.where(kind=MODULE_KIND, group=MODULE_GROUP)
    on_spokes = resources.where(kind=HUB_KIND, group=HUB_GROUP)
    if wrapping := wrappers(resources.items, {kind for _, kind in run_of(resources).driven}):
        yield Gap("kinds", "what others wrap", "keep it in files of its own", tuple(str(item.ref) for item in wrapping))
    if not (modules or on_spokes or owners_among(resources.items)):
        return
    if resources.failed:
        yield Gap("clusters", _WHOLE, "it has errors")
    spokes = run_of(resources).spokes
    if on_spokes and not spokes:
        names = tuple(str(item.ref) for item in on_spokes)
        yield Gap("kinds", "what spokes get of a hub", "no cluster has labels in .krmfn.yaml", names)
    if not has_nodes(resources) and (modules or not on_spokes):
        yield Gap("clusters", _WHICH, "no inventory")
    yield from _of_findings(resources.results)
    yield from _of_version(resources)


def _of_findings(findings: Sequence[Result]) -> Iterator[Gap]:
    """Yield what some findings say that was not judged."""
    for finding in findings:
        if untried := dict(finding.tags).get(UNTRIED):
            yield Gap("areas", untried, "not tried")
        elif (gap := _OF_RULES.get(finding.rule)) and (gap.kind != "clusters" or finding.severity == "error"):
            yield gap


def _of_version(resources: ResourceList) -> Iterator[Gap]:
    """Yield what is not known of the KMM that the cluster has, and whether exclusivity is turned off."""
    config = function_config.read(resources)[0]
    version = config.kmm_version
    try:
        judged_as = target(version)
    except KrmfnError:
        return  # the functionConfig's own finding says so
    if not (config.names_kmm or run_of(resources).names_kmm):
        yield Gap("areas", f"KMM versions other than {version}", "none is named")
    elif is_newer(version):
        yield Gap("areas", f"KMM {version}", f"newer than this krmfn, so judged as {judged_as.name}")
    if not judged_as.is_fork and _is_of_fork(resources):
        yield Gap("areas", "what OpenShift's KMM does otherwise", f"judged as KMM {version}")
    if config.exclusivity == "off":
        yield Gap("areas", "node exclusivity", "turned off", is_meant=True)


def _is_of_fork(resources: ResourceList) -> bool:
    """Return whether a resource shows that the cluster is OpenShift: its group, its namespace, labels of a node."""
    if any((item.group, item.kind) in NODES for item in resources.mentioning(f"node.{_FORK}")):
        return True
    others = (item for item in resources.items if (item.group, item.kind) not in NODES)
    return any(item.group.endswith(_FORK) or item.ref.namespace == "openshift-kmm" for item in others)
