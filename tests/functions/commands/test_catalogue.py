"""The catalogue names every rule the code reports, and its page is the one the code writes."""

from __future__ import annotations

import re

from krmfn_functions.commands.catalogue import CHAPTERS, rules
from rules import page

from tests.commands import ROOT


def test_every_rule_in_the_code_is_in_the_catalogue() -> None:
    sources = [*(ROOT / "krmfn").rglob("*.py"), *(ROOT / "functions").rglob("*.py")]
    used = {rule for path in sources for rule in re.findall(r"\"(K(?:RM|MM)\d{3})\"", path.read_text())}
    assert len(used) > 50
    assert used - {rule.id for rule in rules()} == set()


def test_every_rule_has_a_chapter() -> None:
    for rule in rules():
        assert any(rule.id.startswith(prefix) for prefix, _, _ in CHAPTERS), rule


def test_the_page_is_current() -> None:
    assert (ROOT / "docs" / "rules.md").read_text() == page(), "stale: run `python tools/rules.py`"
