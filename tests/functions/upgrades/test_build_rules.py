"""KRM412 where the nodes are known: only what was built for one of their kernels stays in use."""

from __future__ import annotations

import pytest
from krmfn_functions.plan import plan
from krmfn_functions.upgrades.notes import notes

from krmfn import Manifest
from tests.builders import edited, module
from tests.functions.upgrades.test_change_rules import BUILD, dockerfile, hub
from tests.functions.upgrades.test_node_effects import EL9, EL10, GPU, node, resources

IMAGE = "r/drv:1-$KERNEL_FULL_VERSION"


def drv(*mappings: Manifest) -> Manifest:
    entries = mappings or ({"regexp": "^5", "containerImage": IMAGE},)
    return module(*entries, name="drv", selector=GPU, build=BUILD)


def said(old: list[Manifest], new: list[Manifest]) -> list[str]:
    sides = resources(*old), resources(*new)
    found = notes(plan(old, new), sides[1], knows_nodes=True, before=sides[0])
    return [finding.message for finding in found if finding.rule == "KRM412"]


OLD_FILE, NEW_FILE = dockerfile("FROM a"), dockerfile("FROM b")
STAYS = "the Dockerfile changed, but the image keeps its name: KMM makes only what the registry lacks, so the "
STAYS += "old one stays in use for "
LITERAL = {"literal": EL9, "containerImage": f"r/drv:1-{EL9}"}


@pytest.mark.parametrize(
    ("modules", "nodes", "expected"),
    [
        ((drv(), drv()), [node("a")], f"kernel {EL9}"),
        ((drv(), drv()), [node("a"), node("b", EL10)], f"kernel {EL9}"),
        ((drv({"regexp": ".", "containerImage": IMAGE}),) * 2, [node("a"), node("b", EL10)], f"kernels {EL9}, {EL10}"),
        ((drv(), drv(LITERAL)), [node("a")], f"kernel {EL9}"),
        ((drv(), drv()), [node("a", f"{EL9}+")], f"kernel {EL9}"),
        ((drv(), drv()), [node("a", "")], "kernels of regexp ^5"),
        ((hub(drv()), hub(drv())), [node("a", EL10)], "kernels of regexp ^5"),
    ],
    ids=["one", "one of two", "both", "a mapping in place of another", "a trailing plus", "no kernel known", "a hub"],
)
def test_the_kernels_of_nodes_are_named(
    modules: tuple[Manifest, Manifest], nodes: list[Manifest], expected: str
) -> None:
    old, new = modules
    assert said([old, OLD_FILE, *nodes], [new, NEW_FILE, *nodes]) == [STAYS + expected]


@pytest.mark.parametrize(
    ("new", "nodes"),
    [
        (drv(), [node("a", EL10)]),
        (drv(), [node("a", labels={})]),
        (drv({**LITERAL, "containerImage": f"r/drv:2-{EL9}"}), [node("a")]),
        (drv({"regexp": "^6", "containerImage": IMAGE}), [node("a")]),
        (drv({"regexp": "^5", "containerImage": "r/drv:1-${KERNEL_FULL_VERSION"}), [node("a")]),
    ],
    ids=["another kernel", "not selected", "another image", "no mapping any more", "KMM fails"],
)
def test_what_was_built_for_no_node_is_silent(new: Manifest, nodes: list[Manifest]) -> None:
    assert said([drv(), OLD_FILE, *nodes], [new, NEW_FILE, *nodes]) == []


def test_the_nodes_of_both_sides_count() -> None:
    """The image of a node that goes, or is no longer selected, is in the registry."""
    gone = edited(node("a"), ("metadata.labels", {}))
    assert said([drv(), OLD_FILE, node("a")], [drv(), NEW_FILE, gone]) == [f"{STAYS}kernel {EL9}"]
    assert said([drv(), OLD_FILE, node("a")], [drv(), NEW_FILE, node("b", EL10)]) == [f"{STAYS}kernel {EL9}"]
