"""The published JSON Schemas: what they say, that they say it everywhere, and that both readers of them agree."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import re2  # type: ignore[import-untyped]
from hypothesis import given, settings
from krmfn_functions.rendering.kinds import schema as json_schema

from krmfn import Manifest, schema
from tests.commands import ROOT, execute
from tests.examples import EXAMPLES
from tests.schema_corpus import KINDS, corpus, samples, schema_of, spoiled
from tests.tables import table

FILES = sorted(set(KINDS.values()))


def verdict(manifest: Manifest, file: str) -> bool:
    """jsonschema's."""
    return bool(schema._validator()(json_schema(file)).is_valid(manifest))


def nodes(value: Any, path: str = "#") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every subschema with its place."""
    yield path, value
    for holder in ("properties", "$defs"):
        for name, child in value.get(holder, {}).items():
            yield from nodes(child, f"{path}/{holder}/{name}")
    for holder in ("items", "additionalProperties", "propertyNames"):
        if isinstance(value.get(holder), dict):
            yield from nodes(value[holder], f"{path}/{holder}")


def test_no_file_is_stale() -> None:
    execute(sys.executable, ROOT / "tools" / "schemas.py", "--check").ended(0, "")


def test_the_corpus_has_all_kinds() -> None:
    assert {schema_of(manifest) for manifest in samples()} == set(FILES)
    assert len(corpus()) > 40


@pytest.mark.parametrize("file", FILES)
def test_every_field_says_what_it_is_for_and_every_pattern_its_rule(file: str) -> None:
    for path, node in nodes(json_schema(file)):
        for name, field in node.get("properties", {}).items():
            shared = json_schema(file)["$defs"].get(field.get("$ref", "").removeprefix("#/$defs/"), {})
            assert field.get("description") or shared.get("description"), f"{path}: {name}"
        assert "pattern" not in node or node["x-says"], path


@pytest.mark.parametrize("file", FILES)
def test_they_use_only_keywords_that_the_quick_check_knows(file: str) -> None:
    known = {"$ref", "type", "required", "items", "propertyNames", *schema._SIMPLE, *schema._WORDLESS}
    known |= {f"{bound}{counted}" for bound in ("min", "max") for counted in schema._COUNTED}
    for path, node in nodes(json_schema(file)):
        assert set(node) <= known, path
        assert node.get("type") or "$ref" in node or "propertyNames" in path, path


@pytest.mark.parametrize("file", FILES)
def test_patterns_mean_the_same_to_python_kubernetes_and_editors(file: str) -> None:
    for path, node in nodes(json_schema(file)):
        pattern = node.get("pattern", "")
        assert not re.search(r"\\[^x.\\]|\(\?", pattern), f"{path}: {pattern}"
        assert "$" not in re.sub(r"\[[^]]*\]", "", pattern)[:-1], f"{path}: {pattern}"
        assert re2.compile(pattern)


@pytest.mark.parametrize("file", FILES)
def test_lists_and_mappings_have_bounds(file: str) -> None:
    """Without them the API server cannot bound the cost of the CRD's rules."""
    for path, node in nodes(json_schema(file)):
        if "/metadata" not in path:
            assert node.get("type") != "array" or {"minItems", "maxItems"} <= set(node), path
            assert "propertyNames" not in node or "maxProperties" in node, path


def test_settings_take_every_field_of_a_deviceconfig_but_profile() -> None:
    spec = json_schema("deviceconfig")["properties"]["spec"]["properties"]
    vendor = dict(json_schema("renderdeviceconfigs")["$defs"]["vendor"]["properties"])
    objects, account, unset = (vendor.pop(name) for name in ("extraObjects", "serviceAccount", "unset"))
    plain = json.loads(json.dumps(vendor).replace("WithRights", ""))
    of_config = ("profile", "options", "serviceAccount", "unset")
    assert plain == {name: field for name, field in spec.items() if name not in of_config}
    assert unset["items"]["examples"] == [*spec["unset"]["items"]["examples"], "extraObjects"]
    rights = account["properties"].keys() - spec["serviceAccount"]["properties"].keys()
    assert rights == {"rules", "clusterRules"} and objects


def test_only_profiles_and_defaults_give_rights_to_the_parts_of_a_config() -> None:
    assert "WithRights" not in json.dumps(json_schema("deviceconfig"))
    definitions = json_schema("renderdeviceconfigs")["$defs"]
    for name, node in definitions.items():
        if name.endswith("WithRights") and name != "accountWithRights":
            plain = json_schema("deviceconfig")["$defs"][name.removesuffix("WithRights")]
            assert {**node["properties"], "serviceAccount": {"$ref": "#/$defs/account"}} == plain["properties"], name
    assert definitions["accountWithRights"]["properties"].keys() >= {"rules", "clusterRules"}
    pools = definitions["vendor"]["properties"]["nodePools"]
    assert "WithRights" not in json.dumps(pools), "a pool of the defaults gives none either"


def test_a_profile_and_its_versions_take_what_the_defaults_take_and_more() -> None:
    definitions = json_schema("renderdeviceconfigs")["$defs"]
    vendor, profile, release = (definitions[name]["properties"] for name in ("vendor", "profile", "release"))
    of_profile = {"versions", "versionsComplete", "locked"}
    assert {name: field for name, field in profile.items() if name not in of_profile} == vendor
    refused = {"unset", *definitions["release"]["x-elsewhere"]}
    assert {"unset", *release["unset"]["items"]["examples"]} == release.keys() - {"version"}
    assert {name: field for name, field in release.items() if name not in ("version", "unset")} == {
        name: field for name, field in vendor.items() if name not in refused
    }


def test_a_pool_overrides_what_the_config_has() -> None:
    spec = json_schema("deviceconfig")["properties"]["spec"]["properties"]
    pool = dict(spec["nodePools"]["items"]["properties"])
    of_pool = {"name", "nodeSelector", "unset"}
    assert {"allNodes", *pool["unset"]["items"]["examples"]} == pool.keys() - of_pool
    assert all(field == spec[name] for name, field in pool.items() if name not in of_pool)


def test_the_seed_has_its_three_fields() -> None:
    spec = json_schema("deviceconfig-example.com")["properties"]["spec"]
    assert list(spec["properties"]) == ["driverImage", "driverVersion", "nodeSelector"]
    assert spec["required"] == ["driverImage", "driverVersion"]


@pytest.mark.parametrize("manifest", samples(), ids=lambda manifest: manifest["metadata"]["name"])
def test_samples_fit(manifest: Manifest) -> None:
    assert schema.check(manifest, json_schema(schema_of(manifest))) == []


@pytest.mark.parametrize("file", FILES)
def test_samples_have_every_field(file: str) -> None:
    root, used = json_schema(file), set()

    def visit(value: Any, node: dict[str, Any], path: str) -> None:
        if "$ref" in node:
            path = node["$ref"]
            node = root["$defs"][path.removeprefix("#/$defs/")]
            path = path.removesuffix("WithRights")
        if isinstance(value, dict):
            for key, child in value.items():
                if key in node.get("properties", {}):
                    used.add(f"{path}/properties/{key}")
                    visit(child, node["properties"][key], f"{path}/properties/{key}")
                elif isinstance(node.get("additionalProperties"), dict):
                    visit(child, node["additionalProperties"], f"{path}/additionalProperties")
        if isinstance(value, list):
            for child in value:
                visit(child, node.get("items", {}), f"{path}/items")

    for manifest in samples():
        if schema_of(manifest) in (file, "deviceconfig" if file == "renderdeviceconfigs" else file):
            visit(manifest, root, "#")
            spec = {name: value for name, value in manifest["spec"].items() if name != "profile"}
            profile = {**spec, "versions": [spec]}
            visit({"defaults": spec, "profiles": {"vendor": profile}}, root["properties"]["spec"], "#/properties/spec")
    paths = ((path.replace("WithRights", ""), node) for path, node in nodes(root))
    known = {f"{path}/properties/{name}" for path, node in paths for name in node.get("properties", {})}
    assert known - used == set(), "no sample has these: add them to tests/schema_samples"


@pytest.mark.parametrize("manifest", corpus(), ids=lambda manifest: manifest["metadata"]["name"])
def test_the_quick_check_agrees_with_jsonschema_on_the_corpus(manifest: Manifest) -> None:
    file = schema_of(manifest)
    assert json_schema(file).fits(manifest) == verdict(manifest, file)


@settings(max_examples=min(EXAMPLES, 600), derandomize=True)
@given(spoiled(corpus))
def test_the_quick_check_agrees_with_jsonschema_on_damaged_manifests(manifest: Manifest) -> None:
    file = schema_of(manifest) or "deviceconfig"
    fits = json_schema(file).fits(manifest)
    assert fits == verdict(manifest, file)
    assert fits == (schema.check(manifest, json_schema(file)) == [])


def spec(**fields: Any) -> Manifest:
    """A DeviceConfig with these fields."""
    head = {"apiVersion": "krmfn.dev/v1alpha1", "kind": "DeviceConfig", "metadata": {"name": "a", "namespace": "b"}}
    return {**head, "spec": fields}


WRONG = table(__file__, "wrong.yaml")


@pytest.mark.parametrize(("fields", "path", "text"), [row.values() for row in WRONG])
def test_what_does_not_fit_is_reported_with_what_would(fields: dict[str, Any], path: str, text: str) -> None:
    results = schema.check(spec(**fields), json_schema("deviceconfig"))
    messages = {result.field.path: result.text for result in results if result.field}
    assert list(messages) == [f"spec.{path}"]
    assert text in messages[f"spec.{path}"]


@pytest.mark.parametrize(
    ("pattern", "fits", "not_fits"),
    [
        ("^a$", ["a"], ["a\n", "b\na", "a\nb"]),
        ("^(a$|b)", ["a", "bc"], ["a\n"]),
        ("^[a$]+$", ["a$"], ["$\n"]),
        (r"^\$a", ["$a", "$a\n"], ["a"]),
        (r"^[\]$]$", ["]", "$"], ["$\n", "\\"]),
    ],
)
def test_a_dollar_is_the_end_of_the_text(pattern: str, fits: list[str], not_fits: list[str]) -> None:
    rule = schema.Schema({"type": "string", "pattern": pattern})
    for value in fits + not_fits:
        assert rule.fits(value) == (value in fits) == schema._validator()(rule).is_valid(value), value
