"""`nodes --live`: what is loaded there is what `why` says, and what Git plans and the cluster lacks is a problem."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from krmfn_functions.fleet import table
from krmfn_functions.report import states

from tests.commands import ROOT, Done, process
from tests.functions.comparing.test_base import repository
from tests.kmm_dumps import KERNEL, module, modules_config, node, worker
from tests.trees import plant

Item = dict[str, Any]
GPU = f"registry.example.com/gpu/driver:2.4-{KERNEL}"
OLD = GPU.replace("2.4", "2.3")
NIC_LABELS = {"example.com/nic": "true", "example.com/pool": "main", "kmm.node.kubernetes.io/kmm.nic.ready": ""}
GPU_LABELS = {"example.com/card": "gpu", "kmm.node.kubernetes.io/kmm.gpu.ready": ""}
NODES = {
    "gpu-1": {**NIC_LABELS, **GPU_LABELS, "example.com/pool": "canary"},
    "gpu-2": {**NIC_LABELS, **GPU_LABELS},
    "gpu-3": {**NIC_LABELS, **GPU_LABELS},
    "web-1": NIC_LABELS,
}


def good() -> list[Item]:
    """Return a dump in which all that is planned is loaded."""
    items = [node(labels, name=name) for name, labels in NODES.items()]
    items += [module(name=name) for name in ("gpu", "nic")]
    for name, labels in NODES.items():
        config = modules_config(node=name)
        if "example.com/card" in labels:
            other = modules_config(GPU, GPU, module=("kmm", "gpu"), node=name)
            for part in ("spec", "status"):
                config[part]["modules"] += other[part]["modules"]
        items.append(config)
    return json.loads(json.dumps(items))  # type: ignore[no-any-return]  # no two share a part


def of(items: list[Item], kind: str, name: str) -> Item:
    return next(item for item in items if (item["kind"], item["metadata"]["name"]) == (kind, name))


def entry(items: list[Item], part: str) -> Item:
    """Return the gpu Module in the NodeModulesConfig of gpu-1."""
    modules: list[Item] = of(items, "NodeModulesConfig", "gpu-1")[part]["modules"]
    return next(item for item in modules if item["name"] == "gpu")


def without(kind: str, name: str) -> Callable[[list[Item]], object]:
    return lambda items: items.remove(of(items, kind, name))


READY = "kmm.node.kubernetes.io/kmm.gpu.ready"


def unlabelled(key: str) -> Callable[[list[Item]], object]:
    return lambda items: of(items, "Node", "gpu-1")["metadata"]["labels"].pop(key)


def emptied(part: str) -> Callable[[list[Item]], object]:
    return lambda items: of(items, "NodeModulesConfig", "gpu-1")[part]["modules"].remove(entry(items, part))


def never_loaded(items: list[Item]) -> None:
    """The worker pod has no image, and the ready label is not there."""
    emptied("status")(items)
    unlabelled(READY)(items)
    items.append(worker("Load", "gpu", "gpu-1", waiting={"reason": "ImagePullBackOff", "message": "not found"}))


def crashing_plugin(items: list[Item]) -> None:
    """The device plugin of the gpu Module has crashed on gpu-1."""
    labels = {"kmm.node.kubernetes.io/role": "device-plugin", "kmm.node.kubernetes.io/module.name": "gpu"}
    state = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}}
    status = {"phase": "Running", "containerStatuses": [{"ready": False, "state": state}]}
    metadata = {"name": "gpu-plugin", "namespace": "kmm", "labels": labels}
    body = {"metadata": metadata, "spec": {"nodeName": "gpu-1"}, "status": status}
    items.append({"apiVersion": "v1", "kind": "Pod", **body})


def silent(items: list[Item]) -> None:
    """The kubelet of gpu-1 has stopped, and there is no taint yet."""
    ready = {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown", "message": "Kubelet stopped"}
    of(items, "Node", "gpu-1")["status"]["conditions"] = [ready]


def half_applied(items: list[Item]) -> None:
    """The Application that applies the nic Module has failed to apply a newer commit."""
    applied = {"kind": "Module", "namespace": "kmm", "name": "nic"}
    status = {"resources": [applied], "operationState": {"phase": "Failed", "message": "no endpoints"}}
    head = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Application"}
    items.append({**head, "metadata": {"name": "lab", "namespace": "argocd"}, "status": status})


EDITS: dict[str, tuple[Callable[[list[Item]], object], str]] = {
    "image missing": (never_loaded, "says ImagePullBackOff: not found"),
    "no config": (without("NodeModulesConfig", "gpu-1"), "is not scheduled by KMM"),
    "no Module": (without("Module", "gpu"), "the Module is not on the cluster"),
    "deleted": (
        lambda items: of(items, "Module", "gpu")["metadata"].update(deletionTimestamp="2026-11-24T10:00:00Z"),
        "is being deleted",
    ),
    "rebooted": (
        lambda items: of(items, "Node", "gpu-1")["status"]["nodeInfo"].update(bootID="b2"),
        "was loaded before the node's last boot",
    ),
    "stale label": (emptied("status"), "is not loaded"),
    "not wanted": (emptied("spec"), "is not scheduled by KMM"),
    "old version": (lambda items: entry(items, "status")["config"].update(containerImage=OLD), ", wanted 2.4"),
    "old kernel": (lambda items: entry(items, "spec")["config"].update(kernelVersion="5.14.0-1"), "but KMM schedules"),
    "no ready label": (unlabelled(READY), "the node lacks the label kmm.node"),
    "unloads": (lambda items: items.append(worker("Unload", "gpu", "gpu-1")), "is loaded, and about to be unloaded"),
}


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    return repository(shutil.copytree(ROOT / "examples/one-cluster", tmp_path / "lab"), {})


def run(lab: Path, command: str, items: list[Item], *options: str) -> Done:
    dump = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    return process("krmfn", command, *options, "--live", "-", cwd=lab, stdin=dump)


def test_where_all_is_loaded_nothing_is_a_problem(lab: Path) -> None:
    done = run(lab, "nodes", good(), ".", "--problems", "--fail-on", "uncovered")
    assert (done.code, done.text) == (0, ""), "no head above nothing"
    assert "info: planned 7, loaded 7\n" in done.err
    assert "none that matches the options lacks its driver" in done.err


@pytest.mark.parametrize("edit", EDITS)
def test_loaded_is_what_why_says_and_what_is_not_is_a_problem(edit: str, lab: Path) -> None:
    items, (change, reason) = good(), EDITS[edit]
    change(items)
    rows = json.loads(run(lab, "nodes", items, ".", "--format", "json").text)["clusters"][0]["rows"]
    rows = [row for row in rows if row["node"] == "gpu-1"]
    fine = {"kmm/" + row["module"]["name"]: row["reason"] is None for row in rows}
    answers = json.loads(run(lab, "why", items, "gpu-1", ".", "--format", "json").text)
    assert fine == {answer["sentence"].split()[1]: answer["holds"] for answer in answers}
    assert fine["kmm/gpu"] is False
    is_ready = READY in of(items, "Node", "gpu-1")["metadata"]["labels"]
    assert {row["loaded"] for row in rows if row["module"]["name"] == "gpu"} == {is_ready}
    done = run(lab, "nodes", items, ".", "--problems", "--fail-on", "uncovered", "--wide").ended(1)
    (row,) = (line.split() for line in done.text.splitlines() if line.startswith("gpu-1") and " kmm/gpu " in line)
    assert row[2:4] == ["planned", "yes" if is_ready else "no"]
    assert reason in done.text
    assert "1 node (gpu-1)" in done.err or "gpu-1, gpu-2" in done.err
    assert "none that matches" not in done.err
    assert run(lab, "nodes", items, ".", "--require-coverage").code == 1


def test_nodes_and_why_say_that_an_engine_has_not_applied_all_of_git(lab: Path) -> None:
    items, doubt = good(), "Application argocd/lab has not applied all of Git: is this its commit?"
    half_applied(items)
    assert doubt in run(lab, "why", items, "web-1", ".").ended(0).text
    done = run(lab, "nodes", items, ".", "--fail-on", "uncovered", "--wide").ended(0)
    assert [doubt in line for line in done.text.splitlines() if " kmm/nic " in line] == [True] * 4
    assert f"nic on gpu-1, nic on gpu-2, nic on gpu-3, nic on web-1: {doubt}" in done.err
    rows = json.loads(run(lab, "nodes", items, ".", "--format", "json").text)["clusters"][0]["rows"]
    said = {(row["module"]["name"], row["agrees"], row["doubt"]) for row in rows}
    assert said == {("nic", None, doubt), ("gpu", True, None)}


def test_below_the_problems_stand_the_names_of_their_nodes(lab: Path) -> None:
    items = good()
    for name in ("gpu-2", "gpu-1"):
        of(items, "Node", name)["metadata"]["labels"].pop(READY)
    lines = run(lab, "nodes", items, ".", "--problems").text.splitlines()
    assert [line for line in lines if line.startswith("  ")] == ["  gpu-1, gpu-2"]
    assert lines[-1] == "  gpu-1, gpu-2" and lines[-2].startswith("kmm/gpu "), lines


def test_without_modules_configs_the_ready_label_counts(lab: Path) -> None:
    items = [node(labels, name=name) for name, labels in NODES.items()]
    done = run(lab, "nodes", items, ".", "--fail-on", "uncovered")
    assert (done.code, "loaded 7; KMM's ready labels alone say so" in done.err) == (0, True)
    items[0]["metadata"]["labels"] = {"example.com/nic": "true", "example.com/card": "gpu"}
    done = run(lab, "nodes", items, ".", "--problems", "--fail-on", "uncovered")
    assert (done.code, "lacks its ready label" in done.text) == (0, True)  # as it is before a merge


def test_a_plugin_that_does_not_run_and_a_silent_node_are_problems(lab: Path) -> None:
    """The kernel module is loaded all the same."""
    with (lab / "gpu.yaml").open("a") as config:
        config.write("  devicePlugin:\n    image: registry.example.com/gpu/plugin:2.4\n")
    for change, reason in ((crashing_plugin, "its device plugin is not running"), (silent, "the node is NotReady")):
        items = good()
        of(items, "Module", "gpu")["spec"]["devicePlugin"] = {
            "container": {"image": "registry.example.com/gpu/plugin:2.4"}
        }
        change(items)
        assert run(lab, "why", items, "gpu-1", ".").code == 1
        done = run(lab, "nodes", items, ".", "--problems", "--fail-on", "uncovered", "--wide", "--owner", "gpu")
        assert (done.code, "info: planned 7, loaded 7\n" in done.err) == (1, True), done.err
        (row,) = (line for line in done.text.splitlines() if line.startswith("gpu-1"))
        assert row.split()[2:4] == ["planned", "yes"]
        assert reason in row


def test_the_report_reads_what_nodes_prints_of_live_nodes(lab: Path, tmp_path: Path) -> None:
    items = good()
    unlabelled("example.com/card")(items)
    (tmp_path / "nodes.json").write_text(run(lab, "nodes", items, ".", "--format", "json").text)
    assert "Only committed" in process("krmfn", "report", "--from", str(tmp_path / "nodes.json"), cwd=lab).ended(0).text
    of_live = {states.NOT_LOADED, states.DIFFERS, states.UNSURE, states.LOADED}
    assert {*table.STYLES} - {"not known"} == {*states.RANK} - of_live - {states.UNEVALUATED}


def test_a_dump_with_more_than_nodes_fails_for_what_no_node_has(lab: Path) -> None:
    """Modules are on the cluster, and KMM has made no NodeModulesConfig: it does not run, or has lost them."""
    items = [item for item in good() if item["kind"] == "Module"]
    for name, labels in NODES.items():
        items.append(node({key: labels[key] for key in labels if key.startswith("example.com/")}, name=name))
    assert "planned 7, loaded 0, not loaded" in run(lab, "nodes", items, ".", "--fail-on", "uncovered").ended(1).err


def test_what_is_not_planned_any_more_is_not_loaded_after_another_boot(lab: Path) -> None:
    items = good()
    unlabelled("example.com/card")(items)
    assert " is not planned any more, and is still loaded: " in run(lab, "why", items, "gpu-1", ".").text
    of(items, "Node", "gpu-1")["status"]["nodeInfo"].update(bootID="b2")
    assert " is not planned any more: " in run(lab, "why", items, "gpu-1", ".").text
    done = run(lab, "nodes", items, ".", "--node", "gpu-1", "--owner", "gpu", "--format", "json")
    (row,) = json.loads(done.text)["clusters"][0]["rows"]
    assert (row["state"], row["loaded"], row["agrees"]) == ("committed", True, None)  # the label stays over a reboot


@pytest.mark.parametrize(
    ("change", "reason", "count"),
    [
        (unlabelled("example.com/card"), "but the live node lacks example.com/card=gpu", "planned 6, loaded 6; 6 of 7"),
        (without("Node", "gpu-1"), "but the node is not in the dump", "planned 5, loaded 5; 5 of 7"),
    ],
)
def test_what_is_committed_and_not_live_is_a_problem(
    change: Callable[[list[Item]], object], reason: str, count: str, lab: Path
) -> None:
    items = good()
    change(items)
    done = run(lab, "nodes", items, ".", "--problems", "--fail-on", "uncovered", "--wide", "--node", "gpu-1").ended(1)
    (row,) = (line for line in done.text.splitlines() if " kmm/gpu " in line)
    assert row.split()[2:4] == ["committed", "yes" if "lacks" in reason else "no"]  # it is still loaded, or gone
    assert f"the committed inventory plans it, {reason}" in row
    assert f"error: DeviceConfig kmm/gpu: 1 node (gpu-1): the committed inventory plans it, {reason}" in done.err
    assert f"{count} committed are selected, not these: " in done.err


def test_nodes_that_one_side_lacks_are_named_and_most_may_be_another_cluster(lab: Path) -> None:
    items = good()
    without("Node", "gpu-1")(items)
    assert ".: committed, and not in the dump: gpu-1\n" in run(lab, "nodes", items, ".").err
    items += [node(NIC_LABELS, name=f"other-{at}") for at in range(3)]
    done = run(lab, "nodes", items, ".")
    assert ".: in the dump, and not committed: other-0, other-1, other-2\n" in done.err
    items += [node(NIC_LABELS, name="other-3")]
    refusal = run(lab, "nodes", items, ".").refused()
    assert "--live: 4 of the 7 nodes of the dump are not among the 4 that are committed for .; pass a dump" in refusal


def config_nodes(cluster: str) -> str:
    """Return three Nodes in YAML."""
    return "---\n".join(f"apiVersion: v1\nkind: Node\nmetadata: {{name: {cluster}-{at}}}\n" for at in range(3))


def test_a_dump_of_another_cluster_is_told_whose_nodes_it_has(tmp_path: Path) -> None:
    files = {f"{name}/n.yaml": config_nodes(name) for name in ("dev", "lab")}
    plant(tmp_path, {**files, ".git/x": "", ".krmfn.yaml": "clusters: {dev: [dev], lab: [lab]}\n"})
    for _ in range(2):  # also where it has a node of that name by chance
        done = process("krmfn", "nodes", "--live", "lab=dev/n.yaml", cwd=tmp_path)
        assert done.code == 2
        assert "are committed for lab; they are nodes of dev: pass --live dev=dev/n.yaml\n" in done.err
        plant(tmp_path, {"dev/n.yaml": config_nodes("dev") + "---\n" + config_nodes("lab").split("---\n")[0]})


def test_a_kernel_that_nodes_would_boot_is_no_question_of_what_is_loaded(lab: Path) -> None:
    kernel = KERNEL.replace("503.11.1", "503.99.1")
    done = run(lab, "nodes", good(), ".", "--kernel", kernel, "--problems", "--fail-on", "uncovered")
    assert (done.code, done.text) == (0, ""), "no head above nothing"


def rival(kernel_module: str, **metadata: str) -> Item:
    """Return a Module of somebody else, for the nodes of gpu."""
    mapping = {"regexp": "^.+$", "containerImage": "vendor.example.com/gpu:1"}
    container = {"modprobe": {"moduleName": kernel_module}, "kernelMappings": [mapping]}
    spec = {"selector": {"example.com/card": "gpu"}, "moduleLoader": {"container": container}}
    head = {"apiVersion": "kmm.sigs.x-k8s.io/v1beta1", "kind": "Module"}
    return {**head, "metadata": {"name": "vendor", "namespace": "other", **metadata}, "spec": spec}


@pytest.mark.parametrize(
    ("other", "is_told"),
    [(rival("gpu"), True), (rival("dpu"), False), (rival("gpu", deletionTimestamp="2026-11-28T01:00:00Z"), False)],
)
def test_a_module_of_the_dump_that_loads_the_same_kernel_module_is_an_error(
    other: Item, is_told: bool, lab: Path
) -> None:
    items = [*good(), other]
    done = run(lab, "check", items, ".")
    assert (done.code, "Module other/vendor (in the dump" in done.text) == (int(is_told), is_told)
    assert run(lab, "why", items, "gpu-1", ".").code == int(is_told)
    listed = run(lab, "nodes", items, ".", "--problems", "--fail-on", "uncovered")
    assert ("Module other/vendor loads gpu on this node, too" in listed.text, listed.code) == (is_told, int(is_told))


def test_of_a_node_with_the_ready_label_alone_nobody_says_that_it_is_not_loaded(lab: Path) -> None:
    items = [item for item in good() if item["kind"] != "NodeModulesConfig"]
    done = run(lab, "why", [*items, rival("gpu")], "gpu-1", ".").ended(1)
    assert "has its ready label, but Module other/vendor loads gpu on this node, too" in done.text
    assert "is not loaded" not in done.text


@pytest.mark.parametrize(
    ("edit", "headline"),
    [
        (None, "Every selected node gets its driver: 4 nodes."),
        (never_loaded, "1 of 4 selected nodes gets no driver."),
        (
            lambda items: entry(items, "status")["config"].update(containerImage=OLD),
            "1 of 4 selected nodes runs a driver that is not as planned.",
        ),
        (unlabelled("example.com/card"), "1 of 4 selected nodes gets no driver."),
        (half_applied, "Whether 4 of 4 selected nodes run what Git plans now is not known."),
    ],
)
def test_the_page_says_what_is_loaded_and_the_json_makes_the_same_page(
    edit: Callable[[list[Item]], object] | None, headline: str, lab: Path, tmp_path: Path
) -> None:
    items = good()
    if edit:
        edit(items)
    done = run(lab, "report", items, ".")
    assert f"<h1>{headline}</h1>" in done.text, done.err
    names = []
    for command in ("nodes", "check"):
        names.append(str(tmp_path / f"{command}.json"))
        Path(names[-1]).write_text(run(lab, command, items, ".", "--format", "json").text)
    assert process("krmfn", "report", "--from", *names, cwd=lab).text == done.text


@pytest.mark.parametrize("word", ["dump.json", "./dump.json", ".=dump.json"])
def test_a_dump_that_lies_in_the_repository_is_not_in_git(word: str, tmp_path: Path) -> None:
    """Its nodes and Modules were read as Git's: there were two of each, and the nodes were all committed."""
    folder = shutil.copytree(ROOT / "examples/one-cluster", tmp_path / "one-cluster")
    (folder / ".git").mkdir()
    (folder / "dump.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": good()}))
    checked = process("krmfn", "check", ".", "--live", word, cwd=folder)
    assert "dump.json" not in checked.text, checked.text
    assert process("krmfn", "check", ".", cwd=folder).text.count("dump.json") > 1, "else it is a file as others"
    assert process("krmfn", "nodes", ".", "--live", word, cwd=folder).code == 0
    assert process("krmfn", "nodes", "dump.json", "--live", "dump.json", cwd=folder).code == 0, "a PATH is one"


@pytest.mark.parametrize("is_committed", [False, True])
@pytest.mark.parametrize("command", [["diff", "--base", "HEAD", "."], ["ci", "--base", "HEAD", "--out", "../out", "."]])
def test_a_dump_is_no_change_of_a_pull_request(command: list[str], is_committed: bool, tmp_path: Path) -> None:
    """It was read as a new file of the repository, with all the Modules and nodes in it."""
    files = {path.name: path.read_text() for path in (ROOT / "examples/one-cluster").glob("*.yaml")}
    dump = {"dump.json": json.dumps({"apiVersion": "v1", "kind": "List", "items": good()})}
    repo = repository(tmp_path, files | (dump if is_committed else {}))
    plant(repo, dump)
    done = process("krmfn", *command, "--live", "dump.json", cwd=repo)
    assert done.code == 0, done.text + done.err
    assert not any(word in done.text for word in ("created", "deleted", "dump.json")), done.text
    shown = process("krmfn", *command[:-1], ".", cwd=repo)
    assert "dump.json" in shown.text + shown.err or "created" in shown.text, "else it is a file as others"


def test_what_adopt_compares_is_not_the_dump(tmp_path: Path) -> None:
    """Each object of a dump that lies in the repository would be equal to itself."""
    folder = shutil.copytree(ROOT / "examples/one-cluster", tmp_path / "lab")
    (folder / ".git").mkdir()
    other = rival("vendor_gpu")
    (folder / "dump.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*good(), other]}))
    done = process("krmfn", "adopt", ".", "--live", "dump.json", cwd=folder)
    assert "other/vendor" not in done.text, done.text
