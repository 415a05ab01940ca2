"""Findings as a code quality report, which GitLab shows in the merge request. A clean run is an empty list.

Its fields: https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
"""

from __future__ import annotations

import json

from krmfn.results import Result, json_text
from krmfn.typed import Any

from .checked import Checked, whose
from .rules import Rules

_SEVERITIES = {"error": "critical", "warning": "minor", "info": "info"}
_NOWHERE = "."
"""The path of a finding that stands in no file, for GitLab refuses a report with an entry that has none."""


def gitlab(checked: Checked, rules: Rules = None) -> str:
    """Return a JSON list with an entry per finding.

    A fingerprint does not change when lines move. No two are equal, since GitLab shows only one entry of each.
    """
    seen: dict[str, int] = {}
    entries = []
    for result in checked.results:
        name = _identity(result)
        seen[name] = seen.get(name, 0) + 1
        entries.append(_entry(result, _fingerprint(f"{name}|{seen[name]}")))
    return json_text(entries, 2) + "\n"


def _entry(result: Result, fingerprint: str) -> dict[str, Any]:
    place = result.place
    return {
        "description": result.subject + result.message + whose(result),
        "check_name": result.rule or "krmfn",
        "fingerprint": fingerprint,
        "severity": _SEVERITIES[result.severity],
        "location": {
            "path": (place and place.path) or _NOWHERE,
            "lines": {"begin": (place and place.line) or 1},
        },
    }


def _identity(result: Result) -> str:
    """Return what makes a finding the same one after other lines of its file have changed."""
    path = result.place.path if result.place else ""
    return json.dumps([result.rule, path, result.subject, result.message])


def _fingerprint(text: str) -> str:
    from hashlib import sha256

    return sha256(text.encode()).hexdigest()
