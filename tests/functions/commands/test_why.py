"""The command `why`: a sentence for each situation that a dump may show."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.commands import ROOT, Done, example, process
from tests.examples import pairs_of
from tests.functions.comparing.test_base import repository
from tests.kmm_dumps import IMAGE, KERNEL, module, modules_config, node, worker
from tests.trees import altered

NIC = {"example.com/nic": "true"}
READY = {"kmm.node.kubernetes.io/kmm.nic.ready": ""}
HOLDER: dict[str, Any] = {"kind": "Pod", "apiVersion": "v1"}
HOLDER |= {"metadata": {"name": "user", "namespace": "apps"}}
HOLDER |= {"spec": {"nodeName": "web-1", "nodeSelector": READY}, "status": {"phase": "Running"}}
EVENT: dict[str, Any] = {"apiVersion": "v1", "kind": "Event", "type": "Warning", "reason": "FailedMount"}
EVENT |= {"message": "no \x1b[31mvolume", "involvedObject": {"namespace": "kmm", "name": "kmm-worker-web-1-nic"}}
PULL = {"reason": "ImagePullBackOff", "message": "not found"}
ERROR = {"reason": "Error"}
CRASH = {"reason": "CrashLoopBackOff", "message": "back-off"}
POD = "the pod kmm/kmm-worker-web-1-nic"
PLUGIN = "the pod kmm/plugin"
PLUGIN_ONLY = """apiVersion: kmm.sigs.x-k8s.io/v1beta1
kind: Module
metadata:
  name: nic
  namespace: kmm
spec:
  devicePlugin:
    container:
      image: registry.example.com/nic/plugin:1
  selector:
    example.com/nic: "true"
"""
CORDON = "node.kubernetes.io/unschedulable"
NEW = f"registry.example.com/nic/driver:1.7-{KERNEL}"
LOST = "the node has lost example.com/nic=true"
GPU = "the node has lost example.com/card=gpu"
LABEL = "kubectl label node web-1 example.com/nic=true"
COMMANDS = {"label lost": LABEL, "other value": f"{LABEL} --overwrite"}
"""What is typed, on the second line."""


def ended(phase: str, uid: str = "", **status: Any) -> dict[str, Any]:
    """Return a worker pod in this phase."""
    pod = worker("Load")
    return {**pod, "metadata": {**pod["metadata"], "uid": uid}, "status": {"phase": phase, **status}}


def unwell(labels: dict[str, str], status: str = "Unknown") -> dict[str, Any]:
    """Return a node whose kubelet says nothing."""
    item = node(labels)
    item["status"]["conditions"] = [{"type": "Ready", "status": status, "message": "no \x1b kubelet"}]
    return item


def deleted(labels: dict[str, str]) -> dict[str, Any]:
    """Return a node that is being deleted."""
    item = node(labels)
    item["metadata"]["deletionTimestamp"] = "2026-11-25T19:00:00Z"
    return item


EVICTED = ended("Failed", reason="Evicted", message="low on \x1b[disk")
OLD_EVENT = {**EVENT, "involvedObject": {**EVENT["involvedObject"], "uid": "of a pod of before"}}
UNSCHEDULED = ended("Pending", conditions=[{"type": "PodScheduled", "reason": "Unschedulable", "message": "0/1 nodes"}])
UNSCHEDULED["spec"] = {}
ALONE, READY_NODE, ASKED = node(NIC), node(NIC | READY), modules_config(IMAGE, "")
"""A node before and after its image is loaded, and what KMM is asked to load there."""
GONE = modules_config("", IMAGE)
"""What is loaded, and asked for no more."""
PULLING, CRASHING = worker("Load", waiting=PULL), worker("Unload", waiting=CRASH)
LOADED = f"is loaded: {IMAGE}"
GAPS = f"is loaded: {IMAGE.rpartition('/')[2]}; not known: the dump has no modules, pods"
"""What is said of a dump that has Nodes and NodeModulesConfigs."""
SITUATIONS: dict[str, tuple[list[dict[str, Any]], int, str]] = {
    "loaded": ([READY_NODE, module(), modules_config()], 0, LOADED),
    "kernel with +": ([node(NIC | READY, kernel=f"{KERNEL}+"), modules_config()], 0, GAPS),
    "no Module": ([ALONE, module(name="a", namespace="b")], 1, "not on the cluster"),
    "deleted": ([ALONE, module(deletionTimestamp="2026-11-24T10:00:00Z")], 1, "is being deleted"),
    "labels only": ([READY_NODE], 1, "has its ready label; the loaded image is not known"),
    "nodes only": ([ALONE], 1, "lacks its ready label; the loaded image is not known"),
    "not scheduled": ([ALONE, modules_config("", "")], 1, "is not scheduled by KMM; its image is not known"),
    "not rolled out": ([READY_NODE, modules_config(NEW, NEW)], 1, "shall get 1.8, but KMM schedules 1.7"),
    "no worker": ([ALONE, ASKED], 1, "is not loaded: why is not known, add `pods` to the dump"),
    "no worker, pods": ([ALONE, ASKED, HOLDER], 1, "loaded: no worker pod is in the dump"),
    "failed": ([ALONE, ASKED, EVICTED], 1, f"{POD} (Load) failed: Evicted: low on \\x1b[disk"),
    "completed": ([ALONE, ASKED, ended("Succeeded")], 1, "completed, and KMM has not recorded"),
    "pending": ([ALONE, ASKED, ended("Pending"), OLD_EVENT], 1, "(Load) is pending"),
    "at work": ([ALONE, ASKED, ended("Running"), EVENT], 1, "(Load) is at work"),
    "ends": ([ALONE, ASKED, worker("Load", terminated=ERROR)], 1, "(Load) says Error"),
    "unscheduled": ([ALONE, ASKED, UNSCHEDULED], 1, f"{POD} (Load) says Unschedulable: 0/1"),
    "pull, no configs": ([ALONE, PULLING], 1, f"to the dump; {POD} (Load) says ImagePull"),
    "not ready": ([unwell(NIC | READY), modules_config()], 1, "the node is NotReady (no \\x1b kubelet); what the dump"),
    "node deleted": ([deleted(NIC | READY), modules_config()], 1, "the node is being deleted (metadata.deletionTime"),
    "pull": ([ALONE, ASKED, PULLING], 1, f"{POD} (Load) says ImagePull"),
    "starts": ([ALONE, ASKED, worker("Load")], 1, f"is not loaded: {POD} (Load) is at work"),
    "event": ([ALONE, ASKED, worker("Load"), EVENT], 1, r"says FailedMount: no \x1b[31mvolume"),
    "held": (
        [READY_NODE, modules_config(IMAGE, NEW), CRASHING, HOLDER],
        1,
        "runs 1.7, wanted 1.8: apps/user holds the kernel module",
    ),
    "rebooted": ([node(NIC | READY, boot="b2"), modules_config()], 1, "was loaded before the node's last boot"),
    "no label": ([ALONE, modules_config()], 1, "is loaded, but the node lacks the label kmm.node.kubernetes.io/"),
    "unloader left": ([READY_NODE, modules_config(), worker("Unload")], 1, "is loaded, and about to be unl"),
    "cordoned": ([node(NIC, CORDON), modules_config("", "")], 1, "waits while the node is cordoned"),
    "cordoned, pull": (
        [node(NIC, CORDON), ASKED, PULLING],
        1,
        f"while the node is cordoned; {POD} (Load) says ImagePullBackOff: not found",
    ),
    "cordoned and held": (
        [node(NIC | READY, CORDON), GONE, CRASHING, HOLDER],
        1,
        "while the node is cordoned; it is still loaded: apps/user holds the kernel module",
    ),
    "tainted": ([node(NIC, "dedicated"), modules_config("", "")], 1, "does not tolerate dedicated:NoSchedule"),
    "no kernel": ([node(NIC, kernel=""), modules_config("", "")], 1, "the node's kernel is not known"),
    "label lost": ([node({})], 1, f"kmm/nic is not planned any more: {LOST}"),
    "other value": (
        [node({"example.com/nic": "no"})],
        1,
        "the node has example.com/nic=no in place of example.com/nic=true",
    ),
    "left over": ([node(READY)], 1, f"kmm/nic is not planned any more, and is still loaded: {LOST}"),
}


def run_why(
    *items: dict[str, Any],
    name: str = "web-1",
    options: tuple[str, ...] = (),
    folder: Path | None = None,
) -> Done:
    """Run `why` in a folder, or in the example, with a dump of these items."""
    dump = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    return process("krmfn", "why", name, ".", "--live", "-", *options, cwd=folder or example("one-cluster"), stdin=dump)


@pytest.mark.parametrize("situation", SITUATIONS)
def test_a_situation_has_its_sentence(situation: str) -> None:
    items, code, sentence = SITUATIONS[situation]
    done = run_why(*items)
    first = done.text.partition("\n")[0]
    assert sentence in first, (done.text, done.err)
    assert first.startswith("web-1: ")
    assert f"\n  {COMMANDS.get(situation, '')}" in done.text or code == 0
    assert done.code == code
    assert "s3cret" not in done.text


@pytest.mark.parametrize(
    ("items", "end"),
    [
        ([node(NIC | READY, CORDON), GONE], "NoSchedule); it is still loaded"),
        ([node(NIC | READY, CORDON, boot="b2"), GONE], "(node.kubernetes.io/unschedulable:NoSchedule)"),
        (
            [node(READY, boot="b2"), GONE],
            f": kmm/nic is not planned any more: {LOST}",
        ),
        ([unwell(NIC | READY, "True"), modules_config()], f"web-1: kmm/nic {GAPS}"),
    ],
)
def test_no_more_is_said_than_is_known(items: list[dict[str, Any]], end: str) -> None:
    """Nothing is loaded after another boot; where no pod is in the dump, none is told."""
    first = run_why(*items).text.partition("\n")[0]
    assert first.endswith(end)


def test_without_configs_of_nodes_nothing_is_told_of_them() -> None:
    done = run_why(node(NIC, CORDON))
    assert "KMM schedules" not in done.text
    links = json.loads(run_why(node(NIC, CORDON), options=("--format", "json")).text)[0]["links"]
    states = {link["link"]: link["state"] for link in links}
    assert (states["taints"], "holds" in states["loaded"]) == ("broken", False), states


CRASHED = {"name": "plugin", "ready": False, "state": {"waiting": CRASH}, "lastState": {"terminated": ERROR}}
UNPULLED = {"state": {"waiting": PULL}}
STATUSES: list[tuple[list[dict[str, Any]], int, str]] = [
    ([], 0, "is loaded: "),
    ([{"phase": "Running", "containerStatuses": [{"ready": True}]}], 0, "is loaded: "),
    ([{"phase": "Running", "containerStatuses": [CRASHED]}], 1, f"{PLUGIN} says CrashLoopBackOff"),
    ([{"phase": "Pending", "containerStatuses": [UNPULLED]}], 1, f"{PLUGIN} says ImagePullBackOff"),
    ([{"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]}], 1, f"{PLUGIN} is not ready"),
    ([{"phase": "Failed"}, {"phase": "Running"}, {"phase": "Failed"}], 0, "is loaded: "),
    ([{"phase": "Failed", "reason": "Evicted"}], 1, f"{PLUGIN} failed: Evicted"),
    ([{"phase": "Running", "node": "gpu-1"}], 1, "its pods are on other nodes, and none on this one"),
]


@pytest.mark.parametrize("loads", [True, False])
@pytest.mark.parametrize(("statuses", "code", "sentence"), STATUSES)
def test_a_device_plugin_that_does_not_run(
    statuses: list[dict[str, Any]], code: int, sentence: str, loads: bool, lab: Path
) -> None:
    labels = {"kmm.node.kubernetes.io/module.name": "nic", "kmm.node.kubernetes.io/role": "device-plugin"}
    config = lab / "nic.yaml"
    plugin = "  devicePlugin:\n    image: registry.example.com/nic/plugin:1\n"
    config.write_text(config.read_text() + plugin if loads else PLUGIN_ONLY)
    pod = {**HOLDER, "metadata": {"name": "plugin", "namespace": "kmm", "labels": labels}}
    pods = [pod | {"spec": {"nodeName": status.get("node", "web-1")}, "status": status} for status in statuses]
    done = run_why(READY_NODE, modules_config(), *pods, folder=lab)
    first = done.text.partition("\n")[0]
    if loads:
        assert (sentence in first, done.code) == (True, code), done.text + done.err
        assert ("is loaded, but its device plugin is not running: " in first) == bool(code)
    elif not statuses:
        assert ("whether its plugin is running is not known: add `pods`" in first, done.code) == (True, 1), done.text
    else:
        assert (("is running" if not code else sentence) in first, done.code) == (True, code), done.text + done.err


def test_a_kernel_without_a_mapping_is_named_with_the_mappings_that_are_there() -> None:
    done = run_why(node({**NIC, "example.com/card": "gpu"}, kernel="6.12.0-55.9.1.el10_0.x86_64"))
    first, *steps = done.text.splitlines()
    assert first == "web-1: kmm/gpu gets no driver: no kernel mapping matches 6.12.0-55.9.1.el10_0.x86_64"
    assert r"  mappings regexp ^.*\.el9_5\.x86_64$, regexp ^.*\.el9_6\.x86_64$" in steps


def test_labels_of_the_inventory_that_a_live_node_lacks_are_told() -> None:
    """Also where something else selects the node, so that nothing is wrong with what is planned."""
    label = "committed, and not on the live node: gpu-1 example.com/card=gpu, gpu-1 example.com/pool=canary\n"
    assert f": {label}" in run_why(node(NIC, name="gpu-1"), name="gpu-1").err
    assert "committed, and not on" not in run_why(node({**NIC, "example.com/pool": "main"})).err


@pytest.mark.parametrize("options", [(), ("--format", "json"), ("-q",)])
def test_one_of_two_drivers_whose_label_is_lost_is_the_first_answer(options: tuple[str, ...]) -> None:
    """Exit code 0 would say that the node has what was planned."""
    done = run_why(node({**NIC, **READY}, name="gpu-1"), modules_config(node="gpu-1"), name="gpu-1", options=options)
    first, last = f"gpu-1: kmm/gpu is not planned any more: {GPU}", f"gpu-1: kmm/nic {GAPS}"
    if "json" in options:
        answers = json.loads(done.text)
        assert [(answer["holds"], answer["sentence"]) for answer in answers] == [(False, first), (True, last)]
    else:
        assert [line for line in done.text.splitlines() if line[0] != " "] == [first, last]
    assert done.code == 1


@pytest.mark.parametrize(
    ("name", "dumped", "code", "sentence"),
    [
        ("gpu-1", node({}, name="gpu-1"), 1, f"gpu-1: kmm/gpu is not planned any more: {GPU}\n"),
        ("new", node({}, name="new"), 1, "new: nothing selects it, and the inventory does not have it; the nearest, "),
        ("web-1", node({}, name="gpu-1"), 2, "web-1 is committed for ., but not in the dump: it "),
    ],
)
def test_what_the_inventory_has_of_a_node_counts(name: str, dumped: dict[str, Any], code: int, sentence: str) -> None:
    other = node({"example.com/card": "gpu"}, name="gpu-2")
    done = run_why(dumped, other, name=name)
    assert (sentence in done.text + done.err, done.code) == (True, code), done.text + done.err
    assert "did you mean" not in done.err


def test_a_module_that_selects_by_other_labels_on_the_cluster_is_not_synced() -> None:
    """What Git asks for is no label that the node has lost: nobody has to set it."""
    there = module()
    there["spec"] = {"selector": {"example.com/old": "true"}}
    reason = "it selects by example.com/old=true there, by example.com/nic=true here; it has not been synced"
    for labels in ({}, READY, {"example.com/old": "true"}):
        done = run_why(node(labels), there)
        assert done.text.splitlines()[0].endswith(f": kmm/nic is not what Git renders: {reason}"), done.text
        assert "kubectl label" not in done.text
        assert done.code == 1
        (answer,) = json.loads(run_why(node(labels), there, options=("--format", "json")).text)
        assert [link["link"] for link in answer["links"]] == ["synced"]


def test_a_node_that_nothing_selected_by_the_inventory_either(lab: Path) -> None:
    altered(lab / "nodes.yaml", 'nic: "true"\n    nodes: |\n      web', "card: a\n    nodes: |\n      web")
    done = run_why(node({}), folder=lab).ended(1)
    assert "web-1: nothing selects it, and by the inventory nothing did; the nearest, DeviceConfig kmm" in done.text


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ("nodeCount: 4", "nodeCount: 5", "../dump.json:8:3: error: NodeInventory nodes: spec.nodeCount: it says 5"),
        ("gpu-1 5.14", "gpu-1 5.14 5.14", "../dump.json:20:1: error: NodeInventory nodes: spec.groups[0].nodes: "),
        ("", "JSON", "../dump.json: error: Node web-1: its label a is 7, not a string"),
    ],
)
def test_a_finding_about_a_dump_names_its_file_and_line(old: str, new: str, where: str, lab: Path) -> None:
    text = (lab / "nodes.yaml").read_text().replace(old, new, 1)
    if new == "JSON":
        item = node(NIC)
        text = json.dumps({**item, "metadata": {**item["metadata"], "labels": {"a": 7}}})
    (lab.parent / "dump.json").write_text(text)
    done = process("krmfn", "check", ".", "--live", "../dump.json", cwd=lab)
    assert done.text.startswith(where), done.text


def test_json_has_the_sentence_and_the_steps() -> None:
    done = run_why(*SITUATIONS["loaded"][0], options=("--format", "json"))
    (answer,) = json.loads(done.text)
    assert (answer["holds"], done.code) == (True, 0)
    assert f"KMM has loaded {IMAGE} for {KERNEL}" in answer["steps"]


NOT_ASKED = "is planned by the inventory; the live node was not asked, pass"


def test_without_a_dump_the_plan_is_told() -> None:
    done = process("krmfn", "why", "web-1", "examples/one-cluster")
    assert (done.code, done.text.partition("\n")[0]) == (0, f"web-1: kmm/nic {NOT_ASKED} --live DUMP")


def test_several_clusters_are_named(tmp_path: Path) -> None:
    for name in ("lab", "prod"):
        shutil.copytree(ROOT / "examples/one-cluster", tmp_path / name)
    done = process("krmfn", "why", "web-1", str(tmp_path / "lab"), str(tmp_path / "prod")).ended(0)
    heads = [line for line in done.text.splitlines() if not line.startswith("  ")]
    assert [line.rpartition(": web-1: ")[0].rpartition("/")[2] for line in heads] == ["lab", "prod"]
    done = process("krmfn", "why", "web-1", str(tmp_path / "lab"), str(tmp_path / "prod"), "--format", "json")
    assert [answer["cluster"].rpartition("/")[2] for answer in json.loads(done.text)] == ["lab", "prod"]


def test_a_cluster_without_its_dump_fails_beside_one_that_has_it(lab: Path) -> None:
    """What is planned only is not what the node has."""
    shutil.copytree(lab, lab.parent / "prod", ignore=shutil.ignore_patterns(".git"))
    (lab.parent / "dump.json").write_text(json.dumps([node(NIC | READY), modules_config()]))
    done = process("krmfn", "why", "web-1", "lab", "prod", "--live", "lab=dump.json", cwd=lab.parent).ended(1)
    heads = [line for line in done.text.splitlines() if not line.startswith("  ")]
    assert heads == [f"lab: web-1: kmm/nic {GAPS}", f"prod: web-1: kmm/nic {NOT_ASKED} --live prod=DUMP"]


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("prod/kustomization.yaml", "resources:", "resources:\n- nothere.yaml"),
        ("prod/kustomization.yaml", "resources:", "resources: ["),
        ("prod/nodes.yaml", "nodeCount: 4", "nodeCount: 5"),
        ("prod/gpu.yaml", "moduleName", "moduleNam"),
        (".krmfn.yaml", "prod: [prod]", "prod: [prods]"),
    ],
)
def test_what_is_wrong_with_another_cluster_does_not_take_the_answer_away(
    file: str, old: str, new: str, lab: Path
) -> None:
    top = lab.parent
    shutil.copytree(lab, top / "prod", ignore=shutil.ignore_patterns(".git"))
    (top / ".krmfn.yaml").write_text("clusters:\n  lab: [lab]\n  prod: [prod]\n")
    for name in ("lab", "prod"):
        (top / name / "kustomization.yaml").write_text("resources: [config.yaml, gpu.yaml, nic.yaml]\n")
    (top / "dump.json").write_text(json.dumps([node(NIC | READY), modules_config()]))
    altered(top / file, old, new)
    done = process("krmfn", "why", "web-1", "--live", "lab=dump.json", cwd=top)
    assert (done.code, done.text.partition("\n")[0]) == (0, f"web-1: kmm/nic {GAPS}"), done.err
    assert "prod" not in done.err
    for command in ("nodes", "check", "report"):
        done = process("krmfn", command, "--live", "lab=dump.json", cwd=top).ended(0)
        if command == "nodes":  # others print it
            assert "only lab is read, which --live names; not judged: prod\n" in done.err
        else:
            assert "all of a cluster (not asked for: prod)" in done.text
        text = done.text.replace("not asked for: prod", "")
        assert "prod" not in text + done.err.replace("not judged: prod", "")
        assert process("krmfn", command, ".", "prod", "--live", "lab=dump.json", cwd=top).code, command


def test_a_node_with_wrong_labels_is_an_error() -> None:
    refusal = run_why({**node({}), "metadata": {"name": "web-1", "labels": ["a"]}}).refused()
    assert refusal.count("error: Node web-1: its labels are not a mapping") == 1, refusal


def test_without_any_node_it_may_be_the_wrong_folder(tmp_path: Path) -> None:
    for words in (("why", "gpu-1"), ("nodes",)):
        refusal = process("krmfn", *words, cwd=tmp_path).refused()
        assert refusal.startswith("error: no nodes are known in .: is it the right PATH?")


def test_a_node_that_is_nowhere_is_an_error_with_the_nearest_name() -> None:
    assert "no node of the dump is called web-2; did you mean web-1?" in run_why(node(NIC), name="web-2").refused()


NO_DUMP = "is no dump, neither JSON nor YAML: it begins with "


@pytest.mark.parametrize(
    ("dump", "sentence"),
    [
        ('{"kind": "List", "items": [{"kind": "Node", "apiVersion": "v1"', "it was cut off"),
        ("apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Node\n", "its last list ends without its kind"),
        ("apiVersion: v1\nkind: Node\nmetadata: {name: n}\n---\nitems: []\n", "its last list ends without its kind"),
        (
            json.dumps({"kind": "PodList", "items": [], "metadata": {"continue": "x"}}),
            "a PodList is not whole: the server",
        ),
        (
            json.dumps(ALONE)
            + json.dumps({"kind": "List", "items": [], "metadata": {"continue": "x", "remainingItemCount": 7}}),
            "a List is not whole: the server has more of it (7 more)",
        ),
        ("Unable to connect to the server: dial tcp: i/o timeout\n", f"{NO_DUMP}'Una"),
        ("error: You must be logged in\n", f"{NO_DUMP}'error: You must be"),
        (f"Warning: v1 is deprecated\n{json.dumps([ALONE], indent=1)}", f"{NO_DUMP}'Warning: v1 is deprecated';"),
        (json.dumps(module()), "it holds no Node and no NodeInventory"),
        (json.dumps([node(NIC), node(NIC)]), "it holds node 'web-1' twice"),
        (json.dumps([node(NIC)] * 9), "it has more than 1,500 bytes"),
    ],
)
def test_a_dump_that_is_none_is_an_error(dump: str, sentence: str) -> None:
    limit = "1500" if "more than" in sentence else "100000"
    done = process("krmfn", "why", "web-1", "examples/one-cluster", "--live", "-", stdin=dump, KRMFN_MAX_BYTES=limit)
    assert sentence in done.refused()


def test_nodes_counts_what_is_planned_and_ready_on_live_nodes() -> None:
    other = {**node(NIC), "metadata": {"name": "web-2", "labels": NIC}}
    dump = json.dumps([node({**NIC, **READY}), other])
    done = process("krmfn", "nodes", "examples/one-cluster", "--wide", "--live", "-", stdin=dump).ended(0)
    assert "planned 2, loaded 1, not loaded: nic on web-2" in done.err
    cells = {line.split()[0]: line.split()[2:4] for line in done.text.splitlines() if "committed" not in line}
    assert cells == {"NODE": ["STATE", "LOADED"], "web-1": ["planned", "yes"], "web-2": ["planned", "no"]}
    done = process("krmfn", "nodes", "examples/one-cluster", "--format", "json", "--live", "-", stdin=dump)
    rows = json.loads(done.text)["clusters"][0]["rows"]
    loaded = [(row["node"], row["loaded"]) for row in rows if row["state"] == "planned"]
    assert loaded == [("web-1", True), ("web-2", False)]
    done = process("krmfn", "nodes", "examples/one-cluster", "--format", "json")
    assert {row["loaded"] for row in json.loads(done.text)["clusters"][0]["rows"]} == {None}


def test_nodes_says_that_a_live_node_is_cordoned() -> None:
    dump = json.dumps([node(NIC, CORDON)])
    done = process("krmfn", "nodes", "examples/one-cluster", "--wide", "--live", "-", stdin=dump)
    assert "waits while the node is cordoned" in done.text
    assert "planned" not in done.text
    assert "planned 0, loaded 0; selected and not planned: nic on web-1" in done.err


LIVE = ("nodes", "check", "images", "report", "why", "diff", "ci")
"""The commands that take live nodes."""


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """The example in a repository, and a dump in which one of its nodes has another kernel and one is new."""
    repo = repository(shutil.copytree(ROOT / "examples/one-cluster", tmp_path / "lab"), {})
    other = node({"example.com/card": "gpu"}, kernel="6.12.0-55.9.1.el10_0.x86_64")
    items = [node(NIC), {**other, "metadata": {"name": "gpu-99", "labels": {"example.com/card": "gpu"}}}]
    (tmp_path / "dump.json").write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": items}))
    return repo


def live(lab: Path, command: str, dump: str = "../dump.json", option: str = "--live") -> Done:
    args = {
        "nodes": [".", "--wide"],
        "why": ["gpu-99", "."],
        "diff": [".", "."],
        "ci": [".", "--base", "main", "--out", "../out"],
    }
    return process("krmfn", command, *args.get(command, ["."]), option, dump, cwd=lab)


@pytest.mark.parametrize("command", LIVE)
def test_live_nodes_stand_in_the_place_of_the_committed_ones(command: str, lab: Path) -> None:
    done = live(lab, command)
    assert ".: 2 live nodes in place of 4 committed\n" in done.err
    output = done.text + done.err
    if command != "diff":
        assert "gpu-99" in output or "6.12.0-55.9.1.el10_0.x86_64" in output or command == "images"
    assert ".: committed, and not in the dump: gpu-1, gpu-2, gpu-3\n" in done.err
    assert ".: in the dump, and not committed: gpu-99\n" in done.err
    output = "".join(line for line in output.splitlines() if "committed" not in line)
    if command != "report":  # whose help shows names
        assert "gpu-1" not in output
    if command in ("check", "report", "ci"):
        assert done.code == 1
        assert "no kernel mapping has one for 6.12.0-55.9.1.el10_0.x86_64 on 1 node (gpu-99)" in output
        assert "[KRM604]" in output


def test_what_changes_on_live_nodes(lab: Path) -> None:
    """The node that is live and not committed is told, on both sides."""
    gpu = lab / "gpu.yaml"
    gpu.write_text(gpu.read_text().replace("el9_6", "el10_0"))
    for command in ("diff", "ci"):
        args = ("--base", "main", *(("--out", "../out") if command == "ci" else ("--format", "json")))
        done = process("krmfn", command, ".", *args, "--live", "../dump.json", cwd=lab)
        text = (lab.parent / "out" / "result.json").read_text() if command == "ci" else done.text
        document = json.loads(text)
        effects = document.get("diff", document)["effects"]
        assert [(effect["effect"], effect["nodes"]) for effect in effects] == [("gained", ["gpu-99"])], (
            done.text,
            done.err,
        )


@pytest.mark.parametrize(("command", "form"), pairs_of(LIVE, ["inventory", "yaml", "json"]))
def test_nodes_is_a_spelling_and_takes_an_inventory_too(command: str, form: str, lab: Path) -> None:
    """An inventory, or Nodes in YAML, in the place of the nodes that are committed; no label of KMM's is known then."""
    text = (lab / "nodes.yaml").read_text().replace("gpu-1 ", "gpu-99 ")
    if form == "yaml":
        text = yaml.safe_dump({"kind": "List", "apiVersion": "v1", "items": [node(NIC)]}).replace("web-1", "gpu-99")
        text += f"---\n{yaml.safe_dump(node(NIC))}"
    elif form == "json":
        text = json.dumps(yaml.safe_load(text))
    (lab.parent / "dump.json").write_text(text)
    done = live(lab, command, option="--nodes")
    assert f".: {'2 live' if form == 'yaml' else '4'} nodes in place of 4 committed\n" in done.err
    assert ("loaded" in done.err) == (command == "nodes" and form == "yaml"), done.err
    if command == "why":
        assert done.code == (form == "yaml"), done.text


@pytest.mark.parametrize("command", LIVE)
def test_a_dump_of_another_cluster_is_an_error(command: str, lab: Path) -> None:
    (lab.parent / "dump.json").write_text(json.dumps({**node(NIC), "metadata": {"name": "elsewhere"}}))
    refusal = live(lab, command).refused()
    assert "--live: none of the 1 node of the dump is among the 4 that are committed for ." in refusal


def test_each_of_several_clusters_has_its_own_dump(lab: Path) -> None:
    shutil.copytree(lab, lab.parent / "prod", ignore=shutil.ignore_patterns(".git"))
    done = process("krmfn", "nodes", "lab", "prod", "--wide", "--live", "lab=dump.json", cwd=lab.parent)
    assert "lab: 2 live nodes in place of 4 committed" in done.err
    assert "planned 1, loaded 0, not loaded: nic on web-1; selected and not planned: gpu on gpu-99; " in done.err
    rows = [line.split()[:2] for line in done.text.splitlines()[1:]]
    names = {row[1] for row in rows if row[0] == "lab"}
    assert names == {"gpu-1", "gpu-2", "gpu-3", "gpu-99", "web-1"}  # those that are committed and gone, too
    assert ["prod", "gpu-1"] in rows
    for wrong, says in (("dump.json", "one of 2 clusters: lab, prod"), ("lap=dump.json", "did you mean lab?")):
        assert says in process("krmfn", "nodes", "lab", "prod", "--live", wrong, cwd=lab.parent).ended(2).err
    twice = ("--live", "lab=dump.json", "--live", "lab=dump.json")
    assert "has a dump already" in process("krmfn", "nodes", "lab", "prod", *twice, cwd=lab.parent).err


def test_a_dump_in_path_is_an_error(lab: Path) -> None:
    dump = {"kind": "List", "apiVersion": "v1", "items": [modules_config(), EVENT | {"metadata": {"name": "e"}}]}
    (lab / "dump.json").write_text(json.dumps(dump))
    done = process("krmfn", "check", ".", cwd=lab).ended(1)
    assert "is part of a dump of a cluster, as are 1 more in this file" in done.text
    assert "[KRM714]" in done.text
    assert process("krmfn", "render", ".", cwd=lab).code == 1


def test_nodes_that_two_files_hold_are_one_finding(lab: Path) -> None:
    (lab / "more.yaml").write_text((lab / "nodes.yaml").read_text().replace("name: ", "name: more-", 1))
    done = process("krmfn", "check", ".", cwd=lab)
    lines = [line for line in done.text.splitlines() if "[KRM601]" in line]
    assert len(lines) == 1, done.text
    assert "4 nodes (gpu-1, gpu-2, gpu-3, web-1) are also in " in lines[0]
