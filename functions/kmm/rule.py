"""What KMM's rules have beside a rule's own parts: the cluster's texts, and the tags that say what it prints first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from krmfn import Field, Result, error
from krmfn.typed import Any

ADMISSION, FIRST = "admission", "first"


def refused(text: str, path: str, current: Any = None, hint: str = "", rule: str = "") -> Result:
    """Return a finding with the cluster's own text about one field; the hint is ours."""
    message = f"{text} ({hint})" if hint else text
    return error(message, rule=rule, field=Field(path, current), tags=((ADMISSION, text),))


def prefixed(prefix: str, findings: Iterable[Result]) -> Iterator[Result]:
    """Yield findings with the prefix that KMM writes before its text."""
    for finding in findings:
        tags = ((key, prefix + value if key == ADMISSION else value) for key, value in finding.tags)
        yield finding._replace(message=prefix + finding.message, tags=tuple(tags))


def tag(finding: Result, key: str) -> str | None:
    """Return the value of a finding's tag; None when it has none."""
    return dict(finding.tags).get(key)


def mark_first(finding: Result) -> Result:
    """Return the finding as one that the cluster would print itself."""
    return finding._replace(tags=(*finding.tags, (FIRST, "true")))


def unmark_first(finding: Result) -> Result:
    """Return the finding as one that the cluster does not come to."""
    return finding._replace(tags=tuple(pair for pair in finding.tags if pair[0] != FIRST))
