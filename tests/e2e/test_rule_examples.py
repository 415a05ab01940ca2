"""The examples of rules about kustomizations, built by the real kustomize."""

from __future__ import annotations

import pytest
from krmfn_functions.commands import catalogue
from krmfn_functions.rule import Rule

from tests.exact_texts import EXACT_TEXTS
from tests.rule_examples import faults_of, findings, needs_kustomize, without_remedy

from .engines import path_of

RULES = [rule for rule in catalogue.rules() if needs_kustomize(rule)]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_built_example(rule: Rule, kustomize: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", path_of()["PATH"])
    reported = findings(rule, rule.bad)
    assert {result.severity for result in reported if result.rule == rule.id} == {rule.severities[0]}
    messages = {finding.message for finding in reported if finding.rule == rule.id and rule.id not in EXACT_TEXTS}
    assert {text: faults for text in messages if (faults := faults_of(text))} == {}
    assert bool(without_remedy(rule, reported)) == (rule.id in EXACT_TEXTS), "write `remedy=`"
    good = findings(rule, rule.good)
    assert [finding for finding in good if finding.rule == rule.id or finding.severity == "error"] == []
