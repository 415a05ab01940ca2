"""Findings: the specification's fields, and how they read aloud."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krmfn import findings as findings_module
from krmfn.findings import Findings
from krmfn.resource import Place, Ref
from krmfn.resourcelist import ResourceList
from krmfn.results import NODES, UNLISTED, Field, Result, error, info, warning

REF = Ref("apps/v1", "Deployment", "shop", "web")


def test_every_field_of_the_specification() -> None:
    finding = error(
        "no such image",
        rule="KRM001",
        ref=REF,
        field=Field("spec.image", "a:1", "a:2"),
        place=Place("web.yaml", 2, 14, 3),
        tags=(("more", "yes"),),
    )
    assert finding.to_manifest() == {
        "message": "no such image",
        "severity": "error",
        "resourceRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "namespace": "shop"},
        "field": {"path": "spec.image", "currentValue": "a:1", "proposedValue": "a:2"},
        "file": {"path": "web.yaml", "index": 2},
        "tags": {"rule": "KRM001", "more": "yes"},
    }
    assert (
        str(finding) == "web.yaml:14:3: error: Deployment shop/web: spec.image: no such image; proposed: a:2 [KRM001]"
    )


@pytest.mark.parametrize(("make", "severity"), [(error, "error"), (warning, "warning"), (info, "info")])
def test_severity_is_always_written(make: object, severity: str) -> None:
    assert callable(make)
    assert make("m").to_manifest() == {"message": "m", "severity": severity}


def test_a_field_needs_a_resource() -> None:
    assert "field" not in error("m", field=Field("a")).to_manifest()
    values = {"currentValue": False, "proposedValue": 0}
    assert error("m", ref=REF, field=Field("a", False, 0)).to_manifest()["field"] == {"path": "a", **values}


def test_a_resource_without_namespace() -> None:
    reported = error("m", ref=Ref("v1", "Node", "", "n")).to_manifest()
    assert reported["resourceRef"] == {"apiVersion": "v1", "kind": "Node", "name": "n"}


def test_one_line_for_a_person() -> None:
    assert "\n" not in str(error("one\ntwo", place=Place("", 1)))
    assert str(Result("m")) == "error: m"


PARTS = st.lists(
    st.lists(
        st.tuples(
            st.sampled_from("abcdefgh"),
            st.sampled_from([error, warning, info]),
            st.sampled_from(["R1", "R2"]),
            st.sampled_from([None, Place("a.yaml", 0, 1), Place("a.yaml", 1, 9), Place("b.yaml")]),
        ).map(lambda parts: parts[1](parts[0], rule=parts[2], place=parts[3])),
        max_size=20,
    ),
    max_size=3,
)


@given(PARTS)
def test_what_is_listed_and_what_is_counted_is_all(parts: list[list[Result]]) -> None:
    """However they come, an error is never lost; what was counted stays so when it is put with others."""
    with patch.object(findings_module, "MOST", 3):
        reported, joined = ResourceList(), ResourceList()
        for part in parts:
            reported.report(part)
        first = reported.results
        joined.report(first)
        assert [result.to_manifest() for result in joined.results] == [result.to_manifest() for result in first]
        assert [*Findings(first)] == first
    findings = {result for part in parts for result in part}
    assert joined.failed is reported.failed is any(result.severity == "error" for result in findings)
    assert _numbers(first) == _numbers(findings)
    listed = Counter((_file(result), result.rule) for result in first if not result.unlisted)
    assert all(number <= 3 for number in listed.values())
    assert all(listed[_file(result), result.rule] == 3 for result in first if result.unlisted)


def test_what_stands_for_others_has_no_remedy_of_the_first() -> None:
    results = [error(str(number), rule="KRM001", field=Field(f"a[{number}]"), remedy="remove b") for number in range(5)]
    with patch.object(findings_module, "MOST", 3):
        *listed, rest = Findings(results)
    assert ([result.remedy for result in listed], rest.unlisted, rest.remedy) == (["remove b"] * 3, 2, "")


def _numbers(findings: Iterable[Result]) -> Counter[tuple[str, str, str]]:
    numbers = Counter[tuple[str, str, str]]()
    for result in findings:
        numbers[_file(result), result.rule, result.severity] += result.unlisted or 1
    return numbers


def _file(result: Result) -> str:
    return result.place.path if result.place else ""


@pytest.mark.parametrize(("tag", "number"), [("3", 3), ("", 0), ("many", 0), ("-1", 0)])
def test_a_tag_of_a_function_that_is_no_number_stands_for_no_other_finding(tag: str, number: int) -> None:
    assert info("a", tags=((UNLISTED, tag),)).unlisted == number


CONFLICT = error("a and b", rule="KRM301", ref=REF, field=Field("spec.a"), facts=(("claimants", ("b",)),))
SAME = {
    "wording": CONFLICT._replace(message="b and a"),
    "place": CONFLICT._replace(place=Place("a.yaml", 1, 2, 3)),
    "severity": CONFLICT._replace(severity="warning"),
    "version": CONFLICT._replace(ref=REF._replace(api_version="apps/v2")),
    "nodes": CONFLICT._replace(facts=(*CONFLICT.facts, (NODES, ("n1", "n2")), ("nodeCount", 2))),
    "number": CONFLICT._replace(facts=(*CONFLICT.facts, ("kernels", 3))),
}
OTHER = {
    "fact": CONFLICT._replace(facts=(("claimants", ("c",)),)),
    "rule": CONFLICT._replace(rule="KRM302"),
    "field": CONFLICT._replace(field=Field("spec.b")),
    "resource": CONFLICT._replace(ref=REF._replace(name="other")),
    "file, without a resource": CONFLICT._replace(ref=None, place=Place("a.yaml")),
    "message, without a rule": CONFLICT._replace(rule=""),
}


@pytest.mark.parametrize("change", SAME)
def test_an_id_is_stable(change: str) -> None:
    assert SAME[change].id == CONFLICT.id


@pytest.mark.parametrize("change", OTHER)
def test_another_finding_has_another_id(change: str) -> None:
    assert OTHER[change].id != CONFLICT.id
