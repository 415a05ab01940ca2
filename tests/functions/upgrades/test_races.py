"""A node that goes from one Module to another of the same kernel module: in order, or both at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.kmm.module import version_label
from krmfn_functions.plan import plan
from krmfn_functions.upgrades import node_effects
from krmfn_functions.upgrades.notes import notes

from krmfn import Manifest
from krmfn.yamltext import emit
from tests.builders import edited
from tests.commands import process
from tests.functions.upgrades.test_node_effects import EL9, EL10, changes, drv, fates, node, resources
from tests.trees import plant

TRAIN, SERVE = {"use": "train"}, {"use": "serve"}
ONE, TWO = drv("one", TRAIN, image="r/one:1"), drv("two", SERVE, image="r/two:1")
HERE, THERE = node("a", EL9, TRAIN), node("a", EL9, SERVE)
OTHER = node("b", EL9, SERVE)
"""A node of Two, whose image KMM has looked for."""
PER_KERNEL = drv("two", SERVE, regexp=".", image="r/two:1-$KERNEL_FULL_VERSION")

MODULE = "spec.moduleLoader.container.modprobe.moduleName"
DASHED = [edited(ONE, (MODULE, "a-b")), edited(TWO, (MODULE, "a_b"))]
NOWHERE, FOR_TRAIN = edited(ONE, ("spec.selector", {"x": "y"})), drv("two", TRAIN, image="r/two:1")
REBOOTED = node("a", EL10, SERVE)

RACES: dict[str, tuple[list[Manifest], list[Manifest]]] = {
    "a pool": ([ONE, TWO, HERE, OTHER], [ONE, TWO, THERE, OTHER]),
    "the one is deleted": ([ONE, TWO, HERE, OTHER], [TWO, THERE, OTHER]),
    "the other selects it": ([ONE, TWO, HERE, OTHER], [NOWHERE, FOR_TRAIN, HERE]),
    "the node of its image goes": ([ONE, TWO, HERE, OTHER], [ONE, TWO, THERE]),
    "a name with a dash": ([*DASHED, HERE, OTHER], [*DASHED, THERE, OTHER]),
}


@pytest.mark.parametrize("name", RACES)
def test_a_known_image_is_loaded_beside_the_unload(name: str) -> None:
    """Both effects say so, with the order in which the driver is lost."""
    old, new = RACES[name]
    effects = [effect for effect in changes(old, new) if "a" in effect.nodes]
    assert [(effect.word, effect.is_short) for effect in effects] == [("unknown", False)] * 2
    assert {effect.parts[0].events for effect in effects} == {("Load r/two:1", "Unload r/one:1")}
    assert effects[0].reason == (
        "Module kmm/two loads the same kernel module at once; the driver may be gone while the node looks ready"
    )
    sides = resources(*old), resources(*new)
    planned = plan(old, new)._replace(effects=tuple(node_effects.effects(*sides)[0]))
    [finding] = [finding for finding in notes(planned, sides[1], True, sides[0]) if finding.rule == "KRM414"]
    assert (finding.severity, str(finding.ref)) == ("warning", "Module kmm/two")
    assert finding.text == (
        "loads its kernel module on 1 node (a) while Module kmm/one unloads it: if it loads first, no driver is left "
        "and the nodes look ready; deselect the nodes there first, wait for the unload, then select them here"
    )


ORDERED: dict[str, tuple[list[Manifest], list[Manifest], dict[str, tuple[str, ...]]]] = {
    "an image that is new": ([ONE, TWO, HERE], [ONE, TWO, THERE], {"reloaded": ("a",), "gained": ("a",)}),
    "a new Module": ([ONE, HERE], [TWO, THERE, OTHER], {"reloaded": ("a",), "gained": ("a", "b")}),
    "an image of another kernel": (
        [ONE, PER_KERNEL, HERE, node("b", EL10, SERVE)],
        [ONE, PER_KERNEL, THERE, node("b", EL10, SERVE)],
        {"reloaded": ("a",), "gained": ("a",)},
    ),
    "an image that changes with it": (
        [ONE, TWO, HERE, OTHER],
        [ONE, drv("two", SERVE, image="r/two:2"), THERE],
        {"reloaded": ("a",), "gained": ("a",), "lost": ("b",)},
    ),
    "an image that a tainted node would need": (
        [ONE, TWO, HERE, node("b", EL9, SERVE, "gpu")],
        [ONE, TWO, THERE, node("b", EL9, SERVE, "gpu")],
        {"reloaded": ("a",), "gained": ("a",)},
    ),
    "another kernel module": (
        [ONE, edited(TWO, (MODULE, "other")), HERE, OTHER],
        [ONE, edited(TWO, (MODULE, "other")), THERE, OTHER],
        {"lost": ("a",), "gained": ("a",)},
    ),
    "a reboot in between": (
        [ONE, PER_KERNEL, HERE],
        [ONE, PER_KERNEL, REBOOTED],
        {"reloaded": ("a",), "gained": ("a",)},
    ),
}


@pytest.mark.parametrize("name", ORDERED)
def test_an_image_that_is_looked_for_first_is_loaded_after_the_unload(name: str) -> None:
    old, new, expected = ORDERED[name]
    assert fates(old, new) == expected
    assert not any(effect.rival for effect in changes(old, new))


def test_what_another_one_unloads_is_gone_though_it_stays() -> None:
    """Two Modules of one kernel module on one node, of which one goes: its unloader takes the driver of the other."""
    lists = [ONE, FOR_TRAIN, HERE], [FOR_TRAIN, HERE]
    sides = [node_effects.side(cluster, rest) for cluster, rest in _sides(*lists)]
    effects = {effect.ref.name: effect for effect in node_effects.of_sides(*sides)}
    assert (effects["one"].word, effects["two"].word, effects["two"].is_short) == ("lost", "unknown", True)
    assert effects["two"].reason == (
        "Module kmm/one unloads the same kernel module, so the driver is gone while the node looks ready"
    )


def test_two_modules_that_wait_for_an_image_are_not_in_order() -> None:
    """The one unloads `drv` only when its own new image is there, as the other one loads it."""
    other = edited(drv("one", SERVE, image="r/one:2"), (MODULE, "other"))
    words = {
        (effect.ref.name, name): effect.word
        for effect in changes([ONE, TWO, HERE], [other, TWO, THERE])
        for name in effect.nodes
    }
    assert words == {("one", "a"): "unknown", ("two", "a"): "unknown"}


def test_what_is_unloaded_is_what_was_loaded() -> None:
    """A Module that gets another kernel module takes the former one away from the Module that takes it over."""
    other = edited(ONE, (MODULE, "other"))
    words = {
        effect.ref.name: effect.word for effect in changes([ONE, TWO, HERE, OTHER], [other, FOR_TRAIN, HERE, OTHER])
    }
    assert words["one"] == words["two"] == "unknown"


def _words_together(old: list[Manifest], new: list[Manifest]) -> dict[str, str]:
    """The effect on each Module where Modules that exclude each other are on the same nodes."""
    sides = [node_effects.side(cluster, rest) for cluster, rest in _sides(old, new)]
    return {effect.ref.name: effect.word for effect in node_effects.of_sides(*sides)}


VERSION = {version_label("kmm", "two"): "2"}


@pytest.mark.parametrize(("lost", "word"), [("drv", "unknown"), ("other", "kept")])
def test_what_kmm_leaves_on_a_node_is_what_was_loaded_there(lost: str, word: str) -> None:
    """The Module has another kernel module now, and the node's version label still names its former version."""
    one, two = drv("one", TRAIN, modprobe={"moduleName": lost}), drv("two", TRAIN, version="2")
    left = drv("two", TRAIN, version="1", modprobe={"moduleName": "other"})
    labelled = node("a", EL9, TRAIN | VERSION)
    assert _words_together([one, two, labelled], [left, labelled]) == {"one": "lost", "two": word}


def test_a_third_module_hides_no_race() -> None:
    """One goes from `drv`, which a third one loads, too, to `other`, which Two unloads at once."""
    one, three = drv("one", TRAIN, image="r/one:1"), drv("three", TRAIN, image="r/three:1")
    two = drv("two", TRAIN, modprobe={"moduleName": "other"})
    after = edited(one, (MODULE, "other"))
    words = _words_together([one, two, three, HERE], [after, three, HERE])
    assert words["one"] == words["three"] == "unknown"


def test_a_label_that_moves_unloads_before_the_image_is_looked_for() -> None:
    """So what waits for its image loads the kernel module after that."""
    one, three = drv("one", TRAIN, version="1"), drv("three", TRAIN, image="r/three:1")
    after = drv("one", TRAIN, image="r/one:2", version="2", modprobe={"moduleName": "other"})
    of_versions = [node("a", EL9, {**TRAIN, version_label("kmm", "one"): version}) for version in "12"]
    new = drv("three", TRAIN, image="r/three:2")
    words = _words_together([one, three, of_versions[0]], [after, new, of_versions[1]])
    assert words == {"one": "reloaded", "three": "reloaded"}


def _sides(*lists: list[Manifest]) -> list[Any]:
    from krmfn_functions.deviceconfig.reading import domain_of
    from krmfn_functions.fleet.cluster import of_list

    off = {"apiVersion": "krmfn.dev/v1alpha1", "kind": "RenderDeviceConfigs", "metadata": {"name": "x"}}
    settings = {**off, "spec": {"exclusivity": {"mode": "off"}}}
    pairs = []
    for items in lists:
        rest = resources(*items)
        rest.function_config = settings
        pairs.append((of_list(rest, domain_of), rest))
    return pairs


@pytest.mark.parametrize(("name", "code"), [("a pool", 1), ("the one is deleted", 1)])
def test_fail_on_lost_does_not_pass(name: str, code: int, tmp_path: Path) -> None:
    old, new = ("---\n".join(map(emit.dump, side)) for side in RACES[name])
    plant(tmp_path, {"old/all.yaml": old, "new/all.yaml": new})
    done = process(
        "krmfn", "diff", str(tmp_path / "old"), str(tmp_path / "new"), "--fail-on", "lost", "--format", "json"
    )
    assert done.code == code
    document = json.loads(done.out)
    assert [note["rule"] for note in document["notes"] if note["rule"] in ("KRM409", "KRM414")] == ["KRM414"]


LABELS = st.sampled_from([TRAIN, SERVE, {}])


@given(st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=4), st.booleans(), st.booleans())
def test_no_move_is_told_as_fine_whose_loader_may_be_first(
    labels: list[tuple[dict[str, str], dict[str, str]]], has_one: bool, has_two: bool
) -> None:
    """Where the unloader of one and the loader of the other run at once, in some order nothing is loaded in the end."""
    drivers = [ONE] * has_one + [TWO] * has_two
    sides = [[*drivers, *(node(f"n{at}", EL9, pair[side]) for at, pair in enumerate(labels))] for side in (0, 1)]
    known = {
        "one": has_one and any(before == TRAIN for before, _ in labels),
        "two": has_two and any(before == SERVE for before, _ in labels),
    }
    words = {(name, effect.ref.name): effect.word for effect in changes(*sides) for name in effect.nodes}
    for at, (before, after) in enumerate(labels):
        if has_one and has_two and before and after and before != after:
            source, target = ("one", "two") if before == TRAIN else ("two", "one")
            expected = ("unknown", "unknown") if known[target] else ("reloaded", "gained")
            assert (words[f"n{at}", source], words[f"n{at}", target]) == expected
