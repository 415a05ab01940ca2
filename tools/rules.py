"""Write docs/reference/rules, and the table of what can be turned off, from the rules: `python tools/rules.py`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from krmfn_functions.commands import catalogue
from krmfn_functions.formats.rules import markdown, page, sentence
from krmfn_functions.rule import Rule

_ROOT = Path(__file__).parent.parent
ROOM = _ROOT / "docs" / "reference" / "rules"
ADVICE = _ROOT / "functions" / "rendering" / "advice.json"
CHAPTERS = (
    ("KMM", "What the cluster refuses", "What the API server (the CRD) or KMM's webhook refuses, in their own words."),
    ("KRM1", "DeviceConfig, Ptemplate and the functionConfig", "What must hold before anything is generated."),
    ("KRM2", "What KMM does not check", "Lints; what is an error among them cannot work on any node."),
    ("KRM3", "Node exclusivity", "Which config manages which node."),
    ("KRM4", "Changes", "What `diff` reports about a change from an old state to a new one."),
    (
        "KRM5",
        "Kustomizations and clusters",
        "What kustomize would read and run, checked before it runs, and what is deployed.",
    ),
    ("KRM6", "The fleet", "Which node gets which driver; checked where nodes are known."),
    ("KRM7", "What reaches a cluster", "The final list as a whole; checked once there are no other errors."),
)
"""The families of rules by the first characters of their ids: the title of each, and what it is about."""
HEAD = """\
# The rules

A page for each group; a rule's entry has an example that breaks it, one that keeps it, and how it is turned off. \
`krmfn explain KRM301` prints an entry, `krmfn rules` the list. Written by `python tools/rules.py`; do not edit.

An example shows only what matters: what every resource of its kind needs is left out, and `null` takes something of \
that away. A document without a kind is a DeviceConfig, among the rules about Modules (KMM, KRM2) a Module. A comment \
in its first line names its file, the state that it is part of, the KMM version of the cluster, or flags for \
kustomize. The tests run every example. In the tables *(off)* marks a rule that can be turned off; its entry says how.
"""


HOLDING = """\
How krmfn knows that a rule is right. *engine*: a test asks the program itself. *recording*: a test plays what \
it was seen to do. *reference*: its source or its documentation was read, and no test asks it. *own*: the rule is \
about what krmfn itself defines. *none*: nothing was asked; such a rule is never an error.
"""
"""What the words of the last table mean."""
KINDS = ("engine", "recording", "reference", "own", "none")
"""These words in their order."""


def pages() -> dict[str, str]:
    """Return the pages by their names: the groups and what holds each rule, then a page for each group."""
    rules = catalogue.rules()
    contents: list[str] = []
    written: dict[str, str] = {}
    for prefix, title, about in CHAPTERS:
        members = [rule for rule in rules if rule.id.startswith(prefix)]
        contents.append(f"* [{title}]({prefix}.md): {members[0].id} to {members[-1].id}. {about}\n")
        head = f"# {prefix}: {title}\n\n{about} [How to read an entry](README.md).\n"
        written[f"{prefix}.md"] = "\n".join((head, _table(members), *map(_entry, members)))
    held = f"## What holds each rule\n\n{HOLDING}\n{_holders(rules)}"
    return {"README.md": f"{HEAD}\n{''.join(contents)}\n{held}", **written}


def _holders(rules: Sequence[Rule]) -> str:
    """Return a line per oracle: what it is, the test that asks it, and the rules that it holds."""
    oracles = sorted({rule.held for rule in rules}, key=lambda oracle: (KINDS.index(oracle.kind), oracle))
    lines = ["| | who | test | rules |", "|---|---|---|---|"]
    for oracle in oracles:
        held = " ".join(f"[{rule.id}]({page(rule.id)})" for rule in rules if rule.held == oracle)
        test = f"`{oracle.test}`" if oracle.test else ""
        lines.append(f"| {oracle.kind} | {oracle.name} | {test} | {held} |")
    return "".join(f"{line}\n" for line in lines)


def _table(rules: Sequence[Rule]) -> str:
    """Return a line per rule; where all findings are errors they need no column."""
    findings = [", ".join(rule.severities) + (" (off)" if rule.hideable else "") for rule in rules]
    texts = [f"| [{rule.id}](#{rule.id.lower()}) | {sentence(rule).replace('|', '&#124;')} |" for rule in rules]
    if {*findings} == {"error"}:
        return "".join(f"{line}\n" for line in ("| error | what must hold |", "|---|---|", *texts))
    rows = [f"{text} {finding} |" for text, finding in zip(texts, findings, strict=True)]
    return "".join(f"{line}\n" for line in ("| rule | what must hold | finding |", "|---|---|---|", *rows))


def advice() -> str:
    """Return the table that runs read: for each rule the severities of its findings that can be turned off."""
    lines = [f"{json.dumps(rule.id)}: {json.dumps(rule.hideable)}" for rule in catalogue.rules()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _entry(rule: Rule) -> str:
    notes = f"{catalogue.turning_off(rule)} {catalogue.holding(rule)}"
    return f"### {rule.id}\n\n{sentence(rule)}\n\n{markdown(rule)}\n{notes}\n"


if __name__ == "__main__":
    for name, text in pages().items():
        (ROOM / name).write_text(text, encoding="utf-8")
    ADVICE.write_text(advice(), encoding="utf-8")
