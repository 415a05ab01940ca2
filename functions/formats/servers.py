"""Findings as servers read them: SARIF, JUnit, commands of GitHub, code quality of GitLab.

A clean run is a valid document in each of them, too.
"""

import json
from collections import Counter

from krmfn import Place
from krmfn.printing import counted, json_text, printable
from krmfn.results import Result
from krmfn.typed import Any

from .. import VERSION
from ..finding import location_of, subjects
from ..rule import Rule
from ..terminal import extent
from . import rules as texts
from . import unjudged
from .checked import Checked, cluster_suffix, names_of
from .rules import Rules

SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}
_SEVERITIES = {"error": "critical", "warning": "minor", "info": "info"}
MOST = 25_000
"""The findings of a run that GitHub takes; it refuses a log with more."""
_NOWHERE = "."
"""The path of a finding that stands in no file: GitLab refuses a report with an entry without a path."""


def sarif(checked: Checked, rules: Rules = None) -> str:
    """Return a SARIF log with one run; `results` is written when it is empty, too, since readers need it."""
    results = checked.results
    if len(results) > MOST:  # the worst, with one that counts the others
        worst = sorted(results, key=lambda result: list(_LEVELS).index(result.severity))
        message = f"{len(worst) - MOST + 1:,} more findings do not fit into this log"
        results = [*worst[: MOST - 1], Result(message, worst[MOST - 1].severity)]
    ids = sorted({result.rule for result in results if result.rule})
    known = {rule.id: rule for rule in rules()} if rules and ids else {}
    descriptions = [{"id": name} | (_texts(known[name], checked.rules_url) if name in known else {}) for name in ids]
    driver = {"name": "krmfn", "version": VERSION, "rules": descriptions}
    run: dict[str, Any] = {"tool": {"driver": driver}, "results": list(map(_entry, results))}
    if gaps := unjudged.line(checked.not_judged):
        notes = [{"level": "note", "message": {"text": gaps}}]
        run["invocations"] = [{"executionSuccessful": True, "toolExecutionNotifications": notes}]
    return json_text({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, 2) + "\n"


def _texts(rule: Rule, url: str) -> dict[str, Any]:
    """Return a rule's texts; `helpUri` has to be absolute, so there is none unless a URL is given."""
    return {
        **({"helpUri": f"{url.rstrip('/')}/{texts.page(rule.id)}"} if url else {}),
        "shortDescription": {"text": texts.sentence(rule)},
        "help": {"text": texts.text(rule), "markdown": texts.markdown(rule)},
    }


def _entry(result: Result) -> dict[str, Any]:
    names = (result.ref.kind, result.ref.namespace, result.ref.name) if result.ref else ()
    resource, path = "/".join(filter(None, names)), result.field.path if result.field else ""
    location: dict[str, Any] = {}
    if result.place and result.place.path:
        location["physicalLocation"] = _physical(result.place)
    related = [
        {"id": at, "physicalLocation": _physical(other.place), "message": {"text": other.message}}
        for at, other in enumerate(result.related, 1)
    ]
    if resource:
        location["logicalLocations"] = [{"fullyQualifiedName": "/".join(filter(None, (resource, path)))}]
    return {
        "level": _LEVELS[result.severity],
        "message": {"text": _message(result)},
        **({"ruleId": result.rule} if result.rule else {}),
        **({"locations": [location]} if location else {}),
        **({"relatedLocations": related} if related else {}),
        "partialFingerprints": {"krmfn/v1": result.id},
    }


def _physical(place: Place) -> dict[str, Any]:
    """Return the place of a finding in a file."""
    from urllib.parse import quote

    location: dict[str, Any] = {
        "artifactLocation": {"uri": quote(place.path.replace("\\", "/"), errors="backslashreplace")}
    }
    region = {"startLine": place.line, "startColumn": place.column}
    if place.line:
        location["region"] = {key: number for key, number in region.items() if number}
    return location


def _message(result: Result) -> str:
    """Return what a finding says, with the other places that it is about."""
    places = [location_of(related.place) for related in result.related]
    see = f"; see also {', '.join(places)}" if places else ""
    return result.subject + result.text + see + cluster_suffix(result)


def junit(checked: Checked, rules: Rules = None) -> str:
    """Return a JUnit report: a test case per error or warning, and a passed one when there is neither.

    Those fail that make the command fail; another one passes, and says what it has found as its output. A case has the
    name of its object and field, so that a server can follow it while numbers and lines change.
    """
    from xml.etree import ElementTree as xml

    remedies = {rule.id: rule.remedy for rule in rules()} if rules and checked.results else {}
    results = [result for result in checked.results if result.severity != "info"]
    failures = sum(result.severity in checked.failing for result in results)
    suite = xml.Element("testsuite", name="krmfn", tests=str(len(results) or 1), failures=str(failures), errors="0")
    seen = Counter[tuple[str, str]]()
    for result in results:
        # the text has the place: the schema of Jenkins knows no attributes for file and line
        key = _clean(result.rule or "krmfn"), _clean(_case_name(result))
        seen[key] += 1
        number = f" #{seen[key]}" if seen[key] > 1 else ""
        case = xml.SubElement(suite, "testcase", classname=key[0], name=f"{key[1]}{number}")
        if result.severity in checked.failing:
            element = xml.SubElement(case, "failure", type=result.severity, message=_clean(result.text))
        else:
            element = xml.SubElement(case, "system-out")
        line = f"{result}{cluster_suffix(result)}"
        remedy = "" if result.remedy else remedies.get(result.rule)  # a finding's own fits its case
        element.text = _clean("\n".join(filter(None, (line, remedy))))
    if not results:
        infos = f"no errors or warnings, {counted(len(checked.results), 'info')}" if checked.results else ""
        summary = f"{infos or 'no findings'} in {extent(checked.resources, checked.files)}"
        xml.SubElement(suite, "testcase", classname="krmfn", name=summary)
    if gaps := unjudged.line(checked.not_judged):
        xml.SubElement(suite, "system-out").text = _clean(gaps)
    xml.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + xml.tostring(suite, encoding="unicode") + "\n"


def _case_name(result: Result) -> str:
    """Return what a finding is about: object and field, else its file; and its cluster, if it is in one with a name."""
    subject = ": ".join(subjects(result)) or (result.place.path if result.place else "") or "krmfn"
    names = names_of(result)
    return f"{subject} ({names[0]})" if len(names) == 1 and names[0] != "." else subject


def _clean(text: str) -> str:
    """Return text without control characters: XML 1.0 has none, escaped or not."""
    return "".join(char if char.isprintable() or char in "\n\t" else "�" for char in text)


def github(checked: Checked, rules: Rules = None) -> str:
    """Return a workflow command per finding, which GitHub shows at the line of the pull request."""
    gaps = unjudged.line(checked.not_judged)
    last = f"::notice title=not judged::{_encode(printable(gaps))}\n" if gaps else ""
    return "".join(f"{_command(result)}\n" for result in checked.results) + last


def _command(result: Result) -> str:
    place = result.place
    values = {"file": place.path, "line": place.line, "col": place.column} if place and place.path else {}
    values["title"] = result.rule or "krmfn"
    properties = ",".join(f"{key}={_encode(printable(str(value)), ':,')}" for key, value in values.items() if value)
    message = "\n".join(map(printable, _message(result).split("\n")))
    return f"::{_COMMANDS[result.severity]} {properties}::{_encode(message)}"


def _encode(text: str, reserved: str = "") -> str:
    """Return text percent-encoded as GitHub's runner reads it, `%` first."""
    for char in "%\r\n" + reserved:
        text = text.replace(char, f"%{ord(char):02X}")
    return text


def gitlab(checked: Checked, rules: Rules = None) -> str:
    """Return a JSON list with an entry per finding; it has no place for what is not judged.

    A fingerprint does not change when lines move. No two are equal, since GitLab shows only one entry of each.
    """
    from hashlib import sha256

    seen, entries = Counter[str](), []
    for result in checked.results:
        path, line = (result.place.path, result.place.line) if result.place else ("", 0)
        name = json.dumps([result.rule, path, result.subject, result.message])
        seen[name] += 1
        head = {"description": _message(result), "check_name": result.rule or "krmfn"}
        identity = {"fingerprint": sha256(f"{name}|{seen[name]}".encode()).hexdigest()}
        location = {"path": path or _NOWHERE, "lines": {"begin": line or 1}}
        entries.append({**head, **identity, "severity": _SEVERITIES[result.severity], "location": location})
    return json_text(entries, 2) + "\n"
