"""Findings that were there before do not count."""

from __future__ import annotations

import json

import pytest
from krmfn_functions.formats.checked import dump_baseline as dump
from krmfn_functions.formats.checked import new_findings
from krmfn_functions.formats.checked import parse_baseline as parse

from krmfn import KrmfnError, Place, Ref, error, warning
from krmfn.results import Field

ABOUT = Ref("g/v1", "Thing", "n", "a")
FOUND = [
    error("one", rule="KRM101", ref=ABOUT, field=Field("spec.a")),
    error("two", rule="KRM101", ref=ABOUT, field=Field("spec.b"), place=Place("a.yaml", 0, 7)),
    warning("three", rule="KRM100", place=Place("b.yaml", 2, 3)),
    warning("four"),
]


def test_what_was_written_names_all_of_it() -> None:
    assert new_findings(FOUND, parse(dump(FOUND), "baseline.json")) == []
    assert new_findings(FOUND, parse(dump([]), "baseline.json")) == FOUND


def test_the_file_does_not_depend_on_the_order() -> None:
    assert dump(FOUND) == dump([*reversed(FOUND), *FOUND])


def test_a_finding_stays_the_same_when_lines_move_and_wordings_change() -> None:
    known = parse(dump(FOUND), "baseline.json")
    moved = FOUND[1]._replace(message="other words", place=Place("moved.yaml", 3, 9), severity="warning")
    assert new_findings([moved], known) == []


def test_a_file_without_ids_still_counts() -> None:
    older = json.loads(dump(FOUND))
    for entry in older["findings"]:
        del entry["id"]
    assert new_findings(FOUND, parse(json.dumps(older), "baseline.json")) == []


OTHERS = {
    "fact": FOUND[0]._replace(facts=(("claimants", ("another",)),)),
    "rule": FOUND[0]._replace(rule="KRM102"),
    "field": FOUND[0]._replace(field=Field("spec.c")),
    "name": FOUND[0]._replace(ref=ABOUT._replace(name="b")),
    "namespace": FOUND[0]._replace(ref=ABOUT._replace(namespace="m")),
    "group": FOUND[0]._replace(ref=ABOUT._replace(api_version="h/v1")),
    "file": FOUND[2]._replace(place=Place("c.yaml", 2, 3)),
}


@pytest.mark.parametrize("part", OTHERS)
def test_another_rule_field_or_resource_is_new(part: str) -> None:
    assert new_findings([*FOUND, OTHERS[part]], parse(dump(FOUND), "baseline.json")) == [OTHERS[part]]


@pytest.mark.parametrize("nasty", ["\n\t\x00", "😀", "\"'\\", "\ud800"])
def test_any_text_comes_back(nasty: str) -> None:
    findings = [error("x", rule=nasty, ref=ABOUT._replace(name=nasty), field=Field(nasty))]
    written = dump(findings).encode()
    assert new_findings(findings, parse(written.decode(), "baseline.json")) == []


@pytest.mark.parametrize(
    "text",
    [
        *("", "no JSON", "[]", "1", "null", "{}", "[" * 100_000),
        *('{"findings": 1}', '{"findings": [1]}', '{"findings": ["rule"]}', '{"findings": [{"rule": "a"}]}'),
        '{"findings": [{"rule": [], "resource": "", "path": ""}]}',
    ],
)
def test_a_file_that_is_no_baseline_is_named(text: str) -> None:
    with pytest.raises(KrmfnError, match=r"^baseline\.json is not a baseline; write one with --write-baseline$"):
        parse(text, "baseline.json")
