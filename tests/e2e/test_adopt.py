"""The steps of `adopt` on a real API server with the garbage collector: typed in their order they delete no Module."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from tests.adopted_cluster import CR, PROFILE, Manifest, config, made, named, node, write
from tests.commands import COMMANDS, HANGS, ROOT, Done, execute

from .control_plane import HOST, free_port, process, wait
from .engines import find, path_of
from .kube import Cluster, install_crd, started

WITHIN = HANGS
"""Seconds; on an idle machine the garbage collector needs about one."""
MANAGER = "npu-operator"
SHAPES = ("one owner", "an owner between")
NODE_INFO = dict.fromkeys(
    (
        *("machineID", "systemUUID", "bootID", "containerRuntimeVersion", "kubeletVersion", "kubeProxyVersion"),
        "operatingSystem",
    ),
    "",
)


class Vendor(NamedTuple):
    """A product whose Profile is shipped, with the CRD of its kind: group, version, kind, plural."""

    name: str
    config: str
    crd: tuple[str, str, str, str]

    def __str__(self) -> str:
        return self.name


VENDORS = (
    Vendor("habana", "gaudi.yaml", ("habana.ai", "v1alpha1", "DeviceConfig", "deviceconfigs")),
    Vendor("onload", "onload.yaml", ("onload.amd.com", "v1alpha1", "Onload", "onloads")),
)
"""Onload's operator makes two Modules of one config."""
SHIPPED = ROOT / "examples" / "vendor-profiles"
MODULE = "/apis/kmm.sigs.x-k8s.io/v1beta1/namespaces/npu/modules/main"
POLICY = "/apis/npu.example.org/v1/namespaces/npu/npupolicies/main"


def crd(group: str, version: str, kind: str, plural: str) -> bytes:
    """A CRD that takes any field."""
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"openAPIV3Schema": anything}
    spec = {
        "group": group,
        "scope": "Namespaced",
        "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
        "versions": [{"name": version, "served": True, "storage": True, "schema": schema}],
    }
    head = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    return json.dumps({**head, "metadata": {"name": f"{plural}.{group}"}, "spec": spec}).encode()


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster with the kinds of KMM and of a vendor, a node, and the garbage collector."""
    folder = tmp_path_factory.mktemp("collected")
    with started(folder) as cluster:
        kinds = (
            ("kmm.sigs.x-k8s.io", "v1beta1", "Module", "modules"),
            ("npu.example.org", "v1", "NpuPolicy", "npupolicies"),
            ("npu.example.org", "v1", "NpuDriver", "npudrivers"),
            *(vendor.crd for vendor in VENDORS),
        )
        for group, version, kind, plural in kinds:
            install_crd(cluster, crd(group, version, kind, plural), f"{plural}.{group}")
        cluster.apply("/api/v1/nodes/w1", json.dumps({k: v for k, v in node().items() if k != "status"}).encode())
        cluster.merge("/api/v1/nodes/w1", {"spec": {"taints": None}})  # the server marks a new node as not ready
        info = {"nodeInfo": NODE_INFO | node()["status"]["nodeInfo"]}
        cluster.merge("/api/v1/nodes/w1/status", {"status": info})
        command: list[str | Path] = [
            find("kube-controller-manager", "tests/e2e/install builds it with go"),
            f"--kubeconfig={cluster.folder / 'kubeconfig'}",
            "--controllers=garbage-collector-controller,namespace-controller",
            "--leader-elect=false",
            "--use-service-account-credentials=false",
            f"--bind-address={HOST}",
            f"--secure-port={free_port()}",
            f"--cert-dir={folder / 'manager'}",
        ]
        with process("controller-manager", *command, folder=folder):
            yield cluster
    shutil.rmtree(folder / "etcd", ignore_errors=True)


def create(cluster: Cluster, manifest: Manifest) -> Manifest:
    """Create an object as the operator does; return it as the server has it."""
    place = cluster.place_of(manifest)
    body = {**manifest, "metadata": {**manifest["metadata"]}}
    for key in ("uid", "resourceVersion", "managedFields"):
        body["metadata"].pop(key, None)
    path = f"{place.rpartition('/')[0]}?fieldManager={MANAGER}"
    code, answer = cluster.request("POST", path, json.dumps(body).encode())
    assert code == 201, answer
    return dict(answer)


def owner(manifest: Manifest) -> Manifest:
    metadata = manifest["metadata"]
    name = {"name": metadata["name"], "uid": metadata["uid"]}
    return {"apiVersion": manifest["apiVersion"], "kind": manifest["kind"], **name, "controller": True}


def deployment(namespace: str = "npu") -> Manifest:
    """The operator's Deployment."""
    container = {"name": "manager", "image": f"registry.example.com/{MANAGER}:1"}
    template = {"metadata": {"labels": {"app": "npu"}}, "spec": {"containers": [container]}}
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": "npu"}}, "template": template}
    metadata = {"name": "controller", "namespace": namespace}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}


@pytest.fixture(params=SHAPES)
def left(collected: Cluster, request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """What an operator has made, each object with its owner."""
    collected.namespace("npu")
    policy = create(collected, config("npu.example.org/cleanup"))
    create(collected, deployment())
    objects = made(owned=False)
    top = between = owner(policy)
    if request.param == "an owner between":
        metadata = {"name": "driver", "namespace": "npu", "ownerReferences": [top]}
        between = owner(
            create(collected, {"apiVersion": "npu.example.org/v1", "kind": "NpuDriver", "metadata": metadata})
        )
    for manifest in objects:
        is_driver = manifest is named(objects, ("Module", "main"))
        manifest["metadata"]["ownerReferences"] = [between if is_driver else top]
        create(collected, manifest)
    yield collected
    collected.request("PATCH", POLICY, b'{"metadata": {"finalizers": null}}', "application/merge-patch+json")
    collected.request("DELETE", "/api/v1/namespaces/npu")
    wait("the namespace is gone", WITHIN, lambda: not collected.is_served("/api/v1/namespaces/npu"))


def shell(cluster: Cluster, line: str, folder: Path) -> Done:
    """Type a line where kubectl speaks to this cluster."""
    env = {"KUBECONFIG": str(cluster.folder / "kubeconfig"), "HOME": str(cluster.folder), "KUBERC": "off"}
    path = f"{COMMANDS}:{Path(find('kubectl', 'tests/e2e/install builds it with go')).parent}:{path_of()['PATH']}"
    return execute("sh", "-c", line, cwd=folder, env=path_of() | env | {"PATH": path})


def collects(cluster: Cluster) -> None:
    """Wait until the garbage collector has done all that it knew of before now."""
    metadata = {"name": "sentinel", "namespace": "default"}
    head = {"apiVersion": "npu.example.org/v1", "kind": "NpuPolicy", "metadata": metadata}
    sentinel = create(cluster, head)
    child = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {**metadata, "ownerReferences": [owner(sentinel)]}}
    create(cluster, child)
    cluster.request("DELETE", cluster.place_of(head))
    wait("the sentinel is collected", WITHIN, lambda: not cluster.is_served(cluster.place_of(child)))


def test_without_the_steps_the_module_goes_with_its_owner(left: Cluster, tmp_path: Path) -> None:
    left.merge(POLICY, {"metadata": {"finalizers": None}})
    left.request("DELETE", POLICY)
    wait("the Module is deleted", WITHIN, lambda: not left.is_served(MODULE))


def test_the_steps_in_their_order_delete_no_module(left: Cluster, tmp_path: Path) -> None:
    write(tmp_path)
    first = shell(left, "krmfn adopt git --kubectl | sh; krmfn adopt git --live dump.json --format json", tmp_path)
    assert first.code == 1, first
    uid = (left.get(MODULE) or {})["metadata"]["uid"]
    data = json.loads(first.text)
    assert data["nodes"]["kept"] == ["w1"]
    typed = [step["command"] for step in data["steps"] if "command" in step]
    assert typed[0] == "kubectl scale deployment -n npu controller --replicas=0"
    for line in typed:
        done = shell(left, line, tmp_path)
        assert done.code == 0, (line, done)
        assert (left.get(MODULE) or {})["metadata"]["uid"] == uid, line
    wait("the config is gone", WITHIN, lambda: not left.is_served(POLICY))
    collects(left)
    module = left.get(MODULE) or {}
    assert module["metadata"]["uid"] == uid
    assert "deletionTimestamp" not in module["metadata"]
    (tmp_path / "git/profile.yaml").write_text(PROFILE.replace(", keep: true", ""))
    (tmp_path / "git/cr.yaml").write_text(CR)
    last = shell(left, "krmfn adopt git --kubectl | sh; krmfn adopt git --live dump.json --format json", tmp_path)
    assert (last.code, json.loads(last.text)["steps"]) == (0, []), last


@pytest.fixture(params=VENDORS, ids=str)
def vendor(collected: Cluster, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Vendor, list[str]]]:
    """What the operator of a vendor has made, as its Profile renders it: the paths of its Modules on the server."""
    product: Vendor = request.param
    git = tmp_path / "git"
    git.mkdir()
    text = (SHIPPED / product.name / "profile.yaml").read_text()
    kept = text.replace(f"kind: {product.crd[2]}}}", f"kind: {product.crd[2]}, keep: true}}", 1)
    assert kept != text
    (git / "profile.yaml").write_text(kept)
    shutil.copy(SHIPPED / product.name / product.config, git)
    config = yaml.safe_load((git / product.config).read_text())
    namespace = config["metadata"]["namespace"]
    collected.namespace(namespace)
    config["metadata"]["finalizers"] = ["example.org/cleanup"]
    reference = owner(create(collected, config))
    create(collected, deployment(namespace))
    rendered = shell(collected, "krmfn render --quiet git", tmp_path).ended(0).text
    objects = [one for one in yaml.safe_load_all(rendered) if one["kind"] != product.crd[2]]
    for manifest in objects:
        name = {key: manifest["metadata"][key] for key in ("name", "namespace")}
        create(collected, {**manifest, "metadata": {**name, "ownerReferences": [reference]}})
    yield product, [collected.place_of(one) for one in objects if one["kind"] == "Module"]
    path = collected.place_of(config)
    collected.request("PATCH", path, b'{"metadata": {"finalizers": null}}', "application/merge-patch+json")
    collected.request("DELETE", f"/api/v1/namespaces/{namespace}")
    wait("the namespace is gone", WITHIN, lambda: not collected.is_served(f"/api/v1/namespaces/{namespace}"))


def test_a_vendor_s_modules_go_with_its_config(vendor: tuple[Vendor, list[str]], collected: Cluster) -> None:
    product, modules = vendor
    config = yaml.safe_load((SHIPPED / product.name / product.config).read_text())
    collected.merge(collected.place_of(config), {"metadata": {"finalizers": None}})
    collected.request("DELETE", collected.place_of(config))
    for path in modules:
        wait("the Module is deleted", WITHIN, lambda path=path: not collected.is_served(path))  # type: ignore[misc]


def test_the_steps_delete_no_module_of_a_vendor(
    vendor: tuple[Vendor, list[str]], collected: Cluster, tmp_path: Path
) -> None:
    product, modules = vendor
    uids = {path: (collected.get(path) or {})["metadata"]["uid"] for path in modules}
    first = shell(collected, "krmfn adopt git --kubectl | sh; krmfn adopt git --live dump.json --format json", tmp_path)
    assert first.code == 1, first
    typed = [step["command"] for step in json.loads(first.text)["steps"] if "command" in step]
    for line in typed:
        done = shell(collected, line, tmp_path)
        assert done.code == 0, (line, done)
        assert {path: (collected.get(path) or {})["metadata"]["uid"] for path in modules} == uids, line
    config = yaml.safe_load((SHIPPED / product.name / product.config).read_text())
    wait("the config is gone", WITHIN, lambda: not collected.is_served(collected.place_of(config)))
    collects(collected)
    for path, uid in uids.items():
        metadata = (collected.get(path) or {})["metadata"]
        assert (metadata["uid"], "deletionTimestamp" in metadata) == (uid, False)
    shutil.copy(SHIPPED / product.name / "profile.yaml", tmp_path / "git")
    last = shell(collected, "krmfn adopt git --kubectl | sh; krmfn adopt git --live dump.json --format json", tmp_path)
    assert (last.code, json.loads(last.text)["steps"]) == (0, []), last
