"""Generate a DeviceConfig's objects. Pure: values in, manifests out, in the order in which they are applied.

Manifests have no empty lists, strings and nulls. The DaemonSets and what gives rights have files of their own. Findings
about what was made come back as such about the fields that it is made from (`origin`).
"""

import re
from collections.abc import Sequence
from functools import partial

from krmfn import Field, Manifest, Result
from krmfn.resource import moved, split
from krmfn.typed import Any

from ..kmm.module import HUB_API, HUB_KIND, MODULE_API, MODULE_KIND
from ..rendering.generated import MODULE_ORDER, Generated, filled
from ..rendering.kinds import CLUSTER_WIDE, DEVICECONFIG
from . import daemonsets, rbac
from .fields import Container, DevicePlugin, Spec
from .merging import of_mapping
from .model import DeviceConfig, Specs, value, written
from .names import PARTS, driver_image, entries, image_of, mirrored, of_account, of_daemon_set, secrets

_ANSWERED = frozenset({"KRM201"})
"""An empty selector is confirmed by allNodes (KRM123)."""
_EXTRA_ORDER = {"argocd.argoproj.io/sync-wave": "-2"}
"""Argo CD applies them before everything else, since pods mount ConfigMaps and name PriorityClasses."""
_CONTAINER = ("command", "args", "env", "resources", "imagePullPolicy", "volumeMounts")
"""Fields of a container of a Module, beside its image."""
_LOADER = "spec.moduleLoader.container"
_MODPROBE = f"{_LOADER}.modprobe"
_RENAMED = {
    "spec.selector": "nodeSelector",
    "spec.imageRepoSecret": "imagePullSecret",
    f"{_LOADER}.version": "driverVersion",
    f"{_MODPROBE}.args.load": "loadArgs",
    f"{_MODPROBE}.args.unload": "unloadArgs",
    f"{_MODPROBE}.rawArgs": "rawLoadArgs",
    f"{_MODPROBE}.rawArgs.load": "rawLoadArgs",
    f"{_MODPROBE}.rawArgs.unload": "rawUnloadArgs",
    "spec.devicePlugin.container": "devicePlugin",
    "spec.dra.container": "dra",
}
"""Fields of a Module that have another name in the DeviceConfig's spec that they are made from."""

_HOLDERS = (_MODPROBE, _LOADER, "spec.moduleLoader", "spec")
"""Where a Module has the fields that have one name in both, the longest path first."""

_MAPPING_IMAGE = r"(kernelMappings\[(\d+)\])\.containerImage"
_POD_IMAGE = r"spec\.template\.spec\.(containers|initContainers)\[(\d+)\]\.image"


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
    every = [(first, _extra(first, entry), partial(origin_of_extra, first, at)) for at, entry in extras]
    every += [(config, manifest, partial(origin, config)) for config, manifest in own]
    kind, scope = (first.ref.group, first.ref.kind), DEVICECONFIG
    scope = scope if kind in scope.owners else scope._replace(owners=scope.owners | {kind})
    title = first.vendor.title
    return [Generated(made, scope, one.item, one.ref, move, _ANSWERED, title) for one, made, move in every]


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
            **written(spec, "firmwarePath", "modulesLoadingOrder"),
        )
        | ({"args": {}} if not args and "loadArgs" in vars(spec) else {}),  # KMM reloads when `{}` comes or goes
        version=config.version,
        **written(spec, "imagePullPolicy", "inTreeModulesToRemove", "registryTLS", "build"),
        sign=None if only_keys else _sign(config, spec.sign),  # KMM wants files beside keys
        kernelMappings=[
            filled(
                **written(mapping, "regexp", "literal"),
                containerImage=mirrored(mapping.image or driver_image(spec), spec.imageRegistry),
                **written(mapping, "inTreeModulesToRemove", "registryTLS"),
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
        **written(plugin, "driverName"),
        serviceAccountName=plugin.serviceAccountName or of_account(config, plugin, PARTS[field]),
        **written(plugin, "automountServiceAccountToken", "volumes", "deviceClasses"),
    )


def _container(config: DeviceConfig, container: Container) -> dict[str, Any]:
    return filled(image=image_of(container, config.spec.imageRegistry), **written(container, *_CONTAINER))


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
    name = _field_of_image(config, name)
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
    for one, index, entry in entries(config):
        if of_daemon_set(one, entry) == finding.ref.name:
            name = _field_of_image(one, f"daemonSets[{index}]{inner}.image")
            return one.located(finding._replace(ref=None, field=Field(one.at(name), value(one.fields, name))))
    return None


def _same_name(path: str) -> str | None:
    """Return the path without what holds it in a Module, when a spec has a field of that name."""
    for holder in _HOLDERS:
        name = path.removeprefix(f"{holder}.")
        if name != path and split(name)[0] in Spec.__annotations__:
            return name
    return None


def _field_of_image(config: DeviceConfig, name: str) -> str:
    """Return the field that holds the image when `name` is one: in parts, or one for all mappings."""
    if mapping := re.fullmatch(_MAPPING_IMAGE, name):
        if config.mappings[int(mapping[2])].image:
            return f"{mapping[1]}.image"
        return "driverImageParts" if config.spec.driverImageParts else "driverImage"
    holder, _, last = name.rpartition(".")
    is_in_parts = last == "image" and value(config.spec, f"{holder}.imageParts") is not None
    return f"{holder}.imageParts" if is_in_parts else name
