"""The remedy fits the case: for each rule that is reached from several situations, what is said in each."""

from __future__ import annotations

import pytest
from krmfn_functions.commands import catalogue

from tests.rule_examples import findings
from tests.tables import table

RULES = {rule.id: rule for rule in catalogue.rules()}
ROWS = table(__file__, "situations.yaml")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['rule']}-{row['situation']}")
def test_the_remedy_fits_the_situation(row: dict[str, str]) -> None:
    found = findings(RULES[row["rule"]], row["example"])
    assert [finding.remedy for finding in found if finding.rule == row["rule"]] == [row["remedy"]], found


def test_a_situation_stands_once() -> None:
    assert len(ROWS) == len({(row["rule"], row["situation"]) for row in ROWS})
