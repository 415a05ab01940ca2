"""The names of objects and images that are made from several parts, for the generator and for the rules."""

from collections.abc import Iterator

from krmfn.typed import NamedTuple

from .fields import Container, DaemonSet, DevicePlugin, ImageParts, Spec
from .model import DeviceConfig

PARTS = {"devicePlugin": "device-plugin", "dra": "dra"}
"""The parts of a config beside its DaemonSets that may have an account of their own: the field, and the name."""


class ObjectName(NamedTuple):
    """The name of an object, made from several parts, each with what it is: `("pool", "big")`."""

    kind: str
    text: str
    config: DeviceConfig
    source: str
    """The field of `config` that the name comes from."""
    parts: tuple[tuple[str, str], ...]

    @property
    def field(self) -> str:
        """The path of `source` where it is written. (It takes a search, and only findings need it.)"""
        return self.config.at(self.source)

    def __str__(self) -> str:
        """Return the parts in a sentence: `version '1-0' of daemonSet 'agent' of pool 'big'`."""
        return " of ".join(f"{part} {text!r}" for part, text in reversed(self.parts))


def daemon_set_name(config: DeviceConfig, entry: DaemonSet) -> str:
    """Return objectName, else `<config>-<pool>-<entry>-<version>` without parts that are empty."""
    return entry.objectName or with_version(service_name(config, entry), version_of(config, entry))


def with_version(name: str, version: str) -> str:
    """Return the name with the version at its end, in characters that a name may have."""
    return f"{name}-{version.lower().replace('.', '-').replace('_', '-')}" if version else name


def version_of(config: DeviceConfig, entry: DaemonSet) -> str:
    """Return the version that an entry's DaemonSet is for; "" for a DaemonSet that all versions share."""
    return "" if entry.perVersion is False or entry.waitsForModule is False else config.version


def service_name(config: DeviceConfig, entry: DaemonSet) -> str:
    """Return `<config>-<pool>-<entry>`: a Service stands in front of all versions."""
    return f"{config.ref.name if config.shares(entry.name) else config.base}-{entry.name}"


def account_name(config: DeviceConfig, component: DevicePlugin | DaemonSet, part: str) -> str:
    """Return the name of a component's own account, `<config>-<part>` for a generated one; "" without one."""
    is_created = component.serviceAccount and component.serviceAccount.create
    return component.serviceAccountName or (f"{config.ref.name}-{part}" if is_created else "")


def plugins(config: DeviceConfig) -> list[tuple[str, DevicePlugin]]:
    """Return the device plugin and the DRA driver that the config has, each with its field."""
    values = ((field, getattr(config.spec, field)) for field in PARTS)
    return [(field, plugin) for field, plugin in values if plugin]


def device_volumes(entry: DaemonSet) -> dict[str, str]:
    """Return the name of the volume for each path of a DaemonSet's hostDevices."""
    return {path: f"host-device-{number}" for number, path in enumerate(dict.fromkeys(entry.hostDevices))}


def entries(config: DeviceConfig) -> list[tuple[DeviceConfig, int, DaemonSet]]:
    """Return the entries of daemonSets in all versions, each with the config at its version, and its index there.

    Entries of one name stand together, that of the current version first: versions may have different entries.
    """
    rows = [(config, index, entry) for index, entry in enumerate(config.spec.daemonSets)]
    for earlier in config.retained:
        others = ((earlier, index, entry) for index, entry in enumerate(earlier.spec.daemonSets))
        rows += (row for row in others if version_of(earlier, row[2]))
    order = list(dict.fromkeys(entry.name for _, _, entry in rows))
    return sorted(rows, key=lambda row: order.index(row[2].name))


def object_names(config: DeviceConfig) -> Iterator[ObjectName]:
    """Yield the names of the config's DaemonSets, one per version, and of their Services."""
    served_names: set[str] = set()
    retained = [earlier.version for earlier in config.retained]
    for versioned, index, entry in entries(config):
        field = f"daemonSets[{index}].{'objectName' if entry.objectName else 'name'}"
        has_pool = config.pool and not config.shares(entry.name)
        pool = [("module" if config.modules else "pool", config.pool)] if has_pool else []
        parts = (*pool, ("daemonSet", entry.objectName or entry.name))
        version = version_of(versioned, entry)
        source = field if versioned is config else f"upgrade.retain[{retained.index(versioned.version)}]"
        all_parts = (*parts, ("version", version)) if version else parts
        yield ObjectName("DaemonSet", daemon_set_name(versioned, entry), config, source, all_parts)
        if entry.service and entry.name not in served_names:
            served_names.add(entry.name)
            yield ObjectName("Service", service_name(config, entry), versioned, field, parts)


def is_complete(image: str) -> bool:
    """Return True for an image reference with a tag, a digest or variables (a registry's port is no tag)."""
    return ":" in image.rpartition("/")[2] or "@" in image or "$" in image


def joined(parts: ImageParts) -> str:
    """Return {registry, repository, tag, digest} as one reference; a digest goes before a tag."""
    name = "/".join(part for part in (parts.registry.rstrip("/"), parts.repository) if part)
    if parts.digest:
        return f"{name}@{parts.digest}"
    return f"{name}:{parts.tag}" if parts.tag else name


def image_of(container: Container, registry: str) -> str:
    """Return the image of a container, written as one string or in parts, from `registry`; "" without either."""
    return mirrored(container.image or (joined(container.imageParts) if container.imageParts else ""), registry)


def named_image(spec: Spec) -> str:
    """Return the kernel module's image as it is written, as one string or in parts; "" without either."""
    return spec.driverImage or (joined(spec.driverImageParts) if spec.driverImageParts else "")


def driver_image(spec: Spec) -> str:
    """Return the kernel module's image; "" when a part of it is missing.

    It is the seed's template `<driverImage>:<driverVersion>-${KERNEL_FULL_VERSION}`, unless the image already has a
    tag, a digest or variables. The braces are left out: KMM reads both forms, and Flux would replace `${...}` itself.
    """
    image = named_image(spec)
    if not image or is_complete(image):
        return image
    return f"{image}:{spec.driverVersion}-$KERNEL_FULL_VERSION" if spec.driverVersion else ""


def mirrored(image: str, registry: str) -> str:
    """Return `image` from `registry` instead of its own registry, which short names of docker.io do not write."""
    if not registry or not image:
        return image
    host, _, rest = image.partition("/")
    has_host = bool(rest) and ("." in host or ":" in host or host == "localhost")
    return f"{registry.rstrip('/')}/{rest if has_host else image}"


def secrets(spec: Spec) -> list[dict[str, str]]:
    """Return the references to the pull secrets, `{"name": ...}` each; a Module takes only the first."""
    names = spec.imagePullSecrets or [spec.imagePullSecret]
    return [{"name": name["name"] if isinstance(name, dict) else name} for name in names if name]
