"""`why`, `nodes` and `check` on a spoke: what the hub's ManagedClusterModule makes there, with a dump of the spoke."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from krmfn import Manifest
from tests.commands import Done, process
from tests.trees import plant

HUB = """\
apiVersion: hub.kmm.sigs.x-k8s.io/v1beta1
kind: ManagedClusterModule
metadata: {name: xpu}
spec:
  spokeNamespace: drivers
  selector: {tier: lab}
  moduleSpec:
    selector: {card: x}
    moduleLoader:
      container:
        modprobe: {moduleName: xpu}
        build: {dockerfileConfigMap: {name: recipe}}
        inTreeModulesToRemove: [oldxpu]
        kernelMappings: [{regexp: ^.+$, containerImage: "r.example.com/xpu:$KERNEL_FULL_VERSION"}]
"""
INVENTORY = """\
apiVersion: krmfn.dev/v1alpha1
kind: NodeInventory
metadata: {name: NAME}
spec:
  labelKeys: [card]
  groups:
  - labels: {card: x}
    nodes: |
      w1 6.1.0-test
"""
CLUSTERS = """\
clusters:
  hub: [hub]
  lab: {paths: [lab], labels: {tier: lab}}
  prod: {paths: [prod], labels: {tier: prod}}
"""
IMAGE = "r.example.com/xpu:6.1.0-lab"
READY = "kmm.node.kubernetes.io/drivers.xpu.ready"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    files = {".krmfn.yaml": CLUSTERS, "hub/xpu.yaml": HUB, ".git/HEAD": ""}
    return plant(
        tmp_path / "repo",
        files | {f"{name}/n.yaml": INVENTORY.replace("NAME", name).replace("test", name) for name in ("lab", "prod")},
    )


def run(repo: Path, *words: str) -> Done:
    return process("krmfn", *words, cwd=repo)


def dump(repo: Path, image: str = IMAGE, kernel: str = "6.1.0-lab", **spec: Any) -> str:
    """A dump of the spoke: the Module as its hub writes it, loaded; the option that passes it."""
    modprobe = {"moduleName": "xpu", "dirName": "/opt"}
    mapping = {"literal": kernel, "containerImage": image, "inTreeModulesToRemove": ["oldxpu"]}
    other = {"literal": "6.0.0-gone", "containerImage": "r.example.com/xpu:6.0.0-gone"}
    container = {"modprobe": modprobe, "inTreeModulesToRemove": ["oldxpu"], "kernelMappings": [other, mapping]}
    loaded = {"kernelVersion": "6.1.0-lab", "containerImage": IMAGE, "modprobe": modprobe}
    entry = {"name": "xpu", "namespace": "drivers", "config": loaded}
    kmm = {"apiVersion": "kmm.sigs.x-k8s.io/v1beta1"}
    info = {"kernelVersion": "6.1.0-lab", "architecture": "amd64", "bootID": "b"}
    objects: list[Manifest] = [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "w1", "labels": {"card": "x", READY: ""}}},
        {**kmm, "kind": "Module", "metadata": {"name": "xpu", "namespace": "drivers"}},
        {**kmm, "kind": "NodeModulesConfig", "metadata": {"name": "w1"}, "spec": {"modules": [entry]}},
    ]
    objects[0] |= {"spec": {}, "status": {"nodeInfo": info, "conditions": [{"type": "Ready", "status": "True"}]}}
    objects[1]["spec"] = {"selector": {"card": "x"}, "moduleLoader": {"container": container}, **spec}
    objects[2]["status"] = {"modules": [{**entry, "bootId": "b"}]}
    file = repo.parent / "dump.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    return f"--live=lab={file}"


def test_a_spoke_with_its_nodes_alone_is_fine(repo: Path) -> None:
    """KRM522 said that Argo CD would delete what is there."""
    assert "no findings: 3 clusters" in run(repo, "check", ".").ended(0).text
    plant(repo, {".krmfn.yaml": CLUSTERS.replace(", labels: {tier: prod}", "")})
    assert "nothing in prod would reach the cluster" in run(repo, "check", ".").text


def test_why_on_a_spoke_says_what_its_hub_brings(repo: Path) -> None:
    """The hub answered, and the spoke said that there is no Module."""
    done = run(repo, "why", "w1", ".").ended(1)  # prod has a node of that name
    assert [line for line in done.text.splitlines() if not line.startswith(" ")] == [
        "lab: w1: drivers/xpu is planned by the inventory; the live node was not asked, pass --live lab=DUMP",
        "prod: w1: nothing selects it: there is no Module",
    ]
    assert f"mapping kernelMappings[0] regexp ^.+$: {IMAGE}" in done.text
    assert "planned by ManagedClusterModule xpu" in done.text


def test_a_dump_of_a_spoke_is_held_against_what_the_hub_writes(repo: Path) -> None:
    """With --live of the spoke the hub was not read, so the node lacked any Module."""
    done = run(repo, "why", "w1", ".", dump(repo), "--verbose").ended(0)
    assert done.text.startswith(f"w1: drivers/xpu is loaded: {IMAGE}; not known: the dump has no pods\n")
    assert "synced: holds: the Module on the cluster is what Git renders" in done.text
    done = run(repo, "nodes", ".", dump(repo), "--format", "json", "--require-coverage").ended(0)
    (part,) = json.loads(done.text)["clusters"]
    assert [(row["cluster"], row["node"], row["state"], row["loaded"], row["agrees"]) for row in part["rows"]] == [
        (None, "w1", "planned", True, True)
    ]


@pytest.mark.parametrize(
    ("image", "kernel", "spec", "words"),
    [
        ("r.example.com/xpu:old", "6.1.0-lab", {}, "is not what Git renders: "),
        (IMAGE, "6.2.0-other", {}, "is not what Git renders: kernelMappings only here"),
        (IMAGE, "6.1.0-lab", {"tolerations": [{"key": "a", "operator": "Exists"}]}, "tolerations only there"),
    ],
    ids=["another image", "no mapping for the kernel", "another field"],
)
def test_a_spoke_that_the_hub_has_not_reached_yet_is_told(
    image: str, kernel: str, spec: dict[str, Any], words: str, repo: Path
) -> None:
    done = run(repo, "why", "w1", ".", dump(repo, image, kernel, **spec)).ended(1)
    assert words in done.text
    assert "its hub has not brought it" in done.text
    assert "from the hub hub: look at ManifestWork lab/xpu there, and at ModuleImagesConfig xpu-lab" in done.text


@pytest.mark.parametrize("with_dump", [False, True], ids=["the inventory", "a dump"])
@pytest.mark.parametrize(
    "text",
    [HUB.replace("^.+$", "^("), "apiVersion: v1\nkind: [ManagedClusterModule"],
    ids=["an error in it", "no YAML"],
)
def test_what_a_broken_hub_brings_is_not_known(text: str, with_dump: bool, repo: Path) -> None:
    plant(repo, {"hub/xpu.yaml": text, "hub/other.yaml": HUB.replace("name: xpu}", "name: other}")})
    done = run(repo, "why", "w1", ".", *([dump(repo)] if with_dump else []))
    assert done.code
    assert "a hub brings to lab is not known: the hub hub" in done.text or "[KRM523]" in done.err, done


def test_a_spoke_by_itself_says_that_no_hub_is_read(repo: Path) -> None:
    assert "what a hub brings here is not known: none is among the PATHs" in run(repo, "why", "w1", "lab").ended(1).text
    assert "so there is nothing to do" not in run(repo, "check", "lab").ended(0).text


def test_nodes_of_a_spoke_tells_that_what_its_hub_brings_is_not_known(repo: Path) -> None:
    """It said that no Module is there, so no node can get one, and with a Module of its own that all is covered."""
    words = "what a hub brings to lab is not known: "
    for command in (("nodes", "lab", "--require-coverage"), ("check", "lab", "--fail-on", "uncovered")):
        done = run(repo, *command)
        assert done.code and f"error: {words}none is among the PATHs" in done.text + done.err, done
        assert "no Module is in" not in done.text + done.err
    plant(repo, {"hub/xpu.yaml": HUB.replace("^.+$", "^(")})
    done = run(repo, "nodes", ".", dump(repo), "--require-coverage")
    assert done.code and f"error: {words}the hub hub has errors (krmfn check)" in done.err, done


@pytest.mark.parametrize("is_named", [True, False], ids=["a named Profile", "a Profile of the hub"])
def test_a_profile_makes_a_config_a_hub_s(is_named: bool, repo: Path) -> None:
    """With a Profile that .krmfn.yaml names the spoke had no Module: no file of the hub mentions what hubs have."""
    profile = {
        "apiVersion": "krmfn.dev/v1alpha1",
        "kind": "Profile",
        "metadata": {"name": "cards"},
        "spec": {
            "version": "1.0.0",
            "config": {
                "hub": {"spokeNamespace": "drivers", "clusterSelector": {"tier": "lab"}},
                "nodeSelector": {"card": "x"},
                "moduleName": "xpu",
                "kernelMappings": [{"regexp": "^.+$", "image": "r.example.com/xpu:$KERNEL_FULL_VERSION"}],
            },
        },
    }
    config = {"apiVersion": "krmfn.dev/v1alpha1", "kind": "DeviceConfig", "spec": {"profile": "cards"}}
    config |= {"metadata": {"name": "xpu", "namespace": "drivers"}}
    folder = "vendor" if is_named else "hub"
    settings = CLUSTERS + ("profiles: [vendor/profile.json]\n" if is_named else "")
    files = {"hub/xpu.yaml": json.dumps(config), f"{folder}/profile.json": json.dumps(profile), ".krmfn.yaml": settings}
    plant(repo, files)
    done = run(repo, "why", "w1", ".")
    assert "lab: w1: drivers/xpu is planned" in done.text, done
    assert "prod: w1: nothing selects it" in done.text
    assert "w1: drivers/xpu is" in run(repo, "why", "w1", ".", dump(repo)).text


def test_dumps_of_a_hub_and_its_spoke_tell_of_each_node_once(repo: Path) -> None:
    own = INVENTORY.replace("NAME", "hub").replace("w1 ", "h1 ")
    plant(repo, {"hub/n.yaml": own})
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "h1", "labels": {"card": "x"}}}
    node |= {"status": {"nodeInfo": {"kernelVersion": "6.1.0-lab"}}}
    (repo.parent / "hub.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [node]}))
    done = run(repo, "nodes", ".", dump(repo), "--live=hub=../hub.json", "--format", "json")
    rows = [row for part in json.loads(done.text)["clusters"] for row in part["rows"]]
    assert [(row["cluster"], row["node"], row["state"]) for row in rows] == [
        ("hub", "h1", "not selected"),
        ("lab", "w1", "planned"),
    ]
    assert "the nodes of its spokes are not known" not in done.err
    assert "no row for" not in done.err
