"""Labels of Node Feature Discovery that a selector asks for: made by a rule, by NFD itself, on a node, or by nobody."""

from __future__ import annotations

from typing import Any

import pytest

from krmfn import Manifest
from tests.builders import manifest, module, node

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
