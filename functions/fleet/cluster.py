"""One cluster as an input describes it: its nodes, its Modules, its pods."""

from collections.abc import Callable, Iterator, Sequence

from krmfn import Item, Ref, ResourceList
from krmfn.ownership import Id, mark_of
from krmfn.typed import Any, NamedTuple

from ..exclusivity import Claim
from ..kmm.lookup import POD_KINDS, members
from ..kmm.module import MODULE_KINDS, is_set_by_kmm
from ..run import run_of
from . import nodes
from .drivers import Driver, driver
from .nodes import Fleet
from .workloads import Workload, workloads

CONFIGS = ("DeviceConfig", "RenderDeviceConfigs", "Ptemplate")
_OWN = ("krmfn.dev", "example.com", "pt.example.com")
"""The groups of our own kinds."""


class Cluster(NamedTuple):
    """What is joined: see `coverage`, `images` and `rules.check`."""

    fleet: Fleet
    drivers: Sequence[Driver] = ()
    workloads: Sequence[Workload] = ()
    theirs: Sequence[Driver] = ()
    """Modules that stand elsewhere (--against): they may exclude those here, and pods here may wait for them."""

    @property
    def every(self) -> list[Driver]:
        """All Modules; what outcomes say of a driver is its position among these."""
        return [*self.drivers, *self.theirs]


def of_list(resources: ResourceList, domain_of: Callable[[Item], str | None]) -> Cluster:
    """Return the cluster that a list describes after the function has run.

    `domain_of` returns the exclusivity domain of a config (see `exclusivity.Claim`).
    """
    pods = [item.manifest for item in resources.items if (item.group, item.kind) in POD_KINDS and not item.is_local]
    external = run_of(resources).external
    drivers = [one for _, one in _drivers(resources, domain_of)]
    return Cluster(nodes.read(resources), drivers, workloads(pods), of_theirs(external, domain_of) if external else ())


def of_theirs(resources: ResourceList, domain_of: Callable[[Item], str | None]) -> list[Driver]:
    """Return the Modules of a list that stands elsewhere; `domain_of` as for `of_list`.

    A Module whose config is not in the list claims its nodes by itself.
    """
    items = {item.ref.id: item for item in resources.items}
    drivers = []
    for module, one in _drivers(resources, domain_of):
        config = items.get(one.claim.ref.id)
        own = one if config else driver(module.manifest, None, module.place)
        place = (config or module).field_place(own.claim.field)
        drivers.append(own._replace(claim=own.claim._replace(place=place, theirs="from --against")))
    return drivers


def _drivers(resources: ResourceList, domain_of: Callable[[Item], str | None]) -> list[tuple[Item, Driver]]:
    """Return the Modules of a list, each with its view."""
    modules = [item for item in resources.items if (item.group, item.kind) in MODULE_KINDS and not item.is_local]
    kinds = {*CONFIGS, *(mark.owner[1] for item in modules if (mark := mark_of(item.annotations)))}
    configs = {item.ref.id: item for kind in sorted(kinds) for item in resources.select(kind)} if modules else {}
    return [(item, driver(item.manifest, _claim(item, configs, domain_of), item.place)) for item in modules]


def _claim(item: Item, configs: dict[Id, Item], domain_of: Callable[[Item], str | None]) -> Claim | None:
    """Return the claim of the config that a Module is made from; None for one that is written by hand."""
    if (mark := mark_of(item.annotations)) is None:
        return None
    group, kind, namespace, name = mark.owner
    config = configs.get(mark.owner) or configs.get((group, kind, "", name))
    owner = (config.ref if config else Ref(f"{group}/v1alpha1", kind))._replace(namespace=namespace, name=name)
    own = driver(item.manifest)
    pool = item.ref.name.removeprefix(f"{name}-") if group == "krmfn.dev" and item.ref.name != name else ""
    domain, place = (domain_of(config), config.place) if config else (None, item.place)
    if group not in _OWN:  # a kind of a Profile's: what it has made names it
        domain = item.annotations.get("krmfn.dev/profile", "").partition("@")[0]
    return Claim(owner, own.selector, "spec.nodeSelector", domain, own.module.loads, pool, place)


def label_keys(resources: ResourceList) -> set[str]:
    """Return the node labels that selectors in a list use, whether the function could render it or not."""
    keys: set[str] = set()
    for item in resources.items:
        if (item.group, item.kind) in MODULE_KINDS:
            keys |= driver(item.manifest).keys
        elif (item.group, item.kind) in POD_KINDS or item.kind in CONFIGS:
            keys.update(_selected(item.manifest, item.kind == "Ptemplate"))
    return {key for key in keys if not is_set_by_kmm(key)}


def _selected(value: Any, whole: bool = False) -> Iterator[str]:
    """Yield the keys of every nodeSelector in a manifest; with `whole` of its spec.selector, too."""
    for key, entry in members(value):
        if key == "nodeSelector" or (whole and key == "selector"):
            yield from map(str, entry if isinstance(entry, dict) else ())
        else:
            yield from _selected(entry, whole)
