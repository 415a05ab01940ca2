"""What a rule is: an id and a generator of findings; and the words a finding carries about the cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from krmfn.results import Field, Result, error

Rule = Callable[..., Iterator[Result]]
Rules = tuple[tuple[str, Rule], ...]
"""Rules with their ids, in the order in which the cluster asks them."""

ADMISSION, FIRST = "admission", "first"


def refused(text: str, path: str, current: Any = None, hint: str = "") -> Result:
    """A finding in the cluster's own words, about one field; the hint is ours."""
    return error(f"{text} ({hint})" if hint else text, field=Field(path, current), tags=((ADMISSION, text),))


def apply(rules: Rules, *subject: Any, prefix: str = "") -> Iterator[Result]:
    """Ask each rule about the subject; findings leave with the rule's id and with what KMM puts before the text."""
    for rule_id, rule in rules:
        for finding in rule(*subject):
            finding = finding._replace(rule=rule_id)
            yield _prefixed(finding, prefix) if prefix else finding


def _prefixed(finding: Result, prefix: str) -> Result:
    tags = ((key, prefix + value if key == ADMISSION else value) for key, value in finding.tags)
    return finding._replace(message=prefix + finding.message, tags=tuple(tags))


def tag(finding: Result, key: str) -> str | None:
    """The value of a finding's tag; None when it has none."""
    return dict(finding.tags).get(key)


def mark_first(finding: Result) -> Result:
    """The finding as one that the cluster would print itself."""
    return finding._replace(tags=(*finding.tags, (FIRST, "true")))


def unmark_first(finding: Result) -> Result:
    """The finding as one that the cluster does not come to."""
    return finding._replace(tags=tuple(pair for pair in finding.tags if pair[0] != FIRST))
