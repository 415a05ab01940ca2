"""The facts of a Node object: taints that count, tolerations as the scheduler reads them."""

from __future__ import annotations

import pytest
from krmfn_functions.exclusivity.node import Taint
from krmfn_functions.fleet import facts

from krmfn import Manifest


def test_only_taints_that_repel_pods_are_facts() -> None:
    taints = [
        {"key": "b", "effect": "NoExecute"},
        {"key": "a", "value": "v", "effect": "NoSchedule"},
        {"key": "soft", "effect": "PreferNoSchedule"},
        {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"},
    ]
    taints_read = facts.of_manifest({"metadata": {"name": "n"}, "spec": {"taints": taints}}).taints
    assert taints_read[:2] == (Taint("a", "v", "NoSchedule"), Taint("b", "", "NoExecute"))
    assert list(map(str, taints_read)) == [
        "a=v:NoSchedule",
        "b:NoExecute",
        "node.kubernetes.io/unschedulable:NoSchedule",
    ]


@pytest.mark.parametrize(
    ("toleration", "tolerated"),
    [
        ({"key": "a", "value": "v"}, True),
        ({"key": "a", "operator": "Equal", "value": "v", "effect": "NoSchedule"}, True),
        ({"key": "a", "operator": "Exists"}, True),
        ({"operator": "Exists"}, True),
        ({"operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "a"}, False),
        ({"key": "a", "value": "w"}, False),
        ({"key": "b", "operator": "Exists"}, False),
        ({"key": "a", "operator": "exists"}, False),
        ({}, False),
        (None, False),
    ],
)
def test_a_toleration_tolerates_what_the_scheduler_says(toleration: Manifest | None, tolerated: bool) -> None:
    """Source: k8s.io/api/core/v1 Toleration.ToleratesTaint, and its documentation."""
    assert facts.tolerates([toleration], Taint("a", "v")) is tolerated
    assert not facts.tolerates(None, Taint("a", "v"))
