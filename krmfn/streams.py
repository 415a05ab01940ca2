"""The streams of a process: what is read from stdin and written to stdout, and the log on stderr.

The log has lines for people, or one JSON object per line for programs.

Objects that were created, updated or removed are counted in one line for people, and named one by one when the log is
verbose. For programs there is always a line per object: they can count. A quiet log has errors only.
"""

import gc
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from io import BufferedWriter, FileIO

from .envelope import Chunk
from .errors import KrmfnError
from .findings import Findings
from .printing import json_text, printable, summary_of_changes
from .resource import Ref
from .results import UNLISTED, Result, Severity, reference
from .typed import Any, NamedTuple, NoReturn

__all__ = ["FORMATS", "MAX_BYTES", "VARIABLE", "VERBOSE", "Log", "ensure_stderr", "ensure_stdout", "from_environment"]
__all__ += ["leave", "max_bytes", "read_stdin", "write"]

_AT_ONCE = 1 << 20
"""How many bytes one system call reads or writes, where the system can."""
MAX_BYTES = 1 << 29
"""Input larger than this (512 MiB) is refused; the environment variable KRMFN_MAX_BYTES sets another limit."""
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
    paint: Callable[[str, Severity, int], str] | None = None
    """Paints a line, given the severity that it says and where that begins, in text; None: nobody does."""

    def say(self, message: str, level: Severity = "info") -> None:
        """Write a sentence on one line; in text an error begins with `error: `."""
        prefix, where = ("error: ", "") if level == "error" else ("", None)
        self._line(Result(message, level), prefix + message, where)

    def failure(self, failure: KrmfnError) -> None:
        """Write why the work could not be done, in the lines of the exception."""
        first, *lines = [str(failure)] if self.format == "json" else failure.lines()
        self.say(first, "error")
        for line in lines:
            self._line(Result(line))

    def findings(self, results: Iterable[Result]) -> None:
        """Write a line per finding."""
        for result in Findings(results) if results else ():
            self._line(result, str(result), result.where)

    def changes(self, changes: Sequence[tuple[str, Ref]]) -> None:
        """Write how many objects of each kind were created, updated and removed; each of them when verbose."""
        if self.verbose or self.format == "json":
            for action, ref in changes:
                self._line(Result(f"{action} {ref}", "info", ref=ref))
        if changes and self.format == "text":
            self.say(summary_of_changes((action, ref.kind) for action, ref in changes))

    def crash(self, advice: str) -> None:
        """Write the exception that is being handled, with its traceback, and the advice."""
        import traceback

        lines = [*traceback.format_exc().splitlines(), advice]
        for line in ["\n".join(lines)] if self.format == "json" else lines:
            self._line(Result(line))

    def _line(self, result: Result, text: str = "", where: str | None = None) -> None:
        """Write a line: `text` for people, or the message where there is none; all of the finding for programs.

        Behind `where`, if that is given, the text says its severity.
        """
        if self.quiet and result.severity != "error":
            return
        if self.format == "json":
            text = json_text(_fields(result))
        else:
            text = printable(text or result.text)
            if self.paint and where is not None:
                text = self.paint(text, result.severity, len(printable(where)))
        with suppress(OSError):  # nobody reads it any more
            sys.stderr.write(f"{text}\n")


def _fields(result: Result) -> dict[str, Any]:
    """Return a line for programs; what does not apply is null."""
    place = result.place if result.place and result.place.path else None
    return {
        "level": result.severity,
        "message": result.message,
        "remedy": result.remedy or None,
        "facts": dict(result.facts) or None,
        "rule": result.rule or None,
        "ref": reference(result.ref) if result.ref else None,
        "path": result.field.path if result.field else None,
        "file": place.path if place else None,
        "line": (place.line or None) if place else None,
        UNLISTED: result.unlisted or None,
    }


def from_environment() -> Log:
    """Return the log that the environment asks for. Raises KrmfnError for a format that is not known."""
    name = os.environ.get(VARIABLE) or "text"
    if name not in FORMATS:
        raise KrmfnError(f"{VARIABLE} is {name!r}; it must be one of {', '.join(FORMATS)}")
    verbose = os.environ.get(VERBOSE) or "0"
    if verbose not in ("0", "1"):
        raise KrmfnError(f"{VERBOSE} is {verbose!r}; it must be 1, for a line per object on stderr, or 0")
    return Log(name, verbose == "1")


def ensure_stderr() -> None:
    """Open a stderr that leads nowhere when the process was started without one."""
    if sys.stderr is None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115 - for the rest of the process


def leave(code: int) -> NoReturn:
    """Exit with `code`, also when nobody reads stderr any more: what is lost there is no failure of the work."""
    gc.freeze()  # else the interpreter walks all objects once more before it ends
    try:
        for stream in filter(None, (sys.stdout, sys.stderr)):
            stream.flush()
    except (OSError, ValueError):
        os._exit(code)
    sys.exit(code)


def ensure_stdout() -> None:
    """Raise KrmfnError when the process was started without a stdout: the next file opened would take its number."""
    if sys.stdout is None:
        raise KrmfnError("stdout is closed, so the result cannot be written")


def read_stdin(expected: str = "a KRM function reads a ResourceList from it (try --help)") -> bytes:
    """Return all of stdin. Raises KrmfnError when there is nothing, or more than the limit (see MAX_BYTES).

    `expected` is what the error says about stdin.
    """
    limit = max_bytes()
    if sys.stdin is None or sys.stdin.isatty():
        raise KrmfnError(f"stdin is {'closed' if sys.stdin is None else 'a terminal'}; {expected}")
    _widen(0)
    data = sys.stdin.buffer.read(limit + 1)
    if len(data) > limit:
        raise KrmfnError(f"the input is larger than {limit:,} bytes; raise the limit with KRMFN_MAX_BYTES")
    if not data or data.isspace():
        raise KrmfnError(f"stdin is empty; {expected}")
    return data


def _widen(descriptor: int) -> None:
    """Let a pipe hold 1 MiB at a time, where the system can (Linux): a large list then changes hands faster."""
    with suppress(ImportError, AttributeError, OSError):  # no pipe, not Linux, not allowed: only speed is lost
        import fcntl

        fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, _AT_ONCE)


def max_bytes() -> int:
    """Return the largest size of input that is read. Raises KrmfnError when KRMFN_MAX_BYTES is no positive number."""
    setting = os.environ.get("KRMFN_MAX_BYTES", str(MAX_BYTES))
    if not setting.isdecimal() or int(setting) < 1:
        raise KrmfnError(f"KRMFN_MAX_BYTES is {setting!r}; it must be a number of bytes")
    return int(setting)


def write(descriptor: int, chunks: Iterable[Chunk]) -> None:
    """Write all chunks to a file descriptor. Raises KrmfnError when that fails (full disk, closed pipe)."""
    _widen(descriptor)
    try:
        with BufferedWriter(FileIO(descriptor, "wb"), _AT_ONCE) as stream:
            try:
                stream.writelines(chunks)
            except KeyboardInterrupt:
                stream.raw.close()  # else what is left would be written first, which may wait for the reader again
                raise
    except OSError as failure:
        raise KrmfnError(f"the output could not be written in full: {failure.strerror}") from failure
