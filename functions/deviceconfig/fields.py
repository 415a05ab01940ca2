"""The fields of a DeviceConfig as types. Generated from the schema: `python tools/schemas.py`; do not edit.

What is absent is the empty value of its type: "", () or None. What is only passed on stands here for a spec alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from krmfn.typed import Any

OF_LOADER = (
    *("moduleName", "parameters", "modulesLoadingOrder", "dirName", "firmwarePath", "modprobedDir"),
    *("loadArgs", "unloadArgs", "rawLoadArgs", "rawUnloadArgs", "inTreeModulesToRemove", "kernelMappings"),
    *("build", "sign", "registryTLS", "imagePullPolicy", "imagePullSecret", "imagePullSecrets"),
)
"""The fields of the kernel module's loader."""


class Fields:
    """A value that `model.typed` fills and that is only read then. (It takes less time to define than a NamedTuple.)"""

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name} is only read")


class Container(Fields):
    """What every container has, and all that the initContainer of a plugin has."""

    image: str = ""
    imageParts: ImageParts | None = None
    env: Sequence[Any] = ()
    volumeMounts: Sequence[Any] = ()


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
    inTreeModulesToRemove: Sequence[Any] = ()


class InitContainer(Container):
    """One container."""

    name: str = ""
    privileged: bool | None = None
    securityContext: dict[str, Any] | None = None


class Sidecar(InitContainer):
    """One container beside the main one."""

    ports: Sequence[Any] = ()


class DevicePlugin(Container):
    """A kubelet device plugin, started by KMM after the kernel module."""

    volumes: Sequence[Any] = ()
    initContainer: Container | None = None
    serviceAccountName: str = ""
    serviceAccount: ServiceAccount | None = None
    securityContext: dict[str, Any] | None = None


class Dra(DevicePlugin):
    """A driver for Dynamic Resource Allocation, started by KMM after the kernel module."""


class DaemonSet(Sidecar):
    """One DaemonSet."""

    objectName: str = ""
    matchLabels: dict[str, Any] | None = None
    keepPodTemplate: bool | None = None
    waitsForModule: bool | None = None
    perVersion: bool | None = None
    containerName: str = ""
    volumes: Sequence[Any] = ()
    hostDevices: Sequence[Any] = ()
    initContainers: Sequence[InitContainer] = ()
    containers: Sequence[Sidecar] = ()
    serviceAccountName: str = ""
    imagePullSecrets: Sequence[Any] = ()
    serviceAccount: ServiceAccount | None = None
    nodeSelector: dict[str, Any] | None = None
    tolerations: Sequence[Any] = ()
    podSpec: dict[str, Any] | None = None
    rollOnConfigChange: bool | None = None
    labels: dict[str, Any] | None = None
    annotations: dict[str, Any] | None = None
    podLabels: dict[str, Any] | None = None
    podAnnotations: dict[str, Any] | None = None
    service: Service | None = None


class Spec(Fields):
    """What is wanted."""

    profile: str = ""
    options: dict[str, Any] | None = None
    driverImage: str = ""
    driverImageParts: ImageParts | None = None
    driverVersion: str = ""
    imageRegistry: str = ""
    nodeSelector: dict[str, Any] | None = None
    allNodes: bool | None = None
    nodePools: Sequence[Any] = ()
    moduleName: str = ""
    parameters: Sequence[Any] = ()
    modulesLoadingOrder: Sequence[Any] = ()
    dirName: str = ""
    firmwarePath: str = ""
    modprobedDir: str = ""
    loadArgs: Sequence[Any] = ()
    unloadArgs: Sequence[Any] = ()
    rawLoadArgs: Sequence[Any] = ()
    rawUnloadArgs: Sequence[Any] = ()
    inTreeModulesToRemove: Sequence[Any] = ()
    inTreeDriver: bool | None = None
    kernelMappings: Sequence[KernelMapping] = ()
    build: dict[str, Any] | None = None
    sign: dict[str, Any] | None = None
    registryTLS: dict[str, Any] | None = None
    imagePullPolicy: str = ""
    imagePullSecret: str = ""
    imagePullSecrets: Sequence[Any] = ()
    upgrade: Upgrade | None = None
    tolerations: Sequence[Any] = ()
    loaderTolerations: Sequence[Any] = ()
    serviceAccountName: str = ""
    serviceAccount: ServiceAccount | None = None
    devicePlugin: DevicePlugin | None = None
    dra: Dra | None = None
    daemonSets: Sequence[DaemonSet] = ()
    labels: dict[str, Any] | None = None
    annotations: dict[str, Any] | None = None
    hub: Hub | None = None
    unset: Sequence[Any] = ()
    extraObjects: Sequence[Any] = ()


class Upgrade(Fields):
    """How a new version reaches the nodes."""

    ordered: bool | None = None
    retain: Sequence[Any] = ()


class ServiceAccount(Fields):
    """What is generated for the ServiceAccount."""

    create: bool | None = None
    openshift: str | int | None = None
    podSecurity: str = ""
    rules: Sequence[Any] = ()
    clusterRules: Sequence[Any] = ()


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
    ports: Sequence[Any] = ()
    externalTrafficPolicy: str = ""
    labels: dict[str, Any] | None = None
    annotations: dict[str, Any] | None = None


NESTED: dict[str, type[Fields]] = {
    "imageParts": ImageParts,
    "initContainer": Container,
    "serviceAccount": ServiceAccount,
    "initContainers": InitContainer,
    "containers": Sidecar,
    "service": Service,
    "driverImageParts": ImageParts,
    "kernelMappings": KernelMapping,
    "upgrade": Upgrade,
    "devicePlugin": DevicePlugin,
    "dra": Dra,
    "daemonSets": DaemonSet,
    "hub": Hub,
}
"""The fields that are themselves typed, or lists of such; a name has one type wherever it stands."""
