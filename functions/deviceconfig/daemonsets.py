"""The DaemonSets that run where the kernel module is loaded, and the Services in front of their pods."""

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
"""Fields of a container that an init container lacks in part."""
POD = (
    *("priorityClassName", "runtimeClassName", "hostNetwork", "hostPID", "hostIPC", "dnsPolicy"),
    "terminationGracePeriodSeconds",
)
"""Fields of a pod that an entry has under the same name."""
CONFIG_HASH = "krmfn.dev/config-hash"
"""On pods that roll with their ConfigMaps: what these hold."""
OWN_LABEL = "krmfn.dev/daemonset"
SERVED_LABEL = "krmfn.dev/served-by"
"""On the pods of all versions of a DaemonSet with a Service: the Service's name."""


def objects(config: DeviceConfig, known: Specs) -> list[tuple[DeviceConfig, Manifest]]:
    """Return the DaemonSet of each entry of daemonSets, and the Services, each with the config of its version.

    A DaemonSet has one template, so a roll-out node by node takes one DaemonSet for each version that runs somewhere.
    A Service stands in front of all versions, as the newest that has it. `known` is what the run has made of configs
    that are alike.
    """
    entries = names.entries(config)
    services: dict[str, tuple[DeviceConfig, Manifest]] = {}
    for one, _, entry in entries:
        if entry.service and entry.name not in services:
            services[entry.name] = one, _service(one, entry, entry.service)
    return [*((one, _daemon_set(one, entry, known)) for one, _, entry in entries), *services.values()]


def _daemon_set(config: DeviceConfig, entry: DaemonSet, known: Specs) -> Manifest:
    """Return a DaemonSet for the config's nodes on which KMM has loaded the kernel module (in its version, if any).

    The config's own selector labels stand beside the ready label: without them a node that leaves the selector could
    never unload (KMM keeps the ready label while a consumer holds the module). matchLabels is one fixed label, since
    it can never be changed, or what a DaemonSet has that was there before.
    """
    name = names.of_daemon_set(config, entry)
    waits = config.has_module and entry.waitsForModule is not False
    order = daemonset_order(config.ref.namespace, *(config.waited_for(entry.name) if waits else ()))
    metadata = config.metadata(name, "consumer", order, vars(entry))
    own = entry.matchLabels or {OWN_LABEL: name}
    ours = {} if entry.keepPodTemplate else metadata["labels"]
    served = _served_by(config, entry) if entry.service else {}
    of_krmfn = {key: value for key, value in ours.items() if key.startswith("app.kubernetes.io/")}
    labels = {**ours, **(entry.podLabels or {}), **of_krmfn, **served, **own}
    like, annotations = (config.likeness, config.spec.driverVersion, entry.name), entry.podAnnotations
    pod = {**known[like], "nodeSelector": _selector(config, entry)} if like in known else pod_of(config, entry)
    if config.likeness and not entry.serviceAccount and "nodeSelector" in pod:
        known[like] = pod
    if entry.rollOnConfigChange and (used := config_maps(config, pod)):
        annotations = {**(annotations or {}), CONFIG_HASH: _digest(used)}
    template = {"metadata": filled(labels=labels, annotations=annotations), "spec": pod}
    rest = written(entry, "updateStrategy", "minReadySeconds", "revisionHistoryLimit")
    spec = filled(selector={"matchLabels": own}, template=template, **rest)
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": metadata, "spec": spec}


def config_maps(config: DeviceConfig, pod: Any) -> dict[str, Any]:
    """Return the contents of the config's extra ConfigMaps that a pod, or a part of one, uses, by their names."""
    used: dict[str, Any] = {}
    for name, value in members(pod):
        if name in ("configMap", "configMapRef", "configMapKeyRef") and isinstance(value, dict):
            for entry in config.spec.extraObjects:
                if entry["kind"] == "ConfigMap" and entry["metadata"]["name"] == value.get("name"):
                    used[value["name"]] = [entry.get("data"), entry.get("binaryData")]
        used |= config_maps(config, value)
    return used


def _digest(value: Any) -> str:
    """Return a short text that changes with the data, and with nothing else."""
    import hashlib  # here, since hardly any DaemonSet needs them
    import json

    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def pod_of(config: DeviceConfig, entry: DaemonSet) -> dict[str, Any]:
    """Return the PodSpec of an entry."""
    devices = names.of_devices(entry)
    volumes = [{"name": name, "hostPath": {"path": path}} for path, name in devices.items()]
    mounts = [{"name": name, "mountPath": path} for path, name in devices.items()]
    main = _container(config, entry, mounts, entry.containerName)
    above = Spec() if entry.keepPodTemplate else config.spec
    made = filled(
        serviceAccountName=names.of_account(config, entry, entry.name) or above.serviceAccountName,
        imagePullSecrets=entry.imagePullSecrets if "imagePullSecrets" in vars(entry) else names.secrets(above),
        nodeSelector=_selector(config, entry),
        tolerations=[*above.tolerations, *entry.tolerations],
        **written(entry, *POD),
        initContainers=[_container(config, init) for init in entry.initContainers],
        containers=[main, *(_container(config, one) for one in entry.containers)],
        volumes=[*entry.volumes, *volumes],
    )
    return {**made, **{key: value for key, value in (entry.podSpec or {}).items() if key not in made}}


def _selector(config: DeviceConfig, entry: DaemonSet) -> dict[str, str]:
    """Return the labels of the nodes for a DaemonSet's pods, those where the module is loaded for what waits for it.

    Versioned: the admin's label evicts the pod before the unload, KMM's own lets it start only on the loaded version.
    """
    own = {} if entry.keepPodTemplate else config.spec.nodeSelector or {}
    selector = {**own, **(entry.nodeSelector or {})}
    if not config.loads or entry.waitsForModule is False:
        return selector
    namespace, version = config.ref.namespace, names.version_of(config, entry)
    for name in config.waited_for(entry.name):
        ready = {version_label(namespace, name): version, version_ready_label(namespace, name): version}
        selector |= ready if version else {ready_label(namespace, name): ""}
    return selector


def _container(config: DeviceConfig, own: InitContainer, mounts: Sequence[Any] = (), name: str = "") -> dict[str, Any]:
    return filled(
        name=name or own.name,
        image=names.image_of(own, config.spec.imageRegistry),
        **written(own, *_CONTAINER),
        securityContext={**(own.securityContext or {}), **({"privileged": True} if own.privileged else {})},
        volumeMounts=[*own.volumeMounts, *mounts],
    )


def _service(config: DeviceConfig, entry: DaemonSet, service: Service) -> Manifest:
    """Return a Service in front of a DaemonSet's pods, of all versions of it."""
    name = names.of_service(config, entry)
    fields = written(service, "name", "port", "targetPort")
    first = [fields] if "port" in fields else []
    spec = filled(
        type=service.type,
        selector=_served_by(config, entry),
        ports=[
            filled(**{"name": "", "port": 0, "targetPort": port["port"], "protocol": "TCP", **port})  # in this order
            for port in (*first, *service.ports)
        ],
        **written(service, "internalTrafficPolicy", "externalTrafficPolicy"),
    )
    metadata = config.metadata(name, "consumer", {"argocd.argoproj.io/sync-wave": "1"}, vars(entry), vars(service))
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}


def _served_by(config: DeviceConfig, entry: DaemonSet) -> dict[str, str]:
    """Return the labels by which a Service finds the pods of an entry; of pods that are kept as they are their own."""
    return (entry.keepPodTemplate and entry.matchLabels) or {SERVED_LABEL: names.of_service(config, entry)}
