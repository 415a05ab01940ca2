"""Findings that were there before: a file names them, and only new ones count. Pure text and values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from krmfn.errors import KrmfnError
from krmfn.results import Result, json_text

Known = frozenset[tuple[str, str, str]]
"""Rule, resource and field path: what makes a finding the same one when lines move and wordings change."""


def parse(text: str, name: str) -> Known:
    """Return the findings of a baseline file. Raises KrmfnError for a text that is not one."""
    try:
        entries = json.loads(text)["findings"]
        return frozenset((entry["rule"], entry["resource"], entry["path"]) for entry in entries)
    except (ValueError, TypeError, KeyError, RecursionError) as failure:
        raise KrmfnError(f"{name} is not a baseline; write one with --write-baseline") from failure


def dump(results: Iterable[Result]) -> str:
    """Return the text of the baseline file of these findings."""
    entries = sorted({_identity(result) for result in results if not result.unlisted})
    findings = [{"rule": rule, "resource": resource, "path": path} for rule, resource, path in entries]
    return json_text({"findings": findings}, 2) + "\n"


def new(results: Sequence[Result], known: Known) -> list[Result]:
    """Return the findings that the baseline does not name, and those that stand for others: it cannot know these."""
    return [result for result in results if result.unlisted or _identity(result) not in known]


def _identity(result: Result) -> tuple[str, str, str]:
    resource = f"{result.ref.group}/{result.ref}" if result.ref else result.place.path if result.place else ""
    return (result.rule, resource, result.field.path if result.field else "")
