"""Every rule explains itself: its bad example breaks it, its good one does not, and all of its texts are there."""

from __future__ import annotations

import re

import pytest
from krmfn_functions.commands import catalogue
from krmfn_functions.rule import Rule

from tests.exact_texts import EXACT_TEXTS
from tests.rule_examples import faults_of, known_findings, needs_kustomize, without_remedy

RULES = [pytest.param(rule, id=rule.id) for rule in catalogue.rules() if not needs_kustomize(rule)]
"""Those whose examples need kustomize are in tests/e2e."""
VERBS = (
    *("add", "call", "change", "check", "combine", "copy", "correct", "delete", "follow", "give", "ignore", "install"),
    *("keep", "leave", "let", "list", "merge", "mount", "move", "name", "pass", "put", "raise", "regenerate", "remove"),
    *("rename", "render", "replace", "set", "select", "shorten", "stop", "turn", "use", "write"),
)
"""What remedies begin with."""
NAMING = {
    "KRM175": "the right, what it means, and the config that gets it",
    "KRM302": "two objects, their fields and the labels of a node",
    "KRM303": "two pools, their fields and the labels of a node",
    "KRM304": "two objects, their fields and the labels of a node",
    "KRM401": "the nodes by cluster, and what is known of their workloads",
    "KRM526": "the first error of the other side, whole",
}
"""Rules whose message is longer, and what it names. Those about KMM and the API server have these programs' text."""
SEVERITIES = {rule.id: rule.severities for rule in catalogue.rules()}


@pytest.mark.parametrize("rule", RULES)
def test_the_bad_example_breaks_the_rule(rule: Rule) -> None:
    reported = known_findings(rule, rule.bad)
    assert {finding.severity for finding in reported if finding.rule == rule.id} == {rule.severities[0]}
    messages = {finding.message for finding in reported if finding.rule == rule.id and rule.id not in EXACT_TEXTS}
    allowed = ["is long"] if rule.id in NAMING else []
    assert {text: faults for text in messages if (faults := faults_of(text)) not in ([], allowed)} == {}
    assert bool(without_remedy(rule, reported)) == (rule.id in EXACT_TEXTS), "write `remedy=`"
    severities = {(finding.rule, finding.severity) for finding in reported}
    assert [(name, severity) for name, severity in severities if severity not in SEVERITIES[name]] == []


@pytest.mark.parametrize(
    ("message", "faults"),
    [
        ("is not a name. Write one", ["has two sentences"]),
        ("is not a name.", ["ends with a full stop"]),
        ("is not a name; write one", ["says what to do"]),
        ("is 'a'; must be a name", []),
        ("a path may not have ..", []),
        ("v1.2. is no version, and 1.0 is", []),
        (f"{'is '.ljust(160, 'x')}", []),
        (f"{'is '.ljust(161, 'x')}", ["is long"]),
    ],
)
def test_what_a_message_must_not_be(message: str, faults: list[str]) -> None:
    assert faults_of(message) == faults


@pytest.mark.parametrize("rule", RULES)
def test_the_good_example_breaks_neither_the_rule_nor_any_other_badly(rule: Rule) -> None:
    reported = known_findings(rule, rule.good)
    assert [finding for finding in reported if finding.rule == rule.id or finding.severity == "error"] == []


@pytest.mark.parametrize("rule", catalogue.rules(), ids=lambda rule: rule.id)
def test_the_texts_of_a_rule(rule: Rule) -> None:
    assert re.fullmatch(r"K(MM|RM\d)\d{2,3}", rule.id), "four characters for the family, two for the rule"
    assert 20 <= len(rule.sentence) <= 160
    assert not rule.sentence.endswith("."), "a sentence has no full stop"
    first = rule.sentence.split()[0]
    assert first[0] == first[0].lower() or first[1:] != first[1:].lower(), "small letters, but for names and kinds"
    assert rule.good.strip(), "a rule has an example that passes"
    assert rule.bad.strip(), "a rule has an example that fails"
    assert rule.good != rule.bad
    assert re.fullmatch(r"[A-Z].{9,}\.", rule.remedy, re.DOTALL), "a remedy is a sentence"


@pytest.mark.parametrize("rule", catalogue.rules(), ids=lambda rule: rule.id)
def test_a_rule_says_what_must_be_and_its_remedy_what_to_do(rule: Rule) -> None:
    """Under a red badge "each node has a kernel mapping" reads as if it had one."""
    words = re.findall(r"[a-z]+", rule.sentence)
    assert "must" in words or ("should" in words and rule.severities[0] != "error")
    for sentence in re.split(r"(?<=\.) (?=[A-Z])", rule.remedy):
        match = re.match(r"(?:(?:If|On|To) [^,]+, |Otherwise, |Or )?(\w+)", sentence)
        assert match, sentence
        assert match[1].lower() in VERBS, f"{sentence}: begin with a verb, or add this one to VERBS"


def test_each_exact_text_is_that_of_a_rule() -> None:
    assert EXACT_TEXTS.keys() <= SEVERITIES.keys()


def test_no_two_rules_have_one_id() -> None:
    ids = [rule.id for rule in catalogue.rules()]
    assert len(ids) == len(set(ids)) > 100
    assert ids == sorted(ids)
