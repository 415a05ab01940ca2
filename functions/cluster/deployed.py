"""What reaches each cluster, as values whose fields each stage fills, from the roots to the final lists.

And whether it serves that, where it is known: KUBE_API_VERSIONS, as Argo CD sets it.

It is a list with commas, and holds both `apps/v1` and `apps/v1/DaemonSet`. Source: Argo CD 3.2.1, util/argo/argo.go.
"""

import os
from collections.abc import Iterator, Mapping, Sequence

from krmfn import Item, ResourceList, Result, warning
from krmfn.results import Rule
from krmfn.typed import NamedTuple

from ..formats.checked import Checked
from ..kmm.lookup import table
from ..paths.failures import Failure
from ..rendering.kinds import INPUTS, is_foreign
from ..run import run_of
from .config import Config, Member
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
    """What all of it holds, each item once, with all findings; nothing before the function has run."""
    members: tuple[Member, ...] = ()
    """The paths by which the roots belong to it; none for a root of its own."""
    outside: tuple[tuple[Member, Root], ...] = ()
    """Loose files that belong to it and are not below a PATH: they count where they give no objects."""
    is_apart: bool = False
    """These are files of a repository that none of the clusters in its configuration file has."""
    parts: Sequence[tuple[str, ResourceList]] = ()
    """What the function runs on, one by one: the folder, or the one file, as people are shown it, and what it holds."""
    side: ResourceList | None = None
    """Loose files that hold nothing but inventories and functionConfigs: they count for each of the parts."""
    failures: Sequence[Failure] = ()
    """The roots that could not be read."""
    findings: Sequence[Result] = ()
    """What is wrong with the cluster's entry in the configuration file."""
    is_whole: bool = True
    """False when something could not be read: each is a finding, or a failure."""
    lists: tuple[ResourceList, ...] = ()
    """The parts on which the function has run."""
    counts: Checked = Checked(())
    """How much was read, and of what; it has no findings."""

    @property
    def every(self) -> tuple[Root, ...]:
        """Return the roots, and the loose files that are not below a PATH."""
        return (*self.roots, *(root for _, root in self.outside))

    @property
    def read(self) -> list[ResourceList]:
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
    excluded: int = 0
    """How many files were left out by `exclude`."""
    paths: Mapping[str, str] = {}  # read only
    """The PATHs, those of --cluster among them, each with its path without links."""
    left_out: tuple[str, ...] = ()
    """The names of clusters that are not among these, since not all of them can be read."""
    theirs: Mapping[str, Cluster] = {}  # read only
    """What clusters get from elsewhere, by the names of the clusters."""
    apart: Sequence[Cluster] = ()
    """The files that no cluster of the configuration file has: nothing of them is deployed."""

    @property
    def outside(self) -> list[Result]:
        """Return what is wrong in the files that no cluster has; it stops nothing."""
        return [finding for one in self.apart for finding in one.final.results]

    @property
    def is_whole(self) -> bool:
        """Return False when something was not read or not understood: the exit code is 2 then."""
        errors = any(finding.severity == "error" for finding in self.findings)
        is_read = all(one.is_whole for one in (*self.clusters, *self.apart))
        return is_read and not (self.failures or errors or self.left_out)

    @property
    def lists(self) -> dict[str, ResourceList]:
        """Return the final list of each cluster by the cluster's name."""
        return {one.name: one.final for one in self.clusters}


def deployed(resources: ResourceList) -> list[Item]:
    """Return the items that would reach a cluster: no inputs, no Kptfile or Kustomization, no local-config."""
    theirs = run_of(resources).driven - run_of(resources).kept
    rest = [item for item in resources.items if (item.group, item.kind) not in INPUTS and not is_local(item)]
    return [item for item in rest if (item.group, item.kind) not in theirs or is_foreign(item)] if theirs else rest


def judge_final(resources: ResourceList) -> None:
    """Report what is wrong with the list as a whole, as it reaches the cluster; not when it could not be rendered."""
    if not resources.failed:
        from ..final.judge import judge  # here: not every command asks

        items = deployed(resources)
        resources.report(judge(resources, items))
        if VARIABLE in os.environ:
            resources.report(_unserved(items))


def is_local(item: Item) -> bool:
    """Return True for what no cluster gets, whoever reads it: a Kptfile, a Kustomization, local-config."""
    return (item.group, item.kind) in LOCAL_KINDS or item.is_local


def _unserved(items: Sequence[Item]) -> Iterator[Result]:
    """Yield a warning for each kind of what is deployed that the cluster does not serve and no CRD among it brings.

    A warning, since the CRD may come before the sync, or with another Application. Nothing is yielded where it is not
    known what is served, and where only groups and versions are named.
    """
    served = {one.strip() for one in os.environ.get(VARIABLE, "").split(",")}
    if not any(one.count("/") == 2 for one in served):
        return
    crds = [table(item.manifest, "spec") for item in items if (item.group, item.kind) == _CRD]
    brought = {(str(spec.get("group")), str(table(spec, "names").get("kind"))) for spec in crds}
    seen: set[str] = set()
    for item in items:
        name = f"{item.ref.api_version}/{item.kind}"
        if name not in served and name not in seen and (item.group, item.kind) not in brought:
            seen.add(name)
            message = (
                f"the cluster does not serve {item.kind} of {item.ref.api_version} ({VARIABLE}), and no CRD here "
                "defines it; install its CRD before this is synced"
            )
            yield item.located(warning(message, rule="KRM525"))
