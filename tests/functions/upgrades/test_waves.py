"""`diff --plan`: an oracle that plays every wave by hand, each reason for no plan, and the command."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from krmfn_functions.exclusivity.node import Taint
from krmfn_functions.fleet.facts import tolerates
from krmfn_functions.formats import rollout as written
from krmfn_functions.kmm.module import Module
from krmfn_functions.kmm.resolution import resolver
from krmfn_functions.plan import Comparison, Rollout, plan
from krmfn_functions.upgrades.notes import notes
from krmfn_functions.upgrades.waves import rollout, size

from krmfn import KrmfnError, Manifest
from tests.builders import DROP, edited, function_config, manifest
from tests.commands import Done, process
from tests.functions.comparing.test_base import repository
from tests.functions.upgrades.test_node_effects import EL9, EL10, GPU, LABEL, ODD, drv, fleet, node, resources
from tests.trees import plant

ONE, TWO = drv(version="1", image="r:1"), drv(version="2", image="r:2")


def labelled(name: str, version: str = "1", **facts: Any) -> Manifest:
    return node(name, facts.get("kernel", EL9), {**facts.get("labels", GPU), LABEL: version}, *facts.get("taints", ()))


def compared(old: list[Manifest], new: list[Manifest]) -> Comparison:
    before, after = resources(*old), resources(*new)
    planned = plan(*([item.manifest for item in side.items] for side in (before, after)))
    return Comparison("", planned, notes(planned, after), sides=(before, after))


def planned(old: list[Manifest], new: list[Manifest], share: str = "10%") -> Rollout | str:
    """The plan, or why there is none."""
    try:
        return rollout(compared(old, new), share)
    except KrmfnError as failure:
        return str(failure)


A, B = labelled("a"), labelled("b")
CORDONED = labelled("b", taints=["node.kubernetes.io/unschedulable"])


@pytest.mark.parametrize(
    ("share", "number", "expected"),
    [("10%", 100, 10), ("10%", 19, 1), ("10%", 3, 1), ("100%", 7, 7), ("5", 3, 5), ("1", 100, 1)],
)
def test_the_size_of_a_wave(share: str, number: int, expected: int) -> None:
    assert size(share, number) == expected


@pytest.mark.parametrize("share", ["", "0", "0%", "101%", "-1", "5 %", "ten", "1.5", "٣", "5\n"])
def test_what_is_no_size(share: str) -> None:
    with pytest.raises(KrmfnError, match="--wave"):
        size(share, 10)


OTHER = drv("other", {LABEL: "1"}, modprobe={"moduleName": "other"})
BY_LABEL = drv("other", {LABEL: "2"}, modprobe={"moduleName": "other"})
UNVERSIONED = drv(image="r:1")
NAMELESS = node("a", EL9, {**GPU, "kmm.node.kubernetes.io/version-module.NAMESPACE.drv": "1"})
NO_PLAN: dict[str, tuple[list[Manifest], list[Manifest], str]] = {
    "nothing changes": ([ONE, A], [ONE, A], "no Module changes"),
    "no node is known": ([ONE], [TWO], "no node is known"),
    "no version": ([UNVERSIONED, A], [drv(image="r:2"), A], "does not go from one version to another"),
    "the same version": ([ONE, A], [drv(version="1", image="r:2"), A], "does not go from one version to another"),
    "a version is added": ([UNVERSIONED, A], [TWO, A], "version"),
    "no namespace": (
        [edited(ONE, ("metadata.namespace", DROP)), NAMELESS],
        [edited(TWO, ("metadata.namespace", DROP)), NAMELESS],
        "has no metadata.namespace",
    ),
    "two Modules": ([ONE, OTHER, A], [TWO, edited(OTHER, ("spec.selector", GPU)), A], "2 Modules change (Module kmm/"),
    "a Module more": ([ONE, A], [ONE, OTHER, A], "Module kmm/other is created"),
    "a Module less": ([ONE, A], [A], "Module kmm/drv is deleted"),
    "other nodes": ([ONE, A], [TWO, A, B], "the nodes differ between OLD and NEW"),
    "labelled in the same change": ([ONE, A], [TWO, labelled("a", "2")], "the nodes differ between OLD and NEW"),
    "no node is labelled": ([ONE, node("a"), labelled("b", "3")], [TWO, node("a"), labelled("b", "3")], "no node with"),
    "labelled before the bump": (
        [ONE, A, labelled("b", "2")],
        [TWO, A, labelled("b", "2")],
        "when NEW is applied, Module kmm/drv is unknown on node b: r:2 is loaded",
    ),
    "another selector": (
        [ONE, A, labelled("b", labels={**GPU, "x": "y"})],
        [edited(TWO, ("spec.selector", {"x": "y"})), A, labelled("b", labels={**GPU, "x": "y"})],
        "when NEW is applied, Module kmm/drv is lost on node a: no longer selected",
    ),
    "no mapping in NEW": (
        [ONE, A, labelled("b", kernel=EL10)],
        [edited(TWO, ("spec.moduleLoader.container.kernelMappings[0].regexp", "el10")), A, labelled("b", kernel=EL10)],
        "when NEW is applied, Module kmm/drv is lost on node a: no kernel mapping matches",
    ),
    "no mapping in both": (
        [ONE, A, labelled("b", kernel=EL10)],
        [TWO, A, labelled("b", kernel=EL10)],
        "in wave 2 of 2, node b does not get version 2 of Module kmm/drv: no kernel mapping matches",
    ),
    "no mapping in OLD": (
        [ONE, A, labelled("b", kernel=EL10)],
        [edited(TWO, ("spec.moduleLoader.container.kernelMappings[0].regexp", "el")), A, labelled("b", kernel=EL10)],
        "on the way back, when OLD is applied, Module kmm/drv is lost on node b: no kernel mapping matches",
    ),
    "a taint": (
        [ONE, labelled("a", taints=["t"])],
        [TWO, labelled("a", taints=["t"])],
        "in wave 1 of 1, node a does not get version 2 of Module kmm/drv: does not tolerate t:NoSchedule",
    ),
    "a node that is cordoned": (
        [ONE, A, CORDONED],
        [TWO, A, CORDONED],
        "in wave 2 of 2, node b does not get version 2 of Module kmm/drv: waits while the node is cordoned",
    ),
    "KMM fails on another node": (
        [ONE, A, ODD],
        [TWO, A, ODD],
        "in wave 1 of 1, node a does not get version 2 of Module kmm/drv: KMM fails on n2",
    ),
    "a Module that goes by the label": (
        [ONE, OTHER, A],
        [TWO, OTHER, A],
        "in wave 1 of 1, Module kmm/other is lost on node a: no longer selected",
    ),
    "a Module that comes by the label": (
        [ONE, BY_LABEL, A],
        [TWO, BY_LABEL, A],
        "in wave 1 of 1, Module kmm/other is gained on node a",
    ),
    "a node's name that is an option": ([ONE, labelled("--all")], [TWO, labelled("--all")], "node --all: "),
}


@pytest.mark.parametrize(("old", "new", "reason"), NO_PLAN.values(), ids=NO_PLAN)
def test_why_there_is_no_plan(old: list[Manifest], new: list[Manifest], reason: str) -> None:
    answer = planned(old, new)
    assert isinstance(answer, str), answer
    assert answer.startswith("no plan: ")
    assert reason in answer


def test_what_a_plan_says_beside() -> None:
    unlabelled, third = node("d"), labelled("e", "3")
    ready = {"spec": {"template": {"spec": {"nodeSelector": {"kmm.node.kubernetes.io/kmm.drv.ready": ""}}}}}
    moving = {"spec": {"template": {"spec": {"nodeSelector": {LABEL: "1"}}}}}
    pods = [
        {**manifest("apps/v1", "DaemonSet", "stays"), **ready},
        {**manifest("apps/v1", "DaemonSet", "moves"), **moving},
        {**manifest("apps/v1", "Deployment", "kept"), **moving},
    ]
    rest = [A, unlabelled, third, *pods]
    answer = planned([ONE, *rest], [TWO, *rest])
    assert isinstance(answer, Rollout), answer
    assert (answer.waves, answer.others) == ((("a",),), ("d", "e"))
    assert answer.holders == ("DaemonSet kmm/stays", "Deployment kmm/kept")
    text = written.text(answer)
    assert "# Nothing happens on 2 nodes with another version label or none: d, e.\n" in text
    assert "not leaving a node when its label changes: DaemonSet kmm/stays, Deployment kmm/kept.\n" in text


# An oracle: what KMM's documentation says of one label, one version and one node.

Loaded = dict[tuple[str, str], str | None]
FACTS = st.tuples(
    st.sampled_from([EL9, EL9, EL9, EL10]),
    st.sampled_from("aaab"),
    st.sampled_from([*"1111", "3", "", "2"]),
    st.sampled_from([(), (), (), (), (), ("t",)]),
)
FLEETS = st.lists(FACTS, min_size=1, max_size=5).map(
    lambda facts: [
        node(f"n{number}", kernel, {"gpu": gpu} | ({LABEL: version} if version else {}), *taints)
        for number, (kernel, gpu, version, taints) in enumerate(facts)
    ]
)
REGEXPS = st.sampled_from(["el", "el", "el", "el9", "el10"])
SELECTORS = st.sampled_from([{"gpu": "a"}, {"gpu": "a"}, {"gpu": "a"}, {}])
OTHERS = st.sampled_from([[], [], [], [OTHER], [BY_LABEL], [drv("other", modprobe={"moduleName": "other"})]])


def settled(
    modules: list[Manifest], nodes: list[Manifest], labels: dict[str, str], was: Loaded, moved: set[str]
) -> Loaded:
    """What is loaded once KMM has nothing left to do; `moved` are nodes with a new version label."""
    after: Loaded = {}
    for module in map(Module, modules):
        for machine in nodes:
            name, kernel = machine["metadata"]["name"], machine["status"]["nodeInfo"]["kernelVersion"]
            key, label = (module.ref.name, name), labels[name]
            present = {**machine["metadata"]["labels"], LABEL: label}
            taints = [Taint(taint["key"], "", taint["effect"]) for taint in machine["spec"].get("taints", ())]
            is_selected = (module.selector or {}).items() <= present.items()
            resolution = resolver(module)(kernel)
            if not is_selected or not all(tolerates(None, taint) for taint in taints) or resolution.mapping is None:
                after[key] = None
            elif not module.version or label == module.version:
                after[key] = resolution.image
            else:
                after[key] = None if name in moved or not label else was.get(key)
    return after


def is_safe(old: list[Manifest], new: list[Manifest], nodes: list[Manifest], waves: list[tuple[str, ...]]) -> bool:
    """Whether each step changes its wave only, and brings it to its version: there, and back.

    Where a label names another version than OLD, that may be loaded from an earlier time or not.
    """
    labels = {node["metadata"]["name"]: node["metadata"]["labels"].get(LABEL, "") for node in nodes}
    earlier: Loaded = {("drv", name): f"r:{label} of old" for name, label in labels.items() if label in ("2", "3")}
    return all(is_safe_after(history, old, new, nodes, waves, dict(labels)) for history in ({}, earlier))


def is_safe_after(
    history: Loaded,
    old: list[Manifest],
    new: list[Manifest],
    nodes: list[Manifest],
    waves: list[tuple[str, ...]],
    labels: dict[str, str],
) -> bool:
    """The same after what is loaded before OLD."""
    states = [settled(old, nodes, labels, history, set())]
    had = {name for (module, name), image in states[0].items() if image == "r:1"}
    for modules, version in ((new, "2"), (old, "1")):
        steps: list[tuple[str, ...]] = [(), *waves]
        for wave in steps:
            labels |= dict.fromkeys(wave, version)
            states.append(settled(modules, nodes, labels, states[-1], {*wave}))
            touched = {key for key, image in states[-1].items() if image != states[-2].get(key)}
            if not touched <= {("drv", name) for name in wave}:
                return False
            if any(states[-1]["drv", name] != f"r:{version}" for name in wave):
                return False
        if version == "2" and any(states[-1]["drv", name] != "r:2" for name in had):
            return False
    return True


@given(FLEETS, SELECTORS, SELECTORS, REGEXPS, REGEXPS, OTHERS, st.sampled_from(["1", "2", "50%", "100%"]))
def test_every_wave_touches_its_nodes_only(
    nodes: list[Manifest],
    before: dict[str, str],
    after: dict[str, str],
    was: str,
    now: str,
    others: list[Manifest],
    share: str,
) -> None:
    old = [drv("drv", before, was, version="1", image="r:1"), *others]
    new = [drv("drv", after, now, version="2", image="r:2"), *others]
    answer = planned([*old, *nodes], [*new, *nodes], share)
    of_one = [
        node["metadata"]["name"]
        for node in nodes
        if node["metadata"]["labels"].get(LABEL) == "1" and before.items() <= node["metadata"]["labels"].items()
    ]
    event("a plan" if isinstance(answer, Rollout) else "no plan")
    if isinstance(answer, Rollout):
        assert [name for wave in answer.waves for name in wave] == sorted(of_one)
        assert {*map(len, answer.waves[:-1])} <= {size(share, len(of_one))}
        assert is_safe(old, new, nodes, list(answer.waves))
    else:
        step = size(share, len(of_one))
        waves = [tuple(sorted(of_one)[at : at + step]) for at in range(0, len(of_one), step)]
        assert not of_one or not is_safe(old, new, nodes, waves), answer


# The command.

CONFIG = """\
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {name: drv, namespace: kmm}
spec:
  driverImage: "r.example.com/drv:1-$KERNEL_FULL_VERSION"
  driverVersion: "1"
  moduleName: drv
  nodeSelector: {gpu: a}
  upgrade: {ordered: true}
  daemonSets: [{name: metrics, image: "r.example.com/metrics:1"}]
"""
NEW_CONFIG = CONFIG.replace("drv:1", "drv:2").replace('driverVersion: "1"', 'driverVersion: "2"')


def diff(folder: Path, *args: str) -> Done:
    return process("krmfn", "diff", "old", "new", "--plan", *args, cwd=folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    nodes = fleet(*(labelled(f"n{number}") for number in range(3)))
    files = {"old/dc.yaml": CONFIG, "new/dc.yaml": NEW_CONFIG, "old/nodes.yaml": nodes, "new/nodes.yaml": nodes}
    return plant(tmp_path, files)


def test_the_plan_of_a_config(folder: Path) -> None:
    done = diff(folder, "--wave", "2").ended(1, "")
    assert diff(folder, "--wave", "2", "--exit-zero") == (0, done.out, "")
    commands = [line.strip() for line in done.text.splitlines() if line and not line.startswith("#")]
    module = "kubectl wait module.kmm.sigs.x-k8s.io/drv --namespace=kmm --for=jsonpath="
    ready = r"--for=jsonpath='{.metadata.labels.kmm\.node\.kubernetes\.io/kmm\.drv\.version\.ready}'"
    commands_there = [
        f"{module}'{{.spec.moduleLoader.container.version}}'=2 --timeout=30m &&",
        f"kubectl label node n0 n1 {LABEL}=2 --overwrite",
        f"kubectl wait node/n0 node/n1 {ready}=2 --timeout=30m &&",
        f"kubectl label node n2 {LABEL}=2 --overwrite",
        f"kubectl wait node/n2 {ready}=2 --timeout=30m",
    ]
    assert commands == commands_there
    head, back = done.text.split("The way back")
    assert "# Apply NEW first: the nodes keep version 1.\n" in head
    assert "apply OLD again first" in back
    assert "[KRM408]" in head, "what else the change does"
    commented = [line.lstrip("# ") for line in back.splitlines() if "kubectl" in line]
    assert commented == [line.replace("=2", "=1") for line in commands_there]


def test_a_plan_run_as_a_script_stops_where_something_is_not_done(folder: Path) -> None:
    """With a cluster that has not taken NEW, no node is labelled, whatever is run after the first wait."""
    plant(folder, {"bin/kubectl": '#!/bin/sh\necho "$@" >> calls\n[ "$1" != wait ]\n', "bin/calls": ""})
    script = diff(folder, "--wave", "1").text
    subprocess.run(["sh", "-c", script], cwd=folder, env={"PATH": f"{folder}/bin:/usr/bin:/bin"}, check=False)
    calls = (folder / "calls").read_text()
    assert calls.count("wait") == 4
    assert "label node" not in calls


def test_the_plan_as_json(folder: Path) -> None:
    document = json.loads(diff(folder, "--format", "json").out)
    assert document["waves"] == [["n0"], ["n1"], ["n2"]]
    assert document["module"]["name"] == "drv"
    assert [document[key] for key in ("label", "old", "new")] == [LABEL, "1", "2"]
    assert [note["rule"] for note in document["notes"]] == ["KRM408"]


def test_no_plan_is_no_success(folder: Path) -> None:
    for options in ((), ("--exit-zero",), ("--fail-on", "error"), ("--format", "json")):
        assert diff(folder, "--wave", "0", *options).code == 2
        plant(folder, {"new/dc.yaml": CONFIG})
        assert diff(folder, *options).refused() == "error: no plan: no Module changes\n"
    plant(folder, {"new/dc.yaml": NEW_CONFIG, "new/broken/dc.yaml": CONFIG.replace("gpu: a", "gpu: 1")})
    assert (diff(folder).code, diff(folder).out) == (2, b"")


def test_kmm_without_a_label_for_the_version_that_is_loaded(folder: Path) -> None:
    config = fleet(function_config(kmm={"version": "2.4"}))
    plant(folder, {"new/config.yaml": config, "old/config.yaml": config})
    assert "no plan: KMM up to 2.4 has no node label" in diff(folder).refused()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--plan", "--format", "markdown"], "--plan has the formats text and json"),
        (["--plan", "--kinds", "Module"], "--plan has the formats text and json, and no --kinds"),
        (["--wave", "5"], "--wave is about --plan"),
        (["--plan", "--wave", "none"], "--wave none: write a number of nodes"),
    ],
)
def test_options_that_say_nothing_together(args: list[str], message: str, folder: Path) -> None:
    assert message in process("krmfn", "diff", "old", "new", *args, cwd=folder).refused()


def test_with_a_base(folder: Path) -> None:
    plant(repository(folder, {}), {"old/dc.yaml": NEW_CONFIG})
    done = process("krmfn", "diff", "--base", "main", "old", "--plan", cwd=folder).ended(1)
    assert len(re.findall(r"^  kubectl label node n\d ", done.text, re.MULTILINE)) == 3
