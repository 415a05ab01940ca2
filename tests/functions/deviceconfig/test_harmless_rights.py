"""Which rights of pods are harmless, and to what the others lead."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.deviceconfig.rights import HARMLESS, MEANINGS, harmful_rights

from krmfn.typed import Any

OWN, KMM, RBAC = "gpu.example.com", "kmm.sigs.x-k8s.io", "rbac.authorization.k8s.io"
READING = ["get", "list", "watch"]


def rule(groups: str, resources: str, verbs: str, *names: str) -> dict[str, Any]:
    """Return a rule; each text is a list of words, "core" is the group without a name."""
    made: dict[str, Any] = {"apiGroups": ["" if group == "core" else group for group in groups.split()]}
    return {
        **made,
        "resources": resources.split(),
        "verbs": verbs.split(),
        **({"resourceNames": names} if names else {}),
    }


def told(right: dict[str, Any]) -> list[str]:
    return [f"{found.text}: {found.meaning}" for found in harmful_rights(right, OWN)]


@pytest.mark.parametrize(
    "harmless",
    [
        rule("core events.k8s.io", "events", "create patch"),
        rule("coordination.k8s.io", "leases", "get create update delete"),
        rule(OWN, "gpus/status", "update patch"),
        rule("core", "nodes pods configmaps services nodes/stats", "get list watch"),
        rule("apps batch kmm.sigs.x-k8s.io", "*", "get list watch"),
        rule("authentication.k8s.io", "tokenreviews", "create"),
        rule("security.openshift.io", "securitycontextconstraints", "use", "privileged"),
        {"apiGroups": [""], "resources": ["nodes"], "verbs": ["patch"], "resourceNames": ["n1"]},
        {"apiGroups": ["apps"], "resources": ["daemonsets"], "verbs": ["create"], "resourceNames": ["agent"]},
        {"nonResourceURLs": ["/metrics"], "verbs": ["get"]},
    ],
)
def test_harmless_rights(harmless: dict[str, Any]) -> None:
    assert told(harmless) == []


@pytest.mark.parametrize(
    ("harmful", "says"),
    [
        (rule("kmm.sigs.x-k8s.io", "modules", "get create"), "create of modules.kmm.sigs.x-k8s.io: a Module"),
        (rule("kmm.sigs.x-k8s.io", "*", "*"), "* of *.kmm.sigs.x-k8s.io: a Module loads any code into the kernel"),
        (
            rule("kmm.sigs.x-k8s.io", "modules", "delete"),
            "delete of modules.kmm.sigs.x-k8s.io: a Module that",
        ),
        (rule("kmm.sigs.x-k8s.io", "modules/status", "patch"), "patch of modules/status.kmm.sigs.x-k8s.io: KMM builds"),
        (
            rule(KMM, "nodemodulesconfigs", "patch"),
            f"patch of nodemodulesconfigs.{KMM}: KMM loads",
        ),
        (rule("hub.kmm.sigs.x-k8s.io", "*", "update"), "update of *.hub.kmm.sigs.x-k8s.io: KMM-Hub brings"),
        (rule("*", "*", "patch"), "patch of *.*: a Module loads any code"),
        (rule("*", "*", "list"), "list of *.*: tokens and keys in Secrets"),
        (rule("core", "secrets", "get"), "get of secrets: tokens and keys"),
        (rule("core", "pods/exec", "get"), "get of pods/exec: it runs commands"),
        (rule("core", "*/exec", "create"), "create of */exec: it runs commands"),
        (rule("core", "pods/ephemeralcontainers", "patch"), "patch of pods/ephemeralcontainers: it runs commands"),
        (rule("core", "nodes/proxy", "get"), "get of nodes/proxy: the kubelet runs commands"),
        (rule("core", "serviceaccounts/token", "create", "x"), "create of serviceaccounts/token: it takes a token"),
        (rule("core", "nodes", "patch"), "patch of nodes: labels and taints"),
        (rule("core", "nodes/status", "patch"), "patch of nodes/status: the scheduler relies on"),
        (rule("core", "pods", "delete"), "delete of pods: it stops"),
        (rule("core", "configmaps", "update", "settings"), "update of configmaps: KMM builds from Dockerfiles"),
        (rule("resource.k8s.io", "resourceslices", "create"), "create of resourceslices.resource.k8s.io: it decides"),
        (
            rule("rbac.authorization.k8s.io", "roles", "bind"),
            "bind of roles.rbac.authorization.k8s.io: it gives itself",
        ),
        (rule("other.example.com", "gpus/status", "patch"), "patch of gpus/status.other.example.com: it changes what"),
        (rule("core", "pods/eviction", "create"), "create of pods/eviction: it stops or moves pods of others"),
        (
            rule("nfd.k8s-sigs.io", "nodefeatures", "create"),
            "create of nodefeatures.nfd.k8s-sigs.io: Node Feature",
        ),
        (rule(OWN, "gpus", "patch"), f"patch of gpus.{OWN}: it changes what others rely on"),
        (rule("core", "events", "*"), "* of events: it changes what others rely on"),
        ({"nonResourceURLs": ["/debug/flags/v"], "verbs": ["put"]}, "put of /debug/flags/v: it changes what"),
    ],
)
def test_to_what_a_right_leads(harmful: dict[str, Any], says: str) -> None:
    (line,) = told(harmful)
    assert line.startswith(says)


def test_the_worst_meaning_comes_first() -> None:
    several = rule("core kmm.sigs.x-k8s.io", "pods modules", "create")
    assert [right.rank for right in harmful_rights(several, OWN)] == sorted(
        right.rank for right in harmful_rights(several, OWN)
    )
    assert told(several)[0].startswith("create of modules.kmm.sigs.x-k8s.io")


_PAIRS = [*((row.group, row.resource) for row in HARMLESS), *((row.group, row.resource) for row in MEANINGS)]
_GROUPS = sorted({group for group, _ in _PAIRS} - {"own"} | {"*", OWN, "new.example.com"})
_RESOURCES = sorted({resource for _, resource in _PAIRS} | {"things", "things/status"})
_WRITING = ["create", "update", "patch", "delete", "deletecollection", "impersonate", "approve", "*"]


@given(st.sampled_from(_GROUPS), st.sampled_from(_RESOURCES), st.sampled_from(_WRITING))
def test_a_write_right_is_in_the_table_or_told(group: str, resource: str, verb: str) -> None:
    is_in_table = any(
        verb in row.verbs.split() and not row.is_named and (group, resource) == (row.group, row.resource)
        for row in HARMLESS
    ) or (group == OWN and resource.endswith("/status") and verb in ("update", "patch"))
    found = harmful_rights({"apiGroups": [group], "resources": [resource], "verbs": [verb]}, OWN)
    assert bool(found) != is_in_table


@given(st.sampled_from(_GROUPS), st.sampled_from(_RESOURCES), st.sampled_from(READING + _WRITING))
def test_a_wider_rule_tells_no_less(group: str, resource: str, verb: str) -> None:
    """A wildcard includes what is told without it, and means nothing less bad."""
    for right in harmful_rights(rule(group or "core", resource, verb), OWN):
        for parts in itertools.product((group or "core", "*"), (resource, "*"), (verb, "*")):
            ranks = [wider.rank for wider in harmful_rights(rule(*parts), OWN)]
            assert ranks and min(ranks) <= right.rank, parts
