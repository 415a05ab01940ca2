"""Each link of the chain has nights on which it is broken, and twins that look like these and are well."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given
from krmfn_functions.chain.walk import LINKS

from tests.functions.chain.clusters import healthy, seen
from tests.functions.chain.nights import NIGHTS, PLANS, VERSIONED, played
from tests.functions.chain.twins import TWINS

ALWAYS = sorted(name for name, twin in TWINS.items() if not twin.is_alone)
"""Twins that are nobody's trouble, whatever is broken beside them."""
BROKEN = sorted({*NIGHTS} - {*VERSIONED, "other boot"})
"""Nights that are about the version of no upgrade, and have pods."""


def test_each_link_has_a_night_and_a_twin() -> None:
    assert {night.link for night in NIGHTS.values()} == {*LINKS}
    assert {twin.link for twin in TWINS.values()} == {*LINKS}


@pytest.mark.parametrize("name", TWINS)
def test_a_twin_breaks_nothing_and_leaves_no_doubt(name: str) -> None:
    objects = healthy()
    TWINS[name].edit(objects)
    links, first, is_fine = seen(objects)
    assert (first, is_fine) == ("", True), links[first] if first else links
    assert {link: value.evidence for link, value in links.items() if value.state != "holds"} == {}


@given(names=st.sets(st.sampled_from(sorted(TWINS))), order=st.randoms())
def test_twins_together_break_nothing(names: set[str], order: object) -> None:
    objects = healthy()
    for name in sorted(names):
        TWINS[name].edit(objects)
    assert seen(objects)[1:] == ("", True)


@given(night=st.sampled_from(BROKEN), names=st.sets(st.sampled_from(ALWAYS)))
def test_a_night_is_told_in_the_same_words_among_twins(night: str, names: set[str]) -> None:
    alone, first, _ = seen(played(night), wanted=PLANS.get(night))
    objects = played(night)
    for name in sorted(names):
        TWINS[name].edit(objects)
    links, other, is_fine = seen(objects, wanted=PLANS.get(night))
    assert (other, is_fine) == (first, False)
    assert (links[first].reason, links[first].command) == (alone[first].reason, alone[first].command)
