"""The API server's structure of a PodSpec, as the committed table holds it. A real server judges it in tests/e2e."""

from __future__ import annotations

from typing import Any

import pytest
from krmfn_functions.pods import structure

TERM = {"labelSelector": {"matchLabels": {"a": "b"}}, "topologyKey": "zone"}
SPREAD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}

WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"afinity": {}}, "afinity", "is not a field of Kubernetes 1.34.2 here; did you mean 'affinity'?"),
    ({"os": {"x": 1, "name": "linux"}}, "os.x", "is not a field of Kubernetes 1.34.2 here; known here: name"),
    ({"hostname": 1}, "hostname", 'is 1; must be a string: write it in quotes, "1"'),
    ({"hostname": True}, "hostname", 'is true; must be a string: write it in quotes, "true"'),
    ({"hostname": None}, "hostname", "is empty; write a value, or leave the field out"),
    ({"hostname": ["a"]}, "hostname", "is a list; must be a string"),
    ({"hostUsers": "no"}, "hostUsers", "is 'no'; must be true or false"),
    ({"securityContext": {"fsGroup": "1"}}, "securityContext.fsGroup", "is '1'; must be a whole number"),
    ({"securityContext": {"fsGroup": 1.5}}, "securityContext.fsGroup", "is 1.5; must be a whole number"),
    ({"securityContext": {"fsGroup": True}}, "securityContext.fsGroup", "is true; must be a whole number"),
    ({"securityContext": []}, "securityContext", "is a list; must be a mapping"),
    ({"hostAliases": {"ip": "192.0.2.1"}}, "hostAliases", "is a mapping; must be a list"),
    ({"hostAliases": [{"hostnames": ["a"]}]}, "hostAliases.0.ip", "is missing, and Kubernetes requires it; write it"),
    ({"hostAliases": [{"ip": "a"}, {"ip": "a"}]}, "hostAliases.1", "has the ip of an earlier entry"),
    (
        {"topologySpreadConstraints": [SPREAD | {"maxSkew": 2**31}]},
        "topologySpreadConstraints.0.maxSkew",
        "must be a whole number of 32 bits",
    ),
    (
        {"topologySpreadConstraints": [SPREAD | {"whenUnsatisfiable": "Never"}]},
        "topologySpreadConstraints.0.whenUnsatisfiable",
        "is 'Never'; must be one of DoNotSchedule, ScheduleAnyway",
    ),
    (
        {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": TERM}}},
        "affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution",
        "is a mapping; must be a list",
    ),
    ({"overhead": {"cpu": "1 GB"}}, "overhead.cpu", "is '1 GB'; must be a quantity"),
    ({"overhead": {"cpu": True}}, "overhead.cpu", "is true; must be a quantity"),
]


@pytest.mark.parametrize(("fields", "path", "message"), WRONG)
def test_what_the_server_refuses_is_named(fields: dict[str, Any], path: str, message: str) -> None:
    ((where, mistake),) = structure.check(fields)
    words = mistake.text
    assert ".".join(map(str, where)) == path
    assert message in words
    assert ("in quotes" in words) == ("in quotes" in message)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"affinity": {}, "hostname": "", "enableServiceLinks": False},
        {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [TERM]}}},
        {"topologySpreadConstraints": [SPREAD, SPREAD | {"topologyKey": "node"}]},
        {"overhead": {"cpu": 1, "memory": "1Gi", "example.com/a": 0.5}},
        {"securityContext": {"fsGroup": 2**31, "runAsUser": 1.0}},
        {"dnsConfig": {"options": [{"name": "ndots", "value": "1"}]}},
    ],
)
def test_what_the_server_takes_is_fine(fields: dict[str, Any]) -> None:
    assert list(structure.check(fields)) == []


def test_every_type_that_the_table_names_is_in_it() -> None:
    def names(node: Any) -> set[str]:
        if isinstance(node, str):
            return {node}
        return {name for key, part in node.items() if key not in ("$enum", "$keys", "$atomic") for name in names(part)}

    types = structure.facts()["types"]
    used = {name for node in types.values() for name in names(node)}
    assert used == (types.keys() - {"PodSpec"}) | structure._WORDS.keys() - {"number-or-string"}
