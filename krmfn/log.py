"""What a run says on stderr: lines for people, or one JSON object per line for programs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NamedTuple

from .errors import KrmfnError
from .resource import Ref
from .results import Result, Severity, reference

FORMATS = ("text", "json")
VARIABLE = "KRMFN_LOG_FORMAT"
"""The environment variable that names the format."""


class Log(NamedTuple):
    """A log in one of FORMATS. In JSON every line has the same keys; one that does not apply is null."""

    format: str = "text"

    def say(self, message: str, level: Severity = "info") -> None:
        """A sentence; an error says in text that it is one."""
        self._line(f"error: {message}" if level == "error" else message, level, message)

    def findings(self, results: Iterable[Result]) -> None:
        """The findings, a line each."""
        for result in results:
            place = result.place if result.place and result.place.path else None
            about: dict[str, Any] = {
                "rule": result.rule or None,
                "ref": reference(result.ref) if result.ref else None,
                "path": result.field.path if result.field else None,
                "file": place.path if place else None,
                "line": (place.line or None) if place else None,
            }
            self._line(str(result), result.severity, result.message, about)

    def changes(self, changes: Iterable[tuple[str, Ref]]) -> None:
        """What was created, updated and removed."""
        for what, about in changes:
            self._line(f"{what} {about}", "info", f"{what} {about}", {"ref": reference(about)})

    def _line(self, text: str, level: Severity, message: str, about: dict[str, Any] | None = None) -> None:
        if self.format == "json":
            import json

            keys = dict.fromkeys(("rule", "ref", "path", "file", "line"))
            text = json.dumps({"level": level, "message": message} | keys | (about or {}), ensure_ascii=False)
        with suppress(OSError):  # nobody reads it any more
            sys.stderr.write(f"{text}\n")


def from_environment() -> Log:
    """The log that the environment asks for. Raises KrmfnError for a format that is not known."""
    name = os.environ.get(VARIABLE) or "text"
    if name not in FORMATS:
        raise KrmfnError(f"{VARIABLE} is {name!r}; it must be one of {', '.join(FORMATS)}")
    return Log(name)
