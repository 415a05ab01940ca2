"""What reaches each cluster, as values whose fields the stages fill one after the other: from roots to final lists.

Also whether the cluster serves the kinds that reach it. Argo CD says which it serves in KUBE_API_VERSIONS: a list with
commas that holds both `apps/v1` and `apps/v1/DaemonSet`. Source: Argo CD 3.2.1, util/argo/argo.go.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

from krmfn import Item, ResourceList, Result, warning
from krmfn.typed import NamedTuple

from .. import oracles
from ..deployments.deployment import Deployment
from ..formats.checked import Checked
from ..kmm.lookup import table
from ..paths.failures import Failure
from ..rendering.kinds import INPUTS, is_foreign
from ..rule import Rule
from ..run import placed, run_of
from ..sources import NO_BUILDS, Sources
from .config import Config, Member
from .engines import Engines
from .survey import Root

VARIABLE = "KUBE_API_VERSIONS"
LOCAL_KINDS = frozenset({("kpt.dev", "Kptfile"), ("kustomize.config.k8s.io", "Kustomization")})
_CRD = ("apiextensions.k8s.io", "CustomResourceDefinition")
RULES = (
    Rule(
        "KRM525",
        "the cluster should serve the kinds that are deployed, where Argo CD says which it serves (KUBE_API_VERSIONS)",
        good="""\
# served: apps/v1,apps/v1/DaemonSet,kmm.sigs.x-k8s.io/v1beta1,kmm.sigs.x-k8s.io/v1beta1/Module
kind: Module
""",
        bad="""\
# served: apps/v1,apps/v1/DaemonSet
kind: Module
""",
        remedy="Install the CRD (for a Module: KMM) before the sync, or in an earlier sync wave.",
        held=oracles.ARGOCD_LOOP,
        severities=("warning",),
    ),
)

Lists = Mapping[str, ResourceList]
"""Lists of clusters by the clusters' names."""


class Cluster(NamedTuple):
    """What reaches one cluster: exclusivity, duplicates, references and inventories are judged in it."""

    name: str
    """As the configuration file or --cluster calls it; for a root of its own the root's name."""
    roots: tuple[Root, ...]
    final: ResourceList
    """The items of all roots, each once, with all findings; empty before the function has run."""
    members: tuple[Member, ...] = ()
    """The paths that make the roots a part of it; none for a root of its own."""
    outside: tuple[tuple[Member, Root], ...] = ()
    """Loose files that belong to it and are not below a PATH: they count where they give no objects."""
    deployments: tuple[Deployment, ...] = ()
    """What makes the roots a part of it, where the objects of engines do."""
    beside: frozenset[str] = frozenset()
    """The paths of the roots of others, in which nothing is ours (see `beside`)."""
    trouble: Sequence[Result] = ()
    """What is wrong with these: it fails nothing."""
    is_unassigned: bool = False
    """Whether these are files of a repository that no cluster in its configuration file lists; without one: loose files
    at its top that are about other clusters (see `asides`)."""
    parts: Sequence[tuple[str, ResourceList]] = ()
    """The lists that the function runs on, one by one, each with its folder or file as people are shown it."""
    side: ResourceList | None = None
    """Loose files that hold only inventories, functionConfigs and Profiles: they count for each of the parts."""
    failures: Sequence[Failure] = ()
    """The roots that could not be read."""
    findings: Sequence[Result] = ()
    """What is wrong with the cluster's entry in the configuration file."""
    is_whole: bool = True
    """False when something could not be read; a finding or a failure says what."""
    is_blocked: bool = False
    """Whether nothing but roots that may not be built keeps it from being whole."""
    lists: tuple[ResourceList, ...] = ()
    """The parts on which the function has run."""
    counts: Checked = Checked(())
    """How much was read, and of what; it has no findings."""

    @property
    def all_roots(self) -> tuple[Root, ...]:
        """Return the roots, and the loose files that are not below a PATH."""
        return (*self.roots, *(root for _, root in self.outside))

    @property
    def inputs(self) -> list[ResourceList]:
        """Return the lists of all that was read."""
        return [*(part for _, part in self.parts), *([self.side] if self.side else [])]


class Clusters(NamedTuple):
    """The clusters of some PATHs."""

    clusters: Sequence[Cluster] = ()
    findings: Sequence[Result] = ()
    """What is wrong with the configuration file and with files outside of all roots."""
    config: Config = Config()
    failures: Sequence[Failure] = ()
    """The PATHs and roots that are not there or could not be read."""
    excluded: frozenset[str] = frozenset()
    """The files that are left out, by `exclude` or since they are in Helm charts: paths without links."""
    templates: tuple[str, ...] = ()
    """The names of the templates of other tools in which no kind stands (see `Survey`)."""
    paths: Mapping[str, str] = {}  # read only
    """The PATHs, those of --cluster among them, each with its path without links."""
    unread: tuple[str, ...] = ()
    """The names of clusters that are left out of these, since something in them cannot be read."""
    left_out: Sequence[Cluster] = ()
    """What is known of these clusters: their findings count all the same."""
    external: Mapping[str, Cluster] = {}  # read only
    """What clusters get from elsewhere (--against), by the names of the clusters."""
    engines: Engines = Engines()
    """What the engines' objects in the repository say."""
    is_repository: bool = False
    """Whether a PATH is a whole repository, of which only what concerns krmfn is judged (see `foreign`)."""
    foreign: int = 0
    """How many files hold nothing of krmfn's: their clusters are not among these (see `foreign`)."""
    has_flux: bool = False
    """Whether something of Flux is among these files."""
    unassigned: Sequence[Cluster] = ()
    """The files that no cluster of the configuration file lists, and those that are about clusters (see `asides`)."""
    unasked: Sequence[Cluster] = ()
    """The clusters that nobody asks for, since --live names others: nothing of them is read."""
    sources: Sources = NO_BUILDS
    """What was built of these."""

    def with_asides(self) -> "Clusters":
        """Return all of these with the files that are about clusters among them: what changes there is seen, too."""
        if self.config.clusters:
            return self
        return self._replace(clusters=[*self.clusters, *self.unassigned], unassigned=())

    def unassigned_findings(self) -> list[Result]:
        """Return what is wrong in the files that no cluster lists, with its places; it stops nothing."""
        return [finding for cluster in self.unassigned for finding in placed(cluster.final)]

    @property
    def is_whole(self) -> bool:
        """Return False when something was not read or not understood: the exit code is 2 then."""
        has_errors = any(finding.severity == "error" for finding in self.findings)
        is_read = all(cluster.is_whole for cluster in (*self.clusters, *self.unassigned))
        return is_read and not (self.failures or has_errors or self.unread)

    @property
    def is_readable(self) -> bool:
        """Return True when nothing is missing but roots that may not be built, for which there are findings."""
        clusters = [cluster._replace(is_whole=cluster.is_whole or cluster.is_blocked) for cluster in self.clusters]
        failures = [failure for failure in self.failures if not failure.is_blocked]
        return self._replace(clusters=clusters, failures=failures).is_whole

    @property
    def lists(self) -> dict[str, ResourceList]:
        """Return the final list of each cluster by the cluster's name."""
        return {cluster.name: cluster.final for cluster in self.clusters}


def deployed_items(resources: ResourceList) -> list[Item]:
    """Return the items that would reach a cluster: no inputs, no Kptfile or Kustomization, no local-config."""
    configs = run_of(resources).driven - run_of(resources).kept
    items = [item for item in resources.items if (item.group, item.kind) not in INPUTS and not is_local(item)]
    return [item for item in items if (item.group, item.kind) not in configs or is_foreign(item)] if configs else items


def with_results(resources: ResourceList, results: Iterable[Result], failed: bool | None = None) -> ResourceList:
    """Return a list of the same resources with other findings; it has failed with an error among them, or if `failed`.

    None: as the given list has.
    """
    failed = resources.failed if failed is None else failed
    copy = ResourceList(resources.items, resources.function_config, resources.run, failed)
    copy.changes.extend(resources.changes)
    copy.report(results)
    return copy


def judge_final(resources: ResourceList) -> None:
    """Report what is wrong with a final list as a whole. A list that could not be rendered is not judged."""
    if not resources.failed:
        from ..final.judge import judge  # imported here: not every command judges

        items = deployed_items(resources)
        resources.report(judge(resources, items))
        if VARIABLE in os.environ:
            resources.report(_unserved(items))


def is_local(item: Item) -> bool:
    """Return True for an item that no tool applies to a cluster: a Kptfile, a Kustomization, local-config."""
    return (item.group, item.kind) in LOCAL_KINDS or item.is_local


def _unserved(items: Sequence[Item]) -> Iterator[Result]:
    """Yield a warning for each deployed kind that the cluster does not serve and that no CRD among the items defines.

    It is no error, since the CRD may come before the sync, or with another Application. Nothing is yielded where
    KUBE_API_VERSIONS names only groups and versions, or nothing.
    """
    served = {version.strip() for version in os.environ.get(VARIABLE, "").split(",")}
    if not any(version.count("/") == 2 for version in served):
        return
    crds = [table(item.manifest, "spec") for item in items if (item.group, item.kind) == _CRD]
    defined = {(str(spec.get("group")), str(table(spec, "names").get("kind"))) for spec in crds}
    seen: set[str] = set()
    for item in items:
        name = f"{item.ref.api_version}/{item.kind}"
        if name not in served and name not in seen and (item.group, item.kind) not in defined:
            seen.add(name)
            message = (
                f"the cluster does not serve {item.kind} of {item.ref.api_version} ({VARIABLE}), and no CRD here "
                "defines it"
            )
            yield item.located(warning(message, rule="KRM525", remedy="install its CRD before this is synced"))
