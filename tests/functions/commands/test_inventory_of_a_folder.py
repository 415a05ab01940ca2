"""`inventory --for PATH -o FILE` and `--check PATH`: what a folder asks for, whatever its old inventory says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests import builders
from tests.builders import edited
from tests.commands import Done, process
from tests.functions.cluster.test_one_result import config
from tests.trees import plant

KERNEL = ("status.nodeInfo.kernelVersion", "5.14.0-503.el9.x86_64")
NODE = edited(builders.node("gpu-1", card="a", pool="b", zone="z"), KERNEL)
DUMP = json.dumps(NODE)
SETTINGS = "apiVersion: krmfn.dev/v1alpha1\nkind: RenderDeviceConfigs\nmetadata: {name: a}\nspec: "
NEWEST = f"{SETTINGS}{{kmm: {{version: main}}}}\n"
KUBELET = "status.nodeInfo.kubeletVersion"
FILES = {
    ".git/x": "",
    ".krmfn.yaml": "clusters:\n  lab: [lab, nodes.yaml]\n",
    "lab/a.yaml": config("a", "card: a"),
    "lab/b.yaml": config("b", "pool: b", "nic").replace("  nodeSelector: {pool: b}\n", "  profile: gpu\n"),
    "lab/f.yaml": f"{SETTINGS}{{profiles: {{gpu: {{nodeSelector: {{zone: z}}}}}}}}\n",
}


def inventory(folder: Path, *args: str) -> Done:
    return process("krmfn", "inventory", *args, cwd=folder, stdin=DUMP)


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    return plant(tmp_path, FILES)


def keys(path: Path) -> list[str]:
    return [key for key in yaml.safe_load(path.read_text())["spec"]["labelKeys"] if not key.startswith("kmm.")]


@pytest.mark.parametrize("before", ["", "apiVersion: krmfn.dev/v1alpha1\nkind: NodeInventory\nspec: {a: [\n", None])
def test_one_round_makes_the_inventory_whatever_was_there(lab: Path, before: str | None) -> None:
    """Labels of profiles are among them; the old file may be empty, broken, or not there yet."""
    if before is not None:
        plant(lab, {"nodes.yaml": before})
    done = inventory(lab, "--for", ".", "-o", "nodes.yaml")
    assert (done.code, done.out, done.err) == (0, b"", "wrote nodes.yaml: 1 node, 2 labels (card, zone)\n")
    assert keys(lab / "nodes.yaml") == ["card", "zone"]
    assert process("krmfn", "check", ".", cwd=lab).code == 0


def test_an_inventory_that_lacks_a_label_does_not_judge_what_is_asked(lab: Path) -> None:
    plant(lab, {"lab/a.yaml": config("a", "card: a")})
    assert inventory(lab, "--labels", "other", "-o", "nodes.yaml").code == 0
    assert process("krmfn", "check", ".", cwd=lab).code == 1
    assert inventory(lab, "--all-labels", "-o", "nodes.yaml").ended(0).err == "wrote nodes.yaml: 1 node, all labels\n"
    assert inventory(lab, "--for", ".", "-o", "nodes.yaml").code == 0
    assert keys(lab / "nodes.yaml") == ["card", "zone"]


def test_errors_that_leave_labels_out_are_said(lab: Path) -> None:
    plant(lab, {"lab/b.yaml": FILES["lab/b.yaml"].replace("driverImage", "driverImige")})
    done = inventory(lab, "--for", ".", "-o", "nodes.yaml").ended(1)
    assert "driverImige" in done.err
    assert "make the inventory again, since nodes.yaml may lack labels" in done.err
    assert "wrote nodes.yaml: 1 node, " in done.err
    assert "card" in keys(lab / "nodes.yaml")


def test_nothing_is_written_unless_all_is(lab: Path) -> None:
    plant(lab, {"nodes.yaml": "old\n"})
    done = process("krmfn", "inventory", "--for", ".", "-o", "nodes.yaml", cwd=lab, stdin=DUMP[:-5])
    assert (done.code, (lab / "nodes.yaml").read_text()) == (2, "old\n")


def test_an_old_inventory_and_missing_labels_are_found(lab: Path) -> None:
    assert inventory(lab, "--for", ".", "-o", "nodes.yaml").code == 0
    assert inventory(lab, "--check", ".").code == 0
    done = inventory(lab, "--check", ".", "--max-age", "30")
    assert (done.code, "does not say when it was taken (spec.takenOn)" in done.text) == (1, True)
    assert inventory(lab, "--for", ".", "-o", "nodes.yaml", "--taken-on", "2020-01-31").code == 0
    assert "days ago, on 2020-01-31; regenerate it" in inventory(lab, "--check", ".", "--max-age", "30").ended(1).text
    plant(lab, {"argocd/set.yaml": "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: a}\n"})
    assert inventory(lab, "--check", ".", "--max-age", "99999").code == 0, "what no cluster has asks for no label"
    assert inventory(lab, "--for", ".", "-o", "nodes.yaml", "--valid-until", "2020-01-31").code == 0
    assert "was valid until 2020-01-31; regenerate it" in inventory(lab, "--check", ".").ended(1).text
    plant(lab, {"lab/a.yaml": config("a", "pool: b")})
    assert "does not hold pool, by which nodes are selected" in inventory(lab, "--check", ".").ended(1).text
    (lab / "nodes.yaml").unlink()
    plant(lab, {".krmfn.yaml": "clusters:\n  lab: [lab]\n"})
    assert "lab has no inventory" in inventory(lab, "--check", ".").ended(1).text
    done = inventory(lab, "--max-age", "3", "--all-labels")
    assert (done.code, done.err) == (2, "error: --max-age is about --check PATH; add it\n")


DRIVER = """\
apiVersion: kmm.sigs.x-k8s.io/v1beta1
kind: Module
metadata: {name: nic, namespace: kmm}
spec: {selector: {card: a}, dra: {driverName: nic.example.com, container: {image: "registry.example.com/dra:1"}}}
"""


@pytest.mark.parametrize(("kubelet", "is_asked"), [("v1.34.2", False), ("v1.33.4", True), ("", True)])
def test_the_kubelets_of_an_inventory_say_how_old_the_cluster_may_be(
    tmp_path: Path, kubelet: str, is_asked: bool
) -> None:
    node = edited(NODE, (KUBELET, kubelet)) if kubelet else NODE
    plant(tmp_path, {"module.yaml": DRIVER, "settings.yaml": NEWEST, "node.yaml": json.dumps(node)})
    done = process("krmfn", "check", ".", cwd=tmp_path)
    assert (done.code, "[KRM209]" in done.text) == (0, is_asked), done.text
    (tmp_path / "node.yaml").unlink()
    args = ("inventory", "--for", ".", "-o", "nodes.yaml")
    assert process("krmfn", *args, cwd=tmp_path, stdin=json.dumps(node)).code == 0
    assert yaml.safe_load((tmp_path / "nodes.yaml").read_text())["spec"].get("kubeletVersions", [""]) == [kubelet]
    done = process("krmfn", "check", ".", cwd=tmp_path)
    assert (done.code, "[KRM209]" in done.text) == (0, is_asked), done.text


@pytest.mark.parametrize("version", ["a b", "1", "v1.34.2\n", "x" * 200, 1.34])
def test_a_kubelet_version_that_is_none_is_refused(tmp_path: Path, version: object) -> None:
    dump = json.dumps(edited(NODE, (KUBELET, version)))
    assert "kubelet" in process("krmfn", "inventory", "--all-labels", cwd=tmp_path, stdin=dump).refused()


def test_the_kubelets_of_a_hub_say_nothing_of_its_spokes(tmp_path: Path) -> None:
    hub = "  serviceAccountName: sa\n  hub: {spokeNamespace: spoke-kmm, clusterSelector: {a: b}}\n"
    driver = config("a", "card: a") + "  dra: {driverName: nic.example.com, image: 'registry.example.com/dra:1'}\n"
    plant(tmp_path, {"settings.yaml": NEWEST, "node.yaml": json.dumps(edited(NODE, (KUBELET, "v1.34.2")))})
    for text, is_told in ((driver + hub, True), (driver, False)):
        plant(tmp_path, {"a.yaml": text})
        done = process("krmfn", "check", ".", cwd=tmp_path)
        assert ("[KRM209]" in done.text) is is_told, done.text
