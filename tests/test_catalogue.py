"""The catalogue names every rule the code reports, and its page is the one the code writes."""

from __future__ import annotations

import re
from pathlib import Path

from krmfn_functions.commands.catalogue import CHAPTERS, markdown, rules

ROOT = Path(__file__).parent.parent


def test_every_rule_in_the_code_is_in_the_catalogue() -> None:
    sources = [*(ROOT / "krmfn").rglob("*.py"), *(ROOT / "functions").rglob("*.py")]
    used = {rule for path in sources for rule in re.findall(r"\"(K(?:RM|MM)\d{3})\"", path.read_text())}
    assert len(used) > 50
    assert used - {rule for rule, _ in rules()} == set()


def test_every_rule_has_a_chapter_and_a_sentence() -> None:
    for rule, sentence in rules():
        assert any(rule.startswith(prefix) for prefix, _, _ in CHAPTERS), rule
        assert 20 <= len(sentence) <= 160, rule


def test_the_page_is_current() -> None:
    assert (ROOT / "docs" / "rules.md").read_text() == markdown(), "stale: run `python tools/rules.py`"
