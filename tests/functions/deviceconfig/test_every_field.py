"""Every field of a DeviceConfig changes exactly the fields of the generated objects that it should.

The table in every_field.yaml names, for each field, the paths that differ from what the base config gives. A field of
the schema that is not in the table fails the test.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest
from krmfn_functions.deviceconfig import deviceconfig
from krmfn_functions.kmm.crd import structure
from krmfn_functions.kmm.module import Module
from krmfn_functions.kmm.versions import TARGETS
from krmfn_functions.rendering.kinds import schema

from krmfn.resource import join
from tests.builders import (
    AGENT,
    PLUGIN,
    SPEC,
    applied,
    by_name,
    device_config,
    function_config,
    generated,
    leaves,
    places,
)
from tests.tables import table

BASE: dict[str, Any] = SPEC | {"devicePlugin": PLUGIN, "daemonSets": [AGENT]}
M, D = "Module dc: spec.", "DaemonSet dc-agent: spec.template.spec."
P, A = f"{M}devicePlugin.", f"{D}containers[0]."
FIELDS, CONTAINER_FIELDS, PLUGIN_FIELDS, DRA_FIELDS, DAEMONSET_FIELDS, SERVICE_FIELDS = (
    {name: (row["change"], {*row["fields"]}) for name, row in rows.items()}
    for rows in table(__file__, "every_field.yaml").values()
)
PLUGIN_FIELDS = CONTAINER_FIELDS | PLUGIN_FIELDS
DRA_FIELDS = PLUGIN_FIELDS | DRA_FIELDS
DAEMONSET_FIELDS = CONTAINER_FIELDS | DAEMONSET_FIELDS

FUNCTION_CONFIG = function_config(profiles={"vendor": {"firmwarePath": "/fw"}}, kmm={"version": "main"})


def rendered(spec: dict[str, Any]) -> dict[str, Any]:
    """Return all scalars of the generated objects by `Kind name: path`, and each object by `Kind name`."""
    objects = by_name(generated(applied(deviceconfig, device_config(spec), function_config=FUNCTION_CONFIG)))
    fields = {f"{name}: {join(path)}": leaf for name, item in objects.items() for path, leaf in leaves(item)}
    return {**dict.fromkeys(objects, "exists"), **fields}


def changed(spec: dict[str, Any], base: dict[str, Any]) -> set[str]:
    """The paths that differ; an object that comes or goes counts once."""
    before, after = rendered(base), rendered(spec)
    moved = {name for name in before.keys() ^ after.keys() if ": " not in name}
    both = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    return moved | {path for path in both if path.partition(":")[0] not in moved}


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_changes_what_it_should(field: str) -> None:
    change, expected = FIELDS[field]
    assert changed(BASE | change, BASE) == expected


def within(prefix: str, outer: str, paths: set[str]) -> set[str]:
    """`x` is a container's path, `^x` its section's, `!x` one of the whole run."""
    return {
        path[1:] if path.startswith("!") else outer + path[1:] if path.startswith("^") else prefix + path
        for path in paths
    }


@pytest.mark.parametrize("field", PLUGIN_FIELDS)
def test_a_field_of_the_device_plugin(field: str) -> None:
    change, expected = PLUGIN_FIELDS[field]
    spec = BASE | {"devicePlugin": merged(BASE["devicePlugin"], change)}
    assert changed(spec, BASE) == within(f"{P}container.", P, expected)


@pytest.mark.parametrize("field", DRA_FIELDS)
def test_a_field_of_the_dra_driver(field: str) -> None:
    change, expected = DRA_FIELDS[field]
    base = {key: value for key, value in BASE.items() if key != "devicePlugin"}
    base["dra"] = {"driverName": "a.example.com", "image": "registry.example.com/dra:1"}
    spec = base | {"dra": merged(base["dra"], change)}
    assert changed(spec, base) == within(f"{M}dra.container.", f"{M}dra.", expected)


@pytest.mark.parametrize("field", DAEMONSET_FIELDS)
def test_a_field_of_a_daemon_set(field: str) -> None:
    change, expected = DAEMONSET_FIELDS[field]
    spec = BASE | {"daemonSets": [merged(BASE["daemonSets"][0], change)]}
    assert changed(spec, BASE) == within(A, D, expected)


@pytest.mark.parametrize("field", SERVICE_FIELDS)
def test_a_field_of_a_service(field: str) -> None:
    change, expected = SERVICE_FIELDS[field]
    base = BASE | {"daemonSets": [AGENT | {"service": {"port": 1}}]}
    spec = BASE | {"daemonSets": [AGENT | {"service": {"port": 1} | change}]}
    assert changed(spec, base) == within("Service dc-agent: spec.", "", expected)


_OF_POD = {
    name: {re.split(r"[.\[]", path.removeprefix(outer))[0] for path in expected if path.startswith(outer)}
    for outer, fields in ((D, FIELDS), ("^", DAEMONSET_FIELDS))
    for name, (_, expected) in fields.items()
    if name not in ("podSpec", "keepPodTemplate")
}


@pytest.mark.parametrize("name", sorted(set[str]().union(*_OF_POD.values())))
def test_what_has_a_field_of_its_own_is_refused_in_pod_spec(name: str) -> None:
    """One of the two would be overwritten without a word: `_NAMED` of daemonset_rules.py says which counts."""
    spec = BASE | {"daemonSets": [AGENT | {"podSpec": {name: "x"}}]}
    results = applied(deviceconfig, device_config(spec), function_config=FUNCTION_CONFIG).results
    assert "KRM163" in dict(places(results))


_MODULES = [
    *(change for change, _ in FIELDS.values()),
    *({"devicePlugin": change} for change, _ in PLUGIN_FIELDS.values()),
    *({"devicePlugin": None, "dra": change} for change, _ in DRA_FIELDS.values()),
]


@pytest.mark.parametrize("version", TARGETS)
def test_a_field_that_the_clusters_kmm_does_not_have_is_an_error(version: str) -> None:
    """Few Modules are held against the CRD: `_judged` of rendering/module_checks.py names the fields of those."""
    silent = set[str]()
    settings = {"profiles": {"vendor": {"firmwarePath": "/fw"}}}
    for config, modules in _configs():
        results = [result for module in modules for result in structure.check(module, version)]
        refused = [result.message for result in results if result.rule == "KMM051"]
        done = applied(deviceconfig, config, function_config=function_config(**settings, kmm={"version": version}))
        if refused and "KMM051" not in {result.rule for result in done.results}:
            silent.update(refused)
    assert silent == set(), "KMM would drop these, and nothing says so: add them to `_judged`"


@cache
def _configs() -> list[tuple[dict[str, Any], list[Module]]]:
    """Return a config with each change, and its Modules, which are the same whatever version of KMM is asked about."""
    configs = [
        device_config({name: _filled(name, value) for name, value in merged(BASE, change).items()})
        for change in _MODULES
    ]
    objects = [generated(applied(deviceconfig, config, function_config=FUNCTION_CONFIG)) for config in configs]
    modules = [[Module(item) for item in some if item["kind"] == "Module"] for some in objects]
    return [*zip(configs, modules, strict=True)]


def _filled(name: str, value: Any) -> Any:
    needed = {"devicePlugin": PLUGIN, "dra": {"driverName": "a.example.com", "image": "registry.example.com/dra:1"}}
    return merged(needed[name], value) if name in needed else value


def merged(base: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in (base | change).items() if value is not None}


def test_the_tables_know_every_field_of_the_schema() -> None:
    root = schema("deviceconfig")

    def fields(node: dict[str, Any]) -> dict[str, Any]:
        if "$ref" in node:
            node = root["$defs"][node["$ref"].rpartition("/")[2]]
        return fields(node["items"]) if "items" in node else node["properties"]

    spec = fields(root["properties"]["spec"])
    # `unset` takes away what is inherited: see test_merging.py; options: see tests/functions/profile
    assert spec.keys() - {"unset", "options"} == FIELDS.keys(), "each has a row in every_field.yaml"
    switch = {"enabled"}  # takes the whole of it away: see test_merging.py
    assert fields(spec["devicePlugin"]).keys() - switch == PLUGIN_FIELDS.keys()
    assert fields(spec["dra"]).keys() - switch == DRA_FIELDS.keys()
    daemon_set = fields(spec["daemonSets"])
    elsewhere = {"perVersion", "rollOnConfigChange"}  # see test_versions.py and test_rights.py
    assert daemon_set.keys() - switch - elsewhere == DAEMONSET_FIELDS.keys()
    assert fields(daemon_set["service"]).keys() - switch == SERVICE_FIELDS.keys()
