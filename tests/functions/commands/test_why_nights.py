"""`why` in the night: what a person reads first, types next, and is not told; for nights of our own, and recorded ones.

KRMFN_NIGHTS names the folder of the recordings: dumps of the clusters of examples/fleet.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from krmfn.yamltext import emit
from tests.commands import ROOT, Done, process
from tests.functions.chain.clusters import VERSION, find, healthy, planned
from tests.functions.chain.nights import NIGHTS, PLANS, played
from tests.functions.comparing.test_base import repository
from tests.trees import altered

FOLDER = os.environ.get("KRMFN_NIGHTS", "")
recorded = pytest.mark.skipif(not FOLDER, reason="KRMFN_NIGHTS names no folder")
Edit = tuple[str, str, tuple[str, ...]]
"""What is changed in Git, into what, and in which files."""
NEW: Edit = ("2.26.0", "2.27.0", ("base/gpu.yaml",))
NFD: Edit = (
    "example.com/fpga",
    "feature.node.kubernetes.io/pci-10ee.present",
    ("base/fpga.yaml", "inventories/stage.yaml"),
)
PULLER, SIGNER = "kmm/gpu-pull-pod-x7k2p", "kmm/gpu-sign-8x2mk"


class Told(NamedTuple):
    """What a person is told about a node: words of the first three lines, and how the command begins."""

    node: str
    words: tuple[str, ...]
    command: str
    cluster: str = "stage"
    edit: Edit | None = None
    code: int = 1


RECORDED = {
    "healthy": Told("stage-gpu-04", ("kmm/gpu is loaded", "kmm/nic is loaded"), "", code=0),
    "pull-secret": Told("stage-gpu-04", ("not checked", PULLER, "unauthorized", "pull secret"), "kubectl "),
    "deleted-and-held": Told(
        "stage-gpu-02",
        ("kmm/nic is being deleted", "since 2026-11-28 01:00", "Git has it", "monitoring/nic-exporter-02 holds it"),
        "kubectl describe pod -n monitoring nic-exporter-02",
    ),
    "workload-holds": Told("stage-gpu-02", ("team-a/train-0 holds",), "kubectl get pod -n team-a train-0"),
    "nfd-label": Told(
        "stage-fpga-02",
        ("3 nodes lost pci-10ee.present", "have pci-1200_10ee.present", "node feature discovery"),
        "kubectl get nodefeatures",
        edit=NFD,
    ),
    "two-operators": Told("stage-gpu-03", ("Module gpu-operator/gpu-vendor loads gpu on this node, too",), "kubectl "),
    "sign-secret": Told(
        "stage-gpu-06", ("signing waits: secret signing-key not found", SIGNER), "kubectl get secret -n kmm signing-key"
    ),
    "worker-without-a-word": Told(
        "stage-gpu-01",
        ("CrashLoopBackOff",),
        "kubectl logs -n kmm kmm-worker-stage-gpu-01-gpu -c worker --previous",
    ),
    "not-synced": Told(
        "stage-gpu-01",
        ("is not what Git renders: 2.26.0 there, 2.27.0 here", "not been synced"),
        "kubectl describe applications.argoproj.io -n argocd stage",
        edit=NEW,
    ),
    "operator-down": Told(
        "stage-gpu-01",
        ("the pod kmm-operator-system/kmm-operator-controller-7d9", "OOMKilled", "CrashLoopBackOff"),
        "kubectl describe pod -n kmm-operator-system",
    ),
    "ordered-rollout": Told(
        "prod-b-gpu-02",
        ("runs 2.26.0, wanted 2.27.0: team-a/train-0 holds",),
        "kubectl get pod -n team-a train-0",
        "prod-b",
        NEW,
    ),
}
LABEL = "kmm.node.kubernetes.io/version-module.kmm.gpu=2.27.0"
ORDERED = {
    "prod-b-gpu-01": ("is loaded: ", "", 0),
    "prod-b-gpu-03": ("no version label", f"kubectl label node prod-b-gpu-03 {LABEL}", 1),
    "prod-b-gpu-04": (
        "version label says 2.72.0, not 2.27.0",
        f"kubectl label node prod-b-gpu-04 {LABEL} --overwrite",
        1,
    ),
    "prod-b-gpu-06": (
        "runs 2.26.0 until its label changes; wanted 2.27.0",
        "",
        0,
    ),
}


def fleet(top: Path, edit: Edit | None) -> Path:
    """Return the example with several clusters in a repository, with a change in Git."""
    folder = repository(shutil.copytree(ROOT / "examples/fleet", top / "fleet"), {})
    old, new, files = edit or ("", "", ())
    for file in files:
        altered(folder / file, old, new)
    return folder


def asked(told: Told, dump: Path, top: Path, command: str = "why", *options: str) -> Done:
    words = ("why", told.node) if command == "why" else (command,)
    live = f"{told.cluster}={dump}"
    folder = top / "fleet" if (top / "fleet").exists() else fleet(top, told.edit)
    return process("krmfn", *words, f"clusters/{told.cluster}", "--live", live, *options, cwd=folder)


def check_told(done: Done, told: Told) -> None:
    """Hold what is printed against what is wanted: the first three lines, the command, one line for what is fine."""
    lines = done.text.splitlines()
    assert done.code == told.code, (done.text, done.err)
    for word in told.words:
        assert word in " ".join(lines[:3]), (word, done.text)
    commands = [line.strip() for line in lines if line.startswith("  kubectl ")]
    assert bool(told.command) == bool(commands) and all(command.startswith(told.command) for command in commands[:1])
    fine = [at for at, line in enumerate(lines) if " is loaded: " in line]
    assert fine == [*range(len(lines) - len(fine), len(lines))], "what is fine comes last, one line each"


@recorded
def test_each_recording_has_its_words() -> None:
    assert {path.stem for path in Path(FOLDER).glob("*.json")} == RECORDED.keys()


@recorded
@pytest.mark.parametrize("name", RECORDED)
def test_a_recorded_night_is_told(name: str, tmp_path: Path) -> None:
    told = RECORDED[name]
    check_told(asked(told, Path(FOLDER, f"{name}.json"), tmp_path), told)


@recorded
def test_a_recorded_night_of_nobody_is_fine_on_every_node(tmp_path: Path) -> None:
    for node in ("stage-gpu-01", "stage-fpga-03"):
        done = asked(RECORDED["healthy"]._replace(node=node), Path(FOLDER, "healthy.json"), tmp_path)
        assert done.code == 0 and "kubectl" not in done.text, done.text


@recorded
@pytest.mark.parametrize("node", ORDERED)
def test_a_recorded_upgrade_is_told_node_by_node(node: str, tmp_path: Path) -> None:
    words, command, code = ORDERED[node]
    told = Told(node, (words,), command, "prod-b", NEW, code)
    check_told(asked(told, Path(FOLDER, "ordered-rollout.json"), tmp_path), told)


@recorded
def test_a_recorded_upgrade_has_its_slips_and_those_that_wait(tmp_path: Path) -> None:
    told = RECORDED["ordered-rollout"]
    done = asked(told, Path(FOLDER, "ordered-rollout.json"), tmp_path, "nodes", "--problems", "--wide")
    assert "kmm/gpu 2.27.0: 1 of 20; stuck: prod-b-gpu-02 (" in done.err
    assert "without label, so unloaded: prod-b-gpu-03; unknown version 2.72.0 on prod-b-gpu-04, did you" in done.err
    assert "mean 2.27.0?; waiting: 16\n" in done.err
    problems = {line.split()[0] for line in done.text.splitlines()[1:]}
    assert problems == {"prod-b-gpu-02", "prod-b-gpu-03", "prod-b-gpu-04"}, "those that wait are none"


@recorded
def test_a_recorded_driver_that_was_not_synced_is_loaded(tmp_path: Path) -> None:
    told = RECORDED["not-synced"]
    done = asked(told, Path(FOLDER, "not-synced.json"), tmp_path, "nodes", "--format", "json")
    (cluster,) = json.loads(done.text)["clusters"]
    rows = [row for row in cluster["rows"] if row["node"] == told.node and row["module"]["name"] == "gpu"]
    (row,) = rows
    assert (row["loaded"], row["agrees"], ":2.26.0-" in row["runs"], ":2.27.0-" in row["wanted"]) == (
        *(True, False, True, True),
    )


# the same kinds of night, small and of our own


def our_folder(top: Path, wanted: Any = None) -> Path:
    folder = top / "ours"
    folder.mkdir()
    (folder / "module.yaml").write_text(emit.dump(wanted or planned()))
    return folder


def ask_ours(objects: list[Any], folder: Path, *options: str, name: str = "n1") -> Done:
    dump = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
    return process("krmfn", "why", name, ".", "--live", "-", *options, cwd=folder, stdin=dump)


@pytest.mark.parametrize(
    "name",
    [
        *("pull refused", "deleted, held", "held by a resource", "rival", "sign waits", "worker crashes"),
        *("not synced", "operator"),
    ],
)
def test_a_night_of_our_own_is_told(name: str, tmp_path: Path) -> None:
    night = NIGHTS[name]
    done = ask_ours(played(name), our_folder(tmp_path, PLANS.get(name)))
    check_told(done, Told("n1", (night.reason,), night.command))


def test_a_quiet_night_of_our_own_has_one_line_and_no_command(tmp_path: Path) -> None:
    done = ask_ours(healthy(), our_folder(tmp_path)).ended(0, ".: 2 live nodes\n")
    assert done.text.startswith("n1: kmm/simple is loaded: ") and done.text.count("\n") == 1


def test_labels_of_node_feature_discovery_that_went_together(tmp_path: Path) -> None:
    """Never the label by hand: it is said who else lost it, the label that is nearly the same, and who sets them."""
    lost, near = (f"feature.node.kubernetes.io/pci-{device}.present" for device in ("1da3", "1200_1da3"))
    wanted = planned(selector={lost: "true"})
    folder = our_folder(tmp_path, wanted)
    groups = [{"labels": {lost: "true"}, "nodes": "n1 6.1.0-1.x86_64\nn2 6.1.0-1.x86_64\n"}]
    inventory = {"apiVersion": "krmfn.dev/v1alpha1", "kind": "NodeInventory", "metadata": {"name": "lab"}}
    inventory |= {"spec": {"nodeCount": 2, "labelKeys": [lost], "groups": groups}}
    (folder / "nodes.yaml").write_text(emit.dump(inventory))
    objects = healthy()
    objects[0] = wanted
    for name in ("n1", "n2"):
        find(objects, "Node", name)["metadata"]["labels"] = {near: "true"}
    done = ask_ours(objects, folder)
    first, second = done.text.splitlines()[:2]
    assert "2 nodes lost pci-1da3.present, and have pci-1200_1da3.present (node feature discovery)" in first
    assert second.strip().startswith("kubectl get nodefeatures") and "label node" not in done.text
    assert done.code == 1


def test_an_upgrade_of_our_own_has_its_slips_and_those_that_wait(tmp_path: Path) -> None:
    objects, folder = healthy(5, "2"), our_folder(tmp_path, planned("3"))
    objects[0] = planned("3")
    labels = find(objects, "Node", "n1")["metadata"]["labels"]
    labels.pop(VERSION)
    find(objects, "Node", "n2")["metadata"]["labels"][VERSION] = "4"
    for name in ("n1", "n2"):
        find(objects, "Node", name)["metadata"]["labels"].pop("kmm.node.kubernetes.io/kmm.simple.ready")
        config = find(objects, "NodeModulesConfig", name)
        config["spec"]["modules"] = config["status"]["modules"] = []
    dump = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
    done = process("krmfn", "nodes", ".", "--live", "-", "--problems", "--wide", cwd=folder, stdin=dump)
    assert "kmm/simple 3: 0 of 5; without label, so unloaded: n1; unknown version 4 on n2" in done.err
    assert "waiting: 3" in done.err
    assert {line.split()[0] for line in done.text.splitlines()[1:]} == {"n1", "n2"}
