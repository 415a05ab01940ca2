"""What a reviewer is told first: rights, pods that get at the host, policies, and labels that change with selectors."""

from __future__ import annotations

import pytest
from krmfn_functions.comparing.attention import sentences
from krmfn_functions.plan import plan

from krmfn import ResourceList
from krmfn.resource import Manifest
from krmfn.typed import Any
from tests.builders import DROP, edited, module, node, resource_list

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


HELD = {
    "hostUsers": False,
    "automountServiceAccountToken": False,
    "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
    "containers": [
        CONTAINER
        | {
            "securityContext": {
                "allowPrivilegeEscalation": False,
                "capabilities": {"drop": ["ALL"]},
                "appArmorProfile": {"type": "RuntimeDefault"},
            }
        }
    ],
}


def changed(old: Manifest, new: Manifest, *others: Manifest) -> list[str]:
    """Return what is told of a DaemonSet whose PodSpec changes; other objects stay as they are."""
    sides = [
        [{"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "a", "namespace": "n"}, **fields}]
        for fields in ({"spec": {"template": {"spec": pod}}} for pod in (old, new))
    ]
    return list(sentences(plan([*sides[0], *others], [*sides[1], *others]), ResourceList(), ResourceList()))


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ("containers[0].securityContext.procMount", "Unmasked", "container c sees all of /proc (procMount Unmasked)"),
        ("containers[0].securityContext.runAsUser", 0, "container c runs as root (runAsUser 0)"),
        ("securityContext.runAsUser", 0, "container c runs as root (runAsUser 0)"),
        ("securityContext.runAsNonRoot", DROP, "container c has runAsNonRoot: true no longer"),
        ("containers[0].securityContext.runAsNonRoot", False, "container c has runAsNonRoot: true no longer"),
        ("securityContext.seccompProfile", DROP, "container c has a seccomp profile no longer"),
        (
            "securityContext.seccompProfile.type",
            "Unconfined",
            "the pod runs without seccomp (Unconfined), container c has a seccomp profile no longer",
        ),
        ("containers[0].securityContext.appArmorProfile", DROP, "container c has an AppArmor profile no longer"),
        ("containers[0].securityContext.capabilities", DROP, "container c has all capabilities dropped no longer"),
        ("containers[0].securityContext.capabilities.add", ["CHOWN"], "container c has CHOWN"),
        ("hostUsers", DROP, "hostUsers: false no longer"),
        ("automountServiceAccountToken", True, "automountServiceAccountToken: false no longer"),
        ("containers[0].ports", [{"hostPort": 9}], "container c has hostPort 9"),
        ("securityContext.windowsOptions", {"hostProcess": True}, "the pod is a process of the host"),
    ],
)
def test_what_a_pod_gains_is_told(path: str, value: Any, says: str) -> None:
    assert changed(HELD, edited(HELD, (path, value))) == [f"new privileged pod: DaemonSet n/a: {says}"]
    assert changed(edited(HELD, (path, value)), HELD) == [], "a pod that loses it"


USER = "containers[0].securityContext.runAsUser"
USER_LOST = "container c has a user other than root (runAsUser) no longer"
LAX = edited(HELD, ("securityContext.runAsNonRoot", DROP))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (edited(LAX, (USER, 65532)), LAX, USER_LOST),
        (
            edited(LAX, ("securityContext.runAsUser", 9)),
            LAX,
            "container c has a user other than root (runAsUser) no longer",
        ),
        (edited(LAX, (USER, 65532)), edited(LAX, (USER, 0)), "container c runs as root (runAsUser 0)"),
        (edited(LAX, (USER, 65532)), edited(LAX, (USER, 7)), ""),
        (edited(LAX, (USER, 65532)), edited(LAX, ("securityContext.runAsUser", 7)), ""),
        (edited(LAX, (USER, 65532)), HELD, ""),
        (edited(LAX, (USER, 0)), LAX, ""),
    ],
    ids=["dropped", "dropped from the pod", "to root", "to another", "to the pod's", "to no root", "of root"],
)
def test_a_pod_that_loses_its_user_may_run_as_root(old: Manifest, new: Manifest, says: str) -> None:
    assert changed(old, new) == ([f"new privileged pod: DaemonSet n/a: {says}"] if says else [])


def test_an_annotation_of_before_the_field_is_told() -> None:
    key = "container.apparmor.security.beta.kubernetes.io/c"
    (line,) = attention("Pod", metadata={"name": "a", "annotations": {key: "unconfined"}}, spec={"containers": []})
    assert line == "new privileged pod: Pod a: container c runs without AppArmor (Unconfined)"


def test_a_container_that_goes_takes_its_limits_along() -> None:
    assert changed(HELD, edited(HELD, ("containers", [CONTAINER | {"name": "d"}]))) == []


def test_a_plugin_of_a_module_is_told_what_it_gets_of_the_host() -> None:
    plugin = {"container": {"image": "x"}, "volumes": [{"name": "h", "hostPath": {"path": "/"}}]}
    new = edited(module(), ("spec.devicePlugin", plugin))
    told = list(sentences(plan([module()], [new]), ResourceList(), ResourceList()))
    assert told[0] == "new privileged pod: Module kmm/simple: hostPath /"


STRONG: Manifest = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRoleBinding",
    "metadata": {"name": "strong"},
    "roleRef": {"kind": "ClusterRole", "name": "cluster-admin"},
    "subjects": [{"kind": "ServiceAccount", "name": "strong", "namespace": "n"}],
}


def test_another_service_account_is_told_with_what_it_may_do() -> None:
    weak, strong = {"serviceAccountName": "weak"}, {"serviceAccountName": "strong"}
    known = "ClusterRoleBinding strong gives it ClusterRole cluster-admin"
    before = "new account: DaemonSet n/a runs as ServiceAccount n/strong, before as"
    assert changed(weak, strong, STRONG) == [f"{before} n/weak: {known}"]
    assert changed(HELD, HELD | strong, STRONG) == [f"{before} n/default: {known}"]
    assert changed(weak, {"serviceAccount": "strong"}, STRONG) == [f"{before} n/weak: {known}"], "the older field"
    assert changed(weak, strong) == [f"{before} n/weak, whose rights are not among the objects"]
    assert changed(strong, strong | {"hostPID": False}, STRONG) == []
    group = edited(STRONG, ("subjects", [{"kind": "Group", "name": "system:serviceaccounts:n"}]))
    assert changed(weak, strong, group) == [f"{before} n/weak: {known}"]


def test_a_new_pod_of_an_account_that_has_rights_is_told() -> None:
    pod: Manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "n"}}
    pod["spec"] = {"serviceAccountName": "strong"}
    told = list(sentences(plan([STRONG], [STRONG, pod]), ResourceList(), ResourceList()))
    known = "ClusterRoleBinding strong gives it ClusterRole cluster-admin"
    assert told == [f"new account: Pod n/a runs as ServiceAccount n/strong: {known}"]
    new = list(sentences(plan([], [STRONG, pod]), ResourceList(), ResourceList()))
    assert [line.partition(":")[0] for line in new] == ["new right"], "the binding itself is told"


@pytest.mark.parametrize(
    ("before", "after"), [("restricted", "baseline"), ("baseline", ""), ("baseline", "privileged")]
)
def test_a_namespace_that_takes_more_pods_is_told(before: str, after: str) -> None:
    def namespace(level: str) -> Manifest:
        labels = {"pod-security.kubernetes.io/enforce": level} if level else {}
        return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n", "labels": labels}}

    told = list(sentences(plan([namespace(before)], [namespace(after)]), ResourceList(), ResourceList()))
    level = after or "of the cluster"
    assert told == [f"policy changed: Namespace n enforces the level {level}, before {before}"]
    assert list(sentences(plan([namespace(after)], [namespace(before)]), ResourceList(), ResourceList())) == []


def test_rights_that_a_role_passes_on_or_no_longer_limits_are_told() -> None:
    role: Manifest = {"kind": "ClusterRole", "metadata": {"name": "r"}, "apiVersion": "rbac.authorization.k8s.io/v1"}
    rule = {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"], "resourceNames": ["a"]}
    old = role | {"rules": [rule]}
    told = list(sentences(plan([], [old]), ResourceList(), ResourceList()))
    assert told == ["new right: ClusterRole r: get of secrets named a (core)"]
    del (wider := dict(rule))["resourceNames"]
    told = list(sentences(plan([old], [role | {"rules": [wider]}]), ResourceList(), ResourceList()))
    assert told == ["new right: ClusterRole r: get of secrets (core)"]
    key = "rbac.authorization.k8s.io/aggregate-to-edit"
    passed = old | {"metadata": {"name": "r", "labels": {key: "true"}}}
    told = list(sentences(plan([old], [passed]), ResourceList(), ResourceList()))
    assert told == [f"new right: ClusterRole r: its rules for whoever has a ClusterRole that selects the label {key}"]
    broken = role | {"rules": [{"verbs": None, "resources": "x"}]}
    assert list(sentences(plan([], [broken]), ResourceList(), ResourceList())) == [
        "new right: ClusterRole r: ? of ? ()"
    ]


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
