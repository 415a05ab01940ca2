"""A DeviceConfig as a value: its own fields over its profile's over the defaults, after the schema was checked."""

from __future__ import annotations

from typing import Any, NamedTuple

from krmfn import Item, Ref

from ..settings import Settings, merged

OURS, SEED = "krmfn.dev", "example.com"
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


class DeviceConfig(NamedTuple):
    """A driver for a group of nodes. Absent fields are None, "", () or {}; `node_selector` alone tells None from {}."""

    item: Item
    ref: Ref
    seed: bool
    profile: str
    spec: dict[str, Any]
    """All fields as the schema names them, merged."""

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
    def name(self) -> str:
        """The Module's name: the seed operator appends -module."""
        return f"{self.ref.name}-module" if self.seed else self.ref.name

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
        """The image for mappings without one of their own; "" when driverImage or the tag's version is missing.

        The seed's template `<driverImage>:<driverVersion>-${KERNEL_FULL_VERSION}`, unless driverImage already has a
        tag, a digest or variables. The braces are left out: KMM reads both, Flux would substitute the braced form.
        """
        image, version = str(self.spec.get("driverImage", "")), str(self.spec.get("driverVersion", ""))
        if is_complete(image) or not image:
            return image
        return f"{image}:{version}-$KERNEL_FULL_VERSION" if version else ""


def is_complete(image: str) -> bool:
    """True when an image reference has a tag, a digest or variables already (a registry's port is no tag)."""
    return ":" in image.rpartition("/")[2] or "@" in image or "$" in image


def from_item(item: Item, settings: Settings) -> DeviceConfig:
    """The value of a DeviceConfig that fits its schema."""
    ref = item.ref
    if not ref.namespace and settings.namespace:
        ref = ref._replace(namespace=settings.namespace)
    own = item.manifest.get("spec") or {}
    seed = ref.group == SEED
    profile = profile_of(item)
    spec = merged(own, profile, settings)
    return DeviceConfig(item, ref, seed, profile, {**SEED_DEFAULTS, **spec} if seed else spec)


def profile_of(item: Item) -> str:
    """The profile a config names, by its field or by the annotation; "" for none."""
    own = item.manifest.get("spec") or {}
    return str(own.get("profile") or item.annotations.get(PROFILE, ""))
