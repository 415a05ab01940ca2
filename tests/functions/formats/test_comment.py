"""A comment on a pull request: as long as it may be, and nothing in it is a link."""

from __future__ import annotations

import html

import pytest
from krmfn_functions.formats.changes import text
from krmfn_functions.formats.comment import FORMATS, LIMIT, SHORT, Review, markdown
from krmfn_functions.formats.grouped import tag_clusters
from krmfn_functions.formats.unjudged import Gap
from krmfn_functions.plan import Comparison, Effect, Opening, plan
from krmfn_functions.sentence import Nodes

from krmfn import Place, Result, error, info, warning
from krmfn.resource import ref
from krmfn.results import Severity
from tests.functions.test_plan import thing


def test_what_is_not_judged_stands_beside_the_line_that_sums_up() -> None:
    same, gaps = Comparison("", plan([], [])), [Gap("files", "x.yaml", "excluded")]
    lines = {name: FORMATS[name]([same], gaps).split("\n") for name in ("text", "markdown")}
    told = "not judged: x.yaml (excluded)"
    assert lines["markdown"][:3] == ["**nothing changes**", "", told]
    assert lines["text"][:2] == [told, "nothing changes"], "a terminal shows the end"


def of(*first: str) -> str:
    return markdown([Comparison("", plan([], [thing("a", data={})]), first=tuple(map(Opening, first)))])


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
    many = markdown([Comparison(f"{at:0>200}", plan([], [thing("x")] * (at + 1))) for at in range(200)])
    count = sum(line.startswith(f"| {0:0>190}") for line in many.splitlines())
    assert f"| and {200 - count} more | 0 | 0 | 0 | 0 | |" in many
    head = text([Comparison(name, changes) for name in ("lab", "prod")]).splitlines()[:5]
    assert [line.split()[0] for line in head if line] == ["what", "CLUSTER", "lab", "prod"]


@pytest.mark.parametrize("severity", ["error", "warning", "info"])
def test_findings_that_differ_in_their_places_alone_are_one_line(severity: Severity) -> None:
    """64 clusters that are relabelled alike were 64 lines; what is said otherwise, or has no place, stays by itself."""
    names = [f"c{at}" for at in range(64)]
    alike = [Result("m", severity, "KRM605", place=Place(f"{name}.yaml", 0, 3, 1)) for name in names]
    others = [Result("n", severity, place=Place("n.yaml")), Result("m", severity, "KRM605")]
    tagged = [tag_clusters(finding, [name], names) for name, finding in zip(names, alike, strict=True)]
    comment = markdown([Comparison(name, plan([], [])) for name in names], Review([*tagged, *others]))
    lines = [line for line in comment.splitlines() if line.startswith(f"- **{severity}**")]
    assert lines == [
        f"- **{severity}** c0.yaml:3:1 m; the same in 63 other places [KRM605] (all 64 clusters)",
        f"- **{severity}** n.yaml n",
        f"- **{severity}** m [KRM605]",
    ]


@pytest.mark.parametrize(
    "link",
    ["https://e.example.com/a", "ftp://e.example.com", "www.e.example.com", "WWW.e", "GH-1", ":+1:", "a@e.example.com"],
)
def test_no_name_is_a_link_or_a_picture(link: str) -> None:
    comment = of(f"a {link} b")
    assert f"* a `{link.removesuffix(':')}`" in comment, "in a code span nothing is a link"
    summary = html.unescape(markdown([Comparison("", plan([], [thing(link, data={})]))]).partition("<summary>")[2])
    assert link not in summary.partition("</summary>")[0]
    assert link in summary.replace("\u200b", "")


def test_what_makes_the_job_fail_comes_first_and_all_of_it() -> None:
    """Beside a page the comment is short, and has each error all the same, with its place and what to do."""
    new = [thing(f"object-{at}", data={"key": "x" * 500}) for at in range(50)]
    place = Place("a b.yaml", 0, 3, 7)
    errors = [error(f"is wrong in way_{at}", rule="KRM101", place=place, ref=ref(new[0])) for at in range(40)]
    findings = [warning("is old", rule="KRM225"), *errors, warning("is odd")]
    review = Review(findings, ("error",), {"KRM101": "Correct `it`."}, "report.html", "check: 41 errors\n")
    comment = markdown([Comparison("", plan([], new), notes=[errors[0], warning("is odd")])], review)
    assert (
        comment.startswith("**This makes the job fail**\n\n- **error** a `b.yaml:3:7` ConfigMap n/")
        or "a b.yaml" in comment
    )
    assert comment.count("is wrong in `way_") == 40, "an error that is a note stands there once"
    assert "What to do:\n\n- KRM101: Correct `it`.\n" in comment
    order = ["is wrong", "50 created", "check: 41 errors", "is odd", "is old"]
    assert sorted(order, key=comment.index) == order, "what the change does stands before what is old"
    assert len(comment) <= SHORT + 40 * 100
    assert "report.html has them" in comment
    assert "&#" not in comment


def test_what_is_about_the_change_stands_before_what_is_old() -> None:
    """A reviewer reads an advice about the change, and then what the repository has had before."""
    new = thing("a")
    notes = [info("restarts pods", ref=ref(new)), warning("reloads nodes", ref=ref(new))]
    old = [info("is never reached"), warning("is one image")]
    comment = markdown([Comparison("", plan([], [new]), notes=notes)], Review([*old, *notes]))
    order = ["reloads nodes", "restarts pods", "is one image", "is never reached"]
    assert sorted(order, key=comment.index) == order, comment


def test_a_warning_that_is_an_error_in_another_cluster_stands_there_as_well() -> None:
    """Both have one id, which knows no severity."""
    new = thing("a")
    wrong = error("is wrong", rule="KRM101", ref=ref(new))
    old = wrong._replace(message="may be wrong", severity="warning")
    comment = markdown([Comparison("", plan([], [new]), notes=[wrong, old])], Review([wrong, old]))
    assert (comment.count("is wrong"), comment.count("may be wrong")) == (1, 1)


def test_rows_that_are_alike_are_one_behind_those_that_differ() -> None:
    def cluster(name: str, *nodes: str) -> Comparison:
        effect = Effect(ref(thing("a")), "reloaded", nodes, ("reloaded on ", Nodes(len(nodes))))
        return Comparison(name, plan([], [thing("a")])._replace(effects=(effect,)), knows_nodes=True)

    fleet = [cluster(f"edge-{at:02}", *map(str, range(3 if at == 7 else 6))) for at in range(20)]
    comment = markdown(fleet)
    rows = [row for row in comment.splitlines() if row.startswith("| edge-")]
    assert rows == [
        "| edge-07 | 0 | 0 | 3 | 0 | 1 created |",
        "| edge-00 ... edge-19: 19 clusters, 6 nodes each | 0 | 0 | 114 | 0 | 1 created |",
    ]
    assert len([row for row in markdown(fleet[:4]).splitlines() if row.startswith("| edge-")]) == 4


ROOMS = {
    "alike": ([["a", "b"]] * 4, 4_096),
    "one differs": ([["a", "b"]] * 3 + [["a", "c"]], 8_192),
    "many": ([["a", "b"]] * 63 + [["a", "c"]], 12_288),
}


@pytest.mark.parametrize("number", [3, 300])
@pytest.mark.parametrize(("names", "most"), ROOMS.values(), ids=ROOMS)
def test_beyond_its_size_a_comment_counts_and_names_the_page(names: list[list[str]], most: int, number: int) -> None:
    """Each object that changes is longer than its room, and so are 300 errors; three of them are all there."""
    place = Place("a.yaml", 0, 3, 7)
    texts = [f"is wrong in {way} ways{' so' * 60}" for way in range(number)]
    errors = [error(text, rule="KRM101", place=place) for text in texts]
    things = [[thing(f"{name}{at}", data={"key": "x" * 900}) for at in range(9) for name in of_one] for of_one in names]
    fleet = [Comparison(f"c{at}", plan([], wanted)) for at, wanted in enumerate(things)]
    review = Review(errors, ("error",), {}, "report.html", "\ncheck: many errors\n")
    comment = markdown(fleet, review)
    assert comment.index("- **error** ") < comment.index(review.below)
    assert len(comment) <= (most if number == 3 else 12_288)
    shown = comment.count("- **error** ")
    assert (shown == number) == (number == 3)
    assert (f"- and {number - shown} more, which do not fit: report.html has them\n" in comment) == (number != 3)
    assert "; report.html has them" in comment
