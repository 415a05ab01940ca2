"""Findings for CI: SARIF 2.1.0, JUnit XML, GitHub workflow commands. A clean run is a valid document, too."""

from __future__ import annotations

import json
from typing import Any

from ..counts import counted
from ..results import Checked, Result, printable

SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}


def extent(checked: Checked) -> str:
    """Return how much was looked at: `14 resources, 3 files`; a stream has no files."""
    files = f", {counted(checked.files, 'file')}" if checked.files else ""
    return counted(checked.resources, "resource") + files


def sarif(checked: Checked) -> str:
    """Return a SARIF log with one run; `results` is written when it is empty, too, since readers need it."""
    rules = sorted({result.rule for result in checked.results if result.rule})
    driver = {"name": "krmfn", "informationUri": "https://krmfn.dev", "rules": [{"id": rule} for rule in rules]}
    run = {"tool": {"driver": driver}, "results": [_sarif_result(result) for result in checked.results]}
    return json.dumps({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False) + "\n"


def _sarif_result(result: Result) -> dict[str, Any]:
    resource = (
        "/".join(part for part in (result.ref.kind, result.ref.namespace, result.ref.name) if part)
        if result.ref
        else ""
    )
    path = result.field.path if result.field else ""
    entry: dict[str, Any] = {"level": _LEVELS[result.severity], "message": {"text": _sentence(result)}}
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


def junit(checked: Checked) -> str:
    """Return a JUnit report: a failed test case per error or warning, and a passed one when there is neither."""
    from xml.etree import ElementTree as xml

    failures = [result for result in checked.results if result.severity != "info"]
    suite = xml.Element(
        "testsuite", name="krmfn", tests=str(len(failures) or 1), failures=str(len(failures)), errors="0"
    )
    for result in failures:
        place = {"file": result.place.path, "line": str(result.place.line or "")} if result.place else {}
        named = {"classname": result.rule or "krmfn", "name": str(result)} | place
        attributes = {key: _printable(value) for key, value in named.items() if value}
        case = xml.SubElement(suite, "testcase", attributes)
        failure = xml.SubElement(case, "failure", type=result.severity, message=_printable(result.message))
        failure.text = _printable(str(result))
    if not failures:
        xml.SubElement(suite, "testcase", classname="krmfn", name=f"no findings in {extent(checked)}")
    xml.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + xml.tostring(suite, encoding="unicode") + "\n"


def github(checked: Checked) -> str:
    """Return a workflow command per finding, which GitHub shows at the line of the pull request."""
    return "".join(f"{_github(result)}\n" for result in checked.results)


def _github(result: Result) -> str:
    level = {"error": "error", "warning": "warning", "info": "notice"}[result.severity]
    place = result.place
    known = {"file": place.path, "line": place.line, "col": place.column} if place and place.path else {}
    known["title"] = result.rule or "krmfn"
    properties = ",".join(f"{key}={_escaped(printable(str(value)), ':,')}" for key, value in known.items() if value)
    message = "\n".join(map(printable, _sentence(result).split("\n")))
    return f"::{level} {properties}::{_escaped(message)}"


def _sentence(result: Result) -> str:
    subject = [str(part) for part in (result.ref, result.field and result.field.path) if part]
    return ": ".join([*subject, result.message])


def _escaped(text: str, more: str = "") -> str:
    """Return text percent-encoded as GitHub's runner reads it, `%` first."""
    for char in "%\r\n" + more:
        text = text.replace(char, f"%{ord(char):02X}")
    return text


def _printable(text: str) -> str:
    """Return text without control characters: XML 1.0 has none, escaped or not."""
    return "".join(char if char.isprintable() or char in "\n\t" else "�" for char in text)
