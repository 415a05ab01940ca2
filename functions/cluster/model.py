"""The clusters of some PATHs, as values: each stage fills more of their fields, from the roots to the final lists."""

from collections.abc import Mapping, Sequence

from krmfn import ResourceList, Result
from krmfn.typed import NamedTuple

from ..formats.checked import Checked
from ..paths.failures import Failure
from .config import Config, Member
from .survey import Root


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
