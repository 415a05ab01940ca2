"""A real API server judges what we say of a PodSpec: the committed table, each of its fields, how its lists merge."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from krmfn_functions.deviceconfig.daemonset_rules import _IN_THE_WAY, _NAMED
from krmfn_functions.deviceconfig.merging import merged
from krmfn_functions.pods import structure

from tests.builders import manifest
from tests.commands import ROOT

from .kube import APPLY, Cluster

sys.path.insert(0, str(ROOT / "tools"))
import derive_pod_structure

KINDS: tuple[Any, ...] = ("text", "", 1, 1.5, 2**40, True, [], {}, {"noSuchField": 1}, ["text"], [{}])
PLACE = "/apis/apps/v1/namespaces/kmm/daemonsets/agent"
AGENT: dict[str, Any] = {"containers": [{"name": "agent", "image": "registry.example.com/agent:1"}]}


def test_the_table_is_what_the_server_serves(cluster: Cluster) -> None:
    code, document = cluster.request("GET", "/openapi/v3/api/v1")
    version = cluster.request("GET", "/version")[1]["gitVersion"]
    assert code == 200
    table = {"version": version, "types": derive_pod_structure.derive(document["components"]["schemas"])}
    assert table == structure.facts()


def daemon_set(pod: dict[str, Any]) -> dict[str, Any]:
    labels = {"app": "agent"}
    template = {"metadata": {"labels": labels}, "spec": pod}
    spec = {"selector": {"matchLabels": labels}, "template": template}
    return {**manifest("apps/v1", "DaemonSet", "agent"), "spec": spec}


def places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every field below a type; an entry of a list is 0, of a map `key`."""
    node = structure.facts()["types"].get(node, node) if isinstance(node, str) else node
    if path:
        yield path
    if isinstance(node, dict) and "$list" in node:
        yield from places(node["$list"], (*path, 0))
    elif isinstance(node, dict) and "$map" in node:
        yield (*path, "key")
    elif isinstance(node, dict) and "$enum" not in node:
        for name, child in node.items():
            if not name.startswith("$") and (path or name not in (*_NAMED, *_IN_THE_WAY)):
                yield from places(child, (*path, name.removesuffix("!")))


def put(path: tuple[Any, ...], value: Any) -> Any:
    """The smallest thing that has a value at a path."""
    for part in reversed(path):
        value = [value] if part == 0 else {part: value}
    return value


def test_what_the_server_cannot_read_we_refuse_and_what_we_refuse_it_refuses(cluster: Cluster) -> None:
    cluster.namespace("kmm")
    place = f"{PLACE.rpartition('/')[0]}?fieldValidation=Strict&dryRun=All"
    wrong = []
    tried = 0
    for path in places("PodSpec"):
        for value in KINDS:
            pod = put(path, value)
            code, answer = cluster.request("POST", place, json.dumps(daemon_set(AGENT | pod)).encode())
            ours = list(structure.check(pod))
            tried += 1
            too_strict = code < 400 and any(not mistake.message.startswith("is missing") for _, mistake in ours)
            if (code == 400 and not ours) or too_strict:  # kubectl asks for what is missing, the server not always
                wrong.append(f"{json.dumps(pod)}\n  server: {code} {answer.get('message')}\n  we:     {ours}")
    assert tried > 800
    assert not wrong, f"{len(wrong)} of {tried}\n" + "\n".join(wrong[:40])


SPREAD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
TERM = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"a": "b"}}}


def required(kind: str, value: Any) -> dict[str, Any]:
    return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": value}}}


def terms(key: str, operator: str) -> dict[str, Any]:
    return {"nodeSelectorTerms": [{"matchExpressions": [{"key": key, "operator": operator}]}]}


LAYERS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (
        {"hostAliases": [{"ip": "192.0.2.1", "hostnames": ["a"]}, {"ip": "192.0.2.2", "hostnames": ["b"]}]},
        {"hostAliases": [{"ip": "192.0.2.3", "hostnames": ["c"]}, {"ip": "192.0.2.1", "hostnames": ["d"]}]},
    ),
    (
        {"topologySpreadConstraints": [SPREAD | {"labelSelector": {"matchLabels": {"a": "b"}}}]},
        {"topologySpreadConstraints": [SPREAD | {"maxSkew": 2, "labelSelector": {"matchLabels": {"c": "d"}}}]},
    ),
    (
        {"topologySpreadConstraints": [SPREAD]},
        {"topologySpreadConstraints": [SPREAD | {"whenUnsatisfiable": "ScheduleAnyway"}]},
    ),
    ({"schedulingGates": [{"name": "a.example.com/a"}]}, {"schedulingGates": [{"name": "a.example.com/b"}]}),
    (
        {"resourceClaims": [{"name": "a", "resourceClaimName": "a"}]},
        {"resourceClaims": [{"name": "b", "resourceClaimTemplateName": "b"}]},
    ),
    (required("nodeAffinity", terms("a", "Exists")), required("podAntiAffinity", [TERM])),
    (required("nodeAffinity", terms("a", "Exists")), required("nodeAffinity", terms("b", "DoesNotExist"))),
    ({"dnsConfig": {"nameservers": ["192.0.2.1"], "searches": ["a"]}}, {"dnsConfig": {"nameservers": ["192.0.2.2"]}}),
    (
        {"securityContext": {"fsGroup": 1, "supplementalGroups": [1], "sysctls": [{"name": "net.a", "value": "1"}]}},
        {"securityContext": {"runAsUser": 2, "supplementalGroups": [2], "sysctls": [{"name": "net.b", "value": "1"}]}},
    ),
]


@pytest.mark.parametrize(("below", "above"), LAYERS, ids=lambda fields: next(iter(fields)))
def test_layers_merge_as_server_side_apply_does(cluster: Cluster, below: dict[str, Any], above: dict[str, Any]) -> None:
    cluster.namespace("kmm")
    cluster.request("DELETE", PLACE)
    for manager, pod in (("weaker", AGENT | below), ("stronger", above)):
        place, text = f"{PLACE}?fieldManager={manager}&force=true", json.dumps(daemon_set(pod)).encode()
        code, answer = cluster.request("PATCH", place, text, APPLY)
        assert code in (200, 201), answer
    served = answer["spec"]["template"]["spec"]
    ours = merged([{"podSpec": above}, {"podSpec": below}])["podSpec"]
    cluster.request("DELETE", PLACE)
    for name, value in ours.items():
        assert subset(value, served[name]), (value, served[name])


def subset(ours: Any, served: Any) -> bool:
    """Whether the server has the same lists and values; it may have added defaults; its order is another one."""
    if isinstance(ours, dict) and isinstance(served, dict):
        return all(key in served and subset(value, served[key]) for key, value in ours.items())
    if isinstance(ours, list) and isinstance(served, list):
        return len(ours) == len(served) and all(any(subset(entry, other) for other in served) for entry in ours)
    return bool(ours == served)
