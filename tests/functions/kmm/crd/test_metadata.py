"""What the API server says to metadata, in the text that tests/e2e/test_apiserver.py has from a real one."""

from __future__ import annotations

from typing import Any

import pytest
from krmfn_functions.kmm.crd.metadata import STRUCTS
from krmfn_functions.kmm.lookup import MISSING, at
from krmfn_functions.kmm.rule import tag

from krmfn.resource import split
from tests.tables import table

from ..manifests import refused_by_schema

OWNER: dict[str, Any] = {"apiVersion": "v1", "kind": "Node", "name": "a", "uid": "u"}
NULLS = dict.fromkeys(STRUCTS["v1.ObjectMeta"].keys() - {"name"})
ROWS = [row for rows in table(__file__, "metadata.yaml").values() for row in rows]


def owned(metadata: Any) -> dict[str, Any]:
    """A Module with this metadata, to which a name and a namespace are added."""
    named = {"name": "simple", "namespace": "kmm"} | metadata if isinstance(metadata, dict) else metadata
    return {"apiVersion": "kmm.sigs.x-k8s.io/v1beta1", "kind": "Module", "metadata": named}


def texts(metadata: Any) -> list[str]:
    return [tag(result, "admission") or "" for result in refused_by_schema(owned(metadata))]


@pytest.mark.parametrize(("metadata", "refusals"), [*ROWS, (NULLS, [])])
def test_what_is_refused_of_metadata_and_where(metadata: Any, refusals: list[str]) -> None:
    pairs = zip(texts(metadata), refusals, strict=True)
    assert [f"{text[: len(end) - 3]}..." if end.endswith("...") else text for text, end in pairs] == refusals
    for result in refused_by_schema(owned(metadata)):
        is_missing = result.message.endswith(("must not be empty", "is required"))
        assert result.field and (is_missing or at(owned(metadata), split(result.field.path)) is not MISSING)


def test_names_are_short() -> None:
    [text] = texts({"name": "a" * 254})
    assert text.startswith(f'metadata.name: Invalid value: "{"a" * 254}": must be no more than 253')
    assert texts({"name": None, "generateName": "a" * 58 + "-"}) == []


def test_annotations_are_short() -> None:
    limit = 256 * 1024
    assert texts({"annotations": {"a": "x" * (limit - 1)}}) == []
    assert texts({"annotations": {"a": "é" * (limit // 2 - 1), "b": None}}) == []
    text = f"metadata.annotations: Too long: may not be more than {limit} bytes"
    assert texts({"annotations": {"a": "x" * limit}}) == [text]
    assert texts({"annotations": {"a": "é" * (limit // 2)}}) == [text]
    assert texts({"annotations": {"a": "x" * (limit // 2), "b": "x" * (limit // 2 - 1)}}) == [text]


@pytest.mark.parametrize("metadata", [{"name": None}, {"annotations": {"a": "x" * 2**18}}])
def test_what_is_missing_or_too_long_blocks_the_cel_rules(metadata: dict[str, Any]) -> None:
    manifest = {"kind": "Module", "metadata": {"name": "a"} | metadata}
    assert [result.rule for result in refused_by_schema(manifest, "main")][1:] == ["KMM060"]


@pytest.mark.parametrize("junk", [None, 3, 1.5, "x", [], {}, [None], ["x"], [[]], {"a": None}, {"a": []}, float("nan")])
def test_broken_metadata_raises_nothing(junk: Any) -> None:
    texts(junk)
    for field in STRUCTS["v1.ObjectMeta"]:
        texts({field: junk})
        texts({field: [junk, junk]})
    for key in STRUCTS["v1.OwnerReference"]:
        texts({"ownerReferences": [OWNER | {key: junk}, {key: junk}]})
