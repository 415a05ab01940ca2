"""Make entries of daemonSets from the DaemonSets that wait for a Module: the reverse of `deviceconfig.daemonsets`."""

import re
from collections.abc import Mapping

from krmfn import Manifest
from krmfn.resource import ref
from krmfn.typed import Any, NamedTuple

from ..deviceconfig.daemonsets import OWN_LABEL, POD, SERVED_LABEL
from ..deviceconfig.names import with_version
from ..kmm.lookup import listing, table, tables
from ..kmm.module import NAME_LABEL, ready_label, version_label, version_ready_label
from ..rendering.generated import filled
from ..rendering.kinds import schema
from .normal import normal, own_notes, owner

_GATE = re.compile(r"kmm\.node\.kubernetes\.io/([a-z0-9-]+)\.(.+?)(?:\.version)?\.ready")
_DEVICE = re.compile(r"host-device-\d+")
_NAMED = (
    *("containers", "initContainers", "volumes", "imagePullSecrets", "nodeSelector", "tolerations"),
    *("serviceAccountName", "serviceAccount", *POD),
)
"""Fields of a pod that an entry has elsewhere than in its podSpec."""
_OF_SET = ("updateStrategy", "minReadySeconds", "revisionHistoryLimit")


Key = tuple[str, str]
"""A namespace and a name."""


class Consumer(NamedTuple):
    """A DaemonSet whose pods wait for a Module."""

    manifest: Manifest
    module: Key
    """The Module, as the node selector names it."""
    version: str
    """The version of the Module that the pods wait for; "" when any will do."""
    service: Manifest | None = None
    """The Service in front of its pods that a DeviceConfig has rendered."""
    waits: bool = True
    """Whether its pods wait for the Module; False for one that belongs to the Module's owner and runs anyway."""


def consumer_of(manifest: Manifest, services: Mapping[Key, Manifest], owned: Mapping[Key, Key]) -> Consumer | None:
    """Return the Consumer for a DaemonSet that waits for a Module or belongs to its owner; None for another object.

    A DaemonSet that KMM created is none. `services` are the Services of the input, `owned` the Modules by their owners.
    """
    target = ref(manifest)
    if (target.group, target.kind) != ("apps", "DaemonSet") or NAME_LABEL in table(manifest, "metadata", "labels"):
        return None
    selector = table(manifest, "spec", "template", "spec", "nodeSelector")
    for key in selector:
        if match := _GATE.fullmatch(key):
            module = (match[1], match[2])
            version = selector.get(version_ready_label(*module), selector.get(version_label(*module), ""))
            service = table(manifest, "spec", "template", "metadata", "labels").get(SERVED_LABEL)
            return Consumer(manifest, module, str(version), services.get((target.namespace, str(service))))
    sibling = owned.get((target.namespace, owner(manifest)))
    return Consumer(manifest, sibling, "", waits=False) if sibling else None


def entry_of(consumer: Consumer, fields: Mapping[str, Any], base: str, keeps_pods: bool = False) -> dict[str, Any]:
    """Return the entry for a consumer of the Module `base` that inherits `fields`; `keeps_pods` changes no pod."""
    manifest = normal(consumer.manifest)
    spec, metadata = table(manifest, "spec"), table(manifest, "metadata")
    pod, notes = table(spec, "template", "spec"), table(spec, "template", "metadata")
    _, container = next(tables(pod, "containers"), (0, dict[str, Any]()))
    labels = _not_inherited(own_notes(metadata, "labels"), fields.get("labels"))
    volumes, mounts, devices = _devices(pod, container)
    selector = table(spec, "selector", "matchLabels")
    set_name, suffix = ref(consumer.manifest).name, with_version("", consumer.version)
    inner = set_name.removeprefix(f"{base}-").removesuffix(suffix)
    name = inner if inner and set_name == f"{base}-{inner}{suffix}" else container.get("name")
    match_labels = {} if selector == {OWN_LABEL: set_name} else selector
    inherited, pod_labels = {**(fields.get("labels") or {}), **labels}, own_notes(notes, "labels")
    pod_fields = _pod_fields(consumer, pod, {} if keeps_pods else fields)
    if keeps_pods:
        template = table(consumer.manifest, "spec", "template")
        inherited, pod_labels = {}, table(template, "metadata", "labels")
        pod_fields["tolerations"] = table(template, "spec").get("tolerations") or []  # in their order
    entry = filled(**_container({**container, "volumeMounts": mounts, "name": name})) | filled(
        objectName=set_name if set_name != f"{base}-{name}{suffix}" else None,
        matchLabels=match_labels,
        keepPodTemplate=keeps_pods or None,
        waitsForModule=None if consumer.waits else False,
        perVersion=False if consumer.waits and fields.get("upgrade") and not consumer.version else None,
        containerName=container.get("name") if container.get("name") != name else None,
        volumes=volumes,
        hostDevices=devices,
        **pod_fields,
        **{field: spec.get(field) for field in _OF_SET},
        labels=labels,
        annotations=_not_inherited(own_notes(metadata, "annotations"), fields.get("annotations")),
        podLabels=_not_inherited(pod_labels, {**inherited, **match_labels}),
        podAnnotations=table(notes, "annotations"),
    )
    entry |= {"service": _service(consumer.service, fields, entry)} if consumer.service else {}
    names = list(schema("deviceconfig")["$defs"]["daemonSet"]["properties"])
    return dict(sorted(entry.items(), key=lambda field: names.index(field[0]) if field[0] in names else len(names)))


def _pod_fields(consumer: Consumer, pod: dict[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an entry for its pods, beside those of the main container; `fields` are inherited."""
    account = pod.get("serviceAccountName", "default")
    inherited = fields.get("imagePullSecrets") or [fields.get("imagePullSecret")]
    names = [secret.get("name") for _, secret in tables(pod, "imagePullSecrets")]
    gate = {label(*consumer.module) for label in (ready_label, version_label, version_ready_label)}
    selector = {key: value for key, value in table(pod, "nodeSelector").items() if key not in gate}
    tolerations = listing(pod, "tolerations") or []
    return {
        "initContainers": [_container(init) for _, init in tables(pod, "initContainers")],
        "containers": [_container(sidecar) for number, sidecar in tables(pod, "containers") if number],
        **{name: pod.get(name) for name in POD},
        "podSpec": {name: value for name, value in pod.items() if name not in _NAMED},
        "serviceAccountName": account if account != fields.get("serviceAccountName", "default") else None,
        "imagePullSecrets": (listing(pod, "imagePullSecrets") or []) if names != inherited else None,
        "nodeSelector": _not_inherited(selector, fields.get("nodeSelector")),
        "tolerations": [entry for entry in tolerations if entry not in fields.get("tolerations", [])],
    }


def _service(service: Manifest, fields: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry's service, as far as it has fields for the Service; `judge` in `drafts` finds the rest."""
    inherited_notes = {name: {**(fields.get(name) or {}), **entry.get(name, {})} for name in ("labels", "annotations")}
    form = normal(service)
    spec, metadata = table(form, "spec"), table(form, "metadata")
    ports = [port for _, port in tables(spec, "ports")]
    first = ports.pop(0) if ports and ports[0].keys() <= {"port", "targetPort", "name"} else {}
    return filled(
        type=spec.get("type"),
        **first,
        ports=ports,
        **{name: spec.get(name) for name in ("internalTrafficPolicy", "externalTrafficPolicy")},
        **{name: _not_inherited(own_notes(metadata, name), inherited) for name, inherited in inherited_notes.items()},
    )


def _container(container: dict[str, Any]) -> dict[str, Any]:
    """Return a container's fields, with `privileged` in place of a securityContext that has only that."""
    if container.get("securityContext") == {"privileged": True}:
        rest = {name: value for name, value in container.items() if name != "securityContext"}
        return {**rest, "privileged": True}
    return container


def _devices(pod: Mapping[str, Any], container: Mapping[str, Any]) -> tuple[list[Any], list[Any], list[Any]]:
    """Return the volumes and mounts without those of `hostDevices` at their ends, and the paths of these."""
    volumes = [volume for _, volume in tables(pod, "volumes")]
    mounts = [mount for _, mount in tables(container, "volumeMounts")]
    sources = (table(volume, "hostPath") for volume in volumes if _DEVICE.fullmatch(str(volume.get("name"))))
    paths = [source["path"] for source in sources if list(source) == ["path"]]
    count = len(paths)
    names = [f"host-device-{number}" for number in range(count)]
    expected = [{"name": name, "mountPath": path} for name, path in zip(names, paths, strict=True)]
    if not count or mounts[-count:] != expected or [volume.get("name") for volume in volumes[-count:]] != names:
        return volumes, mounts, []
    return volumes[:-count], mounts[:-count], paths


def _not_inherited(notes: dict[str, Any], inherited: dict[str, Any] | None) -> dict[str, Any]:
    """Return the entries that are not inherited."""
    return {key: value for key, value in notes.items() if (inherited or {}).get(key) != value}
