"""The KMM Module of a config or pool, without empty lists, strings and nulls; dirName as KMM's CRD defaults it."""

from __future__ import annotations

from krmfn import Manifest
from krmfn.typed import Any

from ..kmm.module import HUB_API, HUB_KIND, MODULE_API, MODULE_KIND
from ..rendering.generated import MODULE_ORDER, filled, metadata
from .fields import Container, DevicePlugin, Dra, KernelMapping, Spec
from .images import image_of
from .merging import OF_MAPPINGS
from .model import DeviceConfig
from .names import PARTS, of_account

Specs = dict[bytes, dict[str, Any]]
"""The ModuleSpecs that a run has made so far, without their selectors, by the likeness of their configs."""


def module(config: DeviceConfig, known: Specs) -> Manifest:
    """Return the `kmm.sigs.x-k8s.io/v1beta1 Module` with the name `config.name`.

    With `hub` it is a `hub.kmm.sigs.x-k8s.io/v1beta1 ManagedClusterModule`, whose Module on the spokes has that name.
    """
    labels, annotations = config.object_labels, config.object_annotations
    own_metadata = metadata(config.name, config.ref, "module", MODULE_ORDER, labels, annotations)
    spec, hub = _module_spec(config, known), config.spec.hub
    if hub is None:
        return {"apiVersion": MODULE_API, "kind": MODULE_KIND, "metadata": own_metadata, "spec": spec}
    del own_metadata["namespace"]
    of_hub = {
        "moduleSpec": spec,
        "spokeNamespace": hub.spokeNamespace,
        "selector": dict(hub.clusterSelector or {}),
    }
    return {"apiVersion": HUB_API, "kind": HUB_KIND, "metadata": own_metadata, "spec": of_hub}


def _module_spec(config: DeviceConfig, known: Specs) -> dict[str, Any]:
    """Return the ModuleSpec, as a Module and a ManagedClusterModule hold it; what is in it is only read."""
    spec = known.get(config.likeness)
    if spec is None:
        spec = _without_selector(config)
        if config.likeness:
            known[config.likeness] = spec
    return {**spec, "selector": dict(config.spec.nodeSelector or {})}


def _without_selector(config: DeviceConfig) -> dict[str, Any]:
    spec = config.spec
    loader = filled(container=_loader(config), serviceAccountName=spec.serviceAccountName)
    return filled(
        moduleLoader=loader if config.loads else None,
        devicePlugin=_plugin(config, spec.devicePlugin, "devicePlugin"),
        dra=_plugin(config, spec.dra, "dra"),
        imageRepoSecret=next(iter(secrets(spec)), None),
        tolerations=[*spec.tolerations, *spec.loaderTolerations],
    )


def _loader(config: DeviceConfig) -> dict[str, Any]:
    spec = config.spec
    only_keys = spec.sign and "filesToSign" not in spec.sign and any(mapping.sign for mapping in config.mappings)
    args = filled(load=spec.loadArgs, unload=spec.unloadArgs)
    return filled(
        modprobe=filled(
            moduleName=spec.moduleName,
            dirName=spec.dirName or "/opt",
            parameters=spec.parameters,
            args=args,
            rawArgs=filled(load=spec.rawLoadArgs, unload=spec.rawUnloadArgs),
            firmwarePath=spec.firmwarePath,
            modulesLoadingOrder=spec.modulesLoadingOrder,
        )
        | ({"args": {}} if not args and "loadArgs" in vars(spec) else {}),  # KMM reloads when `{}` comes or goes
        version=config.version,
        imagePullPolicy=spec.imagePullPolicy,
        inTreeModulesToRemove=spec.inTreeModulesToRemove,
        registryTLS=spec.registryTLS,
        build=spec.build,
        sign=None if only_keys else _sign(config, spec.sign),  # KMM wants files beside keys
        kernelMappings=[_mapping(config, mapping) for mapping in config.mappings],
    )


def _mapping(config: DeviceConfig, mapping: KernelMapping) -> dict[str, Any]:
    return filled(
        regexp=mapping.regexp,
        literal=mapping.literal,
        containerImage=config.mirror(mapping.image or config.image),
        inTreeModulesToRemove=mapping.inTreeModulesToRemove,
        registryTLS=mapping.registryTLS,
        build=of_mapping(mapping.build, config.spec.build, "build"),
        sign=_sign(config, of_mapping(mapping.sign, config.spec.sign, "sign")),
    )


def of_mapping(own: dict[str, Any] | None, shared: dict[str, Any] | None, name: str) -> dict[str, Any] | None:
    """Return the build or sign of a mapping, with what it needs from the config's own: so KMM merges them, too."""
    return {**{key: shared[key] for key in OF_MAPPINGS[name] if key in shared}, **own} if own and shared else own


def _sign(config: DeviceConfig, sign: dict[str, Any] | None) -> dict[str, Any] | None:
    if not sign or "unsignedImage" not in sign:
        return sign
    return {**sign, "unsignedImage": config.mirror(sign["unsignedImage"])}


def _plugin(config: DeviceConfig, plugin: DevicePlugin | None, field: str) -> dict[str, Any] | None:
    """Return spec.devicePlugin or spec.dra: KMM starts it once the kernel module is loaded."""
    if plugin is None:
        return None
    dra = plugin if isinstance(plugin, Dra) else None
    return filled(
        container=_container(config, plugin),
        initContainer=_container(config, plugin.initContainer) if plugin.initContainer else None,
        driverName=dra.driverName if dra else None,
        serviceAccountName=plugin.serviceAccountName or of_account(config, plugin, PARTS[field]),
        automountServiceAccountToken=plugin.automountServiceAccountToken,
        volumes=plugin.volumes,
        deviceClasses=dra.deviceClasses if dra else None,
    )


def _container(config: DeviceConfig, container: Container) -> dict[str, Any]:
    return filled(
        image=config.mirror(image_of(container)),
        command=container.command,
        args=container.args,
        env=container.env,
        resources=container.resources,
        imagePullPolicy=container.imagePullPolicy,
        volumeMounts=container.volumeMounts,
    )


def secrets(spec: Spec) -> list[dict[str, str]]:
    """Return the references to the pull secrets, as Module and pods spell them; a Module takes the first alone."""
    names = spec.imagePullSecrets or [spec.imagePullSecret]
    return [{"name": name["name"] if isinstance(name, dict) else name} for name in names if name]
