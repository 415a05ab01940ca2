"""Where a value was written that a field of another resource has."""

from __future__ import annotations

from krmfn_functions.rendering.generated import of_value


def test_a_value_is_found_where_it_stands_once_or_once_under_the_key() -> None:
    data = {"a": {"name": "x", "list": [{"key": "x"}, {"name": "y"}]}, "b": ["z"], "n": 1}
    assert of_value(data, "y", "other") == "a.list[1].name"
    assert of_value(data, "z", "other") == "b[0]"
    assert of_value(data, "x", "key") == "a.list[0].key"
    assert [of_value(data, value, "other") for value in ("x", "absent", "", 1, None)] == [""] * 5
