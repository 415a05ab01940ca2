"""What several clusters have is told once, and names them in every format."""

from __future__ import annotations

from typing import Any
from unittest import mock

import pytest
from krmfn_functions.fleet import rules
from krmfn_functions.formats import findings
from krmfn_functions.formats.checked import Checked, names_of, tag_cluster
from krmfn_functions.formats.grouped import join, where
from krmfn_functions.rule import Rule
from krmfn_functions.sentence import Nodes, Sentence, Verb, named

from krmfn import Ref, Result, error, warning
from krmfn.printing import json_text
from tests import rule_examples
from tests.examples import pairs_of

OF_NODES = [rule for rule in (*rules.OF_INPUT, *rules.OF_COVERAGE) if rule.id not in ("KRM601", "KRM602")]
FORMATS = ("text", "github", "gitlab", "junit", "sarif")
"""Those that people and their servers read."""


def findings_of(rule: Rule, text: str) -> list[Result]:
    """Return what an example gets of its rule, as values, for a resource without a place: that of all clusters."""
    reported: list[Result] = []

    def keep(checked: Checked, *rest: Any) -> str:
        reported.extend(finding for finding in checked.results if finding.rule == rule.id)
        return findings.as_json(checked, *rest)

    with mock.patch.dict(findings.FORMATS, {"json": keep}):
        rule_examples.findings(rule, text)
    ref = Ref("g/v1", "Kind", "n")
    return [finding._replace(severity="error", ref=ref, place=None, tags=()) for finding in reported]


def of_two(rule: Rule) -> list[Result]:
    """The findings of the rule's example in two clusters, whose nodes have other names."""
    other = findings_of(rule, rule.bad.replace("gpu-", "edge-").replace("name: lab", "name: prod"))
    return join([*tag_cluster("dev", findings_of(rule, rule.bad)), *tag_cluster("prod", other)], ["dev", "prod"])


@pytest.mark.parametrize("rule", OF_NODES, ids=lambda rule: rule.id)
def test_a_finding_about_nodes_is_one_for_all_clusters(rule: Rule) -> None:
    (finding,) = of_two(rule)
    assert names_of(finding) == ["dev", "prod"]
    assert "gpu-1" not in finding.message and "edge-1" not in finding.message, finding.message


@pytest.mark.parametrize(("rule", "name"), pairs_of(OF_NODES, FORMATS))
def test_it_names_its_clusters_in_every_format(rule: Rule, name: str) -> None:
    (finding,) = of_two(rule)
    text = findings.FORMATS[name](Checked([finding]), None)
    assert "all 2 clusters" in text


def get_no_driver(number: int, of: int, names: str) -> Sentence:
    get, some = Verb(number, "gets", "get"), Nodes(number, names)
    return Nodes(number, of=of), " that it selects ", get, " no driver, for 6.1 on ", some


def test_numbers_are_added_and_names_are_of_clusters() -> None:
    sentences = {
        "a": get_no_driver(1, 4, "x-1"),
        "b": get_no_driver(1_200, 3_000, "y-1, y-2 and 1,198 more"),
    }
    tagged = [
        finding for name, words in sentences.items() for finding in tag_cluster(name, [error(words, rule="KRM604")])
    ]
    assert tagged[0].message == "1 of the 4 nodes that it selects gets no driver, for 6.1 on 1 node (x-1)"
    (finding,) = join(tagged, "abc")
    message = "1,201 of the 3,004 nodes that it selects get no driver, for 6.1 on 1,201 nodes (a 1, b 1,200)"
    assert (finding.message, names_of(finding)) == (message, ["a", "b"])
    single = [finding._replace(tags=(("names", name),)) for name in "abc" for finding in tagged[:1]]
    assert join(single, "abc")[0].message.startswith("3 of the 12 nodes that it selects get no driver")
    names = [f"c{at}" for at in range(40)]
    many = [finding._replace(tags=(("names", name),)) for name in names for finding in tagged[:1]]
    assert join(many, names)[0].message.endswith("on 40 nodes in 40 clusters")


def test_a_remedy_counts_as_the_message_does() -> None:
    """Two clusters of which each has its own thing to do are told of both."""
    dev, prod = (warning("is wrong", rule="KRM701", remedy=f"write {name}") for name in ("a", "b"))
    found = join([*tag_cluster("dev", [dev]), *tag_cluster("prod", [prod])], ["dev", "prod"])
    assert [finding.text for finding in found] == ["is wrong; write a", "is wrong; write b"]


def test_numbers_in_words_are_never_added() -> None:
    """A message that only reads as if it counted nodes stays as it is, and so does that of the other cluster."""
    texts = ["2 nodes (x, y) of YAML", "3 nodes (z) of YAML"]
    tagged = [finding for name, text in zip("ab", texts, strict=True) for finding in tag_cluster(name, [error(text)])]
    assert [finding.message for finding in join(tagged, "ab")] == texts


def test_what_differs_in_more_than_nodes_stays_apart() -> None:
    kernels = [error((f"for {kernel} on ", named(["x"])), rule="KRM604") for kernel in ("6.1", "6.2")]
    assert len(join([*tag_cluster("a", kernels[:1]), *tag_cluster("b", kernels[1:])], "ab")) == 2
    # one cluster twice: of different nodes
    twice = [error((named(names),), rule="KRM604") for names in ("xy", "zuv")]
    assert [finding.message for finding in join(tag_cluster("a", twice), "ab")] == [
        "2 nodes (x, y)",
        "3 nodes (z, u, v)",
    ]


def test_json_lists_the_clusters_by_name() -> None:
    (finding,) = join([*tag_cluster("a", [error("x")]), *tag_cluster("b, c", [error("x")])], ["a", "b, c", "d"])
    assert '"b, c"' in findings.as_json(Checked([finding]))
    assert json_text(names_of(finding), None) == '["a", "b, c"]'


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (4, "c1, c2, c3, c4"),
        (12, "c1, c2, c3, c4 and 8 more of 40 clusters"),
        (30, "all 40 clusters but c31, c32, c33, c34, c35, c36, c37, c38, c39, c40"),
        (39, "all 40 clusters but c40"),
        (40, "all 40 clusters"),
    ],
)
def test_clusters_are_named_or_those_that_are_not_among_them(number: int, sentence: str) -> None:
    """`30 of 40 clusters` would let a reader look for the ten."""
    names = [f"c{at}" for at in range(1, 41)]
    assert where(names[:number], names) == sentence
