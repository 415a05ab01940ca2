"""What a command wants of its input, and the settings of a run."""

from collections.abc import Mapping
from types import MappingProxyType

from krmfn.typed import NamedTuple


class Intent(NamedTuple):
    """What a command wants of the resources in its PATHs. One that says nothing gets all that `check` gets."""

    runs_function: bool = True
    """False: the resources are as they were read."""
    judges_whole: bool = True
    """It wants the findings about what reaches each cluster as a whole."""
    asks_about_ours: bool = True
    """Of a whole repository it wants only what concerns krmfn: what is wrong elsewhere stops nothing."""
    judges_nodes: bool = True
    """It wants the findings about nodes, and about rules that are turned off for nothing."""
    deploys: bool = False
    """Its output is deployed: every DeviceConfig must be driven, also where nothing else is krmfn's."""
    warns_of_nodes: bool = False
    """Findings about nodes (KRM6xx) are warnings: one node must not stop a fleet, nor hide what changes in it."""
    logs_advice: bool = True
    """Warnings are written also about a cluster without an error."""
    shows_errors: bool = False
    """Objects are generated in spite of errors, to show what the input would become."""
    keeps_left_overs: bool = True
    """It only looks: a generated object whose owner is not in the input is judged as it stands."""
    takes_settings_alone: bool = True
    """A PATH of nothing but functionConfigs is judged, each by itself."""
    reads_blocked: bool = True
    """What a root lists that cannot be built counts as it stands."""
    reads_nodes: bool = True
    """False: Nodes and inventories among the resources are not looked at, whatever is wrong with them."""
    is_function: bool = False
    """It is no command but a KRM function, which sees what kustomize or kpt shows it."""
    is_old: bool = False
    """Its input is a former state, in which a DeviceConfig that nothing drives is no error."""
    is_root_only: bool = False
    """A PATH with a kustomization is that root and no other: what stands below it, and who lists it, do not count."""

    @property
    def is_check(self) -> bool:
        """Whether all that is found is wanted.

        Whatever else a command does with it, its findings are those of `check`.
        """
        return self.judges_whole and not (self.deploys or self.is_old)


CHECK = Intent()
REVIEW = CHECK._replace(logs_advice=False, shows_errors=True)
"""For pages about all that was found: what `check` finds, and what the input would become."""
RENDER = Intent(judges_nodes=False, deploys=True, warns_of_nodes=True, keeps_left_overs=False)
RENDER = RENDER._replace(takes_settings_alone=False, is_root_only=True, reads_blocked=False, asks_about_ours=False)
LOOK = Intent(judges_whole=False, judges_nodes=False, logs_advice=False, takes_settings_alone=False)
LOOK = LOOK._replace(reads_blocked=False, asks_about_ours=False)
"""For commands that answer a question about what is rendered, such as `images`."""
ANSWER = LOOK._replace(shows_errors=True, asks_about_ours=True)
"""For those that answer it of what concerns krmfn, also of what has errors."""
COMPARE = LOOK._replace(warns_of_nodes=True, reads_blocked=True)
"""For each side of a comparison."""
READ = LOOK._replace(runs_function=False)
"""For commands that work on the resources as they were read."""
FUNCTION = READ._replace(is_function=True, runs_function=True, keeps_left_overs=False)
"""For a KRM function, which is no command."""


class Settings(NamedTuple):
    """The settings of a run."""

    intent: Intent = FUNCTION
    fallback_namespace: str = ""
    """For resources that get a namespace neither from themselves nor from the functionConfig (Argo CD's)."""
    flags: Mapping[str, str] = MappingProxyType({})
    """The functionConfig's settings that were given as options, by their names without dashes: `kmm-version`."""
