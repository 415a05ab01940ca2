"""Colours of a terminal around parts of a line (SGR escapes, ECMA-48).

Without its escapes a line is byte for byte what it is without colours: only text that is fit to print is painted, and
that has no escape of its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from .results import Result, printable
from .typed import TextIO

__all__ = ["CHOICES", "Paint", "finding", "is_wanted", "message", "painted", "plain"]

CHOICES = ("auto", "always", "never")
Paint = Callable[[str, str], str]
"""Takes a text and a style, returns the text to write."""

_CODES = {
    "error": "1;31",
    "warning": "1;33",
    "info": "1;36",
    "clean": "32",
    "idle": "2",
    "created": "32",
    "changed": "33",
    "deleted": "31",
    "unknown": "36",
    "place": "1",
}
"""Styles and their parameters; a severity and what happens to an object are styles by their names."""


def is_wanted(choice: str, stream: TextIO | None) -> bool:
    """Return True when a stream is to have colours: `always`, or `auto` on a terminal that can show them.

    NO_COLOR (https://no-color.org) and TERM=dumb turn `auto` off.
    """
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream is not None and stream.isatty()


def plain(text: str, style: str) -> str:
    """Return the text as it is."""
    return text


def painted(text: str, style: str) -> str:
    """Return the text in a style; an empty one stays empty."""
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if text else ""


def finding(result: Result, paint: Paint = painted) -> str:
    """Return the line of a finding: its place bold, its severity in colour."""
    return message(str(result), result.severity, paint, len(printable(result.where)))


def message(line: str, severity: str, paint: Paint = painted, start: int = 0) -> str:
    """Return a line that says its severity, such as `error: ...`, at `start`; what is before that is a place."""
    end = start + len(severity) + 1
    return paint(line[:start], "place") + paint(line[start:end], severity) + line[end:]
