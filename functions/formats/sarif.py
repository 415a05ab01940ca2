"""Findings as a SARIF 2.1.0 log, which code scanning reads. A clean run is a valid log, too."""

from __future__ import annotations

from collections.abc import Sequence

from krmfn.results import Result, json_text
from krmfn.rule import Rule
from krmfn.typed import Any

from . import rules as texts
from .checked import Checked, whose
from .rules import Rules

SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
MOST = 25_000
"""The findings of a run that GitHub takes; it refuses a log with more."""


def sarif(checked: Checked, rules: Rules = None) -> str:
    """Return a SARIF log with one run; `results` is written when it is empty, too, since readers need it."""
    results = _fitting(checked.results)
    ids = sorted({result.rule for result in results if result.rule})
    known = {rule.id: rule for rule in rules()} if rules and ids else {}
    described = [{"id": name} | _texts(known.get(name)) for name in ids]
    driver = {"name": "krmfn", "informationUri": "https://krmfn.dev", "rules": described}
    run = {"tool": {"driver": driver}, "results": list(map(_entry, results))}
    return json_text({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, 2) + "\n"


def _fitting(results: Sequence[Result]) -> Sequence[Result]:
    """Return the findings, or the worst of them with one that counts the others."""
    if len(results) <= MOST:
        return results
    worst = sorted(results, key=lambda result: list(_LEVELS).index(result.severity))
    rest = worst[MOST - 1 :]
    return [*worst[: MOST - 1], Result(f"{len(rest):,} more findings do not fit into this log", rest[0].severity)]


def _texts(rule: Rule | None) -> dict[str, Any]:
    """Return a rule's texts; there is no helpUri, which would have to name a host."""
    if rule is None:
        return {}
    about = {"text": texts.sentence(rule)}
    return {"shortDescription": about, "help": {"text": texts.text(rule), "markdown": texts.markdown(rule)}}


def _entry(result: Result) -> dict[str, Any]:
    resource = (
        "/".join(part for part in (result.ref.kind, result.ref.namespace, result.ref.name) if part)
        if result.ref
        else ""
    )
    path = result.field.path if result.field else ""
    entry: dict[str, Any] = {
        "level": _LEVELS[result.severity],
        "message": {"text": result.subject + result.message + whose(result)},
    }
    if result.rule:
        entry["ruleId"] = result.rule
    location: dict[str, Any] = {}
    if result.place and result.place.path:
        location["physicalLocation"] = {"artifactLocation": {"uri": _uri(result.place.path)}}
        region = {"startLine": result.place.line, "startColumn": result.place.column}
        if result.place.line:
            location["physicalLocation"]["region"] = {key: number for key, number in region.items() if number}
    if resource:
        location["logicalLocations"] = [{"fullyQualifiedName": "/".join(part for part in (resource, path) if part)}]
    if location:
        entry["locations"] = [location]
    entry["partialFingerprints"] = {"krmfn/v1": "|".join((result.rule, resource, path))}
    return entry


def _uri(path: str) -> str:
    from urllib.parse import quote

    return quote(path.replace("\\", "/"), errors="backslashreplace")
