"""The values of a DeviceConfig: its own fields over its profile's over the defaults, one value per node pool."""

from __future__ import annotations

from typing import Any, NamedTuple

from krmfn import Item, Ref, Result
from krmfn.fieldpath import join, starts

from ..rendering.function_config import FunctionConfig, Source
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
    """Fields that are written in one place: in a pool, the config itself, its profile or the defaults."""

    fields: dict[str, Any]
    path: str
    """Where they stand: `spec`, `spec.nodePools[1]`, `spec.profiles.gaudi`."""
    source: Item | Source
    """What that path is in: the DeviceConfig, or the functionConfig."""

    @property
    def shared(self) -> bool:
        """Whether this is a layer of the functionConfig, which many configs share."""
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
    """All fields, merged, as they are written: images are not completed and not mirrored."""
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
        """The first part of the names of DaemonSets and Services."""
        return f"{self.ref.name}-{self.pool}" if self.pool else self.ref.name

    @property
    def node_selector(self) -> dict[str, str] | None:
        """The labels of the nodes; {} selects every node, None is a missing selector."""
        selector: dict[str, str] | None = self.spec.get("nodeSelector")
        return selector

    @property
    def module_name(self) -> str:
        """The kernel module to load; "" when none is given."""
        return str(self.spec.get("moduleName", ""))

    @property
    def kernel_modules(self) -> frozenset[str]:
        """Every kernel module that this config loads: moduleName and its loading order."""
        return frozenset(filter(None, [self.module_name, *self.spec.get("modulesLoadingOrder", [])]))

    @property
    def loads(self) -> bool:
        """Whether a kernel module is loaded; False for a driver that is in the kernel's own tree."""
        return not self.spec.get("inTreeDriver")

    @property
    def version(self) -> str:
        """The version of an ordered upgrade; "" without one."""
        ordered = self.spec.get("upgrade", {}).get("ordered")
        return str(self.spec.get("driverVersion", "")) if ordered else ""

    @property
    def object_labels(self) -> dict[str, str]:
        """The labels that the config gives to every generated object."""
        labels: dict[str, str] = self.spec.get("labels", {})
        return labels

    @property
    def object_annotations(self) -> dict[str, str]:
        """The annotations of every generated object: the functionConfig's, and the config's over them."""
        return {**self.annotations, **self.spec.get("annotations", {})}

    @property
    def daemon_sets(self) -> list[dict[str, Any]]:
        """The DaemonSets' fields as written."""
        entries: list[dict[str, Any]] = self.spec.get("daemonSets", [])
        return entries

    @property
    def mappings(self) -> list[dict[str, Any]]:
        """The kernel mappings; without any, all kernels (the seed's: those of RHEL and its kin)."""
        every = r"^.*\.el\d+(_\d+)?\..*$" if self.seed else "^.+$"
        mappings: list[dict[str, Any]] = self.spec.get("kernelMappings") or [{"regexp": every}]
        return mappings

    @property
    def image(self) -> str:
        """The image for mappings without one of their own; "" when a part of it is missing (see `images`)."""
        return driver_image(self.spec)

    def mirror(self, image: str) -> str:
        """Return `image` from the registry that serves all images, if one is set."""
        return mirrored(image, str(self.spec.get("imageRegistry", "")))

    def layer(self, field: str) -> Layer | None:
        """Return the layer that has a field (`kernelMappings[0].image`); None when no layer has it."""
        name = field.partition(".")[0].partition("[")[0]
        return next((layer for layer in self.layers if name in layer.fields), None)

    def strongest(self, *fields: str) -> list[str]:
        """Return the fields, the one from the strongest layer first."""
        layers = [layer.path for layer in self.layers]
        return sorted(
            fields, key=lambda field: layers.index(layer.path) if (layer := self.layer(field)) else len(layers)
        )

    def at(self, field: str) -> str:
        """Return the path of a field where it is written; in the config's spec when it is not."""
        layer = self.layer(field)
        return f"{layer.path if layer else 'spec'}.{field}"

    def located(self, result: Result) -> Result:
        """Return the finding about the config, or about the functionConfig when its field is written there."""
        path = result.field.path if result.field else ""
        holder = next((layer for layer in self.layers if layer.shared and starts(path, layer.path)), None)
        return (holder.source if holder else self.item).located(result if holder else result._replace(ref=self.ref))


def from_item(item: Item, function_config: FunctionConfig) -> list[DeviceConfig]:
    """Return the values of a DeviceConfig that fits its schema: one, or one per node pool in the order of names."""
    ref = item.ref if item.ref.namespace else item.ref._replace(namespace=function_config.namespace)
    seed, profile = ref.group == SEED, profile_of(item)
    layers = (Layer(item.manifest.get("spec") or {}, "spec", item), *shared_layers(profile, function_config))
    spec = {**(SEED_DEFAULTS if seed else {}), **_merged(layers)}
    pools = spec.pop("nodePools", None)
    whole = DeviceConfig(item, ref, seed, profile, "", layers, spec, function_config.annotations)
    if not pools:
        return [whole]
    numbered = sorted(enumerate(pools), key=lambda pair: str(pair[1]["name"]))
    return [_pool(whole, pool, index) for index, pool in numbered]


def shared_layers(profile: str, function_config: FunctionConfig) -> list[Layer]:
    """Return the layers of the functionConfig for a profile ("" for none): the profile, the defaults."""
    own = function_config.profiles.get(profile, {})
    layers = [Layer(own, join(("spec", "profiles", profile)), function_config.source)] if profile else []
    return [*layers, Layer(function_config.defaults, "spec.defaults", function_config.source)]


def _merged(layers: tuple[Layer, ...]) -> dict[str, Any]:
    """Return the fields of all layers; a field is taken whole from the first that has it."""
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
    """Return the profile that a config names, by its field or by the annotation; "" for none."""
    own = item.manifest.get("spec")
    named = own.get("profile") if isinstance(own, dict) else ""
    return str(named or item.annotations.get(PROFILE, ""))
