"""Generate the DaemonSets that run where the kernel module is loaded, and the Services in front of their pods."""

from collections.abc import Sequence

from krmfn import Manifest
from krmfn.typed import Any

from ..kmm.lookup import members
from ..kmm.module import ready_label, version_label, version_ready_label
from ..rendering.generated import daemonset_order, filled
from . import names
from .fields import DaemonSet, InitContainer, Service, Spec
from .model import DeviceConfig, Specs, written

_CONTAINER = (
    *("imagePullPolicy", "command", "args", "env", "envFrom", "resources", "ports", "workingDir"),
    *("livenessProbe", "readinessProbe", "startupProbe", "lifecycle"),
)
"""Fields of a container beside its name, image, rights and mounts; an init container has only some of them."""
POD = (
    *("priorityClassName", "runtimeClassName", "hostNetwork", "hostPID", "hostIPC", "dnsPolicy"),
    "terminationGracePeriodSeconds",
)
"""Fields of a pod that an entry of daemonSets has under the same name."""
CONFIG_HASH = "krmfn.dev/config-hash"
"""The annotation of pods that are replaced when their ConfigMaps change: a hash of these."""
OWN_LABEL = "krmfn.dev/daemonset"
SERVED_LABEL = "krmfn.dev/served-by"
"""The label of the pods of all versions of a DaemonSet with a Service: the Service's name."""


def objects(config: DeviceConfig, known: Specs) -> list[tuple[DeviceConfig, Manifest]]:
    """Return the DaemonSet of each entry of daemonSets, and the Services, each with the config of its version.

    A DaemonSet has one pod template, so a roll-out node by node needs a DaemonSet for each version that still runs.
    A Service stands in front of all versions; its fields are those of the newest version that has it. `known` are the
    specs of the run so far; new ones are added.
    """
    entries = names.entries(config)
    services: dict[str, tuple[DeviceConfig, Manifest]] = {}
    for versioned, _, entry in entries:
        if entry.service and entry.name not in services:
            services[entry.name] = versioned, _service(versioned, entry, entry.service)
    daemon_sets = ((versioned, _daemon_set(versioned, entry, known)) for versioned, _, entry in entries)
    return [*daemon_sets, *services.values()]


def _daemon_set(config: DeviceConfig, entry: DaemonSet, known: Specs) -> Manifest:
    """Return a DaemonSet for the config's nodes on which KMM has loaded the kernel module (in its version, if any).

    Its pods select the config's nodes beside the ready label: else a node that leaves the selector could never unload,
    since KMM keeps the ready label while a pod uses the module. matchLabels can never change, so it is one fixed
    label, or the entry's own for a DaemonSet that already exists.
    """
    name = names.daemon_set_name(config, entry)
    waits = config.has_module and entry.waitsForModule is not False
    order = daemonset_order(config.ref.namespace, *(config.waited_for(entry.name) if waits else ()))
    metadata = config.metadata(name, "consumer", order, vars(entry))
    match_labels = entry.matchLabels or {OWN_LABEL: name}
    inherited = {} if entry.keepPodTemplate else metadata["labels"]
    service_labels = _served_by(config, entry) if entry.service else {}
    krmfn_labels = {key: value for key, value in inherited.items() if key.startswith("app.kubernetes.io/")}
    labels = {**inherited, **(entry.podLabels or {}), **krmfn_labels, **service_labels, **match_labels}
    key, annotations = (config.fingerprint, config.spec.driverVersion, entry.name), entry.podAnnotations
    pod = {**known[key], "nodeSelector": _selector(config, entry)} if key in known else pod_of(config, entry)
    if config.fingerprint and not entry.serviceAccount and "nodeSelector" in pod:
        known[key] = pod
    if entry.rollOnConfigChange and (contents := config_maps(config, pod)):
        import hashlib  # here, since hardly any DaemonSet needs them
        import json

        digest = hashlib.sha256(json.dumps(contents, sort_keys=True).encode()).hexdigest()
        annotations = {**(annotations or {}), CONFIG_HASH: digest[:16]}
    template = {"metadata": filled(labels=labels, annotations=annotations), "spec": pod}
    rest = written(entry, "updateStrategy", "minReadySeconds", "revisionHistoryLimit")
    spec = filled(selector={"matchLabels": match_labels}, template=template, **rest)
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": metadata, "spec": spec}


def config_maps(config: DeviceConfig, pod: Any) -> dict[str, Any]:
    """Return the contents of the config's extra ConfigMaps that a pod, or a part of one, uses, by their names."""
    contents: dict[str, Any] = {}
    for name, value in members(pod):
        if name in ("configMap", "configMapRef", "configMapKeyRef") and isinstance(value, dict):
            for entry in config.spec.extraObjects:
                if entry["kind"] == "ConfigMap" and entry["metadata"]["name"] == value.get("name"):
                    contents[value["name"]] = [entry.get("data"), entry.get("binaryData")]
        contents |= config_maps(config, value)
    return contents


def pod_of(config: DeviceConfig, entry: DaemonSet) -> dict[str, Any]:
    """Return the PodSpec of an entry."""
    devices = names.device_volumes(entry)
    volumes = [{"name": name, "hostPath": {"path": path}} for path, name in devices.items()]
    mounts = [{"name": name, "mountPath": path} for path, name in devices.items()]
    main = {**_container(config, entry, mounts), "name": entry.containerName or entry.name}
    shared = Spec() if entry.keepPodTemplate else config.spec
    pod = filled(
        serviceAccountName=names.account_name(config, entry, entry.name) or shared.serviceAccountName,
        imagePullSecrets=entry.imagePullSecrets if "imagePullSecrets" in vars(entry) else names.secrets(shared),
        nodeSelector=_selector(config, entry),
        tolerations=[*shared.tolerations, *entry.tolerations],
        **written(entry, *POD),
        initContainers=[_container(config, init) for init in entry.initContainers],
        containers=[main, *(_container(config, sidecar) for sidecar in entry.containers)],
        volumes=[*entry.volumes, *volumes],
    )
    return {**pod, **{key: value for key, value in (entry.podSpec or {}).items() if key not in pod}}


def _selector(config: DeviceConfig, entry: DaemonSet) -> dict[str, str]:
    """Return the node labels that a DaemonSet's pods select, with KMM's ready labels where they wait for the module.

    With a version there are two: removing the admin's label evicts the pod before the module is unloaded, and KMM's
    label lets the pod start only where that version is loaded.
    """
    selector = {**({} if entry.keepPodTemplate else config.spec.nodeSelector or {}), **(entry.nodeSelector or {})}
    if not config.loads or entry.waitsForModule is False:
        return selector
    namespace, version = config.ref.namespace, names.version_of(config, entry)
    for name in config.waited_for(entry.name):
        ready = {version_label(namespace, name): version, version_ready_label(namespace, name): version}
        selector |= ready if version else {ready_label(namespace, name): ""}
    return selector


def _container(config: DeviceConfig, fields: InitContainer, mounts: Sequence[Any] = ()) -> dict[str, Any]:
    return filled(
        name=fields.name,
        image=names.image_of(fields, config.spec.imageRegistry),
        **written(fields, *_CONTAINER),
        securityContext={**(fields.securityContext or {}), **({"privileged": True} if fields.privileged else {})},
        volumeMounts=[*fields.volumeMounts, *mounts],
    )


def _service(config: DeviceConfig, entry: DaemonSet, service: Service) -> Manifest:
    """Return the Service in front of the pods of an entry, in all versions."""
    name, first = names.service_name(config, entry), written(service, "name", "port", "targetPort")
    ports = [*([first] if "port" in first else []), *service.ports]
    # with their fields in this order
    ports = [filled(**{"name": "", "port": 0, "targetPort": port["port"], "protocol": "TCP", **port}) for port in ports]
    policies = written(service, "internalTrafficPolicy", "externalTrafficPolicy")
    spec = filled(type=service.type, selector=_served_by(config, entry), ports=ports, **policies)
    metadata = config.metadata(name, "consumer", {"argocd.argoproj.io/sync-wave": "1"}, vars(entry), vars(service))
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}


def _served_by(config: DeviceConfig, entry: DaemonSet) -> dict[str, str]:
    """Return the labels by which a Service selects the pods of an entry: its matchLabels when it keeps its template."""
    return (entry.keepPodTemplate and entry.matchLabels) or {SERVED_LABEL: names.service_name(config, entry)}
