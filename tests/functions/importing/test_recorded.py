"""What four vendors' operators made is imported, with all that belongs to the owner of the Module.

The recordings are data outside of this repository: KRMFN_OPERATORS names their folder.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from krmfn_functions.differences import ABSENT
from krmfn_functions.importing.assembly import assemble
from krmfn_functions.importing.drafts import rendered
from krmfn_functions.importing.importer import Import, import_modules
from krmfn_functions.importing.normal import folded, normal, pods
from krmfn_functions.settings import RENDER, Settings

from krmfn import Manifest
from krmfn.resource import ref

FOLDER = os.environ.get("KRMFN_OPERATORS", "")
OWNER = [{"apiVersion": "example.com/v1", "kind": "DeviceConfig", "name": "cr", "uid": "1", "controller": True}]
OPERATORS: dict[str, tuple[int, list[str]]] = {
    "habana": (4, []),
    "amd-gpu": (9, ["gpu-operator-node-labeller"]),
    "neuron": (4, []),
    "onload": (3, []),
}
"""How many objects are taken of each, and which Modules and DaemonSets stay as they are."""


@pytest.mark.skipif(not FOLDER, reason="KRMFN_OPERATORS names no folder")
@pytest.mark.parametrize("operator", OPERATORS)
def test_no_pod_is_replaced_and_no_module_reloaded(operator: str) -> None:
    manifests: list[Any] = list(yaml.safe_load_all((Path(FOLDER) / f"{operator}.yaml").read_text()))
    for manifest in manifests:
        manifest["metadata"]["ownerReferences"] = OWNER
    whole = import_modules(manifests, Settings(RENDER), keeps_pods=True)
    assert [ref(one.manifest).name for one in whole.kept] == OPERATORS[operator][1]
    made = {item.ref.id: item.manifest for item in rendered(*assembled_of(whole)).items}
    for manifest in (each for one in whole.conversions for each in one.objects):
        new = made[ref(manifest).id]
        if manifest["kind"] == "DaemonSet":
            assert pods(new) == pods(manifest)
        if manifest["kind"] == "Module":
            assert folded(normal(new))["spec"] == folded(normal(manifest))["spec"]


def assembled_of(whole: Import) -> tuple[list[Manifest], Settings, Manifest | None]:
    configs, function_config = assemble(whole.conversions, Settings(RENDER))
    return configs, Settings(RENDER), function_config


@pytest.mark.skipif(not FOLDER, reason="KRMFN_OPERATORS names no folder")
@pytest.mark.parametrize("operator", OPERATORS)
def test_what_an_operator_made_is_imported(operator: str) -> None:
    manifests: list[Any] = list(yaml.safe_load_all((Path(FOLDER) / f"{operator}.yaml").read_text()))
    for manifest in manifests:
        manifest["metadata"]["ownerReferences"] = OWNER
    whole = import_modules(manifests, Settings(RENDER))
    taken, left = OPERATORS[operator]
    assert sum(len(one.objects) for one in whole.conversions) == taken
    assert [ref(one.manifest).name for one in whole.kept] == left
    for own, difference in (pair for one in whole.conversions for pair in one.differences):
        written = difference.change.old is not ABSENT
        ours = difference.reason == "krmfn sets this on every object that it generates"
        assert difference.reason and (ours or not written), (own, difference)
    assert {one.kind for one in whole.siblings} == ({"Deployment", "ClusterRole"} if operator == "neuron" else set())
    again = {item.ref.id for item in rendered(*assembled_of(whole)).items}
    assert again >= {ref(manifest).id for one in whole.conversions for manifest in one.objects}


@pytest.mark.skipif(not FOLDER, reason="KRMFN_OPERATORS names no folder")
def test_the_labeller_of_amd_stays_with_the_reason() -> None:
    manifests = list(yaml.safe_load_all((Path(FOLDER) / "amd-gpu.yaml").read_text()))
    (kept,) = import_modules(manifests, Settings(RENDER)).kept
    assert "matchLabels" in kept.reasons[0] and "another entry has a DaemonSet of its own" in kept.reasons[0]
