"""The names that are made from several parts, of objects and of images, for the generator and for the rules."""

from collections.abc import Iterator

from krmfn.typed import NamedTuple

from .fields import Container, DaemonSet, DevicePlugin, ImageParts, Spec
from .model import DeviceConfig

PARTS = {"devicePlugin": "device-plugin", "dra": "dra"}
"""The parts of a config beside its DaemonSets that may have an account of their own: the field, and the name."""


class Made(NamedTuple):
    """A name made from several parts: the kind of object, the field that decides it, and its named parts."""

    kind: str
    name: str
    holder: DeviceConfig
    own_field: str
    """The field that decides it, among those of `holder`."""
    parts: tuple[tuple[str, str], ...]

    @property
    def field(self) -> str:
        """The path of the field that decides it: only findings need it, and it takes a search."""
        return self.holder.at(self.own_field)

    def __str__(self) -> str:
        """Return the parts in a sentence: `version '1-0' of daemonSet 'agent' of pool 'big'`."""
        return " of ".join(f"{what} {text!r}" for what, text in reversed(self.parts))


def of_daemon_set(config: DeviceConfig, entry: DaemonSet) -> str:
    """Return `<config>-<pool>-<entry>-<version>`, without what is not there; objectName takes the place of it all."""
    return entry.objectName or with_version(of_service(config, entry), version_of(config, entry))


def with_version(name: str, version: str) -> str:
    """Return the name with a version behind it, as far as a name can show one."""
    return f"{name}-{version.lower().replace('.', '-').replace('_', '-')}" if version else name


def version_of(config: DeviceConfig, entry: DaemonSet) -> str:
    """Return the version that an entry's DaemonSet is for; "" for one that is made once, for all versions."""
    return "" if entry.perVersion is False or entry.waitsForModule is False else config.version


def of_service(config: DeviceConfig, entry: DaemonSet) -> str:
    """Return `<config>-<pool>-<entry>`: a Service stands in front of all versions."""
    return f"{config.ref.name if config.shares(entry.name) else config.base}-{entry.name}"


def of_account(config: DeviceConfig, component: DevicePlugin | DaemonSet, part: str) -> str:
    """Return the name of a component's own account, `<config>-<part>` for one that is made; "" without one."""
    made = component.serviceAccount and component.serviceAccount.create
    return component.serviceAccountName or (f"{config.ref.name}-{part}" if made else "")


def of_devices(entry: DaemonSet) -> dict[str, str]:
    """Return the name of the volume for each path of a DaemonSet's hostDevices."""
    return {path: f"host-device-{number}" for number, path in enumerate(dict.fromkeys(entry.hostDevices))}


def entries(config: DeviceConfig) -> list[tuple[DeviceConfig, int, DaemonSet]]:
    """Return the entries of daemonSets, each with its index and its config, which is that of its version.

    Those of one name stand together, the current version's first: a version may have other entries than the next.
    """
    versions = (config, *config.retained)
    every = ((one, index, entry) for one in versions for index, entry in enumerate(one.spec.daemonSets))
    found = [each for each in every if each[0] is config or version_of(each[0], each[2])]
    if len(found) < 2:
        return found
    order = list(dict.fromkeys(entry.name for _, _, entry in found))
    return sorted(found, key=lambda each: order.index(each[2].name))


def made(config: DeviceConfig) -> Iterator[Made]:
    """Yield the names of the config's DaemonSets, one per version, and of their Services."""
    served: set[str] = set()
    retained = [one.version for one in config.retained]
    for one, index, entry in entries(config):
        field = f"daemonSets[{index}].{'objectName' if entry.objectName else 'name'}"
        has_pool = config.pool and not config.shares(entry.name)
        holder = [("module" if config.modules else "pool", config.pool)] if has_pool else []
        parts = (*holder, ("daemonSet", entry.objectName or entry.name))
        decides = field if one is config else f"upgrade.retain[{retained.index(one.version)}]"
        all_parts = (*parts, ("version", version)) if (version := version_of(one, entry)) else parts
        yield Made("DaemonSet", of_daemon_set(one, entry), config, decides, all_parts)
        if entry.service and entry.name not in served:
            served.add(entry.name)
            yield Made("Service", of_service(config, entry), one, field, parts)


def is_complete(image: str) -> bool:
    """Return True when an image reference has a tag, a digest or variables (a registry's port is no tag)."""
    return ":" in image.rpartition("/")[2] or "@" in image or "$" in image


def joined(parts: ImageParts) -> str:
    """Return {registry, repository, tag, digest} as one reference; a digest goes before a tag."""
    name = "/".join(part for part in (parts.registry.rstrip("/"), parts.repository) if part)
    if parts.digest:
        return f"{name}@{parts.digest}"
    return f"{name}:{parts.tag}" if parts.tag else name


def image_of(container: Container, registry: str) -> str:
    """Return the image of a container, written in one string or in parts, from `registry`; "" without either."""
    return mirrored(container.image or (joined(container.imageParts) if container.imageParts else ""), registry)


def named_image(spec: Spec) -> str:
    """Return the kernel module's image as it is written, in one string or in parts; "" without either."""
    return spec.driverImage or (joined(spec.driverImageParts) if spec.driverImageParts else "")


def driver_image(spec: Spec) -> str:
    """Return the kernel module's image; "" when a part of it is missing.

    It is the seed's template `<driverImage>:<driverVersion>-${KERNEL_FULL_VERSION}`, unless the image already has a
    tag, a digest or variables. The braces are left out: KMM reads both forms, and Flux would substitute the braced one.
    """
    image = named_image(spec)
    if not image or is_complete(image):
        return image
    return f"{image}:{spec.driverVersion}-$KERNEL_FULL_VERSION" if spec.driverVersion else ""


def mirrored(image: str, registry: str) -> str:
    """Return `image` with `registry` in place of its own; an image without one (docker.io's short names) gets it."""
    if not registry or not image:
        return image
    host, _, rest = image.partition("/")
    has_host = bool(rest) and ("." in host or ":" in host or host == "localhost")
    return f"{registry.rstrip('/')}/{rest if has_host else image}"


def secrets(spec: Spec) -> list[dict[str, str]]:
    """Return the references to the pull secrets, as Module and pods spell them; a Module takes the first alone."""
    names = spec.imagePullSecrets or [spec.imagePullSecret]
    return [{"name": name["name"] if isinstance(name, dict) else name} for name in names if name]
