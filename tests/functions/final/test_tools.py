"""What other tools do: labels of Node Feature Discovery that nothing makes, variables of Flux where it is used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from krmfn import Manifest
from tests.builders import list_text, manifest, module, node
from tests.commands import process
from tests.trees import plant

from .lists import judged, levels

DOMAIN = "feature.node.kubernetes.io/"


def rule(*labels: str, api: str = "nfd.k8s-sigs.io/v1alpha1", **fields: Any) -> Manifest:
    rules = [{"name": "gpu", "labels": dict.fromkeys(labels, "true"), **fields}]
    return manifest(api, "NodeFeatureRule", "r", "kmm" if "openshift" in api else "") | {"spec": {"rules": rules}}


ASKED, OTHER = f"{DOMAIN}gpu", f"{DOMAIN}other"
CASES: dict[str, tuple[str, list[Manifest], bool]] = {
    "no rules: nothing is known": (ASKED, [], False),
    "made by a rule": (ASKED, [rule(ASKED)], False),
    "made by a rule that leaves the domain out": (ASKED, [rule("gpu")], False),
    "made by one of OpenShift": (ASKED, [rule(ASKED, api="nfd.openshift.io/v1alpha1")], False),
    "made by another name": (ASKED, [rule(OTHER)], True),
    "on a node": (ASKED, [rule(OTHER), node("n", **{ASKED: "true"})], False),
    "on no node": (ASKED, [rule(OTHER), node("n", **{OTHER: "true"})], True),
    "made by NFD itself": (f"{DOMAIN}pci-1da3.present", [rule(OTHER)], False),
    "of another domain": ("example.com/gpu", [rule(OTHER)], False),
    "a template may make it": (ASKED, [rule(OTHER, labelsTemplate="{{ range . }}a=b{{ end }}")], False),
}


@pytest.mark.parametrize("case", CASES)
def test_a_label_that_nothing_makes_is_said(case: str) -> None:
    label, others, is_said = CASES[case]
    results = levels(judged(module(selector={label: "true"}), *others))
    assert [severity for number, severity in results if number == "KRM713"] == (["info"] if is_said else [])


VARIABLE = module({"regexp": "^.+$", "containerImage": "registry.example.com/gpu:1.0-${KERNEL_FULL_VERSION}"})
SYNC = manifest("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "gpu", "flux-system")
FLUX: dict[str, tuple[list[Manifest], bool]] = {
    "nothing of Flux": ([], False),
    "its Kustomization": ([SYNC], True),
    "its source": ([manifest("source.toolkit.fluxcd.io/v1", "GitRepository", "fleet", "flux-system")], True),
    "its operator's instance": ([manifest("fluxcd.controlplane.io/v1", "FluxInstance", "flux", "flux-system")], True),
    "an annotation for Flux": (
        [{**manifest("v1", "ConfigMap", "a"), "data": {"text": "kustomize.toolkit.fluxcd.io/reconcile: disabled"}}],
        False,
    ),
    "a kind of that name": ([manifest("kustomize.config.k8s.io/v1beta1", "Kustomization", "a")], False),
}


@pytest.mark.parametrize("case", FLUX)
@pytest.mark.parametrize("is_beside", [False, True])
def test_a_variable_of_flux_is_said_where_flux_is_used(case: str, is_beside: bool, tmp_path: Path) -> None:
    """Also where its objects stand in another folder, as they mostly do."""
    others, is_said = FLUX[case]
    (tmp_path / ".git").mkdir()
    folder = "apps" if is_beside else "clusters"
    plant(tmp_path, {f"{folder}/gpu.yaml": list_text(VARIABLE).decode()})
    plant(tmp_path, {"apps/kustomization.yaml": "resources: [gpu.yaml]\n"} if is_beside else {})
    plant(tmp_path, {"clusters/others.yaml": list_text(*others).decode()} if others else {})
    assert ("[KRM711]" in process("krmfn", "check", ".", cwd=tmp_path).text) == is_said
