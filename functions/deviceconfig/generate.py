"""Generate a DeviceConfig's objects. Pure: values in, manifests out, in the order in which they are applied.

Manifests have no empty lists, strings or nulls. `daemonsets` and `rbac` generate the DaemonSets and the rights. A
finding about a generated object becomes one about the field that it is made from (`ConfigOrigin`, `ExtraOrigin`).
"""

import re
from collections.abc import Sequence

from krmfn import Field, Manifest, Result
from krmfn.resource import moved, split
from krmfn.typed import Any, NamedTuple

from ..finding import Origin
from ..kmm.module import HUB_API, HUB_KIND, MODULE_API, MODULE_KIND
from ..rendering.generated import MODULE_ORDER, Generated, filled
from ..rendering.kinds import DEVICECONFIG
from . import daemonsets, rbac
from .fields import Container, DevicePlugin, Spec
from .merging import with_shared_keys
from .model import DeviceConfig, Specs, value, written
from .names import PARTS, account_name, daemon_set_name, driver_image, entries, image_of, mirrored, plugins, secrets

_REPLACED = frozenset({"KRM201"})
"""Rules that do not apply to generated Modules: KRM123 makes a config confirm an empty selector with allNodes."""
_EXTRA_ORDER = {"argocd.argoproj.io/sync-wave": "-2"}
"""Argo CD applies extra objects before all others, since pods mount ConfigMaps and name PriorityClasses."""
_CONTAINER = ("command", "args", "env", "resources", "imagePullPolicy", "volumeMounts")
"""Fields of a container of a Module, beside its image."""
_PLUGIN_CONTAINER = ("startupProbe", "livenessProbe", "securityContext")
"""Further ones of a plugin's container."""
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
"""Fields of a Module that come from a field of another name in the DeviceConfig's spec."""

_HOLDERS = (_MODPROBE, _LOADER, "spec.moduleLoader", "spec")
"""Where a Module has the fields that come from a field of the same name, the longest path first."""

_MAPPING_IMAGE = r"(kernelMappings\[(\d+)\])\.containerImage"


def objects(configs: Sequence[DeviceConfig], known: Specs) -> list[Generated]:
    """Return the objects of one DeviceConfig, whose pools are `configs`: extras, RBAC, Modules and DaemonSets.

    `known` are the specs of the run so far; new ones are added.
    """
    first = configs[0]
    pairs = rbac.objects(configs) if any(config.has_accounts for config in configs) else []
    classes = dict[str, Any]()
    for config in configs:
        if config.has_module:
            pairs.append((config, _without_made(module(config, known), classes)))
        if not config.spec.hub and (config.spec.daemonSets or config.retained):
            pairs += daemonsets.objects(config, known)
    rows: list[tuple[Manifest, Origin]] = [
        (_extra(first, entry), ExtraOrigin(first, index)) for index, entry in enumerate(first.spec.extraObjects)
    ]
    rows += [(manifest, ConfigOrigin(config)) for config, manifest in pairs]
    kind, scope, title = (first.ref.group, first.ref.kind), DEVICECONFIG, first.vendor.title
    scope = scope if kind in scope.owners else scope._replace(owners=scope.owners | {kind})
    return [Generated(manifest, scope, first.item, first.ref, origin, _REPLACED, title) for manifest, origin in rows]


def _extra(config: DeviceConfig, entry: dict[str, Any]) -> Manifest:
    """Return an entry of extraObjects with the metadata of a generated object."""
    metadata = config.metadata(entry["metadata"]["name"], "extra", _EXTRA_ORDER, entry["metadata"])
    if config.is_cluster_wide(entry):
        del metadata["namespace"]
    head = {"apiVersion": entry["apiVersion"], "kind": entry["kind"], "metadata": metadata}
    return {**head, **entry, **head}


def module(config: DeviceConfig, known: Specs) -> Manifest:
    """Return the `kmm.sigs.x-k8s.io/v1beta1 Module` with the name `config.name`.

    With `hub` it is a `hub.kmm.sigs.x-k8s.io/v1beta1 ManagedClusterModule`, whose Module on the spokes has that name.
    """
    metadata = config.metadata(config.name, "module", MODULE_ORDER)
    spec, fields, hub = config.spec, known.get((config.fingerprint,)), config.spec.hub
    if fields is None:
        loader = filled(container=_loader(config), serviceAccountName=spec.serviceAccountName)
        fields = filled(
            moduleLoader=loader if config.loads else None,
            **{field: _plugin(config, plugin, PARTS[field]) for field, plugin in plugins(config)},
            imageRepoSecret=next(iter(secrets(spec)), None),
            tolerations=[*spec.tolerations, *spec.loaderTolerations],
        )
        if config.fingerprint:
            known[config.fingerprint,] = fields  # without the selector; nobody changes the values in it
    fields = {**fields, "selector": dict(spec.nodeSelector or {})}
    if hub is None:
        return {"apiVersion": MODULE_API, "kind": MODULE_KIND, "metadata": metadata, "spec": fields}
    del metadata["namespace"]
    hub_spec = {"moduleSpec": fields, "spokeNamespace": hub.spokeNamespace, "selector": dict(hub.clusterSelector or {})}
    return {"apiVersion": HUB_API, "kind": HUB_KIND, "metadata": metadata, "spec": hub_spec}


def _without_made(manifest: Manifest, classes: dict[str, Any]) -> Manifest:
    """Return a Module without the DeviceClasses that earlier Modules of its config make, and add its own to `classes`.

    A class belongs to the whole cluster: KMM labels it for one Module, and deletes it with that one. One that is
    described otherwise stays: rule KMM081 is about it.
    """
    holder = "moduleSpec" if manifest["kind"] == HUB_KIND else ""
    fields = manifest["spec"][holder] if holder else manifest["spec"]
    listed = fields.get("dra", {}).get("deviceClasses", ())
    unmade = [entry for entry in listed if classes.get(entry["name"]) != entry]
    classes.update({entry["name"]: entry for entry in unmade if entry["name"] not in classes})
    if len(unmade) == len(listed):
        return manifest
    dra = {key: part for key, part in fields["dra"].items() if key != "deviceClasses"} | filled(deviceClasses=unmade)
    fields = {**fields, "dra": dra}
    return {**manifest, "spec": {**manifest["spec"], holder: fields} if holder else fields}


def _loader(config: DeviceConfig) -> dict[str, Any]:
    spec = config.spec
    has_only_keys = spec.sign and "filesToSign" not in spec.sign and any(mapping.sign for mapping in config.mappings)
    args = filled(load=spec.loadArgs, unload=spec.unloadArgs)
    return filled(
        modprobe=filled(
            moduleName=spec.moduleName,
            dirName=spec.dirName or "/opt",  # as KMM's CRD defaults it
            parameters=spec.parameters,
            args=args,
            rawArgs=filled(load=spec.rawLoadArgs, unload=spec.rawUnloadArgs),
            **written(spec, "firmwarePath", "modprobedDir", "modulesLoadingOrder"),
        )
        | ({"args": {}} if not args and "loadArgs" in vars(spec) else {}),  # KMM reloads when `{}` comes or goes
        version=config.version,
        **written(spec, "imagePullPolicy", "inTreeModulesToRemove", "registryTLS", "build"),
        sign=None if has_only_keys else _sign(config, spec.sign),  # KMM wants files beside keys
        kernelMappings=[
            filled(
                **written(mapping, "regexp", "literal"),
                containerImage=mirrored(mapping.image or driver_image(spec), spec.imageRegistry),
                **written(mapping, "inTreeModulesToRemove", "registryTLS"),
                build=with_shared_keys(mapping.build, spec.build, "build"),
                sign=_sign(config, with_shared_keys(mapping.sign, spec.sign, "sign")),
            )
            for mapping in config.mappings
        ],
    )


def _sign(config: DeviceConfig, sign: dict[str, Any] | None) -> dict[str, Any] | None:
    if not sign or "unsignedImage" not in sign:
        return sign
    return {**sign, "unsignedImage": mirrored(sign["unsignedImage"], config.spec.imageRegistry)}


def _plugin(config: DeviceConfig, plugin: DevicePlugin, part: str) -> dict[str, Any]:
    """Return spec.devicePlugin or spec.dra of a Module: KMM starts it once the kernel module is loaded."""
    return filled(
        container=_container(config, plugin) | written(plugin, *_PLUGIN_CONTAINER),
        initContainer=_container(config, plugin.initContainer) if plugin.initContainer else None,
        **written(plugin, "driverName"),
        serviceAccountName=account_name(config, plugin, part),
        **written(plugin, "automountServiceAccountToken", "volumes", "deviceClasses"),
    )


def _container(config: DeviceConfig, container: Container) -> dict[str, Any]:
    return filled(image=image_of(container, config.spec.imageRegistry), **written(container, *_CONTAINER))


class ConfigOrigin(NamedTuple):
    """The config that an object is made from."""

    config: DeviceConfig

    def moved(self, finding: Result) -> Result | None:
        """Return a finding about the object as one about the field that it comes from; None when there is none."""
        if finding.field is None:
            return None
        is_pod = finding.ref and finding.ref.kind == "DaemonSet"
        return (_of_pod if is_pod else _of_module)(self.config, finding, finding.field)


class ExtraOrigin(NamedTuple):
    """The entry of extraObjects that an object is."""

    config: DeviceConfig
    position: int

    def moved(self, finding: Result) -> Result | None:
        """Return a finding about the object as one about its entry."""
        if finding.field is None:
            return None
        path = self.config.at(f"extraObjects[{self.position}].{finding.field.path}")
        return self.config.located(finding._replace(field=Field(path)))


def _of_module(config: DeviceConfig, finding: Result, field: Field) -> Result | None:
    """Return the finding about a Module, or an object of RBAC, at the config's field; None where there is none."""
    path = field.path
    if path == "metadata.name":
        note = f" (its name is {config.name})" if config.name != config.ref.name else ""
        name_field = Field("metadata.name", config.ref.name)
        return config.located(finding._replace(message=finding.message + note, field=name_field))
    inner = (path.removeprefix(f"{holder}.") for holder in _HOLDERS if path.startswith(f"{holder}."))
    name = moved(path, _RENAMED) or next((name for name in inner if split(name)[0] in Spec.__annotations__), None)
    if name is None:
        return None
    name = _image_field(config, name)
    if match := re.match(r"tolerations\[(\d+)\]", name):
        excess = int(match[1]) - len(config.spec.tolerations)
        name = name if excess < 0 else f"loaderTolerations[{excess}]{name[match.end() :]}"
    current = value(config.fields, name)  # before variables are filled in
    proposed = field.proposed if current == field.current else None
    written_field = Field(config.at(name), current if isinstance(current, (str, int)) else None, proposed)
    return config.located(finding._replace(field=written_field))


def _of_pod(config: DeviceConfig, finding: Result, field: Field) -> Result | None:
    """Return the finding about a DaemonSet at the field of its entry of daemonSets; None where there is none."""
    from . import pod_origins  # here: few runs have a finding about a generated pod

    for versioned, index, entry in entries(config):
        if finding.ref and daemon_set_name(versioned, entry) == finding.ref.name:
            name = pod_origins.field_of(versioned, index, entry, field.path)
            name = _image_field(versioned, name) if name.endswith(".image") else name
            if name:
                current = value(versioned.fields, name)
                current = current if isinstance(current, (str, int)) else None
                return versioned.located(finding._replace(ref=None, field=Field(versioned.at(name), current)))
    return None


def _image_field(config: DeviceConfig, name: str) -> str:
    """Return the field that an image comes from, which may be in parts or for all mappings; other names as they are."""
    if mapping := re.fullmatch(_MAPPING_IMAGE, name):
        if config.mappings[int(mapping[2])].image:
            return f"{mapping[1]}.image"
        return "driverImageParts" if config.spec.driverImageParts else "driverImage"
    holder, _, last = name.rpartition(".")
    is_in_parts = last == "image" and value(config.spec, f"{holder}.imageParts") is not None
    return f"{holder}.imageParts" if is_in_parts else name
