"""What four vendors' operators made is imported, with all that belongs to the owner of the Module.

The recordings are data outside of this repository: KRMFN_OPERATORS names their folder.
"""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from krmfn_functions.differences import ABSENT
from krmfn_functions.importing.assembly import assemble
from krmfn_functions.importing.drafts import rendered
from krmfn_functions.importing.importer import Import, import_modules
from krmfn_functions.importing.normal import folded, normal, pods
from krmfn_functions.run import Run
from krmfn_functions.settings import RENDER, Settings

from krmfn import Manifest
from krmfn.ownership import Id
from krmfn.resource import ref
from tests.functions.profile.recorded import FOLDER, recorded

RUN = Run(settings=Settings(RENDER))
OWNER = [{"apiVersion": "example.com/v1", "kind": "DeviceConfig", "name": "cr", "uid": "1", "controller": True}]
OPERATORS: dict[str, tuple[int, list[str]]] = {
    "habana": (4, []),
    "amd-gpu": (9, ["gpu-operator-node-labeller"]),
    "neuron": (4, []),
    "onload": (3, []),
}
"""How many objects are taken of each, and which Modules and DaemonSets stay as they are."""


def imported(operator: str, keeps_pods: bool = False) -> Import:
    """Return what becomes of the objects of an operator, which all belong to one owner."""
    manifests: list[Any] = list(yaml.safe_load_all((FOLDER / f"{operator}.yaml").read_text()))
    for manifest in manifests:
        manifest["metadata"]["ownerReferences"] = OWNER
    return import_modules(manifests, RUN, keeps_pods=keeps_pods)


def objects_of(result: Import) -> list[Manifest]:
    return [manifest for conversion in result.conversions for manifest in conversion.objects]


def rendered_again(result: Import) -> dict[Id, Manifest]:
    """Return what the imported configs render."""
    configs, function_config = assemble(result.conversions, RUN)
    return {item.ref.id: item.manifest for item in rendered(configs, RUN, function_config).items}


@recorded
@pytest.mark.parametrize("operator", OPERATORS)
def test_no_pod_is_replaced_and_no_module_reloaded(operator: str) -> None:
    result = imported(operator, keeps_pods=True)
    assert [ref(item.manifest).name for item in result.kept] == OPERATORS[operator][1]
    objects = rendered_again(result)
    for manifest in objects_of(result):
        new = objects[ref(manifest).id]
        if manifest["kind"] == "DaemonSet":
            assert pods(new) == pods(manifest)
        if manifest["kind"] == "Module":
            assert folded(normal(new))["spec"] == folded(normal(manifest))["spec"]


@recorded
@pytest.mark.parametrize("operator", OPERATORS)
def test_what_an_operator_made_is_imported(operator: str) -> None:
    result = imported(operator)
    assert (len(objects_of(result)), [ref(item.manifest).name for item in result.kept]) == OPERATORS[operator]
    for owner, difference in (pair for conversion in result.conversions for pair in conversion.differences):
        is_written = difference.change.old is not ABSENT
        is_ours = difference.reason == "krmfn sets this on every object that it generates"
        assert difference.reason and (is_ours or not is_written), (owner, difference)
    siblings = {sibling.kind for sibling in result.siblings}
    assert siblings == ({"Deployment", "ClusterRole"} if operator == "neuron" else set())
    assert rendered_again(result).keys() >= {ref(manifest).id for manifest in objects_of(result)}


@recorded
def test_the_labeller_of_amd_stays_with_the_reason() -> None:
    manifests = list(yaml.safe_load_all((FOLDER / "amd-gpu.yaml").read_text()))
    (kept,) = import_modules(manifests, RUN).kept
    assert "matchLabels" in kept.reasons[0] and "another entry has a DaemonSet of its own" in kept.reasons[0]
