"""The fields of a DeviceConfig from a Module: the way back of `deviceconfig.module`."""

from __future__ import annotations

import re

from krmfn import Manifest
from krmfn.typed import Any

from ..deviceconfig.names import is_complete
from ..kmm.lookup import table
from ..rendering.generated import filled
from .normal import OUR_ANNOTATIONS, OUR_LABELS

_VERSIONED = re.compile(r"([^@$]+):([A-Za-z0-9][A-Za-z0-9._-]{0,62})-\$KERNEL_FULL_VERSION")
"""The image that `driverImage` and `driverVersion` make."""
_EVERY_KERNEL = [{"regexp": "^.+$"}]


def fields_of(spec: dict[str, Any], metadata: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that give the ModuleSpec back; what has no field of its own is left out, and seen later.

    `spec` and `metadata` are of a manifest in the form of `normal.folded`.
    """
    container = table(spec, "moduleLoader", "container")
    modprobe = table(container, "modprobe")
    raw = table(modprobe, "rawArgs")
    selector = spec.get("selector")
    return filled(
        **_image(container),
        allNodes=True if selector == {} else None,
        moduleName=modprobe.get("moduleName"),
        **{name: modprobe.get(name) for name in ("parameters", "modulesLoadingOrder", "dirName", "firmwarePath")},
        loadArgs=table(modprobe, "args").get("load"),
        unloadArgs=table(modprobe, "args").get("unload"),
        rawLoadArgs=raw.get("load"),
        rawUnloadArgs=raw.get("unload"),
        inTreeDriver=None if "moduleLoader" in spec else True,
        **{
            name: container.get(name)
            for name in ("inTreeModulesToRemove", "build", "sign", "registryTLS", "imagePullPolicy")
        },
        imagePullSecret=table(spec, "imageRepoSecret").get("name"),
        upgrade={"ordered": True} if container.get("version") else None,
        tolerations=spec.get("tolerations"),
        serviceAccountName=table(spec, "moduleLoader").get("serviceAccountName"),
        devicePlugin=_plugin(spec.get("devicePlugin")),
        dra=_plugin(spec.get("dra")),
        labels=own_notes(metadata, "labels"),
        annotations=own_notes(metadata, "annotations"),
    ) | {
        **({"nodeSelector": selector} if isinstance(selector, dict) else {}),
        **({"loadArgs": []} if modprobe.get("args") == {} else {}),
    }


def own_notes(metadata: Manifest, name: str) -> dict[str, Any]:
    """Return the labels or annotations of an object but for the keys that every generated object has its own of."""
    notes = table(metadata, name)
    return {key: value for key, value in notes.items() if key not in OUR_LABELS + OUR_ANNOTATIONS}


def _image(container: dict[str, Any]) -> dict[str, Any]:
    """Return driverImage, driverVersion and kernelMappings: an image that all mappings share stands once."""
    mappings = [
        {"image" if name == "containerImage" else name: value for name, value in mapping.items()}
        for mapping in container.get("kernelMappings", [])
    ]
    version = container.get("version")
    images = {mapping.get("image", "") for mapping in mappings}
    (image,) = images if len(images) == 1 else ("",)
    if not isinstance(image, str) or not is_complete(image):
        return {"kernelMappings": mappings, "driverVersion": version}
    parts = _VERSIONED.fullmatch(image)
    if parts and version in (None, parts[2]) and not is_complete(parts[1]):
        image, version = parts[1], parts[2]
    rest = [{name: value for name, value in mapping.items() if name != "image"} for mapping in mappings]
    return {"driverImage": image, "driverVersion": version, "kernelMappings": rest if rest != _EVERY_KERNEL else None}


def _plugin(section: Any) -> dict[str, Any] | None:
    """Return devicePlugin or dra: the fields of its container stand in it."""
    if not isinstance(section, dict):
        return None
    rest = {name: value for name, value in section.items() if name != "container"}
    return {**table(section, "container"), **rest}
