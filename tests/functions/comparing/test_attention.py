"""What a reviewer is told first: rights, pods that get at the host, policies, and labels that change with selectors."""

from __future__ import annotations

import pytest
from krmfn_functions.comparing.attention import sentences
from krmfn_functions.plan import plan

from krmfn import ResourceList
from krmfn.resource import Manifest
from krmfn.typed import Any
from tests.builders import node, resource_list

CONTAINER = {"name": "c", "image": "x"}


def attention(kind: str, **fields: Any) -> list[str]:
    new: list[Manifest] = [{"apiVersion": "v1", "kind": kind, "metadata": {"name": "a"}, **fields}]
    return list(sentences(plan([], new), ResourceList(), ResourceList()))


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ({"hostPID": True}, "hostPID"),
        ({"containers": [CONTAINER | {"securityContext": {"privileged": True}}]}, "container c is privileged"),
        (
            {"initContainers": [CONTAINER | {"securityContext": {"capabilities": {"add": ["SYS_ADMIN"]}}}]},
            "container c has SYS_ADMIN",
        ),
        ({"volumes": [{"name": "h", "hostPath": {"path": "/"}}]}, "hostPath /"),
    ],
)
def test_whatever_makes_a_pod_is_told_what_it_gets_of_the_host(spec: Manifest, says: str) -> None:
    template = {"template": {"spec": spec}}
    kinds = {"Pod": spec, "DaemonSet": template, "Job": template, "CronJob": {"jobTemplate": {"spec": template}}}
    for kind, fields in kinds.items():
        assert attention(kind, spec=fields) == [f"new privileged pod: {kind} a: {says}"]
    assert attention("PodTemplate", **template) == [f"new privileged pod: PodTemplate a: {says}"]


def test_a_role_of_other_roles_is_a_new_right() -> None:
    selectors = [{"matchLabels": {"a": "b"}}]
    (line,) = attention("ClusterRole", rules=[], aggregationRule={"clusterRoleSelectors": selectors})
    assert line == "new right: ClusterRole a: those of every ClusterRole that [{'matchLabels': {'a': 'b'}}] selects"


@pytest.mark.parametrize(
    "kind",
    [
        *("NetworkPolicy", "SecurityContextConstraints", "MutatingWebhookConfiguration"),
        *("ValidatingWebhookConfiguration", "MutatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"),
    ],
)
def test_what_decides_about_other_objects_is_a_policy(kind: str) -> None:
    assert attention(kind) == [f"policy created: {kind} a"]


def test_labels_that_change_with_objects_are_told() -> None:
    """A selector that moves to a label of the same pull request loses no node, as far as its inventory says."""

    old, new = (resource_list(node("a", x=value), node("b")) for value in "12")
    changed = plan([], [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}])
    (line,) = sentences(changed, old, new)
    assert line.startswith("labels of 1 node change with the objects (a): ")
    assert list(sentences(plan([], []), old, new)) == []
