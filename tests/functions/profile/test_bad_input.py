"""What a vendor or a user may get wrong in any Profile or config: an error at its place, and no traceback."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from krmfn_functions.mistake import Mistake
from krmfn_functions.profile import keywords, lists, misfits

from tests.builders import edited
from tests.functions.profile.vendor import CR, cr, options, profile, refused, rendered

NAMED = {"name": "gpu", "namespace": "kmm"}
RESOURCE = {
    "type": "object",
    "x-kubernetes-embedded-resource": True,
    "x-kubernetes-preserve-unknown-fields": True,
}
TRUE_AS_A_TEXT = {"type": "string", "enum": ["auto", True]}
FLAGS_BY_NAME = {"a": {"each": "spec.exporter.flags", "as": "${value.x}"}}


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("when", [{"if": {"spec.exporter.enable": True}}], "spec.when[0]: a `when` without `config` and `unset` does"),
        (
            "for",
            {"group": "amd.com", "kind": "DeviceConfig"},
            "spec.for.versions: is missing; write",
        ),
        ("for", {"group": "amd.com", "kind": "DeviceConfig", "versions": []}, "spec.for.versions: must not be empty"),
        ("for", {"group": "amd.com", "kind": "DeviceConfig", "versions": 1}, "spec.for.versions: is the number 1"),
        ("config", {"parameters": ["a=${ spec.exporter.level }"]}, "${ spec.exporter.level } is no expression"),
        ("texts", FLAGS_BY_NAME, "${value.x} is not read in `as`; write ${value},"),
        ("config", {"parameters": ["a=${.spec.exporter.level}"]}, "${.spec.exporter.level} is no expression"),
    ],
)
def test_a_profile_with_errors_is_there_and_its_configs_are_not_called_undriven(
    field: str, value: Any, words: str
) -> None:
    findings = refused(edited(profile(), (f"spec.{field}", value)), CR)
    assert any(line.startswith("error: Profile amd-gpu: ") and words in line for line in findings)
    assert not any("[KRM107]" in line for line in findings), findings


@pytest.mark.parametrize("kind", [["string", "null"], {}, 5])
def test_a_type_of_a_schema_that_is_none_is_an_error_at_its_place(kind: Any) -> None:
    product = profile()
    options(product)["a"] = {"type": kind}
    (finding,) = [line for line in refused(product, CR) if "spec.schema.properties.spec.properties.a.type: " in line]
    assert "is not a type; write one of array, boolean" in finding


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "string", "enum": []}, "a.enum: must not be empty"),
        (TRUE_AS_A_TEXT, "a.enum: true is of another type than string, so it cannot be written"),
        ({"type": "integer", "minimum": 5, "maximum": 1}, "a.minimum: is above maximum, so no value fits"),
        ({"type": "string", "minLength": 3, "maxLength": 2}, "a.minLength: is above maxLength, so no value fits"),
        (
            {"type": "object", "properties": {"image": {"type": "string"}}, "required": ["imag"]},
            "a.required: imag is required, but is not a field here, so no config can be valid; did you mean 'image'?",
        ),
        ({"type": "object", "required": ["b"]}, "a.required: b is required, but is not a field here"),
        ({"type": "string", "nullable": True, "enum": ["a", None]}, ""),
        ({"type": "number", "enum": [1, 1.5], "minimum": 1, "maximum": 1}, ""),
        ({"type": "object", "additionalProperties": {"type": "string"}, "required": ["b"]}, ""),
        ({**RESOURCE, "required": ["kind", "metadata"]}, ""),
    ],
)
def test_a_schema_that_no_config_fits_is_an_error_at_its_keyword(schema: Any, words: str) -> None:
    product = profile()
    options(product)["a"] = schema
    product["spec"]["schema"]["required"] = ["apiVersion", "metadata", "spec"]  # as in some vendors' CRDs
    _, findings, _ = rendered(product, CR)
    errors = [line for line in findings if line.startswith("error: ")]
    assert [words in line for line in errors] == ([True] if words else []), errors


KEYED = {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["n"]}
OF_A_MAP = {"type": "object", "required": ["n"], "properties": {"n": {"type": "string"}}}


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "array", "items": {}, "anyOf": [{"items": 5}]}, "a.anyOf[0].items: must be a schema"),
        ({"type": "array", "items": {}, "allOf": [{"not": {"items": []}}]}, "a.allOf[0].not.items: must be a schema"),
        ({**KEYED, "items": {**OF_A_MAP, "properties": 5}}, "a.items.properties: is the number 5"),
        ({**KEYED, "items": {**OF_A_MAP, "required": 5}}, "a.items.required: is the number 5"),
    ],
)
def test_an_odd_value_in_a_schema_is_an_error_at_its_place(schema: Any, words: str) -> None:
    product = profile()
    options(product)["a"] = schema
    assert any(words in line for line in refused(product, CR))


@pytest.mark.parametrize("bound", [float("inf"), float("nan"), 10**400])
@pytest.mark.parametrize("word", ["minimum", "maximum", "multipleOf"])
def test_a_bound_that_json_has_not_is_an_error_outside_of_parts_and_within(word: str, bound: float) -> None:
    for place, schema in ((), {word: bound}), (("not",), {"not": {word: bound}}):
        root = {"type": "object", "properties": {"a": {"type": "number", "default": 1, **schema}}}
        found = [*keywords.mistakes(root)]
        assert found == [(("properties", "a", *place, word), Mistake("must be a finite number"))]


def test_metadata_whose_properties_are_no_mapping_are_an_error() -> None:
    product = profile()
    product["spec"]["schema"]["properties"]["metadata"] = {"type": "object", "properties": 5}
    assert any("metadata.properties: is the number 5" in line for line in refused(product, CR))


def test_a_long_list_whose_entries_stand_twice_is_judged_in_one_walk() -> None:
    numbers = [*range(20_000), *range(20_000)]
    found = list(lists.duplicates({"x-kubernetes-list-type": "set"}, numbers, ()))
    assert [path for path, _ in found] == [(index,) for index in range(20_000, 40_000)]
    assert "has 19999 of entry 19999 again" in found[-1][1].message


def test_fields_that_are_dropped_are_named_in_their_order() -> None:
    schema = {"type": "object", "additionalProperties": True}
    names = [f"f{number}" for number in range(9)]
    found = misfits.misfits(schema, {name: {"x": 1} for name in names})
    assert [path for path, _ in found] == [(name,) for name in names]


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        ({"namespace": "kmm"}, "metadata.name: is required"),
        ({"generateName": "gpu-", "namespace": "kmm"}, "metadata.name: is required"),
        ({"name": "Gpu", "namespace": "kmm"}, "metadata.name: is 'Gpu'; must be lower case letters"),
        ({"name": "gpu", "namespace": "a.b"}, "metadata.namespace: is 'a.b'; must be"),
        ({**NAMED, "annotations": {"krmfn.dev/profile": 5}}, "is the number 5; must be a string"),
        ({**NAMED, "labels": {"a": {"b": "c"}}}, "metadata.labels.a: is a mapping"),
    ],
)
def test_metadata_of_a_vendors_config_are_judged_as_those_of_ours(metadata: Any, words: str) -> None:
    findings = refused(profile(), {**CR, "metadata": metadata}, cr("other"))
    assert [words in line for line in findings if "[KRM101]" in line] == [True], findings


def test_a_text_is_named_as_an_expression_can() -> None:
    product = profile()
    product["spec"]["texts"] |= {"a.b": {"as": "x"}, "c": {"as": "x"}}
    findings = "".join(rendered(product, CR)[1])
    assert "nothing uses this text; write ${texts['a.b']}, or" in findings
    assert "nothing uses this text; write ${texts.c}, or" in findings


def test_an_embedded_resource_has_its_head_without_a_word_in_the_schema() -> None:
    product, config = profile(), deepcopy(CR)
    embedded = {"type": "object", "x-kubernetes-embedded-resource": True, "properties": {"spec": {"type": "object"}}}
    options(product)["a"] = embedded
    config["spec"]["a"] = {"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": {"a": "b"}}, "spec": {}}
    assert [line for line in rendered(product, config)[1] if line.startswith("error: ")] == []
    config["spec"]["a"]["spek"] = {}
    assert any("spec.a.spek: unknown field" in line for line in rendered(product, config)[1])
