"""The DaemonSets that run where the kernel module is loaded, and the Services of those that export metrics."""

from __future__ import annotations

from typing import Any

from krmfn import Manifest

from ..rendering.metadata import daemonset_order, filled, metadata, ready_label
from . import names
from .images import image_of
from .model import DeviceConfig
from .module import secret

_CONTAINER = (
    *("imagePullPolicy", "command", "args", "env", "envFrom", "resources", "ports"),
    *("livenessProbe", "readinessProbe", "startupProbe", "lifecycle"),
)
_POD = (
    *("priorityClassName", "runtimeClassName", "hostNetwork", "hostPID", "hostIPC", "dnsPolicy"),
    "terminationGracePeriodSeconds",
)
_OWN_LABEL = "krmfn.dev/daemonset"
_SERVED_LABEL = "krmfn.dev/served-by"
"""On the pods of all versions of a DaemonSet with a Service: the Service's name."""


def objects(config: DeviceConfig) -> list[Manifest]:
    """Return the DaemonSet of each entry of daemonSets (one per version in an ordered upgrade), and the Services.

    A DaemonSet has one template, so a roll-out node by node takes one DaemonSet for each version that runs somewhere.
    """
    versions = names.versions(config)
    daemon_sets = [daemon_set(config, entry, version) for entry in config.daemon_sets for version in versions]
    return daemon_sets + [_service(config, entry) for entry in config.daemon_sets if "service" in entry]


def daemon_set(config: DeviceConfig, entry: dict[str, Any], version: str) -> Manifest:
    """Return a DaemonSet for the config's nodes on which KMM has loaded the kernel module (in this version).

    The config's own selector labels stand beside the ready label: without them a node that leaves the selector could
    never unload (KMM keeps the ready label while a consumer holds the module). matchLabels is one fixed label, since
    it can never be changed.
    """
    name = names.of_daemon_set(config, entry, version)
    order = daemonset_order(config.ref.namespace, config.name)
    own_metadata = _metadata(config, entry, name, order)
    own = {_OWN_LABEL: name}
    served = {_SERVED_LABEL: names.of_service(config, entry)} if "service" in entry else {}
    labels = {**own_metadata["labels"], **entry.get("podLabels", {}), **_ours(own_metadata["labels"]), **served, **own}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": own_metadata,
        "spec": filled(
            selector={"matchLabels": own},
            template={
                "metadata": filled(labels=labels, annotations=entry.get("podAnnotations")),
                "spec": _pod(config, entry, version),
            },
            updateStrategy=entry.get("updateStrategy"),
            minReadySeconds=entry.get("minReadySeconds"),
            revisionHistoryLimit=entry.get("revisionHistoryLimit"),
        ),
    }


def _pod(config: DeviceConfig, entry: dict[str, Any], version: str) -> dict[str, Any]:
    pull = secret(config)
    devices = names.of_devices(entry)
    volumes = [{"name": name, "hostPath": {"path": path}} for path, name in devices.items()]
    mounts = [{"name": name, "mountPath": path} for path, name in devices.items()]
    selector = {**(config.node_selector or {}), **entry.get("nodeSelector", {}), **_gate(config, version)}
    return filled(
        serviceAccountName=entry.get("serviceAccountName", config.spec.get("serviceAccountName")),
        imagePullSecrets=[pull] if pull else None,
        nodeSelector=selector,
        tolerations=[*config.spec.get("tolerations", []), *entry.get("tolerations", [])],
        **{key: entry.get(key) for key in _POD},
        initContainers=[_container(config, init, init["name"], []) for init in entry.get("initContainers", [])],
        containers=[_container(config, entry, entry["name"], mounts)],
        volumes=[*entry.get("volumes", []), *volumes],
    )


def _gate(config: DeviceConfig, version: str) -> dict[str, str]:
    """Return the labels of nodes where the module is loaded.

    Versioned: the admin's label evicts the pod before the unload, KMM's own lets it start only on the loaded version.
    """
    namespace, name = config.ref.namespace, config.name
    if not config.loads:
        return {}
    if not version:
        return {ready_label(namespace, name): ""}
    chosen = f"kmm.node.kubernetes.io/version-module.{namespace}.{name}"
    return {chosen: version, f"kmm.node.kubernetes.io/{namespace}.{name}.version.ready": version}


def _container(config: DeviceConfig, fields: dict[str, Any], name: str, mounts: list[dict[str, Any]]) -> dict[str, Any]:
    security = {**fields.get("securityContext", {}), **({"privileged": True} if fields.get("privileged") else {})}
    return filled(
        name=name,
        image=config.mirror(image_of(fields)),
        **{key: fields.get(key) for key in _CONTAINER},
        securityContext=security,
        volumeMounts=[*fields.get("volumeMounts", []), *mounts],
    )


def _service(config: DeviceConfig, entry: dict[str, Any]) -> Manifest:
    """Return a Service in front of a DaemonSet's pods, of all versions of it."""
    service = entry["service"]
    name = names.of_service(config, entry)
    target = service.get("targetPort", service["port"])
    port = filled(name=service.get("name"), port=service["port"], targetPort=target, protocol="TCP")
    order = {"argocd.argoproj.io/sync-wave": "1"}
    own_metadata = _metadata(config, entry, name, order)
    pods = {_SERVED_LABEL: name}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": own_metadata,
        "spec": {"selector": pods, "ports": [port]},
    }


def _metadata(config: DeviceConfig, entry: dict[str, Any], name: str, order: dict[str, str]) -> dict[str, Any]:
    labels = {**config.object_labels, **entry.get("labels", {})}
    annotations = {**config.object_annotations, **entry.get("annotations", {})}
    return metadata(name, config.ref, "consumer", order, labels, annotations)


def _ours(labels: dict[str, str]) -> dict[str, str]:
    return {key: value for key, value in labels.items() if key.startswith("app.kubernetes.io/")}
