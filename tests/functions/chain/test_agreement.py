"""`why`, `nodes` and `report` about the same node of the same dump: they agree, whatever the dump lacks or holds."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

import hypothesis.strategies as st
import pytest
from hypothesis import given
from krmfn_functions.chain import first_line, live_rows, plugin, ready
from krmfn_functions.chain.answers import Fleet, answers
from krmfn_functions.chain.link import IS_LOADED, VERSIONS
from krmfn_functions.chain.live_rows import rows
from krmfn_functions.chain.loading import sentences
from krmfn_functions.chain.progress import progress
from krmfn_functions.fleet import dumped_kinds, live, nodes, table
from krmfn_functions.fleet.coverage import coverage
from krmfn_functions.fleet.drivers import driver
from krmfn_functions.fleet.explanation import Answer, LiveNodes
from krmfn_functions.fleet.table import Row
from krmfn_functions.report import states
from krmfn_functions.sentence import Aside

from krmfn import KrmfnError, Manifest, ResourceList
from krmfn.item import Item
from krmfn.yamltext import emit
from tests.builders import manifest
from tests.functions.chain.clusters import READY, VERSION, find, healthy, image_of, planned, worker
from tests.functions.chain.nights import (
    APPLICATION,
    CRASH,
    FLUX,
    NIGHTS,
    PLANS,
    QUOTA,
    VERSIONED,
    WATCHER,
    played,
    unloaded,
)
from tests.functions.chain.test_chain import APPLYING, KEPT, ODD, retyped
from tests.functions.chain.test_claims import DRIVER, NAMED, claim
from tests.functions.chain.test_engines import CASES


@pytest.fixture(autouse=True, scope="module")
def whole_names() -> Iterator[None]:
    """The words are compared before a first line shortens names: `test_chain` has what that leaves."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(first_line, "FITS", 1_000)
        yield


class Seen(NamedTuple):
    """What the three say of a Module on a node."""

    row: Row
    answers: list[Answer]
    """Those of the Module and of the node itself."""
    state: str
    """As the page of `report` has it."""


def everything(objects: list[Manifest], wanted: Manifest) -> dict[str, Seen]:
    dump, drivers = live.read(copy.deepcopy(objects), ""), [driver(wanted)]
    texts = (emit.dump(item).encode() for item in dump.nodes.values())
    groups = coverage(nodes.read(ResourceList([Item(text, 0, len(text), -2) for text in texts])).nodes, drivers, True)
    fleet, known = Fleet("lab", drivers, groups, dump, {}), dict[str, Seen]()
    of_nodes = {node.name: (node, group.outcomes) for group in groups for node in group.nodes}
    for row in rows(groups, drivers, live=LiveNodes(dump, [], 0, "lab")):
        if row.driver:
            said = answers(fleet, *of_nodes[row.node.name])
            known[row.node.name] = Seen(row, said, states.of_row(row.state, row.loaded, row.reason, row.doubt))
    return known


def check_agreement(seen: Seen, has_configs: bool) -> None:
    is_ready, holds = READY in seen.row.node.labels, all(answer.holds for answer in seen.answers)
    assert seen.row.loaded is is_ready
    if not is_ready:
        assert not holds and seen.state not in (states.LOADED, "planned"), seen
        assert seen.row.is_problem, seen
    if holds:
        assert not seen.row.is_problem, seen
    if has_configs:
        assert seen.row.is_problem is not holds, seen
        assert (seen.state == states.LOADED) <= holds, seen
        text = " ".join(answer.sentence for answer in seen.answers)
        words = seen.row.reason.partition(": not synced yet")[0].rpartition("; ")[2]
        assert words in text or words.startswith("runs "), (words, text)
        fine = [answer.links[0] for answer in seen.answers if answer.links and answer.holds and not answer.headline]
        doubt = "".join(link["reason"] for link in fine if link["state"] == "not known")
        assert seen.row.doubt == doubt and doubt in text, (doubt, seen)
        if doubt:
            assert seen.row.agrees is None and seen.state != states.LOADED, seen


def plan(name: str) -> Manifest:
    return PLANS.get(name) or healthy(2, "2" if name in VERSIONED else "")[0]


@pytest.mark.parametrize("name", sorted(NIGHTS))
def test_they_agree_on_each_night(name: str) -> None:
    for seen in everything(played(name, 3), plan(name)).values():
        check_agreement(seen, True)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("night", ["", "old Module", "plugin crashes", "worker crashes"])
def test_they_agree_whatever_an_engine_says_of_itself(name: str, night: str) -> None:
    objects = [*(played(night, 2) if night else healthy(2)), copy.deepcopy(CASES[name].engine)]
    for seen in everything(objects, planned()).values():
        check_agreement(seen, True)
        assert (seen.state == states.UNSURE) <= bool(CASES[name].words), seen


@pytest.mark.parametrize("engine", [APPLYING, FLUX, APPLICATION])  # the last by the name of the cluster
def test_they_agree_that_an_engine_has_not_applied_all_of_git(engine: Manifest) -> None:
    for seen in everything([*healthy(2), copy.deepcopy(engine)], planned()).values():
        check_agreement(seen, True)
        assert "has not applied all of Git: is this its commit?" in seen.row.doubt
        assert (seen.state, seen.row.is_problem) == (states.UNSURE, False)
        assert table.cells(seen.row)[-1].endswith(f"{image_of()}; {seen.row.doubt}")
        (record,) = [table.record(seen.row)]
        assert (record["agrees"], record["doubt"], record["reason"]) == (None, seen.row.doubt, None)


@given(data=st.data(), name=st.sampled_from(sorted(NIGHTS)), random=st.randoms())
def test_they_agree_whatever_the_dump_lacks_and_whatever_type_its_fields_have(
    data: st.DataObject, name: str, random: Random
) -> None:
    objects = played(name, 2)
    for at in data.draw(st.sets(st.sampled_from(["n1", "n2"]))):
        find(objects, "Node", at)["metadata"]["labels"].pop(READY, None)
    kinds = sorted({item["kind"] for item in objects} - {"Node"})
    lost = data.draw(st.sets(st.sampled_from(kinds), max_size=4))
    objects = [item for item in objects if item["kind"] not in lost]
    engine = data.draw(st.sampled_from(["", *CASES]))
    objects += [CASES[engine].engine] if engine else []
    objects = [item if item["kind"] == "Node" else retyped(item, random) for item in objects]
    try:
        known = everything(objects, plan(name))
    except KrmfnError:
        return
    for seen in known.values():
        check_agreement(seen, any(item["kind"] == "NodeModulesConfig" for item in objects))


WAITING = {"pull goes on", "build is pending", "build runs", "worker runs"}
"""Nights on which nobody has to act."""


@pytest.mark.parametrize("name", sorted(set(NIGHTS) - set(PLANS)))
def test_what_is_broken_on_a_node_is_told_before_a_module_that_is_not_synced(name: str) -> None:
    """A checkout behind the cluster, or before it: KMM works by the Module that is there, so that one is judged."""
    wanted = copy.deepcopy(plan(name))
    wanted["spec"]["moduleLoader"]["container"]["kernelMappings"][0]["containerImage"] = "example.com/simple:9"
    seen = everything(played(name), wanted)["n1"]
    check_agreement(seen, True)
    answer = seen.answers[-1] if seen.answers[0].first == "" else seen.answers[0]
    assert answer.first == "synced" and not answer.holds
    if NIGHTS[name].link == "synced" or name in WAITING:
        assert answer.headline == "synced"
        return
    assert answer.headline == NIGHTS[name].link, answer
    assert NIGHTS[name].reason in answer.sentence and answer.steps[0].startswith(NIGHTS[name].command), answer
    assert any(" 9 here; it has not been synced" in step or "not what Git renders" in step for step in answer.steps[:3])
    assert seen.row.reason.endswith("; not synced yet")


def test_nodes_with_the_same_break_are_counted_and_no_others() -> None:
    """A driver that is loaded beside another Module of the same kernel module has another trouble."""
    objects = played("rival", 4)
    find(objects, "NodeModulesConfig", "n3")["status"]["modules"] = []
    find(objects, "Node", "n3")["metadata"]["labels"].pop(READY)
    by_node = everything(objects, plan("rival"))
    assert "is not loaded: Module vendor/other" in by_node["n1"].answers[0].sentence
    assert "and 1 more node: the same other Module" in by_node["n1"].answers[0].steps
    assert "is loaded, but Module vendor/other" in by_node["n2"].answers[0].sentence
    assert "and 1 more node: the same other Module" in by_node["n2"].answers[0].steps


def without_driver() -> list[Manifest]:
    """A cluster with an object of each kind that a dump has, in which nothing is loaded on n1."""
    objects = [*healthy(2), QUOTA, APPLICATION, FLUX, WATCHER, worker("Load", **CRASH)]
    unloaded(objects)
    builds = {"status": {"images": [{"image": image_of(), "action": "BuildImage", "status": "Success"}]}}
    event = {"type": "Warning", "reason": "r", "message": "m", "involvedObject": {"namespace": "kmm", "name": "p"}}
    build = {**manifest("kmm.sigs.x-k8s.io/v1beta1", "ModuleBuildSignConfig", "simple"), **builds}
    return [*objects, NAMED, claim(DRIVER), build, {**manifest("v1", "Event", "e"), **event}]


KINDS = sorted({item["kind"] for item in without_driver()})


def test_the_cluster_has_every_kind_that_a_dump_has() -> None:
    assert {kind.kind for kind in dumped_kinds.KINDS} == {*KINDS}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of each field below a value, but for what an object is called."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in pairs:
        if key not in KEPT:
            yield (*path, key)
        yield from places(part, (*path, key))


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_may_be_missing_and_each_field_of_it_have_any_type(kind: str) -> None:
    """The node without the ready label is fine in none of them, and all say the same."""
    whole = without_driver()
    dumps = [[item for item in whole if item["kind"] != kind]] if kind != "Node" else []
    for at, item in enumerate(whole):
        for path in places(item) if item["kind"] == kind else ():
            for odd in ODD:
                changed = copy.deepcopy(item)
                holder = changed
                for key in path[:-1]:
                    holder = holder[key]
                holder[path[-1]] = odd
                dumps.append([*whole[:at], changed, *whole[at + 1 :]])
    is_judged = False
    for objects in dumps:
        try:
            known = everything(objects, plan("worker crashes"))
        except KrmfnError:  # a Node that is none
            assert kind == "Node"
            continue
        for seen in known.values():
            is_judged = True
            check_agreement(seen, any(item["kind"] == "NodeModulesConfig" for item in objects))
    assert is_judged


WORDS = {"no label": "without label", "unknown": "unknown version 9", "held": "stuck", "cordoned": "waiting: n"}
WORDS |= {"not loaded": "version 2"}
STEPS = st.sampled_from(["done", "waits", *WORDS])


@given(st.lists(STEPS, min_size=1, max_size=5))
def test_the_numbers_of_an_upgrade_add_up(steps: list[str]) -> None:
    objects = healthy(len(steps), "2")
    objects[0] = wanted = planned("3")
    for at, step in enumerate(steps, 1):
        play(step, find(objects, "Node", f"n{at}"), find(objects, "NodeModulesConfig", f"n{at}"))
    upgraded = [seen.row for seen in everything(objects, wanted).values()]
    text = "".join(progress(upgraded))
    planned_and_loaded = next(sentences(upgraded, LiveNodes(live.read(objects, ""), [], 0)))
    loaded = sum(READY in find(objects, "Node", f"n{at}")["metadata"]["labels"] for at in range(1, len(steps) + 1))
    assert planned_and_loaded.startswith(f"planned {len(steps)}, loaded {loaded}"), planned_and_loaded
    if {*steps} == {"done"}:
        assert text == ""
        return
    head, *slips = text.split("; ")
    assert head == f"kmm/simple 3: {steps.count('done')} of {len(steps)}"
    for step, word in WORDS.items():
        names = [f"n{at}" for at, other in enumerate(steps, 1) if other == step]
        (slip,) = [slip for slip in slips if word in slip] or [""]
        assert bool(slip) is bool(names) and all(name in slip for name in names[:5]), (step, text)
    waiting = steps.count("waits")
    assert (f"waiting: {waiting}" in slips) is bool(waiting)


def play(step: str, node: Any, config: Any) -> None:
    """Put a node into a step of the upgrade from 2 to 3."""
    labels = node["metadata"]["labels"]
    new = {"containerImage": image_of("3"), "kernelVersion": config["spec"]["modules"][0]["config"]["kernelVersion"]}
    if step in ("done", "held", "cordoned"):
        labels[VERSION] = "3"
        config["spec"]["modules"][0]["config"] = new
    if step == "done":
        config["status"]["modules"][0]["config"] = new
    if step == "cordoned":
        node["spec"]["taints"] = [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]
    if step == "unknown":
        labels[VERSION] = "9"
    if step == "no label":
        labels.pop(VERSION)
    if step in ("no label", "unknown", "not loaded"):
        labels.pop(READY)
        config["status"]["modules"] = []


@pytest.mark.parametrize("name", sorted(NIGHTS))
def test_they_agree_on_each_night_of_which_kmms_own_objects_are_missing(name: str) -> None:
    """A build goes on beside a driver that has its ready label: nobody has to act, so it is no problem for anybody."""
    lost = ("Module", "NodeModulesConfig", "ModuleImagesConfig")
    for kinds in (lost, lost[1:], lost[1:2], ("Pod",)):
        objects = [item for item in played(name, 2) if item["kind"] not in kinds]
        for seen in everything(objects, plan(name)).values():
            check_agreement(seen, "NodeModulesConfig" not in kinds)


@pytest.mark.parametrize("name", ["plugin crashes", "own DaemonSet", "ready label"])
def test_a_row_leaves_out_that_the_driver_is_loaded_in_whatever_words(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has a column for that, and an answer has none."""
    objects, wanted = played(name, 2), plan(name)
    plain = everything(objects, wanted)["n1"]
    for module in (plugin, ready):
        monkeypatch.setattr(module, "IS_LOADED", Aside("is up, yet ", IS_LOADED.about))
    reworded = everything(objects, wanted)["n1"]
    assert (reworded.row.reason, reworded.row.short_reason) == (plain.row.reason, plain.row.short_reason)
    sentences = [answer.sentence.replace(str(IS_LOADED), "is up, yet ") for answer in plain.answers]
    assert sentences == [answer.sentence for answer in reworded.answers] and "is up, yet " in sentences[-1]


def test_a_slip_leaves_out_the_versions_in_whatever_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line that it is in names the wanted one."""
    objects, wanted = healthy(2), copy.deepcopy(planned())
    mapping = wanted["spec"]["moduleLoader"]["container"]["kernelMappings"][0]
    mapping["containerImage"] = "example.com/simple:9-$KERNEL_FULL_VERSION"
    assert everything(objects, wanted)["n1"].row.reason == "runs 1, wanted 9: not synced yet"
    monkeypatch.setattr(live_rows, "versions", lambda old, new: (Aside("has another one: ", VERSIONS),))
    row = everything(objects, wanted)["n1"].row
    assert (row.reason, row.short_reason) == ("has another one: not synced yet", "not synced yet")
