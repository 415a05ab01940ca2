"""What a change does on the nodes: each situation, an oracle that looks at every node by itself, and the command."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.exclusivity.node import Taint
from krmfn_functions.fleet.facts import tolerates
from krmfn_functions.kmm.module import Module
from krmfn_functions.kmm.resolution import resolver
from krmfn_functions.paths import manifests
from krmfn_functions.plan import Effect
from krmfn_functions.sentence import text
from krmfn_functions.upgrades.doubts import Doubt
from krmfn_functions.upgrades.node_effects import effects

from krmfn import Manifest, ResourceList
from krmfn.yamltext import emit
from tests.builders import CONFIG, edited, manifest, module
from tests.commands import Done, process
from tests.trees import plant

EL9, EL10 = "5.14.0-427.el9.x86_64", "6.12.0-55.el10.x86_64"
GPU = {"gpu": "a"}


def node(name: str, kernel: str = EL9, labels: dict[str, str] = GPU, *taints: str) -> Manifest:
    spec = {"taints": [{"key": taint, "effect": "NoSchedule"} for taint in taints]} if taints else {}
    info = {"nodeInfo": {"kernelVersion": kernel}} if kernel else {}
    return {**manifest("v1", "Node", name, "", labels=labels), "spec": spec, "status": info}


def drv(name: str = "drv", labels: dict[str, str] = GPU, regexp: str = "el9", **container: Any) -> Manifest:
    mapping = {"regexp": regexp, "containerImage": container.pop("image", "r/drv:1-$KERNEL_FULL_VERSION")}
    return module(mapping, name=name, selector=labels, **{"modprobe": {"moduleName": "drv"}, **container})


def resources(*items: Manifest) -> ResourceList:
    return manifests.read_stream("---\n".join(map(emit.dump, items)).encode())


def changes(old: list[Manifest], new: list[Manifest]) -> Sequence[Effect]:
    """The effects of a change of which all is known."""
    answer, unknown = effects(resources(*old), resources(*new))
    assert not unknown
    return answer


def fates(old: list[Manifest], new: list[Manifest]) -> dict[str, tuple[str, ...]]:
    """The nodes of each effect."""
    return {effect.word: effect.nodes for effect in changes(old, new)}


def message(old: list[Manifest], new: list[Manifest], name: str = "drv") -> str:
    [effect] = [effect for effect in changes(old, new) if effect.ref.name == name]
    return effect.message


A, B = node("a"), node("b")
C = node("c", "")
"""A node whose kernel is not known."""
NOT_BEFORE = "; whether it was loaded before is not known, since the node's kernel was not"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ([drv(), A, C], [drv(), A, node("c", "", {})], f"unknown on 1 node (c): no longer selected{NOT_BEFORE}"),
        ([drv(), A, C], [drv(labels={"gpu": "b"}), C], f"unknown on 1 node (c): no longer selected{NOT_BEFORE}"),
        ([drv(), C], [drv(), A], f"unknown on 1 node (c): gone from the fleet{NOT_BEFORE}"),
        ([drv(), C], [C], f"unknown on 1 node (c): it is deleted{NOT_BEFORE}"),
        ([drv(), C], [drv(), node("c")], f"unknown on 1 node (c): r/drv:1-{EL9} is loaded{NOT_BEFORE}"),
        (
            [drv(), C],
            [drv(), node("c", "", GPU, "x")],
            f"unknown on 1 node (c): does not tolerate x:NoSchedule{NOT_BEFORE}",
        ),
        ([drv(), A, C], [drv(image="r/drv:2"), A, C], "unknown on 1 node (c): the node's kernel is not known"),
        ([drv(), node("c", "", {})], [drv(), C], "unknown on 1 node (c): the node's kernel is not known"),
        ([drv(), A], [drv(), A, C], "unknown on 1 node (c): the node's kernel is not known"),
        ([C], [drv(), C], "unknown on 1 node (c): the node's kernel is not known"),
        ([drv(), node("c")], [drv(), C], "unknown on 1 node (c): the node's kernel is not known"),
    ],
)
def test_what_happens_on_a_node_without_a_kernel_is_not_known(
    old: list[Manifest], new: list[Manifest], expected: str
) -> None:
    """It was taken for a node without a driver, on which nothing changes."""
    assert expected in [effect.message for effect in changes(old, new)]


def test_nothing_happens_on_a_node_without_a_kernel_where_nothing_changes_for_it() -> None:
    other = node("d", "", {"x": "y"})
    assert changes([drv(), A, C, other], [drv(), A, C, node("d", "", {"x": "z"}), B]) == changes(
        [drv(), A], [drv(), A, B]
    )


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ([drv(), A], [drv(), A, B], f"gained by 1 node (b): r/drv:1-{EL9}"),
        ([drv(), A, B], [drv(), A], "lost by 1 node (b): gone from the fleet"),
        ([drv(), A, B], [drv(), A, node("b", labels={})], "lost by 1 node (b): no longer selected"),
        ([drv(), A, B], [A, B], "lost by 2 nodes (a, b): it is deleted"),
        ([drv(), A, B], [drv(labels={"gpu": "b"}), A, B], "lost by 2 nodes (a, b): no longer selected"),
        ([drv(), A], [drv(), node("a", EL10)], "lost by 1 node (a): no kernel mapping matches"),
        ([drv(), A], [drv(regexp="el10"), A], "lost by 1 node (a): no kernel mapping matches"),
        ([drv(), A], [drv(), A, node("b", EL10)], "blocked on 1 node (b): no kernel mapping matches"),
        ([drv(), A], [drv(), node("a", EL9, GPU, "x")], "lost by 1 node (a): does not tolerate x:NoSchedule"),
        (
            [drv(regexp="el"), A],
            [drv(regexp="el"), node("a", EL10)],
            f"reloaded on 1 node (a): r/drv:1-{EL10} for kernel {EL10}",
        ),
        (
            [drv(), A],
            [drv(image="r/drv:2"), A],
            f"reloaded on 1 node (a): r/drv:2 in place of r/drv:1-{EL9}",
        ),
        (
            [drv(), A],
            [drv(modprobe={"moduleName": "drv", "parameters": ["x"]}), A],
            "reloaded on 1 node (a): another modprobe",
        ),
        (
            [drv(), A],
            [drv(imagePullPolicy="Always", inTreeModulesToRemove=["old"]), A],
            "reloaded on 1 node (a): another inTreeModulesToRemove, imagePullPolicy",
        ),
    ],
)
def test_what_becomes_of_nodes(old: list[Manifest], new: list[Manifest], expected: str) -> None:
    assert message(old, new) == expected


def test_what_is_no_effect() -> None:
    same = drv(modprobe={"moduleName": "drv", "dirName": "/opt"})
    assert fates([drv(), A], [same, A]) == {}
    assert fates([drv(), A], [edited(drv(), ("spec.tolerations", [{"operator": "Exists"}])), A]) == {}
    assert fates([drv(), node("a", EL10)], [drv(), node("a", EL10)]) == {}, "it had none before"
    assert fates([drv()], [drv(image="r/drv:2")]) == {}, "no node is known"


def test_another_module_in_its_place() -> None:
    assert fates([drv("one"), A, B], [drv("two"), A]) == {"reloaded": ("a",), "lost": ("b",), "gained": ("a",)}
    assert message([drv("one"), A], [drv("two"), A], "one") == "reloaded on 1 node (a): Module kmm/two takes its place"


def test_another_module_takes_the_place_of_what_was_loaded_before() -> None:
    """The Module that leaves a node changes what it would load: that is not on the node, and nobody replaces it."""

    def loading(name: str, labels: dict[str, str], *modules: str) -> Manifest:
        order = {"modulesLoadingOrder": list(modules)} if len(modules) > 1 else {}
        return drv(name, labels, modprobe={"moduleName": modules[0], **order})

    old, gone = [loading("one", GPU, "k"), A], {"gpu": "z"}
    assert fates(old, [loading("one", gone, "l"), loading("two", GPU, "k"), A])["reloaded"] == ("a",)
    assert fates(old, [loading("one", gone, "l"), loading("two", GPU, "l"), A])["lost"] == ("a",)
    both = [loading("one", GPU, "k", "l"), A]
    assert fates(both, [loading("two", GPU, "k"), A])["lost"] == ("a",), "nobody loads l any more"
    assert fates(both, [loading("two", GPU, "k", "l"), A])["reloaded"] == ("a",)


LABEL = "kmm.node.kubernetes.io/version-module.kmm.drv"
ON_1, ON_2, ON_3, ON_NONE = (node("a", EL9, {**GPU, LABEL: value}) for value in ("1", "2", "3", ""))
ONE, TWO = drv(version="1"), drv(version="2", image="r/drv:2")
BROKEN = drv(image="r/drv:${KERNEL_X")
ODD = node("n2", "6.9el9")


CORDON = "node.kubernetes.io/unschedulable"


def test_a_plugin_alone_runs_on_a_node_that_is_cordoned() -> None:
    """Its DaemonSet tolerates what Kubernetes adds for every DaemonSet; it was said to wait, and to be lost."""
    plugin = edited(drv(), ("spec.moduleLoader", None), ("spec.devicePlugin", {"container": {"image": "r/p:1"}}))
    cordoned, unready = (node("a", EL9, GPU, key) for key in (CORDON, "node.kubernetes.io/not-ready"))
    assert fates([cordoned], [plugin, cordoned]) == {"gained": ("a",)}
    assert fates([plugin, A], [plugin, cordoned]) == {}
    assert fates([unready], [plugin, unready]) == {}, "the taint NoSchedule keeps a new pod off"
    assert fates([A], [plugin, A]) == {"gained": ("a",)}


def test_a_cordon_unloads_and_lets_nothing_load() -> None:
    """KMM sees the taint of a cordon as any other; it says nothing of the fleet, so it is no error of the Module."""
    cordoned = node("a", EL9, GPU, CORDON)
    assert fates([drv(), A], [drv(), cordoned]) == {"lost": ("a",)}
    assert f"waits while the node is cordoned ({CORDON}:NoSchedule)" in message([drv(), A], [drv(), cordoned])
    assert fates([cordoned], [drv(), cordoned]) == {"waiting": ("a",)}
    assert fates([drv(), cordoned], [drv(), A]) == {"gained": ("a",)}
    assert fates([drv(), cordoned], [drv(image="r/other"), cordoned]) == {}
    tolerant = edited(drv(), ("spec.tolerations", [{"key": CORDON, "operator": "Exists"}]))
    assert fates([tolerant, A], [tolerant, cordoned]) == {}
    full = node("a", EL9, GPU, "node.kubernetes.io/disk-pressure")
    assert fates([drv(), A], [drv(), full]) == {}, "KMM 2.6 adds this toleration by itself"


ENDING = edited(drv(), ("metadata.deletionTimestamp", "2026-11-24T00:00:00Z"))


def test_a_module_that_is_being_deleted_is_unloaded() -> None:
    assert fates([drv(), A], [ENDING, A]) == {"lost": ("a",)}
    assert "is being deleted" in message([drv(), A], [ENDING, A])
    assert fates([A], [ENDING, A]) == {"blocked": ("a",)}


def test_an_ordered_upgrade() -> None:
    assert fates([ONE, ON_1], [TWO, ON_1]) == {"kept": ("a",)}
    assert fates([ONE, ON_1], [TWO, ON_2]) == {"reloaded": ("a",)}
    assert fates([TWO, ON_1], [TWO, ON_2]) == {"unknown": ("a",)}
    assert "whether version 1 was loaded before is not known" in message([TWO, ON_1], [TWO, ON_2])
    assert "lost by 1 node (a): not loaded until" in message([ONE, ON_1], [TWO, A])


LOST = {
    "roll back by the label": ([TWO, ON_2], [TWO, ON_1]),
    "the label before the version": ([ONE, ON_1], [ONE, ON_2]),
    "a typo": ([ONE, ON_1], [TWO, ON_3]),
    "a typo in the second step": ([TWO, ON_1], [TWO, ON_3]),
    "an empty label": ([ONE, ON_1], [ONE, ON_NONE]),
    "a reboot with the old version": ([ONE, ON_1], [TWO, edited(ON_1, ("status.nodeInfo.kernelVersion", EL9 + ".1"))]),
    "a reboot in the second step": ([TWO, ON_1], [TWO, edited(ON_1, ("status.nodeInfo.kernelVersion", EL9 + ".1"))]),
}


@pytest.mark.parametrize(("old", "new"), LOST.values(), ids=LOST)
def test_a_driver_that_is_lost_is_not_kept(old: list[Manifest], new: list[Manifest]) -> None:
    """Each was "kept as it is", or "unloaded and loaded again"."""
    [effect] = changes(old, new)
    assert (effect.word, effect.is_short) == ("lost", True)


def test_why_a_moved_label_loses_the_driver() -> None:
    assert message([ONE, ON_1], [ONE, ON_2]) == (
        "lost by 1 node (a): its version label moved from 1 to 2, which is not the Module's version 1, so KMM unloads "
        "it and loads nothing"
    )
    assert "moved from 1 to 3, which is not the Module's version 2" in message(*LOST["a typo in the second step"])
    old_image = f"after the reboot KMM loads r/drv:1-{EL9}, made for kernel {EL9}, on kernel {EL9}.1"
    assert old_image in message(*LOST["a reboot with the old version"])
    assert message(*LOST["a reboot in the second step"]) == (
        f"lost by 1 node (a): its version label names 1 while it boots kernel {EL9}.1, so after the reboot KMM loads "
        f"what it has of version 1, made for kernel {EL9}; whether that is loaded is not known"
    )


@pytest.mark.parametrize("is_added", [True, False])
def test_a_version_that_is_new_or_gone_is_refused_so_nothing_is_lost(is_added: bool) -> None:
    """It was `lost` on nodes with another label or none, by labels that had not moved: KMM's webhook refuses it."""
    label = "kmm.node.kubernetes.io/version-module.kmm.drv"
    nodes = [node("none"), *(node(f"v{value}", EL9, {**GPU, label: value}) for value in ("0", "1"))]
    states = [[drv(), *nodes], [drv(version="1"), *nodes]]
    results = changes(*(states if is_added else states[::-1]))
    assert {effect.word for effect in results} == {"blocked"}
    assert {name for effect in results for name in effect.nodes} >= ({"none", "v0", "v1"} if is_added else {"v1"})
    assert all("which KMM's webhook refuses, so what is there stays" in effect.message for effect in results)
    assert not any(part.events for effect in results for part in effect.parts)


@pytest.mark.parametrize(
    ("nodes", "word", "reason"),
    [
        ([A], "lost", "gone from the fleet"),
        ([A, node("b", labels={})], "lost", "no longer selected"),
        ([A, node("b", EL9, GPU, "x")], "lost", "does not tolerate x:NoSchedule"),
        ([A, node("b", EL10)], "lost", "no kernel mapping matches"),
        ([A, B, node("c")], "gained", f"r/drv:1-{EL9}"),
    ],
)
def test_a_refused_version_leaves_the_former_module_to_what_changes_on_nodes(
    nodes: list[Manifest], word: str, reason: str
) -> None:
    """Node b was `blocked` with `what is there stays`, though it had left, or KMM unloads by the Module that stays."""
    results = {effect.word: effect for effect in changes([drv(), A, B], [drv(version="1"), *nodes])}
    assert "a" in results["blocked"].nodes
    assert results[word].nodes == (("c",) if word == "gained" else ("b",))
    assert results[word].reason == reason


def test_what_history_would_tell_is_not_known() -> None:
    """A label that stays is no driver that stays; a new Module is not gained where the label names another version.

    Of a new Module nothing is on a node, whatever the label says.
    """
    assert fates([TWO, ON_1], [TWO, ON_1]) == {}, "nothing happens, whatever is loaded"
    assert fates([A], [TWO, ON_1]) == fates([ON_1], [TWO, ON_1]) == {"waiting": ("a",)}
    assert fates([TWO], [TWO, ON_1]) == {}, "the nodes of the old side are taken to be the same"
    [effect] = changes([A], [TWO, ON_1])
    assert (effect.is_short, effect.reason) == (True, "nothing is loaded until its version label names 2")
    assert fates([TWO, B], [TWO, B, ON_1]) == {"unknown": ("a",)}
    [effect] = changes([TWO, B], [TWO, B, ON_1])
    reason = "nothing is loaded until its version label names 2; whether version 1 was loaded before is not known"
    assert (effect.is_short, effect.reason) == (True, reason)


def test_a_side_without_any_version_label_tells_no_history() -> None:
    """Was "gained by": who labels by hand and does not write it into OLD may have run version 1 there."""
    assert fates([TWO, A], [TWO, ON_2]) == {"unknown": ("a",)}
    assert message([TWO, A], [TWO, ON_2]) == (
        "unknown on 1 node (a): r/drv:2 is loaded; whether another version was loaded before is not known, since no "
        "node had the version label"
    )
    broken = edited(TWO, ("spec.moduleLoader.container.kernelMappings[0].containerImage", "r/drv:${KERNEL_X"))
    assert "what was loaded before KMM failed on a is not known" in message([broken, A], [TWO, A])
    labelled = edited(ON_2, ("metadata.name", "b"))
    assert fates([TWO, A, labelled], [TWO, ON_2, labelled]) == {"gained": ("a",)}


def test_one_node_that_kmm_fails_on_blocks_all() -> None:
    """Each was a change of the other nodes, or no news of them."""
    some = [node(f"n{number}") for number in (0, 1, 3)]
    assert fates([drv(), *some], [drv(image="r/drv:2"), *some, ODD]) == {"blocked": ("n0", "n1", "n2", "n3")}
    assert fates([drv(), *some], [BROKEN, *some]) == {"blocked": ("n0", "n1", "n3")}
    assert message([drv(), *some], [drv(), *some, ODD]) == (
        "blocked by node n2 on 4 nodes (n0, n1, n2, n3): KMM fails on n2 (invalid kernel version 6.9el9: expected at "
        "least three components (major.minor.patch)), and does nothing with the Module on any of the 4 nodes that it "
        "selects"
    )
    assert fates([drv(), *some, ODD], [drv(), *some]) == {"gained": ("n0", "n1", "n3")}, "KMM failed before"
    assert fates([drv(), *some], [BROKEN, node("n0", EL10), *some[1:]])["lost"] == ("n0",), "the old image on EL10"
    assert fates([BROKEN, *some], [*some]) == {"lost": ("n0", "n1", "n3")}, "if it was loaded before"
    doubt = "what was loaded before KMM failed on n2 is not known"
    assert message([drv(), *some, ODD], [drv(image="r/drv:2"), *some]) == (
        f"gained by 3 nodes (n0, n1, n3): r/drv:2; {doubt}"
    )


def test_a_conflict_hides_no_failure() -> None:
    """KMM knows no conflicts: it fails on the node all the same."""
    other = drv("other", {"own": "x"})
    both = node("n2", "6.9el9", {**GPU, "own": "x"})
    assert "blocked by node n2 on 2 nodes (a, n2)" in message([drv(), A], [drv(), other, A, both])


def test_nodes_of_one_side_are_those_of_both() -> None:
    assert fates([drv(), A], [drv(image="r/drv:2")]) == {"reloaded": ("a",)}
    assert fates([drv()], [drv(image="r/drv:2"), A]) == {"reloaded": ("a",)}
    assert fates([], [drv(), A]) == {"gained": ("a",)}


def test_a_side_whose_only_node_is_wrong_has_not_the_nodes_of_the_other() -> None:
    wrong = edited(A, ("status.nodeInfo.kernelVersion", 6.12))
    for old, new in (([drv(), A], [drv(), wrong]), ([drv(), wrong], [drv(), A]), ([drv(), wrong], [drv()])):
        answer, unknown = effects(resources(*old), resources(*new))
        assert answer == []
        assert (
            words(unknown).removeprefix("before this change ").startswith("Node a: its status.nodeInfo.kernelVersion")
        )
        assert words(unknown).startswith("before") == (new[1:] == [A])


def words(doubt: Doubt | None) -> str:
    """Return why effects are not known; "" where they are."""
    return text(doubt.reason) if doubt else ""


def inventory(day: str) -> Manifest:
    """A NodeInventory that is valid until a day."""
    spec = {"validUntil": day, "labelKeys": ["gpu"], "groups": [{"nodes": f"a {EL9} gpu=a\n"}]}
    return {**manifest("krmfn.dev/v1alpha1", "NodeInventory", "nodes", ""), "spec": spec}


def test_a_label_that_the_inventory_does_not_hold_is_said() -> None:
    old, new = resources(drv(labels={"other": "x"})), resources(drv(), inventory("9999-12-31"))
    answer, unknown = effects(old, new)
    assert answer == []
    assert words(unknown).startswith("before this change NodeInventory nodes does not hold the label other")
    _, unknown = effects(new, old)
    assert words(unknown).startswith("NodeInventory nodes does not hold the label other")


@pytest.mark.parametrize("is_of", ["new", "both", "old"])
def test_nodes_of_an_inventory_that_is_expired_are_not_judged(is_of: str) -> None:
    """`check` and `nodes` refuse it: the nodes may have other kernels by now. The old side may be as old."""
    stale, valid = inventory("2020-01-01"), inventory("9999-12-31")
    of_sides: dict[str, tuple[list[Manifest], list[Manifest]]] = {
        "new": ([], [stale]),
        "both": ([stale], []),
        "old": ([stale], [valid]),
    }
    old, new = of_sides[is_of]
    answer, unknown = effects(resources(drv(), *old), resources(drv(image="r/drv:2"), *new))
    assert bool(answer) == (is_of == "old")
    assert ("was valid until 2020-01-01" in words(unknown)) == (is_of != "old")
    assert ("regenerate it with `krmfn inventory`" in words(unknown)) == (is_of != "old")


# An oracle: each node and each Module by itself.

LABELS = st.dictionaries(st.sampled_from("xy"), st.sampled_from("12"), max_size=2)
MODULES = st.builds(
    lambda name, labels, regexp, image, kmod: drv(name, labels, regexp, image=image, modprobe={"moduleName": kmod}),
    st.sampled_from(["m", "n"]),
    LABELS,
    st.sampled_from(["el9", "el10", "el"]),
    st.sampled_from(["r:1", "r:$KERNEL_FULL_VERSION"]),
    st.sampled_from(["k", "l"]),
)
NODES = st.builds(
    lambda name, kernel, labels, taints: node(name, kernel, labels, *taints),
    st.sampled_from("abc"),
    st.sampled_from([EL9, EL10, ""]),
    LABELS,
    st.sampled_from([(), ("t",)]),
)


def unique(manifests: list[Manifest]) -> list[Manifest]:
    return list({manifest["metadata"]["name"]: manifest for manifest in manifests}.values())


SIDES = st.tuples(st.lists(MODULES, max_size=2).map(unique), st.lists(NODES, min_size=1, max_size=3).map(unique))
Side = tuple[list[Manifest], list[Manifest]]


def running(side: Side, name: str) -> tuple[dict[str, Any], dict[str, Any], set[str]]:
    """What runs on a node, by Module; what may run there, its kernel not being known; the Modules that select it."""
    modules, nodes = side
    node = next((node for node in nodes if node["metadata"]["name"] == name), None)
    if node is None:
        return {}, {}, set()
    labels = node["metadata"]["labels"].items()
    selecting = [Module(module) for module in modules if module["spec"]["selector"].items() <= labels]
    kernel = node["status"].get("nodeInfo", {}).get("kernelVersion", "")
    taints = [Taint(taint["key"], "", taint["effect"]) for taint in node["spec"].get("taints", ())]
    runs, may_run = {}, {}
    for driver in selecting:
        clashes = any(other.loads & driver.loads for other in selecting if other is not driver)
        tolerated = all(tolerates(driver.spec.get("tolerations"), taint) for taint in taints)
        resolution = resolver(driver)(kernel) if kernel else None
        if tolerated and not clashes and resolution and resolution.mapping is not None:
            runs[driver.ref.name] = (kernel, resolution.image, driver.modprobe["moduleName"])
        if tolerated and not clashes and not kernel:
            may_run[driver.ref.name] = driver.spec
    return runs, may_run, {driver.ref.name for driver in selecting}


def by_hand(old: Side, new: Side) -> set[tuple[str, str, str]]:
    """The effects as (word, Module, node)."""
    answer = set()
    for name in {node["metadata"]["name"] for node in (*old[1], *new[1])}:
        before, may_run_before, selected_before = running(old, name)
        after, may_run, selected = running(new, name)
        for driver in {*before, *after, *selected, *may_run_before}:
            if driver in may_run or driver in may_run_before:
                word = "" if may_run.get(driver) == may_run_before.get(driver) else "unknown"
            elif driver in before and driver in after:
                word = "" if before[driver] == after[driver] else "reloaded"
            elif driver in after:
                word = "gained"
            elif driver in before and any(kmod == before[driver][2] for _, _, kmod in after.values()):
                word = "reloaded"
            else:
                word = "lost" if driver in before else "" if driver in selected_before else "blocked"
            answer |= {(word, driver, name)} if word else set()
    return answer


@given(SIDES, SIDES)
def test_every_node_by_itself_agrees(old: Side, new: Side) -> None:
    answer = changes([*old[0], *old[1]], [*new[0], *new[1]])
    assert {(effect.word, effect.ref.name, name) for effect in answer for name in effect.nodes} == by_hand(old, new)


# The command.


def diff(folder: Path, *args: str) -> Done:
    return process("krmfn", "diff", "old", "new", *args, "--quiet", cwd=folder)


def fleet(*nodes: Manifest) -> str:
    return "---\n".join(map(emit.dump, nodes))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A config with nodes, twice the same."""
    files = {"dc.yaml": CONFIG, "nodes.yaml": fleet(node("n", EL9, {"a": "b"}), node("o", EL9, {"a": "b"}))}
    return plant(tmp_path, {f"{side}/{name}": text for side in ("old", "new") for name, text in files.items()})


def test_an_inventory_that_moves_is_a_change(folder: Path) -> None:
    assert diff(folder).code == 0
    plant(folder, {"new/nodes.yaml": fleet(node("n", EL10, {"a": "b"}), node("o", EL9, {"a": "b"}))})
    done = diff(folder).ended(1)
    assert done.text.splitlines()[-1] == "no object changes, 1 unchanged, 1 node affected"
    assert done.text.startswith("on the nodes:\n* Module kmm/drv: reloaded on 1 node (n): r.example.com/drv:1-6.12.0")
    assert diff(folder, "--exit-zero").code == diff(folder, "--fail-on", "warning").code == 0
    document = json.loads(diff(folder, "--format", "json").out)
    assert document["changes"] == []
    [effect] = document["effects"]
    image = f"r.example.com/drv:1-{EL10}"
    assert {key: effect[key] for key in ("effect", "nodes", "events", "reason", "before", "after")} == {
        "effect": "reloaded",
        "nodes": ["n"],
        "events": [f"Load {image}"],
        "reason": f"{image} for kernel {EL10}",
        "before": f"r.example.com/drv:1-{EL9}",
        "after": image,
    }
    assert "- Module kmm/drv: reloaded on 1 node (n): " in diff(folder, "--format", "markdown").text


def test_a_kernel_without_a_mapping_is_a_warning(folder: Path) -> None:
    plant(folder, {"new/dc.yaml": CONFIG.replace("a: b}", "a: b}, kernelMappings: [{regexp: 'el10'}]")})
    done = diff(folder, "--fail-on", "warning").ended(1)
    line = "warning: Module kmm/drv: lost by 2 nodes (n, o): no kernel mapping matches [KRM409]"
    assert re.search(rf"^new/dc.yaml:\d+:\d+: {re.escape(line)}$", done.text, re.MULTILINE)
    assert done.text.count("lost by") == 1, "said once"


def test_a_moved_inventory_with_a_base_that_is_the_same(folder: Path) -> None:
    """Fifty thousand nodes are no more than a count and five names."""
    many = [node(f"n{number:03}", EL9, {"a": "b"}) for number in range(300)]
    plant(folder, {"new/nodes.yaml": fleet(*many)})
    assert "gained by 300 nodes (n000, n001, n002, n003, n004 and 295 more): " in diff(folder).text


FOUND: dict[str, tuple[list[Manifest], list[Manifest], dict[str, Any]]] = {
    "a moved label": (
        *LOST["roll back by the label"],
        {"effect": "lost", "events": ["Unload r/drv:2"], "before": "r/drv:2", "after": None},
    ),
    "a reboot with the old version": (
        *LOST["a reboot with the old version"],
        {"effect": "lost", "events": [f"Load r/drv:1-{EL9}"], "after": f"r/drv:1-{EL9}"},
    ),
    "a new Module, labelled otherwise": ([A], [TWO, ON_1], {"effect": "waiting", "events": []}),
    "a new node, labelled otherwise": ([TWO, B], [TWO, B, ON_1], {"effect": "unknown", "events": []}),
    "one node blocks all": ([drv(), A], [drv(image="r/drv:2"), A, ODD], {"effect": "blocked", "nodes": ["a"]}),
    "a cordon": ([drv(), A], [drv(), node("a", EL9, GPU, CORDON)], {"effect": "lost", "after": None}),
    "a node that is cordoned": ([A], [drv(), node("a", EL9, GPU, CORDON)], {"effect": "waiting", "events": []}),
    "a Module that is being deleted": (
        [drv(), A],
        [ENDING, A],
        {"effect": "lost", "events": [f"Unload r/drv:1-{EL9}"]},
    ),
}


@pytest.mark.parametrize(("old", "new", "expected"), FOUND.values(), ids=FOUND)
def test_it_is_found_before_it_happens(
    old: list[Manifest], new: list[Manifest], expected: dict[str, Any], tmp_path: Path
) -> None:
    plant(tmp_path, {"old/all.yaml": fleet(*old), "new/all.yaml": fleet(*new)})
    document = json.loads(diff(tmp_path, "--fail-on", "warning", "--format", "json").ended(1).out)
    assert [note["rule"] for note in document["notes"] if note["rule"] == "KRM409"] == ["KRM409"]
    effect = document["effects"][0]
    assert {key: effect[key] for key in expected} == expected
    assert ("before" in effect) == (effect["effect"] != "unknown")
