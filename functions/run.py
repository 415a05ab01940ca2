"""What the program knows about the run of a ResourceList, beside its items and findings."""

from collections.abc import Mapping
from types import MappingProxyType

from krmfn import Item, Manifest, ResourceList, Result
from krmfn.ownership import Id
from krmfn.typed import Any, NamedTuple

from .settings import Settings
from .sources import NO_BUILDS, Sources


class Replacement(NamedTuple):
    """An entry of `images` of a kustomization; "" for what it leaves as it is."""

    name: str
    new_name: str = ""
    tag: str = ""
    digest: str = ""


class Transformed(NamedTuple):
    """What the kustomizations of a build do to all resources."""

    prefixes: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    images: tuple[Replacement, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()


class PassedOver(NamedTuple):
    """A file of another tool that is passed over."""

    file: str
    template: bytes = b""
    """Its text, where it is a template, which is no YAML."""
    reason: str = ""
    """Why that cannot be read."""
    line: int = 0
    """Where that shows; 0 where it is not known."""


class Spoke(NamedTuple):
    """A cluster that hubs may manage."""

    name: str
    labels: tuple[tuple[str, str], ...]
    """Those of its ManagedCluster."""
    nodes: tuple[Item, ...]
    """Its Nodes and inventories."""


class Run(NamedTuple):
    """What is known about a run; the defaults hold for a KRM function."""

    settings: Settings = Settings()
    config_item: Item | None = None
    """The functionConfig as it stands in a file."""
    config_items: tuple[Item, ...] = ()
    """All of several functionConfigs that make one."""
    packages: tuple[str, ...] = ()
    """The folders of kpt packages that items were read from: `kpt live apply` applies all that stands there."""
    transformed: Transformed = Transformed()
    """What kustomize has done to all resources, where it has built the list."""
    is_settled: bool = False
    """True when kustomize has called the function already, and for the joined lists of a cluster: the list is judged as
    it stands, and nothing is generated, updated or removed."""
    is_plain: bool = False
    """True when kustomize has built the list, and calls no function of ours."""
    external: ResourceList | None = None
    """The resources that the cluster gets from elsewhere (--against, its hub): the list is judged together with them,
    but they are neither judged themselves nor written."""
    origins: Mapping[int, str] = MappingProxyType({})
    """Where the items of a list from elsewhere are from, in words, by their `id`; those of --against have none."""
    named: frozenset[str] = frozenset()
    """The profiles that configs of the other roots name, and the Profiles of the whole repository."""
    used: frozenset[str] = frozenset()
    """The profiles of functionConfigs that a config of any cluster names."""
    is_part: bool = False
    """Whether the configuration file has clusters that are not here: not all that names a profile is known then."""
    driven: frozenset[tuple[str, str]] = frozenset()
    """(group, kind) of the configs that Profiles among the resources are for."""
    kept: frozenset[tuple[str, str]] = frozenset()
    """Those among them that are deployed, too."""
    has_ours: bool = False
    """Whether the cluster is known to use krmfn: another root does, or the cluster is named to krmfn."""
    elsewhere: Mapping[tuple[str, str], tuple[str, str]] = MappingProxyType({})
    """(group, kind) of the configs that Profiles of the other roots are for: why these do not count, and what to do."""
    passed_over: tuple[PassedOver, ...] = ()
    """The files of other tools that stand beside the items."""
    crds: tuple[Manifest, ...] = ()
    """The CRDs of KMM's kinds that the cluster is known to have, the first before the others."""
    kmm_version: str = ""
    """The KMM version that the cluster is seen to have; "" where it is not known."""
    names_kmm: bool = False
    """Whether somebody names the KMM version of a joined list's parts, or a dump shows it."""
    spokes: tuple[Spoke, ...] = ()
    """The clusters with known labels, where the list is for a hub."""
    hub_doubts: tuple[str, ...] = ()
    """Why it is not known what hubs bring to the cluster."""
    lacks_hub: bool = False
    """Whether the cluster has labels by which a hub chooses it, and no hub is among what is read."""
    has_flux: bool = False
    """Whether something of Flux is among all that was read, in this cluster or another one."""
    roots: Mapping[int, str] = MappingProxyType({})
    """The root of each item by its `id`, as people are shown it, where a cluster has several roots."""
    deployers: Mapping[Id, frozenset[str]] = MappingProxyType({})
    """The engines that deploy each object by its id, where it is known: Argo CD, Flux, Fleet, Helm."""
    renewed: frozenset[Id] = frozenset()
    """The Modules of a new side that engines delete and create at each change, in place of an update."""
    is_beside: bool = False
    """Whether nothing in the list is ours: it counts where ours refer to it, and what is wrong in it fails nothing."""
    is_repository: bool = False
    """Whether a whole repository was asked about: what does not concern krmfn fails nothing then."""
    live: Any = None
    """The cluster as it is (`fleet.live.Live`), where nodes of a dump have replaced those of the list."""
    turned_off: int = 0
    """How many findings were not reported, since the input turns them off."""
    sources: Sources = NO_BUILDS
    """The builds in which items stand that no file holds."""


def run_of(resources: ResourceList) -> Run:
    """Return what is known about the run of a list."""
    return resources.run or Run()


def note(resources: ResourceList, **known: Any) -> None:
    """Note fields of `Run` about the run of a list; the others stay."""
    resources.run = run_of(resources)._replace(**known)


def placed(resources: ResourceList) -> list[Result]:
    """Return the findings of a list with their places in files, which may start a build (see `Sources`)."""
    return resources.placed(run_of(resources).sources.located)


def origin_of(external: ResourceList, item: Item) -> str:
    """Return in words where an item of a list from elsewhere is from."""
    return run_of(external).origins.get(id(item), "from --against")
