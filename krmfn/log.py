"""Log of a run on stderr: lines for people, or one JSON object per line for programs.

Objects that were created, updated or removed are counted in one line for people, and named one by one when the log is
verbose. For programs there is always a line per object: they can count. A quiet log has errors only.
"""

import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress

from .errors import KrmfnError
from .resource import Ref
from .results import UNLISTED, Findings, Result, Severity, json_text, printable, reference
from .typed import Any, NamedTuple

__all__ = ["FORMATS", "VARIABLE", "VERBOSE", "Log", "from_environment"]

FORMATS = ("text", "json")
VARIABLE = "KRMFN_LOG_FORMAT"
"""The environment variable that names the format."""
VERBOSE = "KRMFN_VERBOSE"
"""The environment variable that asks for more lines: 1 or 0."""


class Log(NamedTuple):
    """A log in one of FORMATS. In JSON every line has the same keys; one that does not apply is null."""

    format: str = "text"
    verbose: bool = False
    quiet: bool = False
    """Only errors are written."""
    color: bool = False
    """Places and severities are painted, in text."""

    def say(self, message: str, level: Severity = "info") -> None:
        """Write a sentence on one line; in text an error begins with `error: `."""
        self._line(f"error: {message}" if level == "error" else message, level, message, is_message=level == "error")

    def failure(self, failure: KrmfnError) -> None:
        """Write why the work could not be done, in the lines of the exception."""
        first, *more = map(str, failure.args or ("",))
        if self.format == "json":
            self._line("", "error", str(failure))
        else:
            self._line(f"error: {first}", "error", first, is_message=True)
            for line in more:
                self._line(line, "error", line)

    def findings(self, results: Iterable[Result]) -> None:
        """Write a line per finding."""
        for result in Findings(results) if results else ():
            place = result.place if result.place and result.place.path else None
            fields: dict[str, Any] = {
                "rule": result.rule or None,
                "ref": reference(result.ref) if result.ref else None,
                "path": result.field.path if result.field else None,
                "file": place.path if place else None,
                "line": (place.line or None) if place else None,
                UNLISTED: result.unlisted or None,
            }
            self._line(str(result), result.severity, result.message, fields, is_message=True, where=result.where)

    def changes(self, changes: Sequence[tuple[str, Ref]]) -> None:
        """Write how many objects of each kind were created, updated and removed; each of them when verbose."""
        if self.verbose or self.format == "json":
            for what, ref in changes:
                self._line(f"{what} {ref}", "info", f"{what} {ref}", {"ref": reference(ref)})
        if changes and self.format == "text":
            from .counts import summary_of_changes

            self.say(summary_of_changes((what, ref.kind) for what, ref in changes))

    def crash(self, advice: str) -> None:
        """Write the exception that is being handled, with its traceback, and the advice."""
        import traceback

        lines = traceback.format_exc().splitlines()
        if self.format == "json":
            self.say("\n".join([*lines, advice]), "error")
        else:
            for line in (*lines, advice):
                self._line(line, "error", line)

    def _line(
        self,
        text: str,
        level: Severity,
        message: str,
        fields: dict[str, Any] | None = None,
        *,
        is_message: bool = False,
        where: str = "",
    ) -> None:
        """Write a line: `text` for people, the rest for programs. After `where` a message says its severity."""
        if self.quiet and level != "error":
            return
        if self.format == "json":
            keys = dict.fromkeys(("rule", "ref", "path", "file", "line", UNLISTED))
            text = json_text({"level": level, "message": message} | keys | (fields or {}))
        else:
            text = printable(text)
            if self.color and is_message:
                from . import color

                text = color.message(text, level, start=len(printable(where)))
        with suppress(OSError):  # nobody reads it any more
            sys.stderr.write(f"{text}\n")


def from_environment() -> Log:
    """Return the log that the environment asks for. Raises KrmfnError for a format that is not known."""
    name = os.environ.get(VARIABLE) or "text"
    if name not in FORMATS:
        raise KrmfnError(f"{VARIABLE} is {name!r}; it must be one of {', '.join(FORMATS)}")
    verbose = os.environ.get(VERBOSE) or "0"
    if verbose not in ("0", "1"):
        raise KrmfnError(f"{VERBOSE} is {verbose!r}; it must be 1, for a line per object on stderr, or 0")
    return Log(name, verbose == "1")
