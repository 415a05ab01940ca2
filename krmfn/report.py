"""Findings for readers: text for people, JSON for programs, and the formats of CI."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from . import formats, metrics
from .results import Checked, Result, reference


def text(checked: Checked) -> str:
    """A line per finding, and one that counts them."""
    lines = [*map(str, checked.results), summary_line(checked.results, checked.resources)]
    return "".join(f"{line}\n" for line in lines)


def summary_line(results: Sequence[Result], resources: int) -> str:
    """`2 errors, 1 warning in 14 resources`."""
    counts = summary(results)
    said = [_count(counts[severity], severity) for severity in ("error", "warning") if counts[severity]]
    return f"{', '.join(said) or 'no findings'} in {_count(resources, 'resource')}"


def summary(results: Sequence[Result]) -> dict[str, int]:
    """How many findings of each severity: {"error": ..., "warning": ..., "info": ...}."""
    return {name: sum(result.severity == name for result in results) for name in ("error", "warning", "info")}


def as_json(checked: Checked) -> str:
    """`{findings: [...], summary: {...}}`; a field that does not apply is null."""
    document = {
        "findings": [finding(result) for result in checked.results],
        "summary": {**summary(checked.results), "resources": checked.resources},
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def finding(result: Result) -> dict[str, Any]:
    """One finding as JSON data."""
    ref, place, tags = result.ref, result.place, dict(result.tags)
    return {
        "rule": result.rule or None,
        "severity": result.severity,
        "message": result.message,
        "ref": reference(ref) if ref else None,
        "path": result.field.path if result.field else None,
        "file": place.path if place else None,
        "line": (place.line or None) if place else None,
        "column": (place.column or None) if place else None,
        "admission": tags.get("admission"),
        "first": tags.get("first") == "true",
    }


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


FORMATS: dict[str, Callable[[Checked], str]] = {
    "text": text,
    "json": as_json,
    "sarif": formats.sarif,
    "junit": formats.junit,
    "github": formats.github,
    "prometheus": metrics.prometheus,
}
"""What `check --format` knows."""
