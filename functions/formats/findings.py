"""Findings for readers: text for people, JSON for programs, and the table of all formats of `check`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from krmfn import color
from krmfn.counts import counted, extent, listed
from krmfn.results import UNLISTED, Result, json_text, reference

from .checked import Checked
from .github import github
from .gitlab import gitlab
from .junit import junit
from .prometheus import prometheus
from .rules import Rules
from .sarif import sarif

_EXPLAINED = 3
"""How many rules the last line of the text names."""


def text(checked: Checked, rules: Rules = None, paint: color.Paint = color.plain) -> str:
    """Return a line per finding, one that counts them and, with rules, one that says what explains them."""
    lines = [*(color.finding(result, paint) for result in checked.results), summary_line(checked, paint)]
    ids = list(dict.fromkeys(result.rule for result in checked.results if result.rule))
    if rules and ids:
        lines.append(f"more about these: krmfn explain {' '.join(ids[:_EXPLAINED])}")
    return "".join(f"{line}\n" for line in lines)


def summary_line(checked: Checked, paint: color.Paint = color.plain) -> str:
    """Return `2 errors, 1 info: 2 DeviceConfigs in 14 resources, 3 files`: the findings, and what was read."""
    counts = summary(checked.results)
    parts = [paint(counted(number, severity), severity) for severity, number in counts.items() if number]
    if parts and not (counts["error"] or counts["warning"]):
        parts.insert(0, paint("no errors or warnings", "clean"))
    kinds, read = listed(checked.kinds), extent(checked.resources, checked.files)
    left = f"; {counted(checked.excluded, 'file')} skipped (`exclude`, Helm charts)" if checked.excluded else ""
    off = f"; {counted(checked.turned_off, 'finding')} turned off" if checked.turned_off else ""
    return f"{', '.join(parts) or paint('no findings', 'clean')}{f': {kinds}' if kinds else ''} in {read}{left}{off}"


def summary(results: Sequence[Result]) -> dict[str, int]:
    """Return how many findings of each severity: {"error": ..., "warning": ..., "info": ...}."""
    names = ("error", "warning", "info")
    return {name: sum(result.unlisted or 1 for result in results if result.severity == name) for name in names}


FORMAT = "krmfn.dev/check/v1"
"""The format of the JSON."""


def as_json(checked: Checked, rules: Rules = None) -> str:
    """Return `{format: ..., clusters: [...], findings: [...], summary: {...}}`; what does not apply is null."""
    clusters: dict[str, list[str]] = {}
    for name, results in checked.clusters.items():
        for result in results:
            clusters.setdefault(str(result), []).append(name)
    document = {
        "format": FORMAT,
        "clusters": list(checked.clusters),
        "findings": [
            {**finding(result), "clusters": clusters.get(str(result), [*checked.clusters] if result.unlisted else [])}
            for result in checked.results
        ],
        "summary": {
            **summary(checked.results),
            "resources": checked.resources,
            "files": checked.files,
            "excluded": checked.excluded,
            "baseline": checked.baseline,
            "turnedOff": checked.turned_off,
            "kinds": dict(checked.kinds),
        },
    }
    return json_text(document, 2) + "\n"


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
        UNLISTED: result.unlisted or None,
    }


FORMATS: dict[str, Callable[[Checked, Rules], str]] = {
    "text": text,
    "json": as_json,
    "sarif": sarif,
    "junit": junit,
    "github": github,
    "gitlab": gitlab,
    "prometheus": prometheus,
}
"""The formats of `check --format`. A new one is a function and its row here; command and tests read the table."""
