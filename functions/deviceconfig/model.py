"""A DeviceConfig as values: its own fields over its profile's over the defaults, one value per node pool."""

from __future__ import annotations

from typing import Any, NamedTuple

from krmfn import Item, Ref, Result
from krmfn.fieldpath import join, starts

from ..rendering.function_config import Settings, Source
from ..rendering.kinds import OURS, SEED
from .images import driver_image, mirrored

SCHEMAS = {OURS: "deviceconfig", SEED: "deviceconfig-example.com"}
"""The schema of each group's DeviceConfig."""

PROFILE = "krmfn.dev/profile"
"""Annotation that names the profile of a kind without the field."""

SEED_DEFAULTS: dict[str, Any] = {
    "imagePullPolicy": "Always",
    "serviceAccountName": "driver-sample",
    "nodeSelector": {"feature.node.kubernetes.io/pci-1da3.present": "true"},
}
"""What the he-sample operator fixes in its code (648786e), where nothing else says otherwise."""


class Layer(NamedTuple):
    """Fields that stand in one place: in a pool, in the config itself, in its profile or in the defaults."""

    fields: dict[str, Any]
    path: str
    """Where they stand: `spec`, `spec.nodePools[1]`, `spec.profiles.gaudi`."""
    source: Item | Source
    """What that path is in: the DeviceConfig, or the functionConfig."""

    @property
    def shared(self) -> bool:
        """True for a layer of the functionConfig, which is under many configs."""
        return isinstance(self.source, Source)


class DeviceConfig(NamedTuple):
    """A driver for a group of nodes: a whole DeviceConfig, or one pool of it."""

    item: Item
    ref: Ref
    """The DeviceConfig; its namespace is filled in."""
    seed: bool
    profile: str
    pool: str
    """The node pool's name, "" for a config without pools."""
    layers: tuple[Layer, ...]
    """Where the fields come from, the strongest first: pool, config, profile, defaults."""
    spec: dict[str, Any]
    """All fields as the schema names them, merged; images complete and mirrored by nobody yet."""
    annotations: dict[str, str]
    """Annotations that the functionConfig gives to every generated object."""

    @property
    def name(self) -> str:
        """The Module's name: `<name>`, `<name>-<pool>`, or `<name>-module` as the seed operator has it."""
        if self.seed:
            return f"{self.ref.name}-module"
        return f"{self.ref.name}-{self.pool}" if self.pool else self.ref.name

    @property
    def base(self) -> str:
        """What the names of DaemonSets and ServiceAccounts begin with."""
        return f"{self.ref.name}-{self.pool}" if self.pool else self.ref.name

    @property
    def node_selector(self) -> dict[str, str] | None:
        """Equality labels; {} is every node, None was not said."""
        selector: dict[str, str] | None = self.spec.get("nodeSelector")
        return selector

    @property
    def module_name(self) -> str:
        """The kernel module to load, "" when nobody said."""
        return str(self.spec.get("moduleName", ""))

    @property
    def kernel_modules(self) -> frozenset[str]:
        """Every kernel module that this config loads: moduleName and its loading order."""
        return frozenset(filter(None, [self.module_name, *self.spec.get("modulesLoadingOrder", [])]))

    @property
    def loads(self) -> bool:
        """False when the driver is in the kernel's own tree and nothing is loaded."""
        return not self.spec.get("inTreeDriver")

    @property
    def version(self) -> str:
        """The version of an ordered upgrade; "" without one."""
        ordered = self.spec.get("upgrade", {}).get("ordered")
        return str(self.spec.get("driverVersion", "")) if ordered else ""

    @property
    def child_labels(self) -> dict[str, str]:
        """The labels that every child gets from the config."""
        found: dict[str, str] = self.spec.get("labels", {})
        return found

    @property
    def child_annotations(self) -> dict[str, str]:
        """The annotations that every child gets: the functionConfig's, and the config's over them."""
        return {**self.annotations, **self.spec.get("annotations", {})}

    @property
    def daemon_sets(self) -> list[dict[str, Any]]:
        """The DaemonSets' fields as written."""
        found: list[dict[str, Any]] = self.spec.get("daemonSets", [])
        return found

    @property
    def mappings(self) -> list[dict[str, Any]]:
        """The kernel mappings; without any, all kernels (the seed's: those of RHEL and its kin)."""
        every = r"^.*\.el\d+(_\d+)?\..*$" if self.seed else "^.+$"
        found: list[dict[str, Any]] = self.spec.get("kernelMappings") or [{"regexp": every}]
        return found

    @property
    def image(self) -> str:
        """The image for mappings without one of their own; "" when a part of it is missing (see `images`)."""
        return driver_image(self.spec)

    def mirror(self, image: str) -> str:
        """`image` from the registry that serves all images, if one is set."""
        return mirrored(image, str(self.spec.get("imageRegistry", "")))

    def layer(self, field: str) -> Layer | None:
        """The layer that a field (`kernelMappings[0].image`) comes from; None when nobody says it."""
        name = field.partition(".")[0].partition("[")[0]
        return next((layer for layer in self.layers if name in layer.fields), None)

    def strongest(self, *fields: str) -> list[str]:
        """The fields in the order of their layers: what a pool says before what the defaults say."""
        layers = [layer.path for layer in self.layers]
        return sorted(
            fields, key=lambda field: layers.index(layer.path) if (layer := self.layer(field)) else len(layers)
        )

    def at(self, field: str) -> str:
        """The path of a field where it stands; in the config's spec when it stands nowhere."""
        layer = self.layer(field)
        return f"{layer.path if layer else 'spec'}.{field}"

    def located(self, result: Result) -> Result:
        """The finding with what it is about: the config, or the functionConfig when its field stands there."""
        path = result.field.path if result.field else ""
        holder = next((layer for layer in self.layers if layer.shared and starts(path, layer.path)), None)
        return (holder.source if holder else self.item).located(result if holder else result._replace(ref=self.ref))


def from_item(item: Item, settings: Settings) -> list[DeviceConfig]:
    """The values of a DeviceConfig that fits its schema: one, or one per node pool in the order of their names."""
    ref = item.ref if item.ref.namespace else item.ref._replace(namespace=settings.namespace)
    seed, profile = ref.group == SEED, profile_of(item)
    layers = (Layer(item.manifest.get("spec") or {}, "spec", item), *shared_layers(profile, settings))
    spec = {**(SEED_DEFAULTS if seed else {}), **_merged(layers)}
    pools = spec.pop("nodePools", None)
    whole = DeviceConfig(item, ref, seed, profile, "", layers, spec, settings.annotations)
    if not pools:
        return [whole]
    numbered = sorted(enumerate(pools), key=lambda pair: str(pair[1]["name"]))
    return [_pool(whole, pool, index) for index, pool in numbered]


def shared_layers(profile: str, settings: Settings) -> list[Layer]:
    """The layers under every config with this profile ("" for none): the profile, the defaults."""
    own = settings.profiles.get(profile, {})
    found = [Layer(own, join(("spec", "profiles", profile)), settings.source)] if profile else []
    return [*found, Layer(settings.defaults, "spec.defaults", settings.source)]


def _merged(layers: tuple[Layer, ...]) -> dict[str, Any]:
    """The fields of all layers; a field is taken whole from the first that has it."""
    return {key: value for layer in reversed(layers) for key, value in layer.fields.items()}


def _pool(whole: DeviceConfig, pool: dict[str, Any], index: int) -> DeviceConfig:
    fields = {key: value for key, value in pool.items() if key != "name"}
    rest = {key: value for key, value in whole.spec.items() if key not in _replaced(fields)}
    holder = next(layer for layer in whole.layers if "nodePools" in layer.fields)
    layer = Layer(pool, f"{holder.path}.nodePools[{index}]", holder.source)
    return whole._replace(pool=pool["name"], layers=(layer, *whole.layers), spec={**rest, **fields})


def _replaced(fields: dict[str, Any]) -> set[str]:
    return {"driverImage", "driverImageParts"} if {"driverImage", "driverImageParts"} & set(fields) else set()


def profile_of(item: Item) -> str:
    """The profile a config names, by its field or by the annotation; "" for none."""
    own = item.manifest.get("spec")
    named = own.get("profile") if isinstance(own, dict) else ""
    return str(named or item.annotations.get(PROFILE, ""))
