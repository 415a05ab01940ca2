"""The fields in which two values differ: how much work it is, and that no field is left out."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.differences import _is_same, differences

from tests.call_counts import call_count

SCALARS = st.sampled_from([0, 1, 1.0, True, False, None, "", "a"])
NAMED = st.lists(st.builds(lambda name, value: {"name": name, "a": value}, st.sampled_from("ab"), SCALARS), max_size=3)
VALUES = st.recursive(
    SCALARS | NAMED,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)


def nested(leaf: int, depth: int) -> Any:
    """Return a list in a list in a list, with a number in the innermost."""
    value: Any = leaf
    for _ in range(depth):
        value = [value]
    return value


def work(depth: int) -> int:
    found, calls = call_count(lambda: [*differences(nested(1, depth), nested(2, depth))])
    assert [change.parts for change in found] == [(0,) * depth]
    return calls


def test_lists_in_lists_are_compared_a_few_times_and_not_twice_for_each_level() -> None:
    """A patch of 30 brackets that changed the innermost kept `diff` busy for years."""
    assert work(8) < 4.5 * work(4)
    assert work(100) < 4.5 * work(50)


@given(VALUES, VALUES)
def test_values_without_differences_are_the_same(old: Any, new: Any) -> None:
    assert _is_same(old, new) == (not [*differences(old, new)])
    assert not [*differences(old, old)]
