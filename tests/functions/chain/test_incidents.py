"""The page of incidents and `explain`: what they say is what the links say, and each link has a row."""

from __future__ import annotations

import pytest
from krmfn_functions.chain.incidents import INCIDENTS, Incident, of_word, words
from krmfn_functions.chain.kernel_words import WORDS
from krmfn_functions.chain.walk import LINKS, SELECTED

from krmfn import Manifest
from tests.commands import process
from tests.functions.chain.clusters import Objects, healthy, seen
from tests.functions.chain.nights import NIGHTS, PLANS, played


def test_each_link_has_a_row_in_the_order_of_the_chain() -> None:
    order = [SELECTED, *LINKS]
    assert list(dict.fromkeys(incident.link for incident in INCIDENTS)) == order
    assert len({word.lower() for word in words()}) == len(words())


@pytest.mark.parametrize("incident", INCIDENTS[1:], ids=lambda row: row.words[0])
def test_a_row_says_what_the_link_says(incident: Incident) -> None:
    nights = [(played(name), PLANS.get(name)) for name, night in NIGHTS.items() if night.link == incident.link]
    for objects, wanted in nights or [without_mapping()]:
        link = seen(objects, wanted=wanted)[0][incident.link]
        if incident.reason in link.reason and link.command.split()[:2] == incident.command.split()[:2]:
            return
    raise AssertionError(f"no night breaks {incident.link} with {incident.reason!r}")


def without_mapping() -> tuple[Objects, Manifest]:
    """A cluster whose Module has no mapping for the kernels of its nodes, as in Git."""
    objects = healthy()
    objects[0]["spec"]["moduleLoader"]["container"]["kernelMappings"][0]["regexp"] = "^5[.].*$"
    return objects, objects[0]


def test_every_word_is_explained_and_a_near_miss_is_named() -> None:
    for word in words():
        assert [*of_word(word)] and [*of_word(word.upper())]
    assert all([*of_word(f"modprobe: {entry.signs[0].title()}")] for entry in WORDS)
    done = process("krmfn", "explain", "ImagePullBackOff").ended(0)
    assert "KMM looks for each image with a pod of its own" in done.text and "type: kubectl describe pod" in done.text
    assert "pod that uses the driver" not in done.text
    assert "secure boot" in process("krmfn", "explain", "Key", "was", "rejected", "by", "service").ended(0).text
    assert "did you mean ImagePullBackOff?" in process("krmfn", "explain", "ImagePulBackOff").refused()
