"""Findings as values: what is wrong with which field of which resource, and how that is written."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from .resource import Place, Ref

Severity = Literal["error", "warning", "info"]

_RUNNER_COMMAND = r"##(?=\w*\[)"


def reference(ref: Ref) -> dict[str, str]:
    """Return a reference as JSON data, the same in every report."""
    return {"apiVersion": ref.api_version, "kind": ref.kind, "namespace": ref.namespace, "name": ref.name}


def printable(text: str) -> str:
    """Return `text` fit for one line of a terminal: what moves the cursor, breaks the line or hides is escaped.

    So is what a CI runner takes for a command to itself: `::` where a line begins, `##[...]` and `##vso[...]` anywhere.
    """
    if not text.isprintable():
        text = "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)
    if "##" in text:
        text = re.sub(_RUNNER_COMMAND, r"#\\x23", text)
    return text.replace("::", r"\x3a:", 1) if text.lstrip().startswith("::") else text


def json_text(data: Any, indent: int | None = None) -> str:
    """Return data as JSON fit for a terminal and a CI runner's log, as `printable` is; whoever reads it gets the same.

    What does not print is escaped, half a surrogate pair, which is not UTF-8, with it.
    """
    import json

    text = json.dumps(data, indent=indent, ensure_ascii=False).replace("##", r"#\u0023")
    if text.isascii() and "\x7f" not in text:
        return text
    return re.sub("[^\n -~]", lambda match: match[0] if match[0].isprintable() else json.dumps(match[0])[1:-1], text)


class Field(NamedTuple):
    """A field by its path (`spec.daemonSets[0].image`), what it holds, and what it should hold (None: not known)."""

    path: str
    current: Any = None
    proposed: Any = None


class Result(NamedTuple):
    """One finding, in the terms of the KRM Functions Specification v1 (results)."""

    message: str
    severity: Severity = "error"
    rule: str = ""
    """The rule's id, `KRM101`; it travels as the tag `rule`."""
    ref: Ref | None = None
    field: Field | None = None
    place: Place | None = None
    tags: tuple[tuple[str, str], ...] = ()
    """Further tags as (key, value) pairs."""

    def to_manifest(self) -> dict[str, Any]:
        """Return an entry of `results`; severity is always written, since kpt reads a missing one as info."""
        out: dict[str, Any] = {"message": self.message, "severity": self.severity}
        if self.ref:
            named = {"apiVersion": self.ref.api_version, "kind": self.ref.kind, "name": self.ref.name}
            out["resourceRef"] = named | ({"namespace": self.ref.namespace} if self.ref.namespace else {})
        # The specification allows `field` only together with `resourceRef`.
        if self.ref and self.field:
            values = {"currentValue": self.field.current, "proposedValue": self.field.proposed}
            out["field"] = {"path": self.field.path} | {k: v for k, v in values.items() if v is not None}
        if self.place and self.place.path:
            out["file"] = {"path": self.place.path, "index": self.place.position}
        tags = ({"rule": self.rule} if self.rule else {}) | dict(self.tags)
        return out | ({"tags": tags} if tags else {})

    @property
    def where(self) -> str:
        """Return the place with a colon at its end, as a line begins with it: `a.yaml:3:7: `; "" without a file."""
        if not (self.place and self.place.path):
            return ""
        numbers = (number for number in (self.place.line, self.place.column) if number)
        return ":".join([self.place.path, *map(str, numbers)]) + ": "

    @property
    def subject(self) -> str:
        """Return the resource and the field, each with a colon, as a message begins with them; "" without both."""
        parts = (self.ref, self.field and self.field.path)
        return "".join(f"{part}: " for part in parts if part)

    def __str__(self) -> str:
        """Return one line for people: place, severity, resource, field and message."""
        message = " ".join(self.message.split("\n"))
        rule = f" [{self.rule}]" if self.rule else ""
        return printable(f"{self.where}{self.severity}: {self.subject}{message}{rule}")


def in_order(results: Iterable[Result]) -> list[Result]:
    """Return findings by file, line and column, those that stand in no file first; of one place in their old order."""
    return sorted(results, key=lambda result: (result.place.path, *result.place[2:4]) if result.place else ("", 0, 0))


def placed(results: Iterable[Result]) -> list[Result]:
    """Return findings where they stand in files (see `Place.finder`); two that are one and the same there are one."""
    results = list(results)
    if not any(result.place and result.place.finder for result in results):
        return results
    found = (one.place.finder(one) if one.place and one.place.finder else one for one in results)
    return list({(*one[:4], one.field and one.field.path, one.place): one for one in found}.values())


class Checked(NamedTuple):
    """A finished check: what every report is made from."""

    results: Sequence[Result]
    resources: int = 0
    """How many resources were looked at."""
    configs: Sequence[tuple[Ref, Place | None]] = ()
    """The resources among them that manifests are made from, and their places."""
    kinds: Mapping[str, int] = {}  # read only
    """How many of each kind that the function looks into, by the names that reports show."""
    files: int = 0
    """How many files they came from; 0 for a stream."""
    excluded: int = 0
    """How many files were left out by `exclude`, or hold resources in Helm charts: nothing is said about them."""
    clusters: Mapping[str, Sequence[Result]] = {}  # read only
    """The findings of each cluster by its name."""
    baseline: int = 0
    """How many findings a baseline has left out."""
    turned_off: int = 0
    """How many findings are not among the results, since the input itself turns them off."""


def error(
    message: str,
    *,
    rule: str = "",
    ref: Ref | None = None,
    field: Field | None = None,
    place: Place | None = None,
    tags: tuple[tuple[str, str], ...] = (),
) -> Result:
    """Return a finding that stops the run: nothing is generated, the exit code is 1."""
    return Result(message, "error", rule, ref, field, place, tags)


def warning(
    message: str,
    *,
    rule: str = "",
    ref: Ref | None = None,
    field: Field | None = None,
    place: Place | None = None,
    tags: tuple[tuple[str, str], ...] = (),
) -> Result:
    """Return a finding that does not stop the run."""
    return Result(message, "warning", rule, ref, field, place, tags)


def info(
    message: str,
    *,
    rule: str = "",
    ref: Ref | None = None,
    field: Field | None = None,
    place: Place | None = None,
    tags: tuple[tuple[str, str], ...] = (),
) -> Result:
    """Return a finding that is worth knowing and no problem."""
    return Result(message, "info", rule, ref, field, place, tags)
