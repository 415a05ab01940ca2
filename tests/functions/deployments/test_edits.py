"""What an engine writes into a kustomization: an addition is written whole, or not said to be."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.deployments.deployment import Addition
from krmfn_functions.deployments.edits import edits

FIELDS = {
    "argocd": ("images", "replicas", "patches", "components", "commonLabels", "commonAnnotations", "namePrefix"),
    "flux": ("images", "patches", "patchesStrategicMerge", "patchesJson6902", "components", "namePrefix"),
}
FINE: dict[str, Any] = {
    "images": ["a=b:1"],
    "replicas": [{"name": "a", "count": 2}],
    "patches": [{"patch": "a: b"}],
    "components": ["../x"],
    "commonLabels": {"a": "b"},
    "commonAnnotations": {"a": "b"},
    "namePrefix": "x-",
}
ODD = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "a=b:1", "=x:1", "$x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "newTag", "count", "patch", "target", "a"]), inner, max_size=3)
    ),
    max_leaves=6,
)


def written(engine: Any, manifest: dict[str, Any], field: str, value: Any) -> tuple[dict[str, Any], bool]:
    """The fields, and whether the addition is said to be in them."""
    fields, additions = edits(engine, manifest, [Addition(f"kustomize.{field}", json.dumps(value))])
    return fields, bool(additions)


@pytest.mark.parametrize("value", ["x", {"a": 1}, [3], [{"name": 1, "count": 2}], [{"name": "a", "count": None}]])
def test_replicas_of_another_type_are_not_written(value: Any) -> None:
    assert written("argocd", {}, "replicas", value) == ({}, False)


@pytest.mark.parametrize("value", [[3], [{"name": 1, "newTag": "2"}], [{"name": "a", "newTag": 2}], [{"newTag": "2"}]])
def test_images_of_flux_of_another_type_are_not_written(value: Any) -> None:
    assert written("flux", {}, "images", value) == ({}, False)


def test_an_image_without_a_name_is_not_written() -> None:
    assert written("argocd", {}, "images", ["=x:1"]) == ({}, False)


@pytest.mark.parametrize("field", FINE)
@pytest.mark.parametrize("former", ["x", 3, {"a": 1}, [1], ["x"], [{"a": 1}]])
def test_a_field_of_another_type_is_not_written_over(field: str, former: Any) -> None:
    """It is the kustomization's own mistake, which the engine's build meets."""
    value = FINE[field]
    fields, is_written = written("argocd", {field: former}, field, value)
    new = fields.get(field)
    is_same_kind = type(former) is type(new) and (
        not isinstance(former, list) or (isinstance(new, list) and {*map(type, former)} <= {*map(type, new)})
    )
    assert is_written == (new is not None)
    assert not is_written or is_same_kind
    if isinstance(former, list) and new is not None and field != "images":
        assert len(new) >= len(former)


@given(st.sampled_from(sorted(FIELDS)), st.data())
def test_every_entry_is_written_or_the_addition_is_not(engine: str, data: st.DataObject) -> None:
    field = data.draw(st.sampled_from(FIELDS[engine]))
    value = data.draw(ODD)
    fields, is_written = written(engine, {}, field, value)
    assert bool(fields) <= is_written
    if is_written and isinstance(value, list) and field in ("images", "replicas"):
        names = {entry.partition("=")[0] if isinstance(entry, str) else entry["name"] for entry in value}
        assert len(fields[field]) >= len(names) - value.count("a=b:1")
    elif is_written and isinstance(value, (list, dict)):
        assert len(fields[field]) == len(value)
    elif is_written:
        assert fields[field] == value
