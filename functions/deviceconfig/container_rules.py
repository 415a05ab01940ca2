"""Rules about the containers of a DeviceConfig: device plugin, DRA driver and DaemonSets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from krmfn import Result, error, warning
from krmfn.results import Field

from . import names
from .model import DeviceConfig


def mounts_have_volumes(config: DeviceConfig) -> Iterator[Result]:
    """KRM126: every volumeMount names a volume beside it."""
    for path, entry, volumes in containers(config):
        known = [volume["name"] for volume in volumes]
        for index, mount in enumerate(entry.get("volumeMounts", [])):
            if mount["name"] not in known:
                beside = ", ".join(known) or "none"
                message = f"names the volume {mount['name']!r}, and beside it there are: {beside}; add it to volumes"
                yield error(message, rule="KRM126", field=Field(f"{path}.volumeMounts[{index}].name", mount["name"]))


def variables_have_one_source(config: DeviceConfig) -> Iterator[Result]:
    """KRM127: an environment variable has a value or a valueFrom, and stands once."""
    for path, entry, _ in containers(config):
        seen: set[str] = set()
        for index, variable in enumerate(entry.get("env", [])):
            field = Field(f"{path}.env[{index}]")
            if "value" in variable and "valueFrom" in variable:
                message = f"variable {variable['name']} has both value and valueFrom; leave out one"
                yield error(message, rule="KRM127", field=field)
            if variable["name"] in seen:
                message = f"variable {variable['name']} stands twice; the last one would win"
                yield warning(message, rule="KRM127", field=field)
            seen.add(variable["name"])


def containers_have_one_image(config: DeviceConfig) -> Iterator[Result]:
    """KRM133: a container has an image: in one string, or in parts with a tag or a digest."""
    for path, entry, _ in containers(config):
        parts = entry.get("imageParts")
        if bool(entry.get("image")) == bool(parts):
            what = "both image and imageParts; leave out one" if parts else "no image; write image, or imageParts"
            yield error(f"has {what}", rule="KRM133", field=Field(f"{path}.image"))
        if parts and parts.get("tag") and parts.get("digest"):
            message = "has both tag and digest; a digest alone says which image it is"
            yield error(message, rule="KRM133", field=Field(f"{path}.imageParts"))


def privileged_is_given_once(config: DeviceConfig) -> Iterator[Result]:
    """KRM145: privileged and securityContext.privileged do not contradict each other."""
    for path, entry, _ in containers(config):
        detail = entry.get("securityContext", {}).get("privileged")
        if "privileged" in entry and isinstance(detail, bool) and detail != entry["privileged"]:
            message = "contradicts securityContext.privileged beside it; leave out one of the two"
            yield error(message, rule="KRM145", field=Field(f"{path}.privileged", entry["privileged"]))


def sources_are_single(config: DeviceConfig) -> Iterator[Result]:
    """KRM134: an envFrom names one source, a volumeMount one kind of subPath."""
    for path, entry, _ in containers(config):
        for index, source in enumerate(entry.get("envFrom", [])):
            if ("configMapRef" in source) == ("secretRef" in source):
                message = "names both configMapRef and secretRef" if "secretRef" in source else "names no source"
                yield error(
                    f"{message}; write configMapRef or secretRef",
                    rule="KRM134",
                    field=Field(f"{path}.envFrom[{index}]"),
                )
        for index, mount in enumerate(entry.get("volumeMounts", [])):
            if "subPath" in mount and "subPathExpr" in mount:
                message = "has both subPath and subPathExpr; leave out one"
                yield error(message, rule="KRM134", field=Field(f"{path}.volumeMounts[{index}]"))


def names_are_different(config: DeviceConfig) -> Iterator[Result]:
    """KRM135: containers and volumes of one pod and device classes of one driver have names of their own."""
    for path, entries, taken in _named(config):
        seen: set[str] = set()
        for index, entry in enumerate(entries):
            name = entry["name"]
            if name in seen or name in taken:
                why = "stands twice" if name in seen else f"is the one of {taken[name]}"
                field = Field(f"{path}[{index}].name", name)
                yield error(f"the name {name!r} {why}; choose another", rule="KRM135", field=field)
            seen.add(name)


def _named(config: DeviceConfig) -> Iterator[tuple[str, list[dict[str, Any]], dict[str, str]]]:
    """Yield each list of named entries: its path, the entries, and which names are taken by what."""
    for kind in ("devicePlugin", "dra"):
        section = config.spec.get(kind, {})
        yield config.at(f"{kind}.volumes"), section.get("volumes", []), {}
    yield config.at("dra.deviceClasses"), config.spec.get("dra", {}).get("deviceClasses", []), {}
    for index, entry in enumerate(config.daemon_sets):
        path = config.at(f"daemonSets[{index}]")
        yield (
            f"{path}.initContainers",
            entry.get("initContainers", []),
            {entry["name"]: "the main container"},
        )
        devices = {name: f"the host device {device}" for device, name in names.of_devices(entry).items()}
        yield f"{path}.volumes", entry.get("volumes", []), devices


def containers(config: DeviceConfig) -> Iterator[tuple[str, dict[str, Any], list[dict[str, Any]]]]:
    """Yield every container: its path, its fields, the volumes it can mount."""
    for kind in ("devicePlugin", "dra"):
        section = config.spec.get(kind)
        if section is not None:
            yield from _with_init(config.at(kind), section, section.get("volumes", []))
    for index, entry in enumerate(config.daemon_sets):
        path, volumes = config.at(f"daemonSets[{index}]"), entry.get("volumes", [])
        yield path, entry, volumes
        for number, init in enumerate(entry.get("initContainers", [])):
            yield f"{path}.initContainers[{number}]", init, volumes


def _with_init(
    path: str, section: dict[str, Any], volumes: list[dict[str, Any]]
) -> Iterator[tuple[str, dict[str, Any], list[dict[str, Any]]]]:
    yield path, section, volumes
    if "initContainer" in section:
        yield f"{path}.initContainer", section["initContainer"], volumes


RULES = (
    mounts_have_volumes,
    variables_have_one_source,
    containers_have_one_image,
    privileged_is_given_once,
    sources_are_single,
    names_are_different,
)
