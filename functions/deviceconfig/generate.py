"""Generate a DeviceConfig's objects. Pure: values in, manifests out, in the order in which they are applied.

Manifests have no empty lists, strings and nulls. The DaemonSets and what gives rights have files of their own.
"""

from collections.abc import Sequence
from functools import partial

from krmfn import Manifest
from krmfn.typed import Any

from ..kmm.module import HUB_API, HUB_KIND, MODULE_API, MODULE_KIND
from ..rendering.generated import MODULE_ORDER, Generated, filled
from ..rendering.kinds import CLUSTER_WIDE, DEVICECONFIG
from . import daemonsets, rbac
from .fields import Container, DevicePlugin
from .merging import of_mapping
from .model import DeviceConfig, Specs
from .names import PARTS, driver_image, image_of, mirrored, of_account, secrets
from .origins import origin, origin_of_extra

_ANSWERED = frozenset({"KRM201"})
"""An empty selector is confirmed by allNodes (KRM123)."""
_EXTRA_ORDER = {"argocd.argoproj.io/sync-wave": "-2"}
"""Argo CD applies them before everything else, since pods mount ConfigMaps and name PriorityClasses."""
_CONTAINER = ("command", "args", "env", "resources", "imagePullPolicy", "volumeMounts")
"""Fields of a container of a Module, beside its image."""


def objects(configs: Sequence[DeviceConfig], known: Specs) -> list[Generated]:
    """Return the objects of one DeviceConfig, whose pools are `configs`: extras, RBAC, Modules, then the DaemonSets.

    `known` is what the run has made of configs that are alike.
    """
    first = configs[0]
    own = rbac.objects(configs) if any(config.has_accounts for config in configs) else []
    for config in configs:
        if config.has_module:
            own.append((config, module(config, known)))
        if not config.spec.hub and (config.spec.daemonSets or config.retained):
            own += daemonsets.objects(config, known)
    extras = enumerate(first.spec.extraObjects)
    made = [(first, _extra(first, entry), partial(origin_of_extra, first, at)) for at, entry in extras]
    made += [(config, manifest, partial(origin, config)) for config, manifest in own]
    kind, scope = (first.ref.group, first.ref.kind), DEVICECONFIG
    scope = scope if kind in scope.owners else scope._replace(owners=scope.owners | {kind})
    return [
        Generated(manifest, scope, config.item, config.ref, at_origin, _ANSWERED, first.vendor.title)
        for config, manifest, at_origin in made
    ]


def is_cluster_wide(entry: dict[str, Any]) -> bool:
    """Return True for an object of a kind without namespaces."""
    return (entry["apiVersion"].rpartition("/")[0], entry["kind"]) in CLUSTER_WIDE


def _extra(config: DeviceConfig, entry: dict[str, Any]) -> Manifest:
    """Return an entry of extraObjects with the metadata of what is generated."""
    own = entry["metadata"]
    made = config.metadata(own["name"], "extra", _EXTRA_ORDER, own)
    if is_cluster_wide(entry):
        del made["namespace"]
    head = {"apiVersion": entry["apiVersion"], "kind": entry["kind"], "metadata": made}
    return {**head, **entry, **head}


def module(config: DeviceConfig, known: Specs) -> Manifest:
    """Return the `kmm.sigs.x-k8s.io/v1beta1 Module` with the name `config.name`.

    With `hub` it is a `hub.kmm.sigs.x-k8s.io/v1beta1 ManagedClusterModule`, whose Module on the spokes has that name.
    """
    own = config.metadata(config.name, "module", MODULE_ORDER)
    spec, made, hub = config.spec, known.get((config.likeness,)), config.spec.hub
    if made is None:
        loader = filled(container=_loader(config), serviceAccountName=spec.serviceAccountName)
        made = filled(
            moduleLoader=loader if config.loads else None,
            devicePlugin=_plugin(config, spec.devicePlugin, "devicePlugin"),
            dra=_plugin(config, spec.dra, "dra"),
            imageRepoSecret=next(iter(secrets(spec)), None),
            tolerations=[*spec.tolerations, *spec.loaderTolerations],
        )
        if config.likeness:
            known[config.likeness,] = made  # without the selector; what is in it is only read
    whole = {**made, "selector": dict(spec.nodeSelector or {})}
    if hub is None:
        return {"apiVersion": MODULE_API, "kind": MODULE_KIND, "metadata": own, "spec": whole}
    del own["namespace"]
    of_hub = {"moduleSpec": whole, "spokeNamespace": hub.spokeNamespace, "selector": dict(hub.clusterSelector or {})}
    return {"apiVersion": HUB_API, "kind": HUB_KIND, "metadata": own, "spec": of_hub}


def _loader(config: DeviceConfig) -> dict[str, Any]:
    spec = config.spec
    only_keys = spec.sign and "filesToSign" not in spec.sign and any(mapping.sign for mapping in config.mappings)
    args = filled(load=spec.loadArgs, unload=spec.unloadArgs)
    return filled(
        modprobe=filled(
            moduleName=spec.moduleName,
            dirName=spec.dirName or "/opt",  # as KMM's CRD defaults it
            parameters=spec.parameters,
            args=args,
            rawArgs=filled(load=spec.rawLoadArgs, unload=spec.rawUnloadArgs),
            **spec.written("firmwarePath", "modulesLoadingOrder"),
        )
        | ({"args": {}} if not args and "loadArgs" in vars(spec) else {}),  # KMM reloads when `{}` comes or goes
        version=config.version,
        **spec.written("imagePullPolicy", "inTreeModulesToRemove", "registryTLS", "build"),
        sign=None if only_keys else _sign(config, spec.sign),  # KMM wants files beside keys
        kernelMappings=[
            filled(
                **mapping.written("regexp", "literal"),
                containerImage=mirrored(mapping.image or driver_image(spec), spec.imageRegistry),
                **mapping.written("inTreeModulesToRemove", "registryTLS"),
                build=of_mapping(mapping.build, spec.build, "build"),
                sign=_sign(config, of_mapping(mapping.sign, spec.sign, "sign")),
            )
            for mapping in config.mappings
        ],
    )


def _sign(config: DeviceConfig, sign: dict[str, Any] | None) -> dict[str, Any] | None:
    if not sign or "unsignedImage" not in sign:
        return sign
    return {**sign, "unsignedImage": mirrored(sign["unsignedImage"], config.spec.imageRegistry)}


def _plugin(config: DeviceConfig, plugin: DevicePlugin | None, field: str) -> dict[str, Any] | None:
    """Return spec.devicePlugin or spec.dra: KMM starts it once the kernel module is loaded."""
    if plugin is None:
        return None
    return filled(
        container=_container(config, plugin),
        initContainer=_container(config, plugin.initContainer) if plugin.initContainer else None,
        **plugin.written("driverName"),
        serviceAccountName=plugin.serviceAccountName or of_account(config, plugin, PARTS[field]),
        **plugin.written("automountServiceAccountToken", "volumes", "deviceClasses"),
    )


def _container(config: DeviceConfig, container: Container) -> dict[str, Any]:
    return filled(image=image_of(container, config.spec.imageRegistry), **container.written(*_CONTAINER))
