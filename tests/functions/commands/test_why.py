"""The command `why`: a sentence for each situation that a dump may show."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.commands import ROOT, Done, process

KERNEL = "5.14.0-503.11.1.el9_5.x86_64"
IMAGE = f"registry.example.com/nic/driver:1.8-{KERNEL}"
NIC = {"example.com/nic": "true"}
READY = {"kmm.node.kubernetes.io/kmm.nic.ready": ""}
KMM = "kmm.sigs.x-k8s.io/v1beta1"
HOLDER: dict[str, Any] = {"kind": "Pod", "apiVersion": "v1"}
HOLDER |= {"metadata": {"name": "user", "namespace": "apps"}}
HOLDER |= {"spec": {"nodeName": "web-1", "nodeSelector": READY}, "status": {"phase": "Running"}}


def node(labels: dict[str, str], *taints: str, kernel: str = KERNEL, boot: str = "b1") -> dict[str, Any]:
    """A Node with taints of effect NoSchedule."""
    info = {"kernelVersion": kernel, "architecture": "amd64", "osImage": "Linux", "bootID": boot}
    spec = {"taints": [{"key": key, "effect": "NoSchedule"} for key in taints]}
    metadata = {"name": "web-1", "labels": labels, "annotations": {"secret": "s3cret"}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec, "status": {"nodeInfo": info}}


def module(**metadata: str) -> dict[str, Any]:
    """A Module on the cluster."""
    return {"apiVersion": KMM, "kind": "Module", "metadata": {"name": "nic", "namespace": "kmm", **metadata}}


def modules_config(wanted: str = IMAGE, loaded: str = IMAGE, boot: str = "b1") -> dict[str, Any]:
    """A NodeModulesConfig; "" stands for no entry."""
    named = {"name": "nic", "namespace": "kmm"}
    config = [{**named, "config": {"containerImage": wanted, "kernelVersion": KERNEL}}] if wanted else []
    status = {**named, "config": {"containerImage": loaded, "kernelVersion": KERNEL}, "bootId": boot}
    body = {"spec": {"modules": config}, "status": {"modules": [status] if loaded else []}}
    return {"apiVersion": KMM, "kind": "NodeModulesConfig", "metadata": {"name": "web-1"}, **body}


def worker(action: str, **state: dict[str, str]) -> dict[str, Any]:
    """A worker pod of KMM's."""
    labels = {"kmm.node.kubernetes.io/worker-action": action, "kmm.node.kubernetes.io/module.name": "nic"}
    metadata = {"name": "kmm-worker-web-1-nic", "namespace": "kmm", "labels": labels}
    statuses = [{"state": state}] if state else []
    body = {"spec": {"nodeName": "web-1"}, "status": {"containerStatuses": statuses}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, **body}


EVENT: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Event",
    "type": "Warning",
    "reason": "FailedMount",
    "message": "no \x1b[31mvolume",
}
EVENT |= {"involvedObject": {"namespace": "kmm", "name": "kmm-worker-web-1-nic"}}
PULL = {"reason": "ImagePullBackOff", "message": "not found"}
CRASH = {"reason": "CrashLoopBackOff", "message": "back-off"}
POD = "the pod kmm/kmm-worker-web-1-nic"
CORDON = "node.kubernetes.io/unschedulable"
NEW = f"registry.example.com/nic/driver:1.7-{KERNEL}"
SITUATIONS: dict[str, tuple[list[dict[str, Any]], int, str]] = {
    "loaded": ([node({**NIC, **READY}), module(), modules_config()], 0, f"is loaded: {IMAGE}"),
    "no Module": ([node(NIC), {**module(), "metadata": {"name": "a", "namespace": "b"}}], 1, "not on the cluster"),
    "deleted": ([node(NIC), module(deletionTimestamp="2026-11-24T10:00:00Z")], 1, "is being deleted on the cluster"),
    "labels only": ([node({**NIC, **READY})], 1, "has its ready label; of which image is not known"),
    "nodes only": ([node(NIC)], 1, "lacks its ready label; of which image is not known"),
    "not scheduled": ([node(NIC), modules_config("", "")], 1, "is not scheduled by KMM: it has not found the image"),
    "not rolled out": ([node({**NIC, **READY}), modules_config(NEW, NEW)], 1, f"but KMM schedules {NEW} for {KERNEL}"),
    "no worker": ([node(NIC), modules_config(IMAGE, "")], 1, "is not loaded: no worker pod is in the dump"),
    "pull": ([node(NIC), modules_config(IMAGE, ""), worker("Load", waiting=PULL)], 1, f"{POD} (Load) says ImagePull"),
    "starts": ([node(NIC), modules_config(IMAGE, ""), worker("Load")], 1, f"is not loaded: {POD} (Load) is at work"),
    "event": ([node(NIC), modules_config(IMAGE, ""), worker("Load"), EVENT], 1, r"says FailedMount: no \x1b[31mvolume"),
    "held": (
        [node({**NIC, **READY}), modules_config(IMAGE, NEW), worker("Unload", waiting=CRASH), HOLDER],
        1,
        f"{NEW} for {KERNEL} is loaded, not {IMAGE}: {POD} (Unload) says CrashLoopBackOff: back-off; apps/user may",
    ),
    "rebooted": ([node({**NIC, **READY}, boot="b2"), modules_config()], 1, "was loaded before the node's last boot"),
    "no label": ([node(NIC), modules_config()], 1, "is loaded, but the node lacks the label kmm.node.kubernetes.io/"),
    "unloader left": (
        [node({**NIC, **READY}), modules_config(), worker("Unload")],
        1,
        "is loaded, and about to be unl",
    ),
    "cordoned": ([node(NIC, CORDON), modules_config("", "")], 1, "waits while the node is cordoned"),
    "cordoned and held": (
        [node({**NIC, **READY}, CORDON), modules_config("", IMAGE), worker("Unload", waiting=CRASH), HOLDER],
        1,
        f"; it is still loaded: {POD} (Unload) says CrashLoopBackOff: back-off; apps/user may hold the kernel module",
    ),
    "tainted": ([node(NIC, "dedicated"), modules_config("", "")], 1, "does not tolerate dedicated:NoSchedule"),
    "no kernel": ([node(NIC, kernel=""), modules_config("", "")], 1, "the node's kernel is not known"),
    "not selected": ([node({})], 1, "asks for example.com/card=gpu (missing)"),
    "other value": ([node({"example.com/card": "no"})], 1, "asks for example.com/card=gpu (it is no)"),
    "left over": ([node(READY)], 1, "KMM's label kmm.node.kubernetes.io/kmm.nic.ready is still there"),
}


def why(*items: dict[str, Any], name: str = "web-1", options: tuple[str, ...] = ()) -> Done:
    """Run `why` on examples/one-cluster with a dump of these items."""
    dump = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    return process("krmfn", "why", name, "examples/one-cluster", "--live", "-", *options, stdin=dump)


@pytest.mark.parametrize("situation", SITUATIONS)
def test_a_situation_has_its_sentence(situation: str) -> None:
    items, code, sentence = SITUATIONS[situation]
    done = why(*items)
    first = done.text.partition("\n")[0]
    assert sentence in first, (done.text, done.err)
    assert first.startswith("web-1: ")
    assert done.code == code
    assert "s3cret" not in done.text


def test_json_has_the_sentence_and_the_steps() -> None:
    done = why(*SITUATIONS["loaded"][0], options=("--format", "json"))
    (answer,) = json.loads(done.text)
    assert (answer["holds"], done.code) == (True, 0)
    assert f"KMM has loaded {IMAGE} for {KERNEL}" in answer["steps"]


def test_without_a_dump_the_plan_is_told() -> None:
    done = process("krmfn", "why", "web-1", "examples/one-cluster")
    assert (done.code, done.text.partition("\n")[0]) == (0, "web-1: kmm/nic is planned")


def test_several_clusters_are_named(tmp_path: Path) -> None:
    for name in ("lab", "prod"):
        shutil.copytree(ROOT / "examples/one-cluster", tmp_path / name)
    done = process("krmfn", "why", "web-1", str(tmp_path / "lab"), str(tmp_path / "prod"))
    assert done.code == 0, done.err
    said = [line for line in done.text.splitlines() if not line.startswith("  ")]
    assert [line.rpartition(": web-1: ")[0].rpartition("/")[2] for line in said] == ["lab", "prod"]
    done = process("krmfn", "why", "web-1", str(tmp_path / "lab"), str(tmp_path / "prod"), "--format", "json")
    assert [answer["cluster"].rpartition("/")[2] for answer in json.loads(done.text)] == ["lab", "prod"]


def test_a_node_with_wrong_labels_is_an_error() -> None:
    done = why({**node({}), "metadata": {"name": "web-1", "labels": ["a"]}})
    assert (done.code, done.text) == (2, "")
    assert done.err.startswith("error: Node web-1: its labels are not a mapping"), done.err


def test_a_node_that_is_nowhere_is_an_error_with_the_nearest_name() -> None:
    done = why(node(NIC), name="web-2")
    assert (done.code, done.text) == (2, "")
    assert "no node of the dump is called web-2; did you mean web-1?" in done.err


@pytest.mark.parametrize(
    ("dump", "sentence"),
    [
        ('{"kind": "List", "items": [{"kind": "Node", "apiVersion": "v1"', "it was cut off"),
        (json.dumps(module()), "it holds no Node"),
        (json.dumps([node(NIC), node(NIC)]), "it holds node 'web-1' twice"),
        (json.dumps([node(NIC)] * 9), "it has more than 1,500 bytes"),
    ],
)
def test_a_dump_that_is_none_is_an_error(dump: str, sentence: str) -> None:
    limit = "1500" if "more than" in sentence else "100000"
    done = process("krmfn", "why", "web-1", "examples/one-cluster", "--live", "-", stdin=dump, KRMFN_MAX_BYTES=limit)
    assert (done.code, done.text) == (2, "")
    assert sentence in done.err


def test_nodes_counts_what_is_planned_and_ready_on_live_nodes() -> None:
    other = {**node(NIC), "metadata": {"name": "web-2", "labels": NIC}}
    dump = json.dumps([node({**NIC, **READY}), other])
    done = process("krmfn", "nodes", "examples/one-cluster", "--wide", "--live", "-", stdin=dump)
    assert "planned 2, with KMM's ready label 1, these 1 not: nic on web-2" in done.err
    assert ("web-2" in done.text, "gpu-1" in done.text, done.code) == (True, False, 0)


def test_nodes_says_that_a_live_node_is_cordoned() -> None:
    done = process(
        "krmfn", "nodes", "examples/one-cluster", "--wide", "--live", "-", stdin=json.dumps([node(NIC, CORDON)])
    )
    assert "waits while the node is cordoned" in done.text
    assert "runs" not in done.text
