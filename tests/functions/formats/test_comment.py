"""A comment on a pull request: as long as it may be, and nothing in it is a link."""

from __future__ import annotations

import html

import pytest
from krmfn_functions.formats.changes import text
from krmfn_functions.formats.comment import LIMIT, markdown
from krmfn_functions.plan import Comparison, plan

from tests.functions.test_plan import thing


def of(*first: str) -> str:
    return markdown([Comparison("", plan([], [thing("a", data={})]), first=first)])


def test_what_is_told_first_fits_and_the_rest_is_counted() -> None:
    comment = of(*(f"new right: ClusterRole x: get of {at}" for at in range(3_000)), "z" * LIMIT)
    assert len(comment) <= LIMIT
    count = comment.count("* new right: ")
    assert 100 < count < 3_000
    assert f"* **and {3_001 - count:,} more, which do not fit: " in comment
    long = of(f"new right: {'x' * LIMIT} (lab)")
    assert "* new right: xxx" in long
    assert "xxx (lab)\n" in long


def test_rights_are_told_of_several_clusters_but_for_those_that_go() -> None:
    kinds = ("ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding")
    changes = plan([thing("z", "Role")], [thing("a", kind) for kind in (*kinds, "ConfigMap")])
    comment = markdown([Comparison(name, changes) for name in ("lab", "prod")])
    listed = [line.split()[2] for line in comment.splitlines() if line.startswith("- **rights** ")]
    assert sorted(listed) == sorted(kinds)
    assert "| and " not in comment
    many = markdown([Comparison(f"{at:0>200}", changes) for at in range(200)])
    count = sum(line.startswith(f"| {0:0>190}") for line in many.splitlines())
    assert f"| and {200 - count} more | 0 | 0 | 0 | 0 | |" in many
    head = text([Comparison(name, changes) for name in ("lab", "prod")]).splitlines()[:5]
    assert [line.split()[0] for line in head if line] == ["what", "CLUSTER", "lab", "prod"]


@pytest.mark.parametrize(
    "link",
    ["https://e.example.com/a", "ftp://e.example.com", "www.e.example.com", "WWW.e", "GH-1", ":+1:", "a@e.example.com"],
)
def test_no_name_is_a_link_or_a_picture(link: str) -> None:
    comment = html.unescape(of(f"a {link} b"))
    assert link not in comment
    assert link in comment.replace("\u200b", "")
