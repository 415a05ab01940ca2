"""Rules, each an id and a generator of findings, and the tags that say what the cluster prints."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from krmfn.results import Field, Result, error

Rule = Callable[..., Iterator[Result]]
Rules = tuple[tuple[str, Rule], ...]
"""Rules with their ids, in the order in which the cluster applies them."""

ADMISSION, FIRST = "admission", "first"


def refused(text: str, path: str, current: Any = None, hint: str = "") -> Result:
    """Return a finding with the cluster's own text about one field; the hint is ours."""
    return error(f"{text} ({hint})" if hint else text, field=Field(path, current), tags=((ADMISSION, text),))


def apply(rules: Rules, *subject: Any, prefix: str = "") -> Iterator[Result]:
    """Yield the findings of each rule about the subject, with the rule's id and KMM's prefix before the text."""
    for rule_id, rule in rules:
        for finding in rule(*subject):
            finding = finding._replace(rule=rule_id)
            yield _prefixed(finding, prefix) if prefix else finding


def _prefixed(finding: Result, prefix: str) -> Result:
    tags = ((key, prefix + value if key == ADMISSION else value) for key, value in finding.tags)
    return finding._replace(message=prefix + finding.message, tags=tuple(tags))


def tag(finding: Result, key: str) -> str | None:
    """Return the value of a finding's tag; None when it has none."""
    return dict(finding.tags).get(key)


def mark_first(finding: Result) -> Result:
    """Return the finding as one that the cluster would print itself."""
    return finding._replace(tags=(*finding.tags, (FIRST, "true")))


def unmark_first(finding: Result) -> Result:
    """Return the finding as one that the cluster does not come to."""
    return finding._replace(tags=tuple(pair for pair in finding.tags if pair[0] != FIRST))
