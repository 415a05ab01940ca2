"""A Module as far as it decides which nodes get it, and the config that it is made from."""

from collections.abc import Mapping, Sequence

from krmfn import Manifest, Place, Ref
from krmfn.resource import ref
from krmfn.typed import Any, NamedTuple

from ..exclusivity import Claim
from ..finding import Origin
from ..kmm.lookup import Table, has, listing, table, text
from ..kmm.module import HUB_KIND, Module, module_of, node_labels, ready_label, version_label
from .facts import DAEMON_TOLERATES, LOADER_TOLERATES


class Driver(NamedTuple):
    """A Module, generated or written by hand."""

    module: Module
    """The Module on the cluster with the nodes, also when a ManagedClusterModule brings it there."""
    ref: Ref
    """The object in the input."""
    selector: Mapping[str, str]
    """Labels that a node must have; {} is every node."""
    claim: Claim
    """How it takes part in node exclusivity: for which config, where its selector is written."""
    cluster: tuple[tuple[str, str], ...] | None = None
    """The labels of the clusters that a hub brings it to (ManagedClusterModule); None: this cluster."""
    through_hub: bool = False
    """Whether a hub brings it: it writes a mapping per kernel of a spoke, and fills in the images there once."""
    refused: str = ""
    """Of one that stays as it was before a change: why the cluster refuses its update."""
    consumers: Mapping[tuple[str, str], Table] = {}  # read only
    """The DaemonSets of the input that wait for its labels, by namespace and name: the specs of their pods."""
    origin: Origin | None = None
    """What the Module is made from, where that is known."""

    @property
    def owner(self) -> Ref | None:
        """The DeviceConfig or Ptemplate that it is made from; None for one that is written by hand."""
        return None if self.claim.ref == self.ref else self.claim.ref

    def is_called(self, name: str) -> bool:
        """Return True when the Module, or the config that it is made from, has this name, or namespace/name."""
        return any(name in (ref.name, f"{ref.namespace}/{ref.name}") for ref in (self.ref, self.owner) if ref)

    def missing_labels(self, labels: Mapping[str, str]) -> dict[str, str]:
        """Return the labels of its selector, sorted, that a node with `labels` lacks or has with other values."""
        return {key: value for key, value in sorted(self.selector.items()) if labels.get(key) != value}

    @property
    def product(self) -> str:
        """NAME@VERSION of the Profile that generates it; "" without one."""
        return text(table(self.module.manifest, "metadata", "annotations"), "krmfn.dev/profile") if self.owner else ""

    def reaches(self, cluster: tuple[tuple[str, str], ...] | None) -> bool:
        """Return True for a cluster with these labels that it is brought to; None: for one that is on this cluster."""
        if self.cluster is None or cluster is None:
            return self.cluster is cluster
        return frozenset(cluster).issuperset(self.cluster)

    @property
    def full_claim(self) -> Claim:
        """The claim with the Module that it is for, and with the labels of the clusters that a hub brings it to."""
        selector = {**{f"cluster {key}": value for key, value in self.cluster or ()}, **self.claim.selector}
        module = self.ref.namespace, self.ref.name
        return self.claim._replace(selector=selector, module=module, of_hub=self.cluster is not None)

    @property
    def loads(self) -> bool:
        """Whether a kernel module is loaded at all; a Module without a loader has a plugin only."""
        return has(self.module.spec, "moduleLoader")

    @property
    def is_terminating(self) -> bool:
        """Whether it is being deleted on a cluster: KMM then unloads it from every node."""
        return bool(text(table(self.module.manifest, "metadata"), "deletionTimestamp"))

    @property
    def tolerations(self) -> Any:
        """The tolerations of the Module, and those that KMM adds; without a loader those of its plugin's DaemonSet."""
        added = LOADER_TOLERATES if self.loads else DAEMON_TOLERATES
        entries = [{"key": key, "operator": "Exists", "effect": effect} for key, effect in added]
        return [*entries, *(listing(self.module.spec, "tolerations") or [])]

    @property
    def version_label(self) -> str:
        """The label that chooses a node's version in an ordered upgrade; "" without one."""
        return version_label(*self.module.ref[2:]) if self.loads and self.module.version else ""

    @property
    def keys(self) -> set[str]:
        """The node labels that decide where it runs."""
        return {*self.selector, *filter(None, [self.version_label])}

    @property
    def ready(self) -> str:
        """The label that KMM sets on a node while the kernel module is loaded."""
        return ready_label(*self.module.ref[2:])

    @property
    def set_by_kmm(self) -> tuple[str, ...]:
        """The labels that KMM sets on nodes and takes off by itself."""
        return node_labels(*self.module.ref[2:])[:3]

    def labels(self, version: str) -> dict[str, str]:
        """Return the labels that KMM sets on a node that runs this version."""
        ready, version_ready, plugin_ready = self.set_by_kmm
        labels = {ready: ""} if self.loads else {}
        labels |= {version_ready: version} if self.version_label else {}
        return labels | ({plugin_ready: ""} if has(self.module.spec, "devicePlugin") else {})


Drivers = Sequence[Driver]
"""Drivers, to which outcomes refer by position."""


def driver(manifest: Manifest, claim: Claim | None = None, place: Place | None = None) -> Driver:
    """Return the driver of a Module or a ManagedClusterModule.

    `claim` is that of the config that it is made from; None for one that is written by hand, at `place`.
    Raises ValueError for any other kind.
    """
    module, source = module_of(manifest), ref(manifest)
    if module is None:
        raise ValueError(f"{source} brings no driver to nodes")
    is_of_hub = source.kind == HUB_KIND
    clusters = table(manifest, "spec", "selector")
    cluster = tuple((str(key), str(value)) for key, value in clusters.items()) if is_of_hub else None
    selector = module.selector or {}
    path = "spec.moduleSpec.selector" if is_of_hub else "spec.selector"
    claim = claim or Claim(source, selector, path, None, module.loads, "", place)
    return Driver(module, source, selector, claim, cluster, is_of_hub)
