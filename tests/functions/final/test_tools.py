"""Labels of Node Feature Discovery that a selector asks for: made by a rule, by NFD itself, on a node, or by nobody."""

from __future__ import annotations

from typing import Any

import pytest

from krmfn import Manifest
from tests.builders import module

from .lists import judged, told

DOMAIN = "feature.node.kubernetes.io/"


def rule(*labels: str, api: str = "nfd.k8s-sigs.io/v1alpha1", **more: Any) -> Manifest:
    rules = [{"name": "gpu", "labels": dict.fromkeys(labels, "true"), **more}]
    namespace = {"namespace": "kmm"} if "openshift" in api else {}
    return {
        "apiVersion": api,
        "kind": "NodeFeatureRule",
        "metadata": {"name": "r", **namespace},
        "spec": {"rules": rules},
    }


def node(*labels: str) -> Manifest:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "labels": dict.fromkeys(labels, "true")}}


ASKED, OTHER = f"{DOMAIN}gpu", f"{DOMAIN}other"
CASES: dict[str, tuple[str, list[Manifest], bool]] = {
    "no rules: nothing is known": (ASKED, [], False),
    "made by a rule": (ASKED, [rule(ASKED)], False),
    "made by a rule that leaves the domain out": (ASKED, [rule("gpu")], False),
    "made by one of OpenShift": (ASKED, [rule(ASKED, api="nfd.openshift.io/v1alpha1")], False),
    "made by another name": (ASKED, [rule(OTHER)], True),
    "on a node": (ASKED, [rule(OTHER), node(ASKED)], False),
    "on no node": (ASKED, [rule(OTHER), node(OTHER)], True),
    "made by NFD itself": (f"{DOMAIN}pci-1da3.present", [rule(OTHER)], False),
    "of another domain": ("example.com/gpu", [rule(OTHER)], False),
    "a template may make it": (ASKED, [rule(OTHER, labelsTemplate="{{ range . }}a=b{{ end }}")], False),
}


@pytest.mark.parametrize("case", CASES)
def test_a_label_that_nothing_makes_is_said(case: str) -> None:
    label, beside, is_said = CASES[case]
    found = [one for one in told(judged(module(selector={label: "true"}), *beside)) if one[0] == "KRM713"]
    assert [one[1] for one in found] == (["info"] if is_said else [])
