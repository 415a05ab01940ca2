"""A DeviceConfig's children: one Module, and the DaemonSets that wait for it. Pure: a value in, manifests out."""

from __future__ import annotations

from typing import Any

from krmfn import Manifest

from ..children import MODULE_ORDER, Child, consumer_order, filled, metadata, ready_label
from .model import DeviceConfig


def children(config: DeviceConfig) -> list[Child]:
    """The Module first, then the DaemonSets in the order they are written."""
    wanted = [module(config), *(daemon_set(config, entry) for entry in config.daemon_sets)]
    return [Child(manifest, config.item, config.ref) for manifest in wanted]


def module(config: DeviceConfig) -> Manifest:
    """The KMM Module: never an empty list, string or null, and dirName written out as KMM's CRD defaults it."""
    spec = config.spec
    container = filled(
        modprobe=filled(
            moduleName=config.module_name,
            dirName="/opt",
            parameters=spec.get("parameters"),
            firmwarePath=spec.get("firmwarePath"),
        ),
        imagePullPolicy=spec.get("imagePullPolicy"),
        inTreeModulesToRemove=spec.get("inTreeModulesToRemove"),
        kernelMappings=[_mapping(mapping, config.image) for mapping in config.mappings],
    )
    wanted = filled(
        moduleLoader=filled(container=container, serviceAccountName=spec.get("serviceAccountName")),
        devicePlugin=_device_plugin(spec.get("devicePlugin")),
        imageRepoSecret=_secret(config),
        tolerations=spec.get("tolerations"),
    )
    return {
        "apiVersion": "kmm.sigs.x-k8s.io/v1beta1",
        "kind": "Module",
        "metadata": _metadata(config, config.name, "module", MODULE_ORDER),
        "spec": {**wanted, "selector": dict(config.node_selector or {})},
    }


def daemon_set(config: DeviceConfig, entry: dict[str, Any]) -> Manifest:
    """A consumer: it runs on the config's nodes once KMM has loaded the kernel module there.

    The config's own selector labels stand beside the ready label: without them a node that leaves the selector could
    never unload (KMM keeps the ready label while a consumer holds the module). matchLabels is one fixed label, since
    it can never be changed.
    """
    name = f"{config.ref.name}-{entry['name']}"
    found = _metadata(config, name, "consumer", consumer_order(config.ref.namespace, config.name))
    ready = ready_label(config.ref.namespace, config.name)
    secret = _secret(config)
    pod = filled(
        serviceAccountName=entry.get("serviceAccountName", config.spec.get("serviceAccountName")),
        priorityClassName=entry.get("priorityClassName"),
        imagePullSecrets=[secret] if secret else None,
        nodeSelector={**(config.node_selector or {}), ready: ""},
        tolerations=config.spec.get("tolerations"),
        containers=[_container(entry)],
        volumes=entry.get("volumes"),
    )
    own = {"krmfn.dev/daemonset": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": found,
        "spec": {
            "selector": {"matchLabels": own},
            "template": {"metadata": {"labels": {**found["labels"], **own}}, "spec": pod},
        },
    }


def _metadata(config: DeviceConfig, name: str, component: str, order: dict[str, str]) -> dict[str, Any]:
    labels, annotations = config.spec.get("labels", {}), config.spec.get("annotations", {})
    return metadata(name, config.ref, component, order, labels, annotations)


def _mapping(mapping: dict[str, Any], image: str) -> dict[str, Any]:
    return filled(
        regexp=mapping.get("regexp"),
        literal=mapping.get("literal"),
        containerImage=mapping.get("image", image),
        inTreeModulesToRemove=mapping.get("inTreeModulesToRemove"),
    )


def _device_plugin(plugin: dict[str, Any] | None) -> dict[str, Any] | None:
    if plugin is None:
        return None
    keys = ("image", "command", "args", "env", "resources", "imagePullPolicy", "volumeMounts")
    return filled(
        container=filled(**{key: plugin.get(key) for key in keys}),
        serviceAccountName=plugin.get("serviceAccountName"),
        volumes=plugin.get("volumes"),
    )


def _container(entry: dict[str, Any]) -> dict[str, Any]:
    keys = ("name", "image", "imagePullPolicy", "command", "args", "env", "resources", "volumeMounts")
    privileged = {"privileged": True} if entry.get("privileged") else None
    return filled(**{key: entry.get(key) for key in keys}, securityContext=privileged)


def _secret(config: DeviceConfig) -> dict[str, str] | None:
    name = config.spec.get("imagePullSecret")
    return {"name": name} if name else None
