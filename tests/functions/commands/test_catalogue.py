"""The catalogue names every rule the code reports, and its page is the one the code writes."""

from __future__ import annotations

import json
import re

import pytest
from krmfn_functions import oracles
from krmfn_functions.commands.catalogue import rules
from krmfn_functions.rule import Oracle, Rule
from rules import ADVICE, CHAPTERS, ROOM, advice, pages

from tests.commands import ROOT, process

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


def test_the_pages_are_current() -> None:
    present = {path.name: path.read_text() for path in ROOM.iterdir()}
    assert present == pages(), "stale: run `python tools/rules.py`"


ENGINES = (ROOT / "docs" / "internals" / "engines.md").read_text()
"""The page with the programs that were asked, a row each with its tests."""
ORACLES = {name: value for name, value in vars(oracles).items() if isinstance(value, Oracle)}


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.id)
def test_a_rule_says_what_holds_it(rule: Rule) -> None:
    """The program has a row on the page of engines, and its test stands there; a recording has a test that plays it."""
    kind, name, test = rule.held
    assert rule.held in ORACLES.values()
    assert name
    assert bool(test) == (kind in ("engine", "recording"))
    assert not test or (ROOT / test).is_file()
    row = re.search(rf"^\| {re.escape(name)} \|.*`{re.escape(test[10:-3])}`", ENGINES, re.MULTILINE)
    assert kind != "engine" or row, "the row of this program, with this test"


def test_the_pages_that_an_oracle_names_exist() -> None:
    ours = [oracle.name for oracle in ORACLES.values() if oracle.kind == "own"]
    named = [page for name in ours for page in re.findall(r"docs/[\w./-]+\.md", name)]
    assert len(named) > 4
    assert [page for page in named if not (ROOT / page).is_file()] == []


def test_each_oracle_holds_a_rule() -> None:
    held = {rule.held for rule in rules()}
    assert [name for name, oracle in ORACLES.items() if oracle not in held] == []


def test_what_nobody_was_asked_is_no_error_and_is_listed() -> None:
    unasked = [rule for rule in rules() if rule.held.kind == "none"]
    assert [rule.id for rule in unasked if "error" in rule.severities] == []
    listed = "".join(line for line in (ROOM / "README.md").read_text().splitlines() if line.startswith("| none |"))
    assert {*re.findall(r"\[(K(?:RM|MM)\d{3})\]", listed)} == {rule.id for rule in unasked}


def test_the_command_says_what_holds_each_rule() -> None:
    line = "KMM051  engine     a field must exist in the Module CRD of this KMM version; "
    assert line in process("krmfn", "rules").out.decode()
    records = {
        record["id"]: record["heldBy"] for record in json.loads(process("krmfn", "rules", "--format", "json").out)
    }
    assert records["KMM051"] == {"kind": "engine", "name": "kube-apiserver", "test": "tests/e2e/test_apiserver.py"}
    assert records["KMM020"]["test"] is None
    assert len(records) == len(rules())
    explained = " ".join(process("krmfn", "explain", "KRM611").out.decode().split())
    assert "Held by nobody: no registry was asked for what is in the image." in explained
