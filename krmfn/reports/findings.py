"""Findings for readers: text for people, JSON for programs, and the formats of CI."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from ..counts import counted, listed
from ..results import Checked, Result, reference
from . import ci, prometheus


def text(checked: Checked) -> str:
    """Return a line per finding, and one that counts them."""
    lines = [*map(str, checked.results), summary_line(checked)]
    return "".join(f"{line}\n" for line in lines)


def summary_line(checked: Checked) -> str:
    """Return `2 errors, 1 warning: 2 DeviceConfigs in 14 resources, 3 files`: the findings, and what was read."""
    counts = summary(checked.results)
    parts = [counted(counts[severity], severity) for severity in ("error", "warning") if counts[severity]]
    kinds = listed(checked.kinds)
    return f"{', '.join(parts) or 'no findings'}{f': {kinds}' if kinds else ''} in {ci.extent(checked)}"


def summary(results: Sequence[Result]) -> dict[str, int]:
    """Return how many findings of each severity: {"error": ..., "warning": ..., "info": ...}."""
    return {name: sum(result.severity == name for result in results) for name in ("error", "warning", "info")}


def as_json(checked: Checked) -> str:
    """Return `{findings: [...], summary: {...}}`; a field that does not apply is null."""
    document = {
        "findings": [finding(result) for result in checked.results],
        "summary": {
            **summary(checked.results),
            "resources": checked.resources,
            "files": checked.files,
            "kinds": dict(checked.kinds),
        },
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def finding(result: Result) -> dict[str, Any]:
    """Return a finding as JSON data."""
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


FORMATS: dict[str, Callable[[Checked], str]] = {
    "text": text,
    "json": as_json,
    "sarif": ci.sarif,
    "junit": ci.junit,
    "github": ci.github,
    "prometheus": prometheus.prometheus,
}
"""The formats of `check --format`."""
