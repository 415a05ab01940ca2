"""The entries of daemonSets from the DaemonSets that wait for a Module: the way back of `deviceconfig.daemonsets`."""

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
from .normal import normal, own_notes
from .normal import owner as owner_of

_GATE = re.compile(r"kmm\.node\.kubernetes\.io/([a-z0-9-]+)\.(.+?)(?:\.version)?\.ready")
_DEVICE = re.compile(r"host-device-\d+")
_NAMED = (
    *("containers", "initContainers", "volumes", "imagePullSecrets", "nodeSelector", "tolerations"),
    *("serviceAccountName", "serviceAccount", *POD),
)
"""Fields of a pod that have a name in an entry; the others stand in its podSpec."""
_OF_SET = ("updateStrategy", "minReadySeconds", "revisionHistoryLimit")


class Consumer(NamedTuple):
    """A DaemonSet whose pods wait for a Module."""

    manifest: Manifest
    module: tuple[str, str]
    """The Module's namespace and name, as the node selector has them."""
    version: str
    """The Module's version that it waits for; "" when any will do."""
    service: Manifest | None = None
    """The Service in front of its pods that a DeviceConfig has made."""
    waits: bool = True
    """Whether its pods wait for the Module; False for one that belongs to the Module's owner and runs anyway."""


def consumer(
    manifest: Manifest, services: Mapping[tuple[str, str], Manifest], owned: Mapping[tuple[str, str], tuple[str, str]]
) -> Consumer | None:
    """Return the consumer that a DaemonSet is; None for one of no Module, and for one that KMM made.

    It waits for a Module, or belongs to the same owner. `services` are the Services by their namespaces and names,
    `owned` the Modules by the namespaces and names of the owners that have one.
    """
    own = ref(manifest)
    if (own.group, own.kind) != ("apps", "DaemonSet") or NAME_LABEL in table(manifest, "metadata", "labels"):
        return None
    selector = table(manifest, "spec", "template", "spec", "nodeSelector")
    for key in selector:
        if match := _GATE.fullmatch(key):
            module = (match[1], match[2])
            version = selector.get(version_ready_label(*module), selector.get(version_label(*module), ""))
            served = table(manifest, "spec", "template", "metadata", "labels").get(SERVED_LABEL)
            return Consumer(manifest, module, str(version), services.get((own.namespace, str(served))))
    owner = owned.get((own.namespace, owner_of(manifest)))
    return Consumer(manifest, owner, "", waits=False) if owner else None


def entry_of(one: Consumer, fields: Mapping[str, Any], base: str, keeps_pods: bool = False) -> dict[str, Any]:
    """Return an entry of daemonSets for a consumer of the Module `base`, whose other fields are `fields`.

    With `keeps_pods` its pods are as they were, and none is replaced.
    """
    manifest = normal(one.manifest)
    spec, metadata = table(manifest, "spec"), table(manifest, "metadata")
    pod, notes = table(spec, "template", "spec"), table(spec, "template", "metadata")
    _, container = next(tables(pod, "containers"), (0, dict[str, Any]()))
    labels = _beyond(own_notes(metadata, "labels"), fields.get("labels"))
    volumes, mounts, devices = _devices(pod, container)
    labels_of_pods = table(spec, "selector", "matchLabels")
    set_name, versioned = ref(one.manifest).name, with_version("", one.version)
    own = set_name.removeprefix(f"{base}-").removesuffix(versioned)
    named = own if own and set_name == f"{base}-{own}{versioned}" else container.get("name")
    own_selector = {} if labels_of_pods == {OWN_LABEL: set_name} else labels_of_pods
    shared, of_pods = {**(fields.get("labels") or {}), **labels}, own_notes(notes, "labels")
    of_pod = _of_pod(one, pod, {} if keeps_pods else fields)
    if keeps_pods:
        template = table(one.manifest, "spec", "template")
        shared, of_pods = {}, table(template, "metadata", "labels")
        of_pod["tolerations"] = table(template, "spec").get("tolerations") or []  # in their order
    entry = filled(**_container({**container, "volumeMounts": mounts, "name": named})) | filled(
        objectName=set_name if set_name != f"{base}-{named}{versioned}" else None,
        matchLabels=own_selector,
        keepPodTemplate=keeps_pods or None,
        waitsForModule=None if one.waits else False,
        perVersion=False if one.waits and fields.get("upgrade") and not one.version else None,
        containerName=container.get("name") if container.get("name") != named else None,
        volumes=volumes,
        hostDevices=devices,
        **of_pod,
        **{name: spec.get(name) for name in _OF_SET},
        labels=labels,
        annotations=_beyond(own_notes(metadata, "annotations"), fields.get("annotations")),
        podLabels=_beyond(of_pods, {**shared, **own_selector}),
        podAnnotations=table(notes, "annotations"),
    )
    entry |= {"service": _service(one.service, fields, entry)} if one.service else {}
    names = list(schema("deviceconfig")["$defs"]["daemonSet"]["properties"])
    return dict(sorted(entry.items(), key=lambda field: names.index(field[0]) if field[0] in names else len(names)))


def _of_pod(one: Consumer, pod: dict[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an entry for its pods, beside those of the main container; `fields` are inherited."""
    account = pod.get("serviceAccountName", "default")  # what no name means
    own, tolerations = listing(pod, "imagePullSecrets") or [], listing(pod, "tolerations") or []
    secrets = fields.get("imagePullSecrets") or [fields.get("imagePullSecret")]
    gate = {ready_label(*one.module), version_label(*one.module), version_ready_label(*one.module)}
    selector = {key: value for key, value in table(pod, "nodeSelector").items() if key not in gate}
    return {
        "initContainers": [_container(init) for _, init in tables(pod, "initContainers")],
        "containers": [_container(sidecar) for number, sidecar in tables(pod, "containers") if number],
        **{name: pod.get(name) for name in POD},
        "podSpec": {name: value for name, value in pod.items() if name not in _NAMED},
        "serviceAccountName": account if account != fields.get("serviceAccountName", "default") else None,
        "imagePullSecrets": own if [one.get("name") for _, one in tables(pod, "imagePullSecrets")] != secrets else None,
        "nodeSelector": _beyond(selector, fields.get("nodeSelector")),
        "tolerations": [each for each in tolerations if each not in fields.get("tolerations", [])],
    }


def _service(service: Manifest, fields: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry's service; what it has no field for is seen when the two are compared."""
    above = {name: {**(fields.get(name) or {}), **entry.get(name, {})} for name in ("labels", "annotations")}
    form = normal(service)
    spec, metadata = table(form, "spec"), table(form, "metadata")
    ports = [port for _, port in tables(spec, "ports")]
    plain = ports[:1] if ports and ports[0].keys() <= {"port", "targetPort", "name"} else []
    return filled(
        type=spec.get("type"),
        **(plain[0] if plain else {}),
        ports=ports[len(plain) :],
        **{name: spec.get(name) for name in ("internalTrafficPolicy", "externalTrafficPolicy")},
        **{name: _beyond(own_notes(metadata, name), inherited) for name, inherited in above.items()},
    )


def _container(container: dict[str, Any]) -> dict[str, Any]:
    """Return a container's fields; rights that say nothing but `privileged` are that field."""
    if container.get("securityContext") == {"privileged": True}:
        rest = {name: value for name, value in container.items() if name != "securityContext"}
        return {**rest, "privileged": True}
    return container


def _devices(pod: Mapping[str, Any], container: Mapping[str, Any]) -> tuple[list[Any], list[Any], list[Any]]:
    """Return the volumes and mounts without those that `hostDevices` makes at their ends, and its paths."""
    volumes, mounts = ([one for _, one in tables(*at)] for at in ((pod, "volumes"), (container, "volumeMounts")))
    paths = (table(volume, "hostPath") for volume in volumes if _DEVICE.fullmatch(str(volume.get("name"))))
    devices = [path["path"] for path in paths if list(path) == ["path"]]
    count = len(devices)
    ours = [f"host-device-{number}" for number in range(count)]
    made = [{"name": name, "mountPath": path} for name, path in zip(ours, devices, strict=True)]
    if not count or mounts[-count:] != made or [volume.get("name") for volume in volumes[-count:]] != ours:
        return volumes, mounts, []
    return volumes[:-count], mounts[:-count], devices


def _beyond(notes: dict[str, Any], inherited: dict[str, Any] | None) -> dict[str, Any]:
    """Return the entries that are not inherited."""
    return {key: value for key, value in notes.items() if (inherited or {}).get(key) != value}
