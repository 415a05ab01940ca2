"""Go's regular expressions through C++ RE2: what compiles, in whose words it does not, and which of many match.

Both are RE2, with small differences; where C++ takes more than Go, Go's answer is given here. google-re2 is imported
only when a regexp is met. Source: Go 1.26 regexp/syntax, compared by running both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import Any, NamedTuple

_GO_WORDS = {
    "no argument for repetition operator": "missing argument to repetition operator",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid named capture group": "invalid named capture",
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "invalid repetition size": "invalid repeat count",
    "bad repetition operator": "invalid nested repetition operator",
    "trailing \\": "trailing backslash at end of expression",
}
_DEEPEST = 1000
_LONGEST = 4096
_MEMORY = 256 << 10
_MEMORY_TOGETHER = 64 << 20
TOO_LARGE = (
    "is too large to be judged: a kernel version needs no regexp of 4,096 characters, "
    "nor one that takes 256 KiB when it is compiled"
)
"""Why a regexp was not compiled. KMM may take it; a file of such would keep us busy for hours."""
_TOKEN = re.compile(r"\\Q.*?(?:\\E|\Z)|\\.|\(\?P?<(?P<name>[^>]*)>|\(\?|.", re.DOTALL)
_IN_CLASS = re.compile(r"\\.|\[:\^?[a-z]+:\]|.", re.DOTALL)
_COUNT = re.compile(r"\{(\d+)(?:,(\d*))?\}\Z")


class Token(NamedTuple):
    """A piece of a regexp that means something on its own: an escape, a quoted run, a group's opening, a character."""

    start: int
    text: str
    in_class: bool
    group_name: str | None


def tokens(regexp: str) -> Iterator[Token]:
    """The pieces of a regexp, in order; escapes and the insides of `[...]` are told apart, nothing is judged."""
    at, in_class, first = 0, False, -1
    while found := (_IN_CLASS if in_class else _TOKEN).match(regexp, at):
        text, start, at = found[0], at, found.end()
        yield Token(start, text, in_class, None if in_class else found["name"])
        if text == "[" and not in_class:
            in_class, first = True, at + regexp.startswith("^", at)
        elif text == "]" and in_class and start != first:
            in_class = False


def compile_error(regexp: str) -> str | None:
    """Why Go's regexp.Compile refuses the text, in its words; TOO_LARGE where nobody tried; None when it compiles.

    Wording: KMM prints Go's `error parsing regexp: <reason>: <piece>`; reason and piece come from RE2.
    """
    found = _compiled(regexp)
    if found == TOO_LARGE:
        return TOO_LARGE
    refused = _go_only(regexp)
    if refused and not _earlier(regexp[: refused[0]]):
        return refused[1]
    return found if isinstance(found, str) else None


def _earlier(head: str) -> bool:
    """Whether the text before a place is wrong by itself, and not just unfinished."""
    found = _compiled(head)
    return isinstance(found, str) and "missing closing )" not in found


def _go_only(regexp: str) -> tuple[int, str] | None:
    """Where and why Go refuses what C++ RE2 takes: `\\C`, a group name that is not ASCII, deep nesting."""
    groups: list[bool] = []
    for token in tokens(regexp):
        if token.in_class:
            continue
        if token.text == "\\C":
            return token.start, _worded("invalid escape sequence", "\\C")
        if token.group_name and not token.group_name.isascii():
            return token.start, _worded("invalid named capture", token.text)
        if token.text.startswith("("):
            groups.append(token.text != "(?")
        elif token.text == ")" and groups:
            groups.pop()
        if len(groups) >= _DEEPEST and sum(groups) >= _DEEPEST:
            return token.start, _worded("expression nests too deeply", regexp)
    return None


def _worded(reason: str, piece: str) -> str:
    count = _COUNT.search(piece.rstrip("?"))
    if count and reason in ("bad repetition operator", "invalid repetition size"):
        low, high = int(count[1]), int(count[2] or count[1])
        if reason == "invalid repetition size" or high < low or max(low, high) > _DEEPEST:
            reason, piece = "invalid repetition size", count[0]
    return f"error parsing regexp: {_GO_WORDS.get(reason, reason)}: `{piece}`"


@lru_cache(maxsize=2048)  # times what one may take is what all may take
def _compiled(regexp: str) -> Any:
    """The compiled regexp, or the reason in Go's words (a str) why there is none."""
    if len(regexp) > _LONGEST:
        return TOO_LARGE
    try:
        return _re2().compile(regexp, _options(_MEMORY))
    except _re2().error as failure:
        said = failure.args[0]
        reason, _, piece = (said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)).partition(": ")
        if reason.startswith("pattern too large"):
            return TOO_LARGE
        if piece in ("(?<=", "(?<!"):
            return _worded("invalid named capture group", _look_behind(regexp, piece))
        return _worded(reason, piece)


def _look_behind(regexp: str, opening: str) -> str:
    """Go takes a look-behind for a named group: up to the next `>`, or all of the rest."""
    start = next(
        token.start for token in tokens(regexp) if not token.in_class and regexp.startswith(opening, token.start)
    )
    end = regexp.find(">", start)
    return regexp[start : end + 1] if end >= 0 else regexp[start:]


@cache
def _re2() -> Any:
    """google-re2, which costs 5 ms to import."""
    import re2  # type: ignore[import-untyped]

    return re2


@cache
def _options(memory: int) -> Any:
    options = _re2().Options()
    options.log_errors = False
    options.max_mem = memory
    return options


def matches(regexp: str, text: str) -> bool:
    """Whether the regexp matches anywhere in the text (Go's MatchString); False for one that does not compile."""
    compiled = _compiled(regexp)
    return not isinstance(compiled, str) and compiled.search(text) is not None


class Crowd(NamedTuple):
    """Many regexps to be asked at once."""

    regexps: tuple[str, ...]
    compiled: Any
    """None when they are too large together: they are asked one by one then."""
    everything: int
    """The position of a regexp that matches all: when it is not reported, the set ran out of memory."""


def crowd(regexps: Iterable[str]) -> Crowd:
    """The regexps, compiled together; each must compile."""
    listed = tuple(regexps)
    compiled = _re2().Set.SearchSet(_options(_MEMORY_TOGETHER))
    for regexp in listed:
        compiled.Add(regexp)
    everything = compiled.Add("")
    try:
        compiled.Compile()
    except _re2().error:
        return Crowd(listed, None, everything)
    return Crowd(listed, compiled, everything)


def matching(asked: Crowd, text: str) -> list[int]:
    """The positions of the regexps that match anywhere in the text, in no order."""
    found: list[int] = asked.compiled.Match(text) if asked.compiled else []
    if not found:
        return [at for at, regexp in enumerate(asked.regexps) if matches(regexp, text)]
    return [at for at in found if at != asked.everything]
