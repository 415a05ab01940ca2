"""The facts of findings, and their order."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.finding import facts_of, in_order, node_facts

from krmfn import Place, error

PLACES = st.none() | st.builds(
    Place, st.sampled_from(["", "a", "b"]), st.integers(0, 2), *[st.integers(0, 12)] * 2, st.none()
)


@given(st.lists(PLACES, max_size=12))
def test_findings_stand_in_the_order_of_their_files_and_lines(places: list[Place | None]) -> None:
    """Those without a file come first; what stands at one place keeps its order."""
    ordered = in_order(error(str(number), place=place) for number, place in enumerate(places))
    known = [finding.place or Place("") for finding in ordered]
    keys = [(place.path, place.line, place.column) for place in known]
    assert keys == sorted(keys)
    assert sorted(int(finding.message) for finding in ordered) == list(range(len(places)))
    for key in set(keys):
        numbers = [int(finding.message) for finding, other in zip(ordered, keys, strict=True) if other == key]
        assert numbers == sorted(numbers)


def test_facts_come_back_from_json() -> None:
    facts = (("claimants", ("b",)), *node_facts(["n1", "n2"]))
    assert facts_of(json.loads(json.dumps(dict(facts)))) == facts
