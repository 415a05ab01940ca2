"""The KMM Module of a config or pool, without empty lists, strings and nulls; dirName as KMM's CRD defaults it."""

from __future__ import annotations

from typing import Any

from krmfn import Manifest

from ..rendering.metadata import MODULE_ORDER, filled, metadata
from .images import image_of
from .model import DeviceConfig

_CONTAINER = ("command", "args", "env", "resources", "imagePullPolicy", "volumeMounts")


def module(config: DeviceConfig) -> Manifest:
    """Return the `kmm.sigs.x-k8s.io/v1beta1 Module` with the name `config.name`."""
    return {
        "apiVersion": "kmm.sigs.x-k8s.io/v1beta1",
        "kind": "Module",
        "metadata": metadata(
            config.name, config.ref, "module", MODULE_ORDER, config.object_labels, config.object_annotations
        ),
        "spec": module_spec(config),
    }


def module_spec(config: DeviceConfig) -> dict[str, Any]:
    """Return the ModuleSpec, as a Module and a ManagedClusterModule hold it."""
    spec = config.spec
    loader = filled(container=_loader(config), serviceAccountName=spec.get("serviceAccountName"))
    wanted = filled(
        moduleLoader=loader if config.loads else None,
        devicePlugin=_plugin(config, spec.get("devicePlugin")),
        dra=_plugin(config, spec.get("dra")),
        imageRepoSecret=secret(config),
        tolerations=spec.get("tolerations"),
    )
    return {**wanted, "selector": dict(config.node_selector or {})}


def _loader(config: DeviceConfig) -> dict[str, Any]:
    spec = config.spec
    return filled(
        modprobe=filled(
            moduleName=config.module_name,
            dirName=spec.get("dirName", "/opt"),
            parameters=spec.get("parameters"),
            args=filled(load=spec.get("loadArgs"), unload=spec.get("unloadArgs")),
            rawArgs=filled(load=spec.get("rawLoadArgs"), unload=spec.get("rawUnloadArgs")),
            firmwarePath=spec.get("firmwarePath"),
            modulesLoadingOrder=spec.get("modulesLoadingOrder"),
        ),
        version=config.version,
        imagePullPolicy=spec.get("imagePullPolicy"),
        inTreeModulesToRemove=spec.get("inTreeModulesToRemove"),
        registryTLS=spec.get("registryTLS"),
        build=spec.get("build"),
        sign=_sign(config, spec.get("sign")),
        kernelMappings=[_mapping(config, mapping) for mapping in config.mappings],
    )


def _mapping(config: DeviceConfig, mapping: dict[str, Any]) -> dict[str, Any]:
    return filled(
        regexp=mapping.get("regexp"),
        literal=mapping.get("literal"),
        containerImage=config.mirror(mapping.get("image", config.image)),
        inTreeModulesToRemove=mapping.get("inTreeModulesToRemove"),
        registryTLS=mapping.get("registryTLS"),
        build=mapping.get("build"),
        sign=_sign(config, mapping.get("sign")),
    )


def _sign(config: DeviceConfig, sign: dict[str, Any] | None) -> dict[str, Any] | None:
    if not sign or "unsignedImage" not in sign:
        return sign
    return {**sign, "unsignedImage": config.mirror(sign["unsignedImage"])}


def _plugin(config: DeviceConfig, section: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return spec.devicePlugin or spec.dra: KMM starts it once the kernel module is loaded."""
    if section is None:
        return None
    return filled(
        container=_container(config, section),
        initContainer=_container(config, section["initContainer"]) if "initContainer" in section else None,
        driverName=section.get("driverName"),
        serviceAccountName=section.get("serviceAccountName"),
        automountServiceAccountToken=section.get("automountServiceAccountToken"),
        volumes=section.get("volumes"),
        deviceClasses=section.get("deviceClasses"),
    )


def _container(config: DeviceConfig, fields: dict[str, Any]) -> dict[str, Any]:
    return filled(image=config.mirror(image_of(fields)), **{key: fields.get(key) for key in _CONTAINER})


def secret(config: DeviceConfig) -> dict[str, str] | None:
    """Return the reference to the pull secret, as Module and pods spell it; None without one."""
    name = config.spec.get("imagePullSecret")
    return {"name": name} if name else None
