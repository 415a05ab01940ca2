"""A real API server refuses the names of extra objects that krmfn refuses, and no others."""

from __future__ import annotations

import json
from typing import Any

import pytest
from krmfn_functions.deviceconfig.extra_rules import wrong_name

from .kube import Cluster

RBAC = "rbac.authorization.k8s.io/v1"
POD_TEMPLATE = {"spec": {"devices": {"requests": [{"name": "a", "exactly": {"deviceClassName": "a"}}]}}}
OBJECTS: dict[tuple[str, str], dict[str, Any]] = {
    ("v1", "ConfigMap"): {"data": {"a": "b"}},
    ("v1", "Service"): {"spec": {"selector": {"a": "b"}, "ports": [{"port": 80}]}},
    ("v1", "ServiceAccount"): {},
    ("policy/v1", "PodDisruptionBudget"): {"spec": {"selector": {"matchLabels": {"a": "b"}}, "minAvailable": 1}},
    ("networking.k8s.io/v1", "NetworkPolicy"): {"spec": {"podSelector": {}}},
    ("scheduling.k8s.io/v1", "PriorityClass"): {"value": 9},
    ("resource.k8s.io/v1", "DeviceClass"): {"spec": {}},
    ("resource.k8s.io/v1", "ResourceClaimTemplate"): {"spec": POD_TEMPLATE},
    (RBAC, "Role"): {"rules": []},
    (RBAC, "RoleBinding"): {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "a"}},
}
"""The kinds of extra objects that the server has itself, each with what it needs."""
ANY_NAME = (RBAC, "policy/v1")
"""Groups whose names may be all that a part of a path may be, of which krmfn takes subdomains alone."""
NAMES = (
    *("a", "a-1", "1a", "a.b", "a.1", "system-a", "system", "a-", "-a", "a..b", "a_b", "A"),
    *("a" * 63, "a" * 64, "a" * 253, "a" * 254, ".".join(["a" * 64] * 3)),
)


@pytest.mark.parametrize(("api_version", "kind"), OBJECTS, ids=lambda part: part)
def test_the_server_refuses_the_same_names(api_version: str, kind: str, cluster: Cluster) -> None:
    cluster.namespace("kmm")
    served = [name for name in NAMES if not _refused(api_version, kind, name, cluster)]
    taken = [name for name in NAMES if not wrong_name(kind, name)]
    assert taken
    if api_version in ANY_NAME:
        assert {*taken} <= {*served}
    else:
        assert taken == served


def _refused(api_version: str, kind: str, name: str, cluster: Cluster) -> str:
    manifest = {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **OBJECTS[api_version, kind]}
    place = cluster.path_of(api_version, kind, "kmm", name)
    return cluster.dry_run(place, json.dumps(manifest).encode()).refusal
