"""Findings as workflow commands of GitHub Actions."""

from __future__ import annotations

from krmfn.results import Result, printable

from .checked import Checked, whose
from .rules import Rules


def github(checked: Checked, rules: Rules = None) -> str:
    """Return a workflow command per finding, which GitHub shows at the line of the pull request."""
    return "".join(f"{_github(result)}\n" for result in checked.results)


def _github(result: Result) -> str:
    level = {"error": "error", "warning": "warning", "info": "notice"}[result.severity]
    place = result.place
    known = {"file": place.path, "line": place.line, "col": place.column} if place and place.path else {}
    known["title"] = result.rule or "krmfn"
    properties = ",".join(f"{key}={_escaped(printable(str(value)), ':,')}" for key, value in known.items() if value)
    message = "\n".join(map(printable, (result.subject + result.message + whose(result)).split("\n")))
    return f"::{level} {properties}::{_escaped(message)}"


def _escaped(text: str, more: str = "") -> str:
    """Return text percent-encoded as GitHub's runner reads it, `%` first."""
    for char in "%\r\n" + more:
        text = text.replace(char, f"%{ord(char):02X}")
    return text
