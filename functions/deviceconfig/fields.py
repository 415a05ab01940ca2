"""The fields of a DeviceConfig as types. Generated from the schema: `python tools/schemas.py`; do not edit.

What is absent is the empty value of its type: "", [] or None.
"""

from __future__ import annotations

from typing import Any

_NONE: list[Any] = []  # shared, and read only

OF_LOADER = (
    "moduleName",
    "parameters",
    "modulesLoadingOrder",
    "dirName",
    "firmwarePath",
    "loadArgs",
    "unloadArgs",
    "rawLoadArgs",
    "rawUnloadArgs",
    "inTreeModulesToRemove",
    "kernelMappings",
    "build",
    "sign",
    "registryTLS",
    "imagePullPolicy",
    "imagePullSecret",
    "imagePullSecrets",
)
"""The fields of the kernel module's loader."""


class Fields:
    """A value that `model.spec` fills and that is only read then. (It takes less time to define than a NamedTuple.)"""

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name} is only read")


class ImageParts(Fields):
    """An image in parts."""

    registry: str = ""
    repository: str = ""
    tag: str = ""
    digest: str = ""


class KernelMapping(Fields):
    """One mapping."""

    regexp: str = ""
    literal: str = ""
    image: str = ""
    build: dict[str, Any] | None = None
    sign: dict[str, Any] | None = None
    registryTLS: dict[str, Any] | None = None
    inTreeModulesToRemove: list[Any] = _NONE


class InitContainer(Fields):
    """One container."""

    name: str = ""
    image: str = ""
    imageParts: ImageParts | None = None
    command: list[Any] = _NONE
    args: list[Any] = _NONE
    env: list[Any] = _NONE
    resources: dict[str, Any] | None = None
    imagePullPolicy: str = ""
    volumeMounts: list[Any] = _NONE
    envFrom: list[Any] = _NONE
    privileged: bool | None = None
    securityContext: dict[str, Any] | None = None
    workingDir: str = ""
    enabled: bool | None = None


class Sidecar(Fields):
    """One container beside the main one."""

    name: str = ""
    image: str = ""
    imageParts: ImageParts | None = None
    command: list[Any] = _NONE
    args: list[Any] = _NONE
    env: list[Any] = _NONE
    resources: dict[str, Any] | None = None
    imagePullPolicy: str = ""
    volumeMounts: list[Any] = _NONE
    envFrom: list[Any] = _NONE
    privileged: bool | None = None
    securityContext: dict[str, Any] | None = None
    workingDir: str = ""
    ports: list[Any] = _NONE
    livenessProbe: dict[str, Any] | None = None
    readinessProbe: dict[str, Any] | None = None
    startupProbe: dict[str, Any] | None = None
    lifecycle: dict[str, Any] | None = None
    enabled: bool | None = None


class PluginInit(Fields):
    """A container that runs to its end first (KMM 2.4)."""

    image: str = ""
    imageParts: ImageParts | None = None
    command: list[Any] = _NONE
    args: list[Any] = _NONE
    env: list[Any] = _NONE
    resources: dict[str, Any] | None = None
    imagePullPolicy: str = ""
    volumeMounts: list[Any] = _NONE


class DevicePlugin(Fields):
    """A kubelet device plugin, started by KMM after the kernel module."""

    image: str = ""
    imageParts: ImageParts | None = None
    command: list[Any] = _NONE
    args: list[Any] = _NONE
    env: list[Any] = _NONE
    resources: dict[str, Any] | None = None
    imagePullPolicy: str = ""
    volumeMounts: list[Any] = _NONE
    volumes: list[Any] = _NONE
    initContainer: PluginInit | None = None
    serviceAccountName: str = ""
    enabled: bool | None = None
    automountServiceAccountToken: bool | None = None


class Dra(Fields):
    """A driver for Dynamic Resource Allocation, started by KMM after the kernel module."""

    driverName: str = ""
    image: str = ""
    imageParts: ImageParts | None = None
    command: list[Any] = _NONE
    args: list[Any] = _NONE
    env: list[Any] = _NONE
    resources: dict[str, Any] | None = None
    imagePullPolicy: str = ""
    volumeMounts: list[Any] = _NONE
    volumes: list[Any] = _NONE
    initContainer: PluginInit | None = None
    serviceAccountName: str = ""
    enabled: bool | None = None
    automountServiceAccountToken: bool | None = None
    deviceClasses: list[Any] = _NONE


class DaemonSet(Fields):
    """One DaemonSet."""

    name: str = ""
    objectName: str = ""
    matchLabels: dict[str, Any] | None = None
    image: str = ""
    imageParts: ImageParts | None = None
    command: list[Any] = _NONE
    args: list[Any] = _NONE
    env: list[Any] = _NONE
    resources: dict[str, Any] | None = None
    imagePullPolicy: str = ""
    volumeMounts: list[Any] = _NONE
    envFrom: list[Any] = _NONE
    privileged: bool | None = None
    securityContext: dict[str, Any] | None = None
    workingDir: str = ""
    volumes: list[Any] = _NONE
    hostDevices: list[Any] = _NONE
    initContainers: list[InitContainer] = _NONE
    containers: list[Sidecar] = _NONE
    ports: list[Any] = _NONE
    livenessProbe: dict[str, Any] | None = None
    readinessProbe: dict[str, Any] | None = None
    startupProbe: dict[str, Any] | None = None
    lifecycle: dict[str, Any] | None = None
    serviceAccountName: str = ""
    priorityClassName: str = ""
    runtimeClassName: str = ""
    hostNetwork: bool | None = None
    hostPID: bool | None = None
    hostIPC: bool | None = None
    dnsPolicy: str = ""
    terminationGracePeriodSeconds: int | None = None
    nodeSelector: dict[str, Any] | None = None
    tolerations: list[Any] = _NONE
    podSpec: dict[str, Any] | None = None
    updateStrategy: dict[str, Any] | None = None
    minReadySeconds: int | None = None
    revisionHistoryLimit: int | None = None
    labels: dict[str, Any] | None = None
    annotations: dict[str, Any] | None = None
    podLabels: dict[str, Any] | None = None
    podAnnotations: dict[str, Any] | None = None
    service: Service | None = None
    enabled: bool | None = None


class Spec(Fields):
    """What is wanted."""

    profile: str = ""
    driverImage: str = ""
    driverImageParts: ImageParts | None = None
    driverVersion: str = ""
    imageRegistry: str = ""
    nodeSelector: dict[str, Any] | None = None
    allNodes: bool | None = None
    nodePools: list[Any] = _NONE
    moduleName: str = ""
    parameters: list[Any] = _NONE
    modulesLoadingOrder: list[Any] = _NONE
    dirName: str = ""
    firmwarePath: str = ""
    loadArgs: list[Any] = _NONE
    unloadArgs: list[Any] = _NONE
    rawLoadArgs: list[Any] = _NONE
    rawUnloadArgs: list[Any] = _NONE
    inTreeModulesToRemove: list[Any] = _NONE
    inTreeDriver: bool | None = None
    kernelMappings: list[KernelMapping] = _NONE
    build: dict[str, Any] | None = None
    sign: dict[str, Any] | None = None
    registryTLS: dict[str, Any] | None = None
    imagePullPolicy: str = ""
    imagePullSecret: str = ""
    imagePullSecrets: list[Any] = _NONE
    upgrade: Upgrade | None = None
    tolerations: list[Any] = _NONE
    serviceAccountName: str = ""
    serviceAccount: ServiceAccount | None = None
    devicePlugin: DevicePlugin | None = None
    dra: Dra | None = None
    daemonSets: list[DaemonSet] = _NONE
    labels: dict[str, Any] | None = None
    annotations: dict[str, Any] | None = None
    hub: Hub | None = None
    extraObjects: list[Any] = _NONE


class Upgrade(Fields):
    """How a new version reaches the nodes."""

    ordered: bool | None = None
    retain: list[Any] = _NONE


class ServiceAccount(Fields):
    """What is generated for the ServiceAccount."""

    create: bool | None = None
    openshift: bool | None = None
    podSecurity: str = ""
    enabled: bool | None = None
    rules: list[Any] = _NONE
    clusterRules: list[Any] = _NONE


class Hub(Fields):
    """Generate a ManagedClusterModule for an Open Cluster Management hub, in place of the Module."""

    spokeNamespace: str = ""
    clusterSelector: dict[str, Any] | None = None


class Service(Fields):
    """A Service for its port, such as a metrics exporter's."""

    type: str = ""
    port: int | None = None
    targetPort: str | int | None = None
    name: str = ""
    ports: list[Any] = _NONE
    annotations: dict[str, Any] | None = None
    enabled: bool | None = None


NESTED: dict[type[Fields], dict[str, type[Fields]]] = {
    InitContainer: {"imageParts": ImageParts},
    Sidecar: {"imageParts": ImageParts},
    PluginInit: {"imageParts": ImageParts},
    DevicePlugin: {"imageParts": ImageParts, "initContainer": PluginInit},
    Dra: {"imageParts": ImageParts, "initContainer": PluginInit},
    DaemonSet: {"imageParts": ImageParts, "initContainers": InitContainer, "containers": Sidecar, "service": Service},
    Spec: {
        "driverImageParts": ImageParts,
        "kernelMappings": KernelMapping,
        "upgrade": Upgrade,
        "serviceAccount": ServiceAccount,
        "devicePlugin": DevicePlugin,
        "dra": Dra,
        "daemonSets": DaemonSet,
        "hub": Hub,
    },
}
"""The fields of each type that are themselves typed, or lists of such."""
