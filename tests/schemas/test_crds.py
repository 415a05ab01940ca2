"""The CRDs: structural, described, and of one mind with the JSON Schemas; their CEL rules are for tests/e2e."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from jsonschema import Draft202012Validator
from krmfn_functions.rendering.kinds import schema as json_schema
from krmfn_functions.rendering.kinds import text

from krmfn import Manifest, schema
from tests.commands import process
from tests.examples import EXAMPLES
from tests.schema_corpus import CRDS, corpus, schema_of, spoiled

FILES = sorted(CRDS)
IN_CLUSTERS = tuple(manifest for manifest in corpus() if schema_of(manifest) in CRDS)
STRUCTURAL = {
    *("description", "type", "enum", "pattern", "required", "properties", "additionalProperties", "items"),
    *("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
    *("x-kubernetes-validations", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-int-or-string"),
    *("x-kubernetes-list-type", "x-kubernetes-list-map-keys"),
}
HEAD = ("apiVersion", "kind", "metadata")
ANNOTATION_LIMIT = 262_144
"""Bytes; what `kubectl apply` can keep of an object in an annotation, as it does without --server-side."""


@cache
def crd(file: str) -> dict[str, Any]:
    """The CRD of a schema's kind."""
    manifest: dict[str, Any] = yaml.safe_load(text(f"crds/{CRDS[file]}.yaml"))
    return manifest


def root(file: str) -> dict[str, Any]:
    """Its schema."""
    [version] = crd(file)["spec"]["versions"]
    node: dict[str, Any] = version["schema"]["openAPIV3Schema"]
    return node


def as_json_schema(node: dict[str, Any]) -> dict[str, Any]:
    """What the API server checks of a node, its CEL rules and list types aside, with fieldValidation: Strict."""
    plain = {key: value for key, value in node.items() if not key.startswith("x-kubernetes-")}
    if node.get("x-kubernetes-int-or-string"):
        plain["type"] = ["integer", "string"]
    if "properties" in node:
        plain["properties"] = {name: as_json_schema(child) for name, child in node["properties"].items()}
    if "items" in node:
        plain["items"] = as_json_schema(node["items"])
    if "additionalProperties" in node:
        plain["additionalProperties"] = as_json_schema(node["additionalProperties"])
    elif node.get("type") == "object":
        plain["additionalProperties"] = "x-kubernetes-preserve-unknown-fields" in node
    return plain


def without_key_rules(value: Any) -> Any:
    """A JSON Schema without what CRDs can only say in CEL, or not at all."""
    if isinstance(value, dict) and is_either(value):
        return {}
    if isinstance(value, dict):
        return {key: without_key_rules(child) for key, child in value.items() if key != "propertyNames"}
    return [without_key_rules(child) for child in value] if isinstance(value, list) else value


@cache
def validators(file: str) -> tuple[Any, Any]:
    """Of the JSON Schema, and of the CRD with the metadata that the API server itself checks."""
    expected, crd_schema = without_key_rules(json_schema(file)), as_json_schema(root(file))
    properties = crd_schema["properties"] | {name: expected["properties"][name] for name in HEAD}
    parts = {"required": expected["required"], "$defs": expected["$defs"]}
    return schema._validator()(expected), schema._validator()({**crd_schema, **parts, "properties": properties})


@pytest.mark.parametrize("file", FILES)
def test_it_serves_one_stored_version_with_status_names_and_columns(file: str) -> None:
    spec, expected = crd(file)["spec"], json_schema(file)["properties"]
    [version] = spec["versions"]
    assert [f"{spec['group']}/{version['name']}"] == expected["apiVersion"]["enum"]
    assert [spec["names"]["kind"]] == expected["kind"]["enum"]
    assert crd(file)["metadata"]["name"] == f"{spec['names']['plural']}.{spec['group']}" == CRDS[file]
    assert version["served"] and version["storage"] and version["subresources"] == {"status": {}}
    assert spec["names"]["shortNames"] and spec["scope"] == "Namespaced"
    known = {path for path, _ in expanded(root(file))}
    paths = [column["jsonPath"] for column in version["additionalPrinterColumns"]]
    assert paths.pop() == ".metadata.creationTimestamp"
    assert set(paths) <= known


def test_short_names_differ() -> None:
    names = [name for file in FILES for name in crd(file)["spec"]["names"]["shortNames"]]
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize("file", FILES)
def test_it_is_structural_and_says_what_each_field_is_for(file: str) -> None:
    for path, node in expanded(root(file)):
        assert set(node) <= STRUCTURAL, path
        either = node.keys() == {"description", "x-kubernetes-preserve-unknown-fields"}  # a text or an object
        assert either or ("type" in node) != ("x-kubernetes-int-or-string" in node), path
        assert not {"properties", "additionalProperties"} <= set(node), path
        assert node.get("description") or path == ".metadata", path


@pytest.mark.parametrize("file", FILES)
def test_it_is_open_where_the_json_schema_is(file: str) -> None:
    expected = {path for path, node in expanded(json_schema(file)) if is_open(node) or is_either(node)} - {".metadata"}
    open_paths = {path for path, node in expanded(root(file)) if "x-kubernetes-preserve-unknown-fields" in node}
    assert open_paths == expected


@pytest.mark.parametrize("file", FILES)
def test_the_rules_about_keys_are_cel_rules(file: str) -> None:
    expected = {path: node["propertyNames"] for path, node in expanded(json_schema(file)) if "propertyNames" in node}
    key_rules = {}
    for path, node in expanded(root(file)):
        for rule in node.get("x-kubernetes-validations", []):
            if rule["rule"].startswith("self.all(key, "):
                key_rules[path] = rule
    assert key_rules.keys() == expected.keys()
    for path, rule in key_rules.items():
        assert rule["rule"] == f"self.all(key, key.matches('{expected[path]['pattern']}'))"
        assert expected[path]["x-says"] in rule["message"]


def is_either(node: dict[str, Any]) -> bool:
    """True for a text or an object or true, which a structural schema has no word for."""
    return node.get("type") in (["string", "object"], ["boolean", "string"])


def expanded(file_schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every subschema of a JSON Schema at the path of its field, references followed."""

    def nodes_below(node: dict[str, Any], path: str) -> Iterator[tuple[str, dict[str, Any]]]:
        if "$ref" in node:
            node = file_schema["$defs"][node["$ref"].removeprefix("#/$defs/")]
        yield path, node
        for name, child in node.get("properties", {}).items():
            yield from nodes_below(child, f"{path}.{name}")
        for holder, mark in (("items", "[]"), ("additionalProperties", "{}")):
            if isinstance(node.get(holder), dict):
                yield from nodes_below(node[holder], path + mark)

    yield from nodes_below(file_schema, "")


def is_open(node: dict[str, Any]) -> bool:
    """True for an object that takes fields which nobody names."""
    return node.get("type") == "object" and node.get("additionalProperties", True) is True


@pytest.mark.parametrize("file", FILES)
def test_kubectl_apply_can_keep_it_in_an_annotation(file: str) -> None:
    assert len(json.dumps(crd(file), separators=(",", ":"))) < ANNOTATION_LIMIT * 0.8


@pytest.mark.parametrize("manifest", IN_CLUSTERS, ids=lambda manifest: manifest["metadata"]["name"])
def test_schema_and_crd_agree_on_the_corpus(manifest: Manifest) -> None:
    by_schema, by_crd = validators(schema_of(manifest))
    assert by_schema.is_valid(manifest) == by_crd.is_valid(manifest)


@settings(max_examples=min(EXAMPLES, 600), derandomize=True)
@given(spoiled(lambda: IN_CLUSTERS))
def test_schema_and_crd_agree_on_damaged_manifests(manifest: Manifest) -> None:
    by_schema, by_crd = validators(schema_of(manifest) if schema_of(manifest) in CRDS else "deviceconfig")
    assert by_schema.is_valid(manifest) == by_crd.is_valid(manifest)


def printed(*args: str) -> str:
    """What a command prints, in a folder with nothing to read."""
    return process("krmfn", *args, cwd=Path("/")).ended(0, "").text


def test_crd_prints_the_crds() -> None:
    crds = list(yaml.safe_load_all(printed("crd")))
    names = ["deviceconfigs.krmfn.dev", "deviceconfigs.example.com", "ptemplates.pt.example.com"]
    assert [document["metadata"]["name"] for document in crds] == names
    assert {document["kind"] for document in crds} == {"CustomResourceDefinition"}


@pytest.mark.parametrize(
    ("args", "file"),
    [
        ([], "deviceconfig"),
        (["DeviceConfig"], "deviceconfig"),
        (["DeviceConfig.example.com"], "deviceconfig-example.com"),
        (["Ptemplate"], "ptemplate"),
        (["RenderDeviceConfigs"], "renderdeviceconfigs"),
        (["NodeInventory"], "nodeinventory"),
    ],
)
def test_schema_prints_the_schema_of_a_kind(args: list[str], file: str) -> None:
    assert json.loads(printed("schema", *args)) == json_schema(file)


def test_an_editor_gets_the_schema_by_which_the_configuration_file_is_judged() -> None:
    schema = json.loads(printed("schema", ".krmfn.yaml"))
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    assert validator.is_valid({"clusters": {"lab": ["lab"], "dev": {"paths": ["dev"], "labels": {"a": "b"}}}})
    mistakes: list[Any] = [
        {"cluster": {}},
        {"clusters": {"a/b": ["lab"]}},
        {"clusters": {"lab": []}},
        {"format": "html"},
    ]
    for wrong in mistakes:
        assert not validator.is_valid(wrong), wrong


def test_schema_names_the_kinds_it_has() -> None:
    done = process("krmfn", "schema", "Module").ended(2)
    kinds = "DeviceConfig, DeviceConfig.example.com, Ptemplate, RenderDeviceConfigs, NodeInventory, Profile"
    assert f"{kinds}, .krmfn.yaml" in done.err
