"""What KMM does next: each rule of its controllers by a directed case, and all recorded fleets where they are there."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import predictions
import pytest
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.fleet import moves
from krmfn_functions.kmm.module import VERSION_LABELS, version_label
from krmfn_functions.kmm.scheduling import Event, View, play

from krmfn import Manifest
from tests.builders import edited, manifest, module

FLEETS = os.environ.get("KRMFN_KMM_FLEETS", "")
"""A folder with what KMM's controllers did with random fleets, and the program compare.py; "" without one."""
recorded = pytest.mark.skipif(not FLEETS, reason="KRMFN_KMM_FLEETS names no folder")

EL9, NEXT = "5.14.0-427.el9.x86_64", "5.14.0-570.el9.x86_64"
LABEL = version_label("kmm", "drv")
ENTRY = {"containerImage": "i", "kernelVersion": "6.1.0"}
Phase = dict[str, list[Manifest]]


def node(kernel: str = EL9, label: str | None = None, name: str = "a", *taints: str, **labels: str) -> Manifest:
    version = {} if label is None else {LABEL: label}
    head = manifest("v1", "Node", name, "", labels={"gpu": "a", **version, **labels})
    spec = {"taints": [{"key": f"node.kubernetes.io/{taint}", "effect": "NoSchedule"} for taint in taints]}
    return {**head, "spec": spec, "status": {"nodeInfo": {"kernelVersion": kernel}}}


def drv(image: str = "r/drv:1-$KERNEL_FULL_VERSION", **container: Any) -> Manifest:
    mapping = {"regexp": container.pop("regexp", "el9"), "containerImage": image, **container.pop("mapping", {})}
    return edited(module(mapping, name="drv", **container), ("spec.selector", {"gpu": "a"}))


def divided(phase: list[Manifest]) -> Phase:
    return {f"{kind.lower()}s": [item for item in phase if item["kind"] == kind] for kind in ("Module", "Node")}


def rows_of(phases: list[Phase]) -> list[Any]:
    """What is predicted of each phase, node and Module."""
    return list(predictions.predictions({"id": "", "phases": phases}))


def fate(*phases: list[Manifest], name: str = "a") -> tuple[str, list[str], str | None]:
    """The effect, the events and the image that is loaded after the last phase."""
    split = [divided(phase) for phase in phases]
    [last] = [row["prediction"] for row in rows_of(split) if (row["phase"], row["node"]) == (len(phases) - 1, name)]
    return last["effect"], last["events"], last["loaded"]


ONE, TWO = f"r/drv:1-{EL9}", "r/drv:2"
V1, V2 = drv(version="1"), drv(TWO, version="2")
BROKEN = drv("r/drv:${KERNEL_X")
NO_LOADER = edited(drv(), ("spec.moduleLoader", None))
SWAPPED = ["Unload " + ONE, "Load " + TWO]
UP, DOWN = ["Load " + ONE], ["Unload " + ONE]
CORDONED, SHORT = node(EL9, None, "a", "unschedulable"), node("6", None, "b")
PLAIN, LOOSE = {"moduleName": "simple", "dirName": "/opt"}, {"insecure": True}
ON_1, ON_2 = node(label="1"), node(label="2")
CASES: dict[str, tuple[list[list[Manifest]], tuple[str, list[str], str | None]]] = {
    "first": ([[drv(), node()]], ("gained", UP, ONE)),
    "nothing changes": ([[drv(), node()], [drv(), node()]], ("kept", [], ONE)),
    "deleted": ([[drv(), node()], [node()]], ("lost", DOWN, None)),
    "a node that is gone": ([[drv(), node()], [drv()]], ("lost", [], None)),
    "another image": ([[drv(), node()], [drv(TWO), node()]], ("reloaded", SWAPPED, TWO)),
    "another list": ([[drv(), node()], [drv(inTreeModulesToRemove=["x"]), node()]], ("reloaded", [*DOWN, *UP], ONE)),
    "a reboot": ([[drv(), node()], [drv(), node(NEXT)]], ("reloaded", [f"Load r/drv:1-{NEXT}"], f"r/drv:1-{NEXT}")),
    "a reboot without a mapping": ([[drv(), node()], [drv(), node("6.12.0-1.el10")]], ("lost", [], None)),
    "no mapping any more": ([[drv(), node()], [drv(regexp="el8"), node()]], ("lost", DOWN, None)),
    "ordered, no label": ([[V1, node()]], ("waiting", [], None)),
    "ordered, an empty label": ([[V1, node(label="")]], ("waiting", [], None)),
    "ordered": ([[V1, ON_1]], ("gained", UP, ONE)),
    "ordered, labelled otherwise": ([[V2, ON_1]], ("waiting", [], None)),
    "the version first": ([[V1, ON_1], [V2, ON_1]], ("kept", [], ONE)),
    "then the label": ([[V1, ON_1], [V2, ON_1], [V2, ON_2]], ("reloaded", SWAPPED, TWO)),
    "both at once": ([[V1, ON_1], [V2, ON_2]], ("reloaded", SWAPPED, TWO)),
    "the label first": ([[V1, ON_1], [V1, ON_2]], ("lost", DOWN, None)),
    "back by the label": ([[V1, ON_1], [V2, ON_2], [V2, ON_1]], ("lost", ["Unload " + TWO], None)),
    "the label taken off": ([[V1, ON_1], [V1, node()]], ("lost", DOWN, None)),
    "a reboot with the old version": ([[V1, ON_1], [V2, ON_1], [V2, node(NEXT, "1")]], ("lost", UP, ONE)),
    "unclosed": ([[drv(), node()], [BROKEN, node()]], ("blocked", [], ONE)),
    "unclosed, no longer selected": ([[drv(), node()], [BROKEN, node(gpu="b"), node(name="b")]], ("blocked", [], ONE)),
    "unclosed, then deleted": ([[drv(), node()], [BROKEN, node()], [node()]], ("lost", DOWN, None)),
    "one node blocks all": ([[drv(regexp=".")], [drv(regexp="."), node(), SHORT]], ("blocked", [], None)),
    "one that is cordoned does not": (
        [[drv(regexp="."), node(), edited(CORDONED, ("metadata.name", "b"))]],
        ("gained", UP, ONE),
    ),
    "a reboot while it fails": ([[drv(), node()], [BROKEN, node(NEXT)]], ("lost", UP, ONE)),
    "no loader any more": ([[drv(), node()], [NO_LOADER, node()]], ("kept", [], ONE)),
    "a cordon": ([[drv(), node()], [drv(), CORDONED]], ("lost", DOWN, None)),
    "cordoned": ([[drv(), CORDONED]], ("waiting", [], None)),
    "a full disk": ([[drv(), node()], [drv(), node(EL9, None, "a", "disk-pressure")]], ("kept", [], ONE)),
    "no parameters": ([[drv(), node()], [drv(modprobe={**PLAIN, "parameters": []}), node()]], ("kept", [], ONE)),
    "two names of one setting": (
        [[drv(registryTLS=LOOSE), node()], [drv(registryTLS={"insecureSkipTLSVerify": True}), node()]],
        ("kept", [], ONE),
    ),
    "secure again": (
        [[drv(registryTLS=LOOSE), node()], [drv(registryTLS=LOOSE, mapping={"registryTLS": {}}), node()]],
        ("reloaded", [*DOWN, *UP], ONE),
    ),
}


@pytest.mark.parametrize(("phases", "expected"), CASES.values(), ids=CASES)
def test_what_kmm_does_next(phases: list[list[Manifest]], expected: tuple[str, list[str], str | None]) -> None:
    assert fate(*phases) == expected


@pytest.mark.parametrize(
    ("action", "reason"),
    [("remove", "the node is gone"), ("leave", "its version label moved from 1 to 2, which is not")],
)
def test_why_a_module_is_lost_whose_label_moves(action: Any, reason: str) -> None:
    old, new = View("load", entry=ENTRY, label="1"), View(action, label="2", version="3", reason="the node is gone")
    move = play(ENTRY, old, new)
    assert (move.effect, move.events, move.reason[: len(reason)]) == ("lost", (Event("Unload", "i"),), reason)
    unknown = play(None, old, new, is_known=False)
    assert (unknown.effect, unknown.reason[: len(reason)]) == ("lost", reason)


LONG = {name: case for name, case in CASES.items() if len(case[0]) > 2}


@pytest.mark.parametrize(("phases", "expected"), LONG.values(), ids=LONG)
def test_a_change_whose_history_is_hidden(
    phases: list[list[Manifest]], expected: tuple[str, list[str], str | None]
) -> None:
    """The two last phases, as `diff` sees them: what was loaded before them is not made up."""
    old, new = (predictions.side(divided(phase)) for phase in phases[-2:])
    [[moved]] = moves.transitions(old, new)
    assert moved.move.effect in (expected[0], "unknown")


PHASES = st.builds(
    lambda image, version, label, kernel: divided([drv(image, version=version), node(kernel, label)]),
    st.sampled_from(["r:1", "r:1", "r:2-$KERNEL_FULL_VERSION", "r:${KERNEL_X"]),
    *(st.sampled_from("12"), st.sampled_from(["1", "2", ""]), st.sampled_from([EL9, EL9, NEXT])),
)


@given(st.lists(PHASES, min_size=4, max_size=8))
def test_what_was_before_is_not_made_up(phases: list[Phase]) -> None:
    """Of a long history `diff` sees two phases: what KMM unloads in the second is not kept, nor gained for certain."""
    expected = [row["prediction"]["events"] for row in rows_of(phases)]
    sides = list(map(predictions.side, phases))
    for old, new, events in zip(sides, sides[1:], expected[1:], strict=False):
        [[moved]] = moves.transitions(old, new)
        is_certain = moved.move.effect == "kept" or (moved.move.effect == "gained" and moved.move.is_known)
        assert not (is_certain and events and events[0].startswith("Unload"))


@cache
def compare() -> Any:
    """Return the program beside the recordings."""
    spec = importlib.util.spec_from_file_location("compare", Path(FLEETS) / "compare.py")
    assert spec
    assert spec.loader
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    return program


def by_key(rows: Iterable[Any]) -> dict[tuple[int, str, str], Any]:
    """Predictions by their phase, node and Module."""
    return {(row["phase"], row["node"], row["module"]): row["prediction"] for row in rows}


@recorded
@pytest.mark.parametrize("version", ["v2.6.0", "main"])
def test_every_recorded_fleet_is_predicted(version: str) -> None:
    """Image, events and effect per phase, node and Module."""
    wrong, number = [], 0
    for case in predictions.cases(Path(FLEETS)):
        predicted = by_key(predictions.predictions(case))
        for row in compare().observed(case, compare().version_of(case, version)):
            answer = compare().differences(row, predicted.pop((row.phase, row.node, row.module)), whole=True)
            wrong += [(row.id, row.phase, row.node, row.module, answer)] if answer else []
            number += 1
        assert predicted == {}
    assert wrong == []
    assert number > 4000


# History that is taken away.

CERTAIN = {"kept", "gained"}
"""The words for no unload."""


def labelled(phase: Phase, other: Phase | None = None) -> Phase:
    """Return a phase whose nodes have the version labels of another one; None: none."""
    labels_of = {node["metadata"]["name"]: node["metadata"]["labels"] for node in other["nodes"]} if other else {}
    nodes = []
    for machine in phase["nodes"]:
        labels, others = machine["metadata"]["labels"], labels_of.get(machine["metadata"]["name"], {})
        kept = {key: value for key, value in labels.items() if not key.startswith(VERSION_LABELS)}
        kept |= {key: value for key, value in others.items() if key.startswith(VERSION_LABELS)}
        nodes.append(edited(machine, ("metadata.labels", kept)))
    return {**phase, "nodes": nodes}


def without_history(first: Phase, second: Phase) -> Iterator[tuple[Phase, Phase]]:
    """Yield both sides of a change with less than what was: see the test."""
    yield labelled(first), labelled(second)
    yield labelled(first), second
    yield labelled(first, second), second
    yield {**first, "nodes": second["nodes"]}, second
    for kind in ("modules", "nodes"):
        for number in range(len(first[kind])):
            yield {**first, kind: first[kind][:number] + first[kind][number + 1 :]}, second
        for number in range(len(second[kind])):
            yield first, {**second, kind: second[kind][:number] + second[kind][number + 1 :]}


@recorded
def test_an_unload_is_never_kept_or_gained_without_history() -> None:
    """Version labels removed from both sides or the first, or those of the second; nodes, or one, or a Module of one.

    Of a pair that is not on the first side at all the same is asked with what is loaded not known.
    """
    number = 0
    for case in predictions.cases(Path(FLEETS)):
        rows = [row for row in compare().observed(case, compare().version_of(case, "v2.6.0")) if row.phase == 1]
        pairs = {(row.node, row.module) for row in rows if any(event["action"] == "Unload" for event in row.events)}
        for sides in without_history(*case["phases"]) if pairs else ():
            old, new = map(predictions.side, sides)
            for moved in chain.from_iterable(moves.transitions(old, new)):
                key = moved.driver.ref.id
                met = {name for name in moved.nodes if (name, "/".join(key[2:])) in pairs}
                is_new = key not in old.drivers or not {(name, None) for name in met} <= old.group_of.keys()
                effect = play(None, None, moved.new, is_known=False).effect if is_new else moved.move.effect
                assert not (met and effect in CERTAIN), (case["id"], met, moved)
                number += len(met)
    assert number > 500


@recorded
def test_a_node_without_a_label_beside_labelled_ones_gains() -> None:
    """No history is hidden where OLD shows one node unlabelled beside labelled ones: KMM has nothing loaded there.

    So `gained` is true of it, and the only word that the recordings take for a node without a label; the model says so,
    played from an empty cluster.
    """
    gained = 0
    for case in (case for case in predictions.cases(Path(FLEETS)) if len(case["phases"]) == 2):
        first, second = case["phases"]
        for number, bare in enumerate(labelled(first)["nodes"]):
            name = bare["metadata"]["name"]
            phases = [{**first, "nodes": [*first["nodes"][:number], bare, *first["nodes"][number + 1 :]]}, second]
            predicted = by_key(rows_of(phases))
            for moved in chain.from_iterable(moves.transitions(*map(predictions.side, phases))):
                is_first = moved.old and moved.old.version and not moved.old.label and moved.move.effect == "gained"
                if is_first and name in moved.nodes:
                    row = predicted[1, name, "/".join(moved.driver.ref.id[2:])]
                    assert (row["effect"], row["events"]) == ("gained", [*map(str, moved.move.events)])
                    gained += 1
    assert gained > 20
