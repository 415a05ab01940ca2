"""The catalogue names every rule the code reports, and its page is the one the code writes."""

from __future__ import annotations

import re

from krmfn_functions.commands.catalogue import rules
from rules import ADVICE, CHAPTERS, advice, page

from tests.commands import ROOT

SOURCES = [path.read_text() for folder in ("krmfn", "functions") for path in (ROOT / folder).rglob("*.py")]


def test_every_rule_in_the_code_is_in_the_catalogue() -> None:
    used = {rule for text in SOURCES for rule in re.findall(r"\"(K(?:RM|MM)\d{3})\"", text)}
    assert len(used) > 50
    assert used - {rule.id for rule in rules()} == set()


def test_every_rule_has_a_chapter() -> None:
    for rule in rules():
        assert any(rule.id.startswith(prefix) for prefix, _, _ in CHAPTERS), rule


def test_every_severity_in_the_code_is_one_of_its_rule() -> None:
    call = re.compile(r"\b(error|warning|info)\([^()\n]*\brule=\"(K\w+)\"")
    used = {pair for text in SOURCES for pair in call.findall(text)}
    assert len(used) > 40
    assert used - {(severity, rule.id) for rule in rules() for severity in rule.severities} == set()


def test_the_table_of_what_can_be_turned_off_is_current() -> None:
    """Runs read this table: to load every rule takes as long as to render."""
    assert ADVICE.read_text() == advice(), "stale: run `python tools/rules.py`"


def test_the_page_is_current() -> None:
    assert (ROOT / "docs" / "rules.md").read_text() == page(), "stale: run `python tools/rules.py`"
