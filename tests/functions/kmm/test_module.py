"""The view of a Module: what each part reads as, also where a manifest is broken, and what a hub makes of one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.kmm import module as names
from krmfn_functions.kmm.lookup import POD_KINDS
from krmfn_functions.kmm.module import KERNEL_VARIABLES, MAPPINGS, VARIABLES, Module, module_of

from krmfn import Manifest
from tests.builders import DROP, edited, leaves, manifest, module

C = "spec.moduleLoader.container"
SIGN = {"keySecret": {"name": "k"}, "certSecret": {"name": "c"}, "unsignedImage": "i:u", "filesToSign": ["/opt/a.ko"]}
FULL = edited(
    module(
        {"literal": "6.1.0-1", "inTreeModulesToRemove": ["a-b", "c"], "sign": SIGN},
        {"literal": "6.1.0-2", "inTreeModuleToRemove": "a_b"},
        {"regexp": "^.+$", "inTreeModuleToRemove": "f-1"},
        version="1.0",
        containerImage="i:c",
        inTreeModulesToRemove=["d", None, "e"],
        sign=SIGN,
    ),
    (f"{C}.modprobe", {"moduleName": "top-a", "modulesLoadingOrder": ["top-a", "dep-1"], "dirName": "/drivers"}),
    ("spec.devicePlugin", {"container": {"image": "i:p"}, "initContainer": {"image": "i:q"}}),
    ("spec.dra", {"driverName": "d", "container": {"image": "i:d"}}),
)
EVERYTHING = (
    *("ref", "spec", "container", "modprobe", "mappings", "selector", "version", "directory", "loads", "removes"),
    "takes_every_kernel",
)


def everything(view: Module) -> dict[str, Any]:
    """Return all that a view says."""
    values = {name: getattr(view, name) for name in EVERYTHING}
    values |= {name: list(getattr(view, name)()) for name in ("holders", "images")}
    return values | {"sign": view.sections("sign"), "holds": view.holds("sign", "build")}


def test_what_a_module_says() -> None:
    view = Module(FULL)
    assert (view.ref.namespace, view.ref.name, view.version, view.directory) == ("kmm", "simple", "1.0", "/drivers")
    assert view.selector == {"a": "b"}
    assert view.loads == {"top_a", "dep_1"}
    assert view.removes == {
        "d": f"{C}.inTreeModulesToRemove[0]",
        "e": f"{C}.inTreeModulesToRemove[2]",
        "a_b": f"{MAPPINGS}[0].inTreeModulesToRemove[0]",
        "c": f"{MAPPINGS}[0].inTreeModulesToRemove[1]",
        "f_1": f"{MAPPINGS}[2].inTreeModuleToRemove",
    }
    assert [path for path, _ in view.holders()] == [C, *(f"{MAPPINGS}[{at}]" for at in range(3))]
    assert [path for path, _ in view.sections("sign")] == [f"{C}.sign", f"{MAPPINGS}[0].sign"]
    assert list(view.images()) == [
        (f"{C}.containerImage", "i:c", VARIABLES),
        (f"{C}.sign.unsignedImage", "i:u", KERNEL_VARIABLES),
        (f"{MAPPINGS}[0].containerImage", "example.com/simple:$KERNEL_FULL_VERSION", VARIABLES),
        (f"{MAPPINGS}[0].sign.unsignedImage", "i:u", KERNEL_VARIABLES),
        *((f"{MAPPINGS}[{at}].containerImage", "example.com/simple:$KERNEL_FULL_VERSION", VARIABLES) for at in (1, 2)),
        ("spec.devicePlugin.container.image", "i:p", ()),
        ("spec.devicePlugin.initContainer.image", "i:q", ()),
        ("spec.dra.container.image", "i:d", ()),
    ]


@pytest.mark.parametrize(
    ("mappings", "is_for_all"),
    [
        ([{"regexp": "^.+$"}], True),
        ([{"regexp": ".*"}], True),
        ([{"regexp": "^.+$"}, {"regexp": "^.+$"}], False),
        ([{"regexp": "^6.+$"}], False),
        ([{"literal": "6.1.0-1"}], False),
    ],
)
def test_one_mapping_for_every_kernel(mappings: list[Manifest], is_for_all: bool) -> None:
    assert Module(module(*mappings)).takes_every_kernel is is_for_all


def test_a_selector_of_every_node_is_one_and_none_is_none() -> None:
    assert Module(module(selector={})).selector == {}
    assert Module(edited(module(), ("spec.selector", DROP))).selector is None
    assert Module(module(selector={"a": "b", "c": 1})).selector == {"a": "b"}


def test_the_directory_is_defaulted_as_the_crd_does() -> None:
    assert Module(module()).directory == "/opt"
    assert Module(module(modprobe={"moduleName": "a", "dirName": ""})).directory == ""


EMPTY = everything(Module({}))
PATHS = sorted({path[:end] for path, _ in leaves(FULL) for end in range(1, len(path) + 1)}, key=str)
JUNK: Any = st.sampled_from([None, 3, 1.5, True, "", "x", [], {}, [None], ["x"], [[]], {"a": None}, {"a": []}])


@given(st.sampled_from(PATHS), JUNK)
def test_what_is_broken_reads_as_absent(path: tuple[str | int, ...], junk: Any) -> None:
    values = everything(Module(edited(FULL, (path, junk))))
    assert {name for name in EMPTY if type(values[name]) is not type(EMPTY[name])} <= {"selector"}
    if not isinstance(junk, str):  # a number, a boolean or nothing in place of a text, a list or a mapping is nothing
        assert all(isinstance(text, str) and text for _, text, _ in values["images"])
        assert all(isinstance(name, str) for name in (*values["loads"], *values["removes"]))


@given(JUNK)
def test_anything_has_a_view(junk: Any) -> None:
    assert everything(Module(edited(FULL, ("spec", junk))))["images"] == []


# What a hub brings to its spokes.

HUB = {
    **manifest("hub.kmm.sigs.x-k8s.io/v1beta1", "ManagedClusterModule", "simple", ""),
    "spec": {"moduleSpec": FULL["spec"], "spokeNamespace": "kmm", "selector": {"site": "lab"}},
}


def test_a_hub_brings_the_module_to_each_spoke() -> None:
    of_hub, of_cluster = module_of(HUB), module_of(FULL)
    assert of_hub and of_cluster
    assert everything(of_hub) == everything(of_cluster)


@pytest.mark.parametrize("other", [{}, manifest("v1", "Module"), manifest("kmm.sigs.x-k8s.io/v1beta1", "Modules")])
def test_nothing_else_is_a_module(other: Manifest) -> None:
    assert module_of(other) is None


@given(st.sampled_from(["spec", "metadata", "spec.moduleSpec", "spec.spokeNamespace"]), JUNK)
def test_a_broken_hub_module_has_a_view(path: str, junk: Any) -> None:
    view = module_of(edited(HUB, (path, junk)))
    assert view and everything(view)


def test_where_kinds_hold_their_pods() -> None:
    template = ("spec", "template", "spec")
    deeper = {("", "Pod"): ("spec",), ("batch", "CronJob"): ("spec", "jobTemplate", *template)}
    of_apps = {("apps", kind) for kind in ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet")}
    assert dict.fromkeys({*of_apps, ("", "ReplicationController"), ("batch", "Job")}, template) | deeper == POD_KINDS


def test_the_labels_of_nodes() -> None:
    """As KMM v2.6.0 writes and reads them: internal/utils/kmmlabels.go, internal/constants."""
    prefix = "kmm.node.kubernetes.io"
    assert names.ready_label("ns", "drv") == f"{prefix}/ns.drv.ready"
    assert names.version_ready_label("ns", "drv") == f"{prefix}/ns.drv.version.ready"
    assert names.plugin_ready_label("ns", "drv") == f"{prefix}/ns.drv.device-plugin-ready"
    assert names.version_label("ns", "drv") == f"{prefix}/version-module.ns.drv"


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["-a", "dep-1"], {"gpu", "dep_1"}),
        (["dep-1"], {"gpu", "dep_1"}),
        (["-v", "--first-time"], {"gpu"}),
        (["-C", "/etc/file"], {"gpu"}),
        (["-S", "6.1.0", "-f"], {"gpu"}),
    ],
)
def test_words_of_args_stand_before_the_name(words: list[str], names: set[str]) -> None:
    """KMM runs `modprobe -vd DIR ARGS NAME PARAMETERS` (internal/worker/worker.go)."""
    modprobe = {"moduleName": "gpu", "args": {"load": words, "unload": ["-r"]}}
    assert Module(module(modprobe=modprobe)).loads == names
