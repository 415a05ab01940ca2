"""`--context` and the loop of `why --kubectl` against a real API server: three nights, written as controllers do."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from krmfn import Manifest
from krmfn.yamltext import emit
from tests.commands import COMMANDS, ROOT, Done, environment, execute, process
from tests.functions.chain.clusters import KMM, healthy, planned
from tests.functions.chain.nights import NIGHTS
from tests.trees import plant

from .engines import find
from .kube import Cluster, install_crd, one_version

pytestmark = pytest.mark.e2e
GROUP = KMM.partition("/")[0]
KINDS = {"NodeModulesConfig": "Cluster", "ModuleImagesConfig": "Namespaced", "ModuleBuildSignConfig": "Namespaced"}
"""KMM's kinds beside Module, and their scopes. Source: KMM main, api/v1beta1."""
PLAYED = ("pull refused", "held by a resource", "old Module")


def open_crd(kind: str, scope: str) -> Manifest:
    """Return a CRD of KMM's that takes any spec and status, with the status of its own that KMM's has."""
    plural = f"{kind.lower()}s"
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": anything, "status": anything}}}
    version = {"name": "v1beta1", "served": True, "storage": True, "schema": schema, "subresources": {"status": {}}}
    spec = {"group": GROUP, "scope": scope, "names": {"kind": kind, "plural": plural, "singular": kind.lower()}}
    head = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    return {**head, "metadata": {"name": f"{plural}.{GROUP}"}, "spec": {**spec, "versions": [version]}}


@pytest.fixture(scope="module")
def server(kmm: Cluster) -> Cluster:
    """A cluster with all kinds of KMM's but ModuleBuildSignConfig, and the namespaces of the nights."""
    for kind, scope in KINDS.items():
        if kind != "ModuleBuildSignConfig":
            crd = open_crd(kind, scope)
            install_crd(kmm, json.dumps(crd).encode(), crd["metadata"]["name"])
    for name in ("team", "kmm-operator-system"):
        kmm.namespace(name)
    return kmm


def written(objects: list[Manifest]) -> list[Manifest]:
    """Return the objects with what the API server asks for: pods have a container, containers a whole status."""
    objects = copy.deepcopy(objects)
    for pod in (item for item in objects if item["kind"] == "Pod"):
        containers = pod["spec"].setdefault("containers", [{"name": "c", "image": "example.com/c:1"}])
        for container in containers:
            container.setdefault("image", "example.com/c:1")
        for status in pod["status"].get("containerStatuses", ()):
            status |= {"name": containers[0]["name"], "image": "", "imageID": "", "restartCount": 0}
    return objects


def write(server: Cluster, item: Manifest) -> None:
    """Create an object, then its status, as a controller does."""
    place, status = server.place_of(item), item.pop("status", None)
    code, answer = server.request("POST", place.rpartition("/")[0], json.dumps(item).encode())
    assert code in (201, 409), answer
    if status is not None:
        server.merge(f"{place}/status", {"status": status})
    if item["kind"] == "Node":  # the server taints a new node until its kubelet is ready
        server.merge(place, {"spec": {"taints": item["spec"].get("taints", [])}})


@pytest.fixture
def nights(server: Cluster, request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """The cluster in the state of a night; "" for one in which all is well."""
    objects = healthy()
    if request.param:
        NIGHTS[request.param].edit(objects)
    objects = [item for item in written(objects) if item["kind"] != "Namespace"]
    for item in objects:
        write(server, item)
    yield server
    for item in objects:
        server.request("DELETE", f"{server.place_of(item)}?gracePeriodSeconds=0")


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """A folder with the Module that Git has."""
    return plant(tmp_path / "lab", {"module.yaml": emit.dump(planned())})


def run(server: Cluster, folder: Path, *args: str) -> Done:
    """Run krmfn with the kubectl and the kubeconfig of the server."""
    kubectl = Path(find("kubectl", "tests/e2e/install builds it with go"))
    path = os.pathsep.join([str(COMMANDS), str(kubectl.parent), os.environ["PATH"]])
    variables = {"KUBECONFIG": str(server.folder / "kubeconfig"), "HOME": str(server.folder), "PATH": path}
    return execute(COMMANDS / "krmfn", *args, cwd=folder, env=environment(**variables))


@one_version
@pytest.mark.parametrize("nights", ["", *PLAYED], indirect=True)
def test_a_night_is_told_of_the_cluster_as_of_its_dump(
    nights: Cluster, lab: Path, request: pytest.FixtureRequest
) -> None:
    done = run(nights, lab, "why", "n1", ".", "--context", "e2e")
    night = NIGHTS.get(request.node.callspec.params["nights"])
    assert done.code == (1 if night else 0), done
    assert (
        "warning: not known of e2e: modulebuildsignconfigs.kmm.sigs.x-k8s.io (the server does not have it)" in done.err
    )
    first, *rest = done.text.splitlines()
    if night:
        assert night.reason in first
        assert any(night.command in line for line in rest), done.text
    else:
        assert "n1: kmm/simple is loaded: " in first
    script = process("krmfn", "why", "--kubectl").out
    kubectl = Path(find("kubectl", "tests/e2e/install builds it with go")).parent
    variables = {"KUBECONFIG": str(nights.folder / "kubeconfig"), "DUMP": str(lab.parent / "dump.json")}
    env = environment(PATH=os.pathsep.join([str(kubectl), os.environ["PATH"]]), HOME=str(nights.folder), **variables)
    loop = execute("sh", stdin=script, cwd=lab, env=env)
    assert "has no modulebuildsignconfigs.kmm.sigs.x-k8s.io: error: the server doesn't have a resource type" in loop.err
    of_dump = run(nights, lab, "why", "n1", ".", "--live", "../dump.json")
    assert (of_dump.code, of_dump.text) == (done.code, done.text)


@one_version
@pytest.mark.parametrize("nights", [""], indirect=True)
def test_the_inventory_of_a_context_knows_its_cluster(nights: Cluster, lab: Path) -> None:
    done = run(nights, lab, "inventory", "--context", "e2e", "--for", ".", "--name", "lab", "-o", "nodes.yaml").ended(0)
    assert "wrote nodes.yaml: 2 nodes" in done.err
    system = nights.get("/api/v1/namespaces/kube-system")
    assert system is not None
    uid = system["metadata"]["uid"]
    assert f"clusterUID: {uid}\n" in (lab / "nodes.yaml").read_text()
    assert ".: 2 live nodes in place of 2" in run(nights, lab, "nodes", ".", "--context", "e2e").ended(0).err
    (lab / "nodes.yaml").write_text((lab / "nodes.yaml").read_text().replace(uid, "another"))
    assert "the dump is of another cluster" in run(nights, lab, "nodes", ".", "--context", "e2e").refused()


@one_version
def test_a_context_that_is_not_there_is_said_as_kubectl_says_it(kmm: Cluster, lab: Path) -> None:
    err = run(kmm, lab, "nodes", ".", "--context", "nowhere").refused()
    assert 'error: --context nowhere: error: context "nowhere" does not exist\n' in err
    assert str(ROOT) not in err
