"""Whether a place is in one of many parts of a text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from krmfn.yamltext.spans import Spans

PLACES = st.integers(0, 12)


@given(st.lists(st.tuples(PLACES, PLACES)), PLACES)
def test_a_place_is_in_one_of_the_parts(parts: list[tuple[int, int]], place: int) -> None:
    spans = Spans()
    for start, end in parts:
        spans.add(start, end)
    assert (place in spans) == any(start <= place < end for start, end in parts)
