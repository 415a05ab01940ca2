"""Why a live node has a Module, or has it not: the first reason that the dump knows."""

from __future__ import annotations

from typing import Any

import pytest
from krmfn_functions.chain import first_line
from krmfn_functions.chain.answers import Fleet, answers
from krmfn_functions.chain.live_rows import rows
from krmfn_functions.exclusivity.node import Node
from krmfn_functions.fleet import live
from krmfn_functions.fleet.coverage import coverage
from krmfn_functions.fleet.drivers import driver
from krmfn_functions.fleet.explanation import LiveNodes

from krmfn import Manifest
from tests.builders import DROP, edited, manifest, module, node
from tests.functions.fleet.test_live import PLUGIN, pod

KERNEL, IMAGE = "6.1.0-1.x86_64", "example.com/simple:6.1.0-1.x86_64"
READY = "kmm.node.kubernetes.io/kmm.simple.ready"
NODE = edited(node("n", **{READY: ""}), ("status.nodeInfo", {"bootID": "b", "kernelVersion": KERNEL}))


@pytest.fixture(autouse=True)
def whole_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """The words are compared before a first line shortens names: `test_chain` has what that leaves."""
    monkeypatch.setattr(first_line, "FITS", 1_000)


def held(**boot: str) -> dict[str, Any]:
    """A Module as a NodeModulesConfig holds it."""
    return {"namespace": "kmm", "name": "simple", "config": {"containerImage": IMAGE, "kernelVersion": KERNEL}, **boot}


LOADED = {
    **manifest("kmm.sigs.x-k8s.io/v1beta1", "NodeModulesConfig", "n", ""),
    "spec": {"modules": [held()]},
    "status": {"modules": [held(bootId="b")]},
}
OF_PLUGIN = {**PLUGIN, "kmm.node.kubernetes.io/module.name": "simple"}


def seen(module: Manifest, *objects: Manifest) -> tuple[str, tuple[bool | None, str]]:
    """What `why` says behind the names, and what `nodes` says, of a node that a Module selects."""
    facts, drivers = Node("n", {READY: ""}, kernel=KERNEL), [driver(module)]
    groups, dump = coverage([facts], drivers, True), live.read(objects, "")
    ((outcome,),) = (group.outcomes for group in groups)
    (answer,) = answers(Fleet("", drivers, groups, dump, {}), facts, [outcome])
    (row,) = rows(groups, drivers, live=LiveNodes(dump, [], 0))
    return answer.sentence.partition("kmm/simple ")[2], (row.loaded, row.reason)


MADE = module(selector={})


@pytest.mark.parametrize(
    ("objects", "sentence", "holds"),
    [
        ([LOADED], f"is loaded: {IMAGE}", True),
        ([LOADED, MADE], f"is loaded: {IMAGE}", True),
        (
            [LOADED, module(name="other")],
            "is planned, but the Module is not on the cluster: has it been synced?",
            True,
        ),
        (
            [edited(LOADED, ("spec.modules", []))],
            "is not scheduled by KMM; its image is not known",
            True,
        ),
        ([edited(LOADED, ("spec.modules[0].config.containerImage", "i:2"))], f"shall get {IMAGE}, but KMM", True),
        ([edited(LOADED, ("status.modules", []))], "is not loaded: ", True),
        ([edited(LOADED, ("status.modules[0].config.containerImage", "i:1"))], f"runs i:1, wanted {IMAGE}", True),
        ([edited(LOADED, ("status.modules[0].bootId", "a"))], "was loaded before the node's last boot", True),
        ([edited(LOADED, ("status.modules[0].bootId", DROP))], f"was loaded as {IMAGE}, but whether since", True),
        ([], "has its ready label; the loaded image is not known", True),
    ],
)
def test_why_a_module_is_loaded_or_not(objects: list[Manifest], sentence: str, holds: bool) -> None:
    answer, (is_there, _) = seen(MADE, NODE, *objects)
    assert answer.startswith(sentence), answer
    assert is_there is holds


def test_what_is_wrong_beside_a_module_that_is_loaded() -> None:
    module = edited(MADE, ("spec.devicePlugin", {"container": {"image": "i:1"}}))
    wrong = "its device plugin is not running: the pod kmm/p is pending"
    pending = pod(OF_PLUGIN, phase="Pending")
    assert seen(module, NODE, LOADED, pending) == (f"is loaded, but {wrong}", (True, wrong))
    gap = "; not known: the dump has no modules"
    assert seen(module, NODE, LOADED, pod(OF_PLUGIN, phase="Running")) == (f"is loaded: {IMAGE}{gap}", (True, ""))


@pytest.mark.parametrize(
    ("pods", "sentence", "wrong"),
    [
        ([{"phase": "Running"}], "its plugin is running", ""),
        ([{"phase": "Pending"}], "its device plugin is not running: the pod kmm/p is pending", None),
        ([], "whether its plugin is running is not known: add `pods` to the dump", None),
    ],
)
def test_a_plugin_alone_is_running_or_not(pods: list[dict[str, Any]], sentence: str, wrong: str | None) -> None:
    module = edited(MADE, ("spec", {"devicePlugin": {"container": {"image": "i:1"}}, "selector": {}}))
    answer, of_node = seen(module, NODE, LOADED, *(pod(OF_PLUGIN, **status) for status in pods))
    assert answer == f"loads nothing, and {sentence}"
    assert of_node == (None, answer if wrong is None else wrong)
    assert seen(module, NODE)[1] == (None, "")
