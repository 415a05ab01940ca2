"""The field of a DeviceConfig, or of its profile, that a finding about its Module comes from."""

from __future__ import annotations

import re
from typing import Any

from krmfn import Result
from krmfn.fieldpath import moved, split
from krmfn.results import Field

from .model import DeviceConfig

_CONTAINER = "spec.moduleLoader.container"
_MODPROBE = f"{_CONTAINER}.modprobe"
_FIELDS = {
    "spec.selector": "nodeSelector",
    "spec.tolerations": "tolerations",
    "spec.imageRepoSecret": "imagePullSecret",
    "spec.moduleLoader.serviceAccountName": "serviceAccountName",
    f"{_CONTAINER}.version": "driverVersion",
    **{
        f"{_CONTAINER}.{name}": name
        for name in ("imagePullPolicy", "inTreeModulesToRemove", "registryTLS", "build", "sign", "kernelMappings")
    },
    **{
        f"{_MODPROBE}.{name}": name
        for name in ("moduleName", "dirName", "parameters", "firmwarePath", "modulesLoadingOrder")
    },
    f"{_MODPROBE}.args.load": "loadArgs",
    f"{_MODPROBE}.args.unload": "unloadArgs",
    f"{_MODPROBE}.rawArgs": "rawLoadArgs",
    f"{_MODPROBE}.rawArgs.load": "rawLoadArgs",
    f"{_MODPROBE}.rawArgs.unload": "rawUnloadArgs",
    "spec.devicePlugin": "devicePlugin",
    "spec.devicePlugin.container": "devicePlugin",
    "spec.dra": "dra",
    "spec.dra.container": "dra",
}
"""Fields of a Module, and the fields of a DeviceConfig's spec that they are made from."""

_MAPPING_IMAGE = re.compile(r"(kernelMappings\[(\d+)\])\.containerImage")
_PLUGIN_IMAGE = re.compile(r"((?:devicePlugin|dra)(?:\.initContainer)?)\.image")


def origin(config: DeviceConfig, finding: Result) -> Result | None:
    """Return the finding about a Module as one about the field that it comes from; None when there is no such field."""
    if finding.field is None:
        return None
    if finding.field.path == "metadata.name":
        message = (
            f"{finding.message} (its name is {config.name})" if config.name != config.ref.name else finding.message
        )
        return config.located(finding._replace(message=message, field=Field("metadata.name", config.ref.name)))
    name = moved(finding.field.path, _FIELDS)
    if name is None:
        return None
    name = _image(config, name)
    current = value(config.spec, name)
    proposed = finding.field.proposed if current == finding.field.current else None
    field = Field(config.at(name), current if isinstance(current, (str, int)) else None, proposed)
    return config.located(finding._replace(field=field))


def _image(config: DeviceConfig, name: str) -> str:
    """Return the field that holds the image when `name` is one: in parts, or one for all mappings."""
    mapping, plugin = _MAPPING_IMAGE.fullmatch(name), _PLUGIN_IMAGE.fullmatch(name)
    if mapping and "image" in config.mappings[int(mapping[2])]:
        return f"{mapping[1]}.image"
    if mapping:
        return "driverImageParts" if "driverImageParts" in config.spec else "driverImage"
    if plugin and value(config.spec, f"{plugin[1]}.imageParts") is not None:
        return f"{plugin[1]}.imageParts"
    return name


def value(spec: Any, name: str) -> Any:
    """Return what a spec holds at a field such as `daemonSets[0].image`; None when it holds nothing there."""
    for part in split(name):
        if isinstance(spec, list):
            spec = spec[int(part)] if int(part) < len(spec) else None
        else:
            spec = spec.get(part) if isinstance(spec, dict) else None
    return spec
