"""Findings as values: what is wrong with which field of which resource, and how that is written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from .resource import Place, Ref

Severity = Literal["error", "warning", "info"]

_RUNNER_COMMAND = re.compile(r"##(?=\w*\[)")


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
        text = _RUNNER_COMMAND.sub(r"#\\x23", text)
    return text.replace("::", r"\x3a:", 1) if text.lstrip().startswith("::") else text


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

    def __str__(self) -> str:
        """Return one line for people: place, severity, resource, field and message."""
        where = ""
        if self.place and self.place.path:
            numbers = [n for n in (self.place.line, self.place.column) if n]
            where = ":".join([self.place.path, *map(str, numbers)]) + ": "
        subject = [str(part) for part in (self.ref, self.field and self.field.path) if part]
        message = " ".join(self.message.split("\n"))
        rule = f" [{self.rule}]" if self.rule else ""
        return printable(f"{where}{self.severity}: {': '.join([*subject, message])}{rule}")


def in_order(results: Iterable[Result]) -> list[Result]:
    """Return findings by file, line and column, those that stand in no file first; of one place in their old order."""
    return sorted(results, key=lambda result: (result.place.path, *result.place[2:]) if result.place else ("", 0, 0))


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
