"""Lines for a terminal: what was looked at, findings with their remedies, colours.

Without its escapes (SGR, ECMA-48) a line is byte for byte what it is without colours: only text that is fit to print is
painted, and that has no escape of its own.
"""

import os
from collections.abc import Callable

from krmfn import Result
from krmfn.printing import counted, printable
from krmfn.typed import TextIO

CHOICES = ("auto", "always", "never")
Paint = Callable[[str, str], str]
"""Takes a text and a style, returns the text to write."""

_CODES = {"error": "1;31", "warning": "1;33", "info": "1;36", "clean": "32", "idle": "2", "place": "1"}
_CODES |= {"help": "1;36", "created": "32", "changed": "33", "deleted": "31", "stays": "33", "unknown": "36"}
"""Styles and their parameters; a severity and what happens to an object are styles by their names."""


def extent(resources: int, files: int) -> str:
    """Return how much was looked at: `14 resources, 3 files`; a stream has no files."""
    return counted(resources, "resource") + (f", {counted(files, 'file')}" if files else "")


def has_colors(choice: str, stream: TextIO | None) -> bool:
    """Return True when a stream is to have colours: `always`, or `auto` on a terminal that can show them.

    NO_COLOR (https://no-color.org) and TERM=dumb turn `auto` off.
    """
    if choice == "auto" and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb":
        return stream is not None and stream.isatty()
    return choice == "always"


def plain(text: str, style: str) -> str:
    """Return the text as it is."""
    return text


def painted(text: str, style: str) -> str:
    """Return the text in a style; an empty one stays empty."""
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if text else ""


def finding(result: Result, paint: Paint = painted) -> str:
    """Return the line of a finding without its remedy: its place bold, its severity in colour."""
    return message(result.line, result.severity, len(printable(result.where)), paint)


def help_lines(result: Result, paint: Paint = plain) -> list[str]:
    """Return the line below a finding that says what to do about it: `  help: remove one`; none without a remedy."""
    return [f"  {paint('help:', 'help')} {printable(result.remedy)}"] if result.remedy else []


def message(line: str, severity: str, start: int = 0, paint: Paint = painted) -> str:
    """Return a line in colours: up to `start` its place, from there its severity, as in `error: ...`."""
    end = start + len(severity) + 1
    return paint(line[:start], "place") + paint(line[start:end], severity) + line[end:]
