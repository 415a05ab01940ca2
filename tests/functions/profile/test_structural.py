"""What an API server refuses of a schema, and of a value, is an error at its place; all else is silent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.functions.profile.schemas import judged
from tests.functions.profile.vendor import CR, options, profile, rendered

FOLDER = Path(__file__).parent
SCHEMAS: list[dict[str, Any]] = yaml.safe_load((FOLDER / "structural.yaml").read_text())
VALUES: list[dict[str, Any]] = yaml.safe_load((FOLDER / "validation.yaml").read_text())
PLACE = "spec.schema.properties.spec.properties.field"


@pytest.mark.parametrize("case", SCHEMAS, ids=[str(case["schema"]) for case in SCHEMAS])
def test_what_the_server_refuses_of_a_schema_is_an_error_at_its_line(case: dict[str, Any]) -> None:
    product = profile()
    options(product)["field"] = case["schema"]
    errors = [line for line in rendered(product, CR)[1] if line.startswith("error") and "[KRM180]" in line]
    place = PLACE if case["refused"] == "field" else f"{PLACE}.{case['refused']}"
    assert [f": {place}: " in line for line in errors[:1]] == [True] * bool(case["refused"]), errors


@pytest.mark.parametrize("case", VALUES, ids=[f"{case['schema']['properties']} {case['written']}" for case in VALUES])
def test_what_the_server_refuses_of_a_value_is_refused(case: dict[str, Any]) -> None:
    result = judged(case["schema"], case["written"])
    assert result.becomes == case["becomes"], result.refusals
    assert bool(result.refusals) == (case["becomes"] is None)


@pytest.mark.parametrize(
    ("root", "words"),
    [
        ({"anyOf": [{"required": ["spec"]}]}, "spec.schema.anyOf: the schema of a whole config may not have anyOf"),
        ({"nullable": True}, "spec.schema.nullable: the schema of a whole config may not have nullable"),
        ({"additionalProperties": True}, "spec.schema.additionalProperties: the schema of a whole config must name"),
    ],
)
def test_what_no_schema_of_a_kind_with_a_status_has(root: dict[str, Any], words: str) -> None:
    product = profile()
    product["spec"]["schema"] |= root
    assert any(words in line for line in rendered(product, CR)[1])


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        ({"type": "object", "properties": {"name": {"type": "string", "pattern": "^a"}}}, ""),
        ({"type": "object", "properties": {"labels": {"type": "object"}}}, "metadata: may restrict nothing but name"),
        ({"type": "object", "default": {}}, "metadata.default: no CRD may give metadata a default"),
        ({"type": "string"}, "metadata.type: must be object, as in every resource"),
    ],
)
def test_metadata_are_known_to_the_server(metadata: dict[str, Any], words: str) -> None:
    product = profile()
    product["spec"]["schema"]["properties"]["metadata"] = metadata
    errors = [line for line in rendered(product, CR)[1] if "spec.schema" in line]
    assert [words in line for line in errors] == [True] * bool(words), errors
