"""The field of a DeviceConfig, or of its profile, that a finding about its Module comes from."""

import re

from krmfn import Field, Result
from krmfn.resource import moved, split

from . import names
from .fields import Spec
from .model import DeviceConfig, value

_CONTAINER = "spec.moduleLoader.container"
_MODPROBE = f"{_CONTAINER}.modprobe"
_RENAMED = {
    "spec.selector": "nodeSelector",
    "spec.imageRepoSecret": "imagePullSecret",
    f"{_CONTAINER}.version": "driverVersion",
    f"{_MODPROBE}.args.load": "loadArgs",
    f"{_MODPROBE}.args.unload": "unloadArgs",
    f"{_MODPROBE}.rawArgs": "rawLoadArgs",
    f"{_MODPROBE}.rawArgs.load": "rawLoadArgs",
    f"{_MODPROBE}.rawArgs.unload": "rawUnloadArgs",
    "spec.devicePlugin.container": "devicePlugin",
    "spec.dra.container": "dra",
}
"""Fields of a Module that have another name in the DeviceConfig's spec that they are made from."""

_HOLDERS = (_MODPROBE, _CONTAINER, "spec.moduleLoader", "spec")
"""Where a Module has the fields that have one name in both, the longest path first."""

_MAPPING_IMAGE = r"(kernelMappings\[(\d+)\])\.containerImage"
_POD_IMAGE = r"spec\.template\.spec\.(containers|initContainers)\[(\d+)\]\.image"


def origin(config: DeviceConfig, finding: Result) -> Result | None:
    """Return a finding about what was generated as one about the field that it comes from; None when there is none."""
    if finding.field is None:
        return None
    if finding.ref and finding.ref.kind == "DaemonSet":
        return _of_pod(config, finding, finding.field)
    if finding.field.path == "metadata.name":
        beside = f" (its name is {config.name})" if config.name != config.ref.name else ""
        field = Field("metadata.name", config.ref.name)
        return config.located(finding._replace(message=finding.message + beside, field=field))
    name = moved(finding.field.path, _RENAMED) or _same_name(finding.field.path)
    if name is None:
        return None
    name = _image(config, name)
    if match := re.match(r"tolerations\[(\d+)\]", name):
        excess = int(match[1]) - len(config.spec.tolerations)
        name = name if excess < 0 else f"loaderTolerations[{excess}]{name[match.end() :]}"
    current = value(config.fields, name)  # as it is written
    proposed = finding.field.proposed if current == finding.field.current else None
    field = Field(config.at(name), current if isinstance(current, (str, int)) else None, proposed)
    return config.located(finding._replace(field=field))


def origin_of_extra(config: DeviceConfig, index: int, finding: Result) -> Result | None:
    """Return the finding about an extra object as one about its text in the profile or the defaults."""
    if finding.field is None:
        return None
    return config.located(finding._replace(field=Field(config.at(f"extraObjects[{index}].{finding.field.path}"))))


def _of_pod(config: DeviceConfig, finding: Result, field: Field) -> Result | None:
    """Return the finding about a DaemonSet's image as one about the entry of daemonSets that has it."""
    match = re.fullmatch(_POD_IMAGE, field.path)
    if match is None or finding.ref is None:
        return None
    number = int(match[2]) - (match[1] == "containers")  # the first of these is the entry itself
    inner = f".{match[1]}[{number}]" if number >= 0 else ""
    for one, index, entry in names.entries(config):
        if names.of_daemon_set(one, entry) == finding.ref.name:
            name = _image(one, f"daemonSets[{index}]{inner}.image")
            return one.located(finding._replace(ref=None, field=Field(one.at(name), value(one.fields, name))))
    return None


def _same_name(path: str) -> str | None:
    """Return the path without what holds it in a Module, when a spec has a field of that name."""
    for holder in _HOLDERS:
        name = path.removeprefix(f"{holder}.")
        if name != path and split(name)[0] in Spec.__annotations__:
            return name
    return None


def _image(config: DeviceConfig, name: str) -> str:
    """Return the field that holds the image when `name` is one: in parts, or one for all mappings."""
    if mapping := re.fullmatch(_MAPPING_IMAGE, name):
        if config.mappings[int(mapping[2])].image:
            return f"{mapping[1]}.image"
        return "driverImageParts" if config.spec.driverImageParts else "driverImage"
    holder, _, last = name.rpartition(".")
    is_in_parts = last == "image" and value(config.spec, f"{holder}.imageParts") is not None
    return f"{holder}.imageParts" if is_in_parts else name
