"""kube-controller-manager judges on which nodes our DaemonSets run: before and after KMM's ready label is there."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from krmfn_functions.paths import manifests

from krmfn import Manifest
from tests.builders import AGENT, SPEC, device_config
from tests.commands import HANGS

from .control_plane import HOST, free_port, process, wait
from .engines import find, must
from .kube import Cluster

NAMESPACE = "daemonsets"
READY = f"kmm.node.kubernetes.io/{NAMESPACE}.gpu.ready"
VERSION = f"kmm.node.kubernetes.io/version-module.{NAMESPACE}.gpu"
VERSION_READY = f"kmm.node.kubernetes.io/{NAMESPACE}.gpu.version.ready"
WITHIN = HANGS
"""Seconds; on an idle machine the controller needs about one."""
SELECTED = {"moduleName": "gpu", "driverVersion": "2.0", "nodeSelector": {"gpu": "present"}, "daemonSets": [AGENT]}
VERSIONED = {"upgrade": {"ordered": True, "retain": ["1.0"]}}


class Nodes:
    """Nodes without kubelets and DaemonSets whose pods never start, on a cluster with the DaemonSet controller."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster

    def put(self, name: str, **labels: str) -> None:
        """Let a node have exactly these labels, and no taint."""
        self.cluster.request("DELETE", f"/api/v1/nodes/{name}")
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}
        assert self.cluster.request("POST", "/api/v1/nodes", json.dumps(node).encode())[0] == 201
        self.cluster.merge(
            f"/api/v1/nodes/{name}", {"spec": {"taints": None}}
        )  # the server marks a new node as not ready

    def label(self, name: str, labels: dict[str, str | None]) -> None:
        """Change labels of a node; None takes one away."""
        self.cluster.merge(f"/api/v1/nodes/{name}", {"metadata": {"labels": labels}})

    def targets(self, daemon_set: str) -> set[str]:
        """Return the nodes that the pods of a DaemonSet are made for, and do the part of scheduler and kubelet.

        The controller misses that a node leaves the selector while the pod for it is not bound to it.
        """
        nodes: set[str] = set()
        for pod in self.cluster.request("GET", f"/api/v1/namespaces/{NAMESPACE}/pods")[1]["items"]:
            place, node = f"/api/v1/namespaces/{NAMESPACE}/pods/{pod['metadata']['name']}", target(pod)
            if "deletionTimestamp" in pod["metadata"]:
                self.cluster.request("DELETE", f"{place}?gracePeriodSeconds=0")
                continue
            if "nodeName" not in pod["spec"]:
                self.cluster.request("POST", f"{place}/binding", json.dumps(binding(pod, node)).encode())
            if pod["metadata"]["ownerReferences"][0]["name"] == daemon_set:
                nodes.add(node)
        return nodes

    def runs_on(self, daemon_set: str, *nodes: str) -> None:
        """Wait until the controller has pods on exactly these nodes, and counts them."""
        place = f"/apis/apps/v1/namespaces/{NAMESPACE}/daemonsets/{daemon_set}"

        def counted() -> bool:
            answer = self.cluster.request("GET", place)[1]
            status = answer["status"]
            is_new = status.get("observedGeneration") == answer["metadata"]["generation"]
            return is_new and status["desiredNumberScheduled"] == len(nodes) and self.targets(daemon_set) == set(nodes)

        wait(f"{daemon_set} on {nodes or 'no node'}", WITHIN, counted)


def target(pod: Manifest) -> str:
    """Return the node that a DaemonSet's pod is made for."""
    affinity = pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    return str(affinity["nodeSelectorTerms"][0]["matchFields"][0]["values"][0])


def binding(pod: Manifest, node: str) -> Manifest:
    """Return what a scheduler sends to put a pod on a node."""
    named = {"name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}
    return {"apiVersion": "v1", "kind": "Binding", "metadata": named, "target": {"kind": "Node", "name": node}}


@pytest.fixture(scope="module")
def controller(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The DaemonSet controller of kube-controller-manager."""
    folder = tmp_path_factory.mktemp("controller-manager")
    command: list[str | Path] = [
        find("kube-controller-manager", "tests/e2e/install builds it with go"),
        f"--kubeconfig={cluster.folder / 'kubeconfig'}",
        "--controllers=daemonset-controller",
        "--leader-elect=false",
        "--use-service-account-credentials=false",
        f"--bind-address={HOST}",
        f"--secure-port={free_port()}",
        f"--cert-dir={folder}",
    ]
    with process("controller-manager", *command, folder=folder):
        yield
    shutil.rmtree(folder)


@pytest.fixture
def nodes(cluster: Cluster, controller: None) -> Iterator[Nodes]:
    """Two nodes with the device, and one without, whose labels say that everything is loaded."""
    cluster.namespace(NAMESPACE)
    cluster_nodes = Nodes(cluster)
    loaded = {READY: "", VERSION: "2.0", VERSION_READY: "2.0"}
    cluster_nodes.put("gpu-1", gpu="present")
    cluster_nodes.put("gpu-2", gpu="present")
    cluster_nodes.put("plain", **loaded)
    yield cluster_nodes
    for path in (
        f"/apis/apps/v1/namespaces/{NAMESPACE}/daemonsets",
        f"/api/v1/namespaces/{NAMESPACE}/pods?gracePeriodSeconds=0",
    ):
        assert cluster.request("DELETE", path)[0] == 200
    for name in ("gpu-1", "gpu-2", "plain"):
        assert cluster.request("DELETE", f"/api/v1/nodes/{name}")[0] == 200


def applied(cluster: Cluster, folder: Path, **fields: Any) -> list[str]:
    """Apply the DaemonSets that a config with further fields renders to; return their names."""
    config = device_config(SPEC | SELECTED | fields, "gpu", NAMESPACE)
    (folder / "config.yaml").write_text(json.dumps(config))
    (folder / "out.yaml").write_bytes(must("krmfn", "render", folder / "config.yaml"))
    daemon_sets: list[Manifest] = [
        item.manifest for item in manifests.read(str(folder / "out.yaml")).items if item.kind == "DaemonSet"
    ]
    for daemon_set in daemon_sets:
        cluster.apply(cluster.place_of(daemon_set), json.dumps(daemon_set).encode())
    return [str(daemon_set["metadata"]["name"]) for daemon_set in daemon_sets]


def test_pods_come_with_the_ready_label_and_go_with_the_selector(
    cluster: Cluster, nodes: Nodes, tmp_path: Path
) -> None:
    assert applied(cluster, tmp_path) == ["gpu-agent"]
    nodes.runs_on("gpu-agent")
    nodes.label("gpu-1", {READY: ""})
    nodes.runs_on("gpu-agent", "gpu-1")
    nodes.label("gpu-2", {READY: ""})
    nodes.runs_on("gpu-agent", "gpu-1", "gpu-2")
    nodes.label("gpu-1", {"gpu": None})  # it leaves the selector; KMM takes the ready label away only after the unload
    nodes.runs_on("gpu-agent", "gpu-2")
    nodes.label("gpu-2", {READY: None})
    nodes.runs_on("gpu-agent")


def test_pods_of_a_version_follow_the_node_s_version(cluster: Cluster, nodes: Nodes, tmp_path: Path) -> None:
    new, old = applied(cluster, tmp_path, **VERSIONED)
    nodes.runs_on(new)
    nodes.runs_on(old)
    nodes.label("gpu-2", {VERSION: "2.0", READY: ""})  # labelled for 2.0, which is not loaded yet
    nodes.label("gpu-1", {VERSION: "1.0", VERSION_READY: "1.0", READY: ""})
    nodes.runs_on(old, "gpu-1")
    nodes.runs_on(new)
    nodes.label("gpu-2", {VERSION_READY: "2.0"})
    nodes.runs_on(new, "gpu-2")
    nodes.label("gpu-1", {VERSION: "2.0"})  # the upgrade of a node: first the label, then the unload, then the load
    nodes.runs_on(old)
    nodes.runs_on(new, "gpu-2")
    nodes.label("gpu-1", {VERSION_READY: "2.0"})
    nodes.runs_on(new, "gpu-1", "gpu-2")
    nodes.label("gpu-2", {"gpu": "gone"})
    nodes.runs_on(new, "gpu-1")
