"""A dump of a cluster: Nodes, Modules, NodeModulesConfigs and worker pods, as KMM writes them."""

from __future__ import annotations

from typing import Any

KERNEL = "5.14.0-503.11.1.el9_5.x86_64"
IMAGE = f"registry.example.com/nic/driver:1.8-{KERNEL}"
KMM = "kmm.sigs.x-k8s.io/v1beta1"
_MAPPING = {"regexp": "^.+$", "containerImage": "registry.example.com/nic/driver:1.8-$KERNEL_FULL_VERSION"}
_CONTAINER = {"modprobe": {"moduleName": "fastnic", "dirName": "/opt"}, "kernelMappings": [_MAPPING]}
SPEC = {"moduleLoader": {"container": _CONTAINER}, "selector": {"example.com/nic": "true"}}
"""What examples/one-cluster makes of its config nic."""
_GPU_MAPPINGS = [
    {"regexp": rf"^.*\.{system}\.x86_64$", "containerImage": "registry.example.com/gpu/driver:2.4-$KERNEL_FULL_VERSION"}
    for system in ("el9_5", "el9_6")
]
_GPU_CONTAINER = {"modprobe": {"moduleName": "gpu", "dirName": "/opt"}, "kernelMappings": _GPU_MAPPINGS}
SPECS = {
    ("kmm", "nic"): SPEC,
    ("kmm", "gpu"): {"moduleLoader": {"container": _GPU_CONTAINER}, "selector": {"example.com/card": "gpu"}},
}
"""What it makes of both."""


def node(
    labels: dict[str, str], *taints: str, kernel: str = KERNEL, boot: str = "b1", name: str = "web-1"
) -> dict[str, Any]:
    """Return a Node with taints of effect NoSchedule."""
    info = {"kernelVersion": kernel, "architecture": "amd64", "osImage": "Linux", "bootID": boot}
    spec = {"taints": [{"key": key, "effect": "NoSchedule"} for key in taints]}
    metadata = {"name": name, "labels": labels, "annotations": {"secret": "s3cret"}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec, "status": {"nodeInfo": info}}


def module(**metadata: str) -> dict[str, Any]:
    """Return a Module on the cluster; one with another name has no spec."""
    names = {"name": "nic", "namespace": "kmm", **metadata}
    spec = SPECS.get((names["namespace"], names["name"]))
    return {"apiVersion": KMM, "kind": "Module", "metadata": names, **({"spec": spec} if spec else {})}


def modules_config(
    planned: str = IMAGE,
    loaded: str = IMAGE,
    boot: str = "b1",
    module: tuple[str, str] = ("kmm", "nic"),
    kernel: str = KERNEL,
    node: str = "web-1",
) -> dict[str, Any]:
    """Return a NodeModulesConfig; "" stands for no entry."""
    named = dict(zip(("namespace", "name"), module, strict=True))
    config = [{**named, "config": {"containerImage": planned, "kernelVersion": kernel}}] if planned else []
    status = {**named, "config": {"containerImage": loaded, "kernelVersion": kernel}, "bootId": boot}
    body = {"spec": {"modules": config}, "status": {"modules": [status] if loaded else []}}
    return {"apiVersion": KMM, "kind": "NodeModulesConfig", "metadata": {"name": node}, **body}


def worker(action: str, module: str = "nic", node: str = "web-1", **state: dict[str, str]) -> dict[str, Any]:
    """Return a worker pod of KMM's."""
    labels = {"kmm.node.kubernetes.io/worker-action": action, "kmm.node.kubernetes.io/module.name": module}
    metadata = {"name": f"kmm-worker-{node}-{module}", "namespace": "kmm", "labels": labels}
    statuses = [{"state": state}] if state else []
    body = {"spec": {"nodeName": node}, "status": {"containerStatuses": statuses}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, **body}
