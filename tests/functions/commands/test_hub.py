"""A hub's Modules run on the nodes of its spokes, never on its own: what is not known of these is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import Done, process
from tests.trees import plant

CONFIG = """\
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {name: xpu, namespace: drivers}
spec:
  driverImage: r.example.com/xpu
  driverVersion: "1"
  moduleName: xpu
  nodeSelector: {example.com/xpu: "true"}
  hub: {spokeNamespace: drivers, clusterSelector: {tier: lab}}
"""
NODE = """\
---
apiVersion: v1
kind: Node
metadata: {name: NAME, labels: {example.com/xpu: "true"}}
status: {nodeInfo: {kernelVersion: 6.1.0-test}}
"""
UNKNOWN = "the nodes of its spokes are not known here, so what they get is not judged"


def node(name: str = "hub-1") -> str:
    return NODE.replace("NAME", name)


def run(folder: Path, *words: str) -> Done:
    return process("krmfn", *words, cwd=folder)


def test_a_hub_s_own_nodes_are_not_those_of_its_spokes(tmp_path: Path) -> None:
    """`nodes --require-coverage` was content: none of the nodes that are there was selected."""
    plant(tmp_path, {"hub.yaml": CONFIG + node()})
    done = run(tmp_path, "nodes", ".")
    assert UNKNOWN in done.ended(0).err
    assert UNKNOWN in run(tmp_path, "nodes", ".", "--require-coverage").ended(1).err
    assert UNKNOWN in run(tmp_path, "check", ".", "--fail-on", "uncovered").ended(1).text


def test_a_change_of_a_hub_s_module_reloads_spokes_whatever_nodes_are_there(tmp_path: Path) -> None:
    """With a node of the hub's in the list nothing was said, and `--fail-on reload` passed."""
    plant(tmp_path, {"old.yaml": CONFIG + node(), "new.yaml": CONFIG.replace('"1"', '"2"') + node()})
    plant(tmp_path, {"bare-old.yaml": CONFIG, "bare-new.yaml": CONFIG.replace('"1"', '"2"')})
    for prefix in ("", "bare-"):
        done = run(tmp_path, "diff", f"{prefix}old.yaml", f"{prefix}new.yaml").ended(1)
        assert "KMM unloads and reloads the kernel module on all its nodes at once" in done.text, prefix
        done = run(tmp_path, "diff", f"{prefix}old.yaml", f"{prefix}new.yaml", "--fail-on", "reload").ended(1)
        assert "is not known (--fail-on reload)" in done.text + done.text, prefix


@pytest.mark.parametrize("image", ["r.example.com/UP:1", "r.example.com/up:1.0-"])
def test_a_bad_image_of_a_hub_s_module_has_its_path(image: str, tmp_path: Path) -> None:
    """The field was that of a Module, so no line of the file was found for it."""
    written = f"""\
apiVersion: hub.kmm.sigs.x-k8s.io/v1beta1
kind: ManagedClusterModule
metadata: {{name: xpu}}
spec:
  spokeNamespace: drivers
  selector: {{tier: lab}}
  moduleSpec:
    selector: {{example.com/xpu: "true"}}
    devicePlugin: {{container: {{image: "{image}"}}}}
    moduleLoader:
      container:
        modprobe: {{moduleName: xpu}}
        kernelMappings: [{{regexp: ^.+$, containerImage: "r.example.com/xpu:$KERNEL_FULL_VERSION"}}]
"""
    plant(tmp_path, {"hub.yaml": written})
    done = run(tmp_path, "check", ".")
    told = [line for line in done.text.splitlines() if image in line]
    assert told
    assert all(line.startswith("hub.yaml:9:32: ") for line in told)
    assert all("ManagedClusterModule xpu: spec.moduleSpec.devicePlugin.container.image: " in line for line in told)


# Spokes whose labels are known.

REPOSITORY = {
    "hub/config.yaml": CONFIG + node("hub-1"),
    "lab/nodes.yaml": node("w1").removeprefix("---\n") + node("w2").replace("6.1.0-test", "5.4.0-old"),
    "prod/nodes.yaml": node("w1").removeprefix("---\n"),
}
CLUSTERS = """\
clusters:
  hub: [hub]
  lab: {paths: [lab], labels: {tier: lab}}
  prod: {paths: [prod], labels: {tier: prod}}
"""
MANAGED = """\
---
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: lab, labels: {tier: lab}}
spec: {hubAcceptsClient: true}
"""


def repository(folder: Path, **files: str) -> Path:
    changed = {name.replace("__", "/") + ".yaml": text for name, text in files.items()}
    return plant(folder, {**REPOSITORY, ".krmfn.yaml": CLUSTERS, **changed})


@pytest.mark.parametrize("is_by_object", [False, True], ids=["configuration file", "ManagedCluster"])
def test_each_spoke_gets_what_its_hub_brings_there(is_by_object: bool, tmp_path: Path) -> None:
    """Two spokes have a node of one name; the one without the label, and the hub, get nothing."""
    repository(tmp_path)
    if is_by_object:
        plant(tmp_path, {".krmfn.yaml": "clusters: {hub: [hub], lab: [lab], prod: [prod]}\n"})
        plant(tmp_path, {"hub/managed.yaml": MANAGED.removeprefix("---\n")})
    done = run(tmp_path, "nodes", ".", "--format", "json")
    rows = [row for part in json.loads(done.text)["clusters"] for row in part["rows"]]
    new, old = (f"r.example.com/xpu:1-{kernel}" for kernel in ("6.1.0-test", "5.4.0-old"))
    assert sorted((row["cluster"], row["node"], row["image"]) for row in rows if row["module"]) == [
        ("lab", "w1", new),
        ("lab", "w2", old),
    ]
    assert [(row["cluster"], row["node"]) for row in rows if not row["module"]] == [("hub", "hub-1"), ("prod", "w1")]
    done = run(tmp_path, "images", ".").ended(0)
    assert [line.split()[1] for line in done.text.splitlines() if "xpu:1-" in line] == ["1", "1"]
    assert UNKNOWN not in run(tmp_path, "nodes", ".", "--require-coverage").err


def test_a_spoke_s_kernel_without_a_mapping_is_an_error(tmp_path: Path) -> None:
    config = CONFIG + "  kernelMappings: [{regexp: ^6\\..+$}]\n"
    repository(tmp_path, hub__config=config)
    done = run(tmp_path, "check", ".").ended(1)
    assert "1 of the 2 nodes that it selects gets no driver" in done.text
    assert "5.4.0-old on 1 node (w2)" in done.text
    repository(tmp_path, hub__config=config.replace("tier: lab", "tier: prod"))
    run(tmp_path, "check", ".").ended(0)


def test_a_change_reloads_the_nodes_of_the_spokes_that_are_meant(tmp_path: Path) -> None:
    repository(tmp_path / "old")
    new = repository(tmp_path / "new")
    plant(new, {"hub/config.yaml": CONFIG.replace('"1"', '"2"') + node("hub-1")})
    done = run(tmp_path, "diff", "old", "new")
    assert "2 nodes in 1 cluster reload at once" in done.text
    assert "(--fail-on reload)" in run(tmp_path, "diff", "old", "new", "--fail-on", "reload").text
    plant(new, {"hub/config.yaml": CONFIG.replace("tier: lab", "tier: none") + node("hub-1")})
    done = run(tmp_path, "diff", "old", "new", "--fail-on", "lost")
    assert "lost by 2 nodes (w1, w2): no longer selected (--fail-on lost) (hub)" in done.ended(1).text


def test_labels_of_a_cluster_are_strings(tmp_path: Path) -> None:
    plant(tmp_path, {**REPOSITORY, ".krmfn.yaml": "clusters:\n  lab: {paths: [lab], labels: {tier: 1}}\n"})
    assert ".krmfn.yaml:2:32: error: clusters.lab.labels.tier: is the number 1" in run(tmp_path, "check", ".").text
    plant(tmp_path, {".krmfn.yaml": "clusters:\n  lab: {labels: {tier: lab}}\n"})
    assert "clusters.lab.paths: is required" in run(tmp_path, "check", ".").text


# What a spoke has of its own beside what its hub brings.

OWN = """\
apiVersion: kmm.sigs.x-k8s.io/v1beta1
kind: Module
metadata: {name: own, namespace: other}
spec:
  selector: {example.com/xpu: "true"}
  moduleLoader:
    container:
      modprobe: {moduleName: xpu}
      kernelMappings: [{regexp: ^.+$, containerImage: "r.example.com/own:1-$KERNEL_FULL_VERSION"}]
"""
AGENT = """\
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: drivers}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      nodeSelector: {kmm.node.kubernetes.io/drivers.xpu.ready: ""}
      containers: [{name: agent, image: "r.example.com/agent:1"}]
"""


def test_a_spoke_s_own_module_and_the_hub_s_load_one_kernel_module(tmp_path: Path) -> None:
    """Each of the two was judged by itself, and both were fine."""
    repository(tmp_path, lab__own=OWN)
    done = run(tmp_path, "check", ".").ended(1)
    (line,) = [line for line in done.text.splitlines() if "[KRM304]" in line]
    assert "nodes w1 and w2 are selected by Module other/own (spec.selector)" in line
    assert "ManagedClusterModule xpu (from the hub hub, generated from DeviceConfig drivers/xpu: spec." in line
    done = run(tmp_path, "nodes", ".", "--format", "json")
    rows = [row for part in json.loads(done.text)["clusters"] for row in part["rows"] if row["reason"]]
    assert [row["state"] for row in rows] == ["conflict", "conflict"]
    assert "[KRM304]" in done.err


@pytest.mark.parametrize(
    ("own", "clusters"),
    [
        (OWN.replace("moduleName: xpu", "moduleName: dpu"), CLUSTERS),
        (OWN.replace("example.com/xpu", "example.com/dpu"), CLUSTERS),
        (OWN, CLUSTERS.replace("labels: {tier: lab}", "labels: {tier: none}")),
        (OWN, CLUSTERS.replace(", labels: {tier: lab}", "")),
    ],
    ids=["another kernel module", "other nodes", "another cluster", "no spoke"],
)
def test_a_spoke_s_own_module_is_fine_where_the_hub_s_is_not(own: str, clusters: str, tmp_path: Path) -> None:
    repository(tmp_path, lab__own=own)
    plant(tmp_path, {".krmfn.yaml": clusters})
    done = run(tmp_path, "check", ".")
    assert " error: " not in done.text, done.text


def test_a_spoke_without_nodes_is_judged_by_selectors(tmp_path: Path) -> None:
    repository(tmp_path, lab__nodes=OWN)
    assert "can select the same node" in run(tmp_path, "check", ".").ended(1).text


def test_a_spoke_s_module_of_the_name_that_the_hub_gives_is_an_error(tmp_path: Path) -> None:
    twin = OWN.replace("{name: own, namespace: other}", "{name: xpu, namespace: drivers}")
    repository(tmp_path, lab__own=twin.replace("moduleName: xpu", "moduleName: dpu"))
    done = run(tmp_path, "check", ".").ended(1)
    assert "lab/own.yaml:1: error: Module drivers/xpu: is brought here by the hub hub, too (" in done.text
    assert "[KRM631] (lab)" in done.text
    repository(tmp_path, lab__own=twin.replace("namespace: drivers", "namespace: others").replace("xpu}", "dpu}"))
    assert "[KRM631]" not in run(tmp_path, "check", ".").text


def test_pods_of_a_spoke_may_wait_for_what_the_hub_brings(tmp_path: Path) -> None:
    """KRM701 said that no node gets the label which a config with `hub` tells people to use."""
    repository(tmp_path, lab__agent=AGENT, prod__agent=AGENT)
    done = run(tmp_path, "check", ".").ended(0)
    assert [line.partition(":")[0] for line in done.text.splitlines() if "[KRM701]" in line] == ["prod/agent.yaml"]
    repository(tmp_path, prod__agent="")
    assert run(tmp_path, "images", ".").ended(0).text.splitlines()[1].split()[:2] == ["r.example.com/agent:1", "2"]


def test_a_hub_with_known_spokes_needs_no_nodes_of_its_own(tmp_path: Path) -> None:
    repository(tmp_path, hub__config=CONFIG, lab__own=OWN.replace("xpu", "dpu"))
    assert "no nodes" not in run(tmp_path, "check", ".").text
    repository(tmp_path, hub__config=CONFIG, lab__own=OWN.replace("xpu", "dpu"), lab__nodes="")
    done = run(tmp_path, "check", ".")
    assert "lab has 1 Module and no nodes" in done.text
    assert "does not select the only node" not in done.text  # that is one of prod
    assert UNKNOWN in run(tmp_path, "nodes", ".").err


def test_two_hubs_modules_with_one_text_for_version_labels_meet_on_a_spoke(tmp_path: Path) -> None:
    """KMM mixes the labels of `drivers`/`a-xpu` and `drivers-a`/`xpu`, whoever has brought the Modules."""
    config = CONFIG.replace("name: xpu,", "name: a-xpu,") + "  upgrade: {ordered: true}\n"
    own = OWN.replace("{name: own, namespace: other}", "{name: xpu, namespace: drivers-a}").replace(
        "modprobe: {moduleName: xpu}", "version: '1'\n      modprobe: {moduleName: dpu}"
    )
    repository(tmp_path, hub__config=config + node(), lab__own=own)
    (line,) = [line for line in run(tmp_path, "check", ".").ended(1).text.splitlines() if "[KMM080]" in line]
    assert line.startswith("lab/own.yaml:3:12: error: Module drivers-a/xpu: metadata.name: is drivers-a-xpu to KMM")
    assert "ManagedClusterModule a-xpu from the hub hub" in line


def test_a_spoke_that_refuses_a_module_keeps_what_it_has(tmp_path: Path) -> None:
    """The hub writes a mapping per kernel of the spoke; without one the API server refuses the new Module."""
    mapped = CONFIG + "  kernelMappings: [{regexp: 'KERNEL'}]\n"
    nodes = REPOSITORY["lab/nodes.yaml"].replace("5.4.0-old", "6.1.0-other")
    for side, kernel in (("old", "^6"), ("new", "^7")):
        repository(tmp_path / side, lab__nodes=nodes)
        plant(tmp_path / side, {"hub/config.yaml": mapped.replace("KERNEL", kernel) + node("hub-1")})
    done = run(tmp_path, "diff", "old", "new", "--fail-on", "blocked")
    assert "blocked on 2 nodes (w1, w2): the spoke refuses a Module without a mapping for any" in done.ended(1).text
    assert "lost by" not in done.text + done.err
    done = run(tmp_path, "diff", "new", "old")
    assert "what was loaded of a Module that the spoke took before is not known" in done.text
    plant(tmp_path / "new", {"hub/config.yaml": mapped.replace("KERNEL", "other$") + node("hub-1")})
    done = run(tmp_path, "diff", "old", "new", "--fail-on", "lost")
    assert "lost by 1 node (w1): no kernel mapping matches (--fail-on lost)" in done.ended(1).text


@pytest.mark.parametrize(("second", "is_shared"), [("xpu-gpu", True), ("xpu-card", False)])
def test_a_hub_tells_images_apart_by_the_names_of_module_and_cluster(
    second: str, is_shared: bool, tmp_path: Path
) -> None:
    """`xpu` on `gpu-lab` and `xpu-gpu` on `lab` are both `xpu-gpu-lab`."""
    clusters = CLUSTERS.replace("prod: {paths: [prod]", "gpu-lab: {paths: [prod]")
    other = CONFIG.replace("name: xpu,", f"name: {second},").replace("moduleName: xpu", "moduleName: dpu")
    repository(tmp_path, hub__config=CONFIG.replace("tier: lab", "tier: prod") + node("hub-1"), hub__second=other)
    plant(tmp_path, {".krmfn.yaml": clusters})
    done = run(tmp_path, "check", ".")
    lines = [line for line in done.text.splitlines() if "[KRM632]" in line]
    assert len(lines) == is_shared, done.text
    assert not lines or "images for the cluster lab are xpu-gpu-lab to KMM, as are those of" in lines[0]
