"""Go's regular expressions through C++ RE2: what compiles, Go's message when one does not, and what matches.

Both are RE2, with small differences; where C++ takes more than Go, Go's answer is given here. google-re2, which takes
3 ms to load, is imported only for a regexp that is not simple. Source: Go 1.26 regexp/syntax, compared by running both.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache

from krmfn.typed import Any, NamedTuple

_GO_REASONS = {
    "no argument for repetition operator": "missing argument to repetition operator",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid named capture group": "invalid named capture",
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "invalid repetition size": "invalid repeat count",
    "bad repetition operator": "invalid nested repetition operator",
    "trailing \\": "trailing backslash at end of expression",
}
_RE2_TOO_LARGE = "pattern too large - compile failed"
_DEEPEST = 1000
_LONGEST = 4096
_SHORT = 256
_MEMORY = 256 << 10
_MEMORY_TOGETHER = 64 << 20
TOO_LARGE = (
    "is too large to be judged: a kernel version needs no regexp of 4,096 characters, "
    "nor one that takes 256 KiB when it is compiled"
)
"""The reason for a regexp that is not compiled. Go may accept it, but a file of such regexps would take hours."""
_LARGEST_TOGETHER = 50_000
"""How many of RE2's instructions the regexps of one Module may have together: a kernel is held against all of them in
0.7 ms then. `^6\\.1\\..+\\.el9$` has 17."""
_REFUSED = 500
"""What one counts that is refused: RE2 has tried to compile it."""
TOO_MANY = "is not judged: it and the regexps before it are too large together, and would take minutes to match"
"""The reason for a regexp of a Module behind _LARGEST_TOGETHER. KMM may accept it."""
_TOKEN = re.compile(r"\\Q.*?(?:\\E|\Z)|\\.|\(\?P?<[^>(]*>|\(\?|.", re.DOTALL)
_IN_CLASS = re.compile(r"\\.|\[:\^?[a-z]+:\]|.", re.DOTALL)
_ATOM = r"(?:[A-Za-z0-9_-]|\\[.d]|\.)[*+?]?"
_is_simple = re.compile(rf"\^?(?:{_ATOM}|\({_ATOM}(?:{_ATOM})*\)[*+?]?)*\$?").fullmatch
"""Plain characters, dots, digits, groups of these, repeated or not: every engine compiles them to something small."""


class Refusal(NamedTuple):
    """Why a regexp is not compiled."""

    message: str
    is_of_go: bool = True
    """Whether Go refuses it; else it is too large to be judged here, and Go may accept it."""


_LARGE = Refusal(TOO_LARGE, is_of_go=False)


class Token(NamedTuple):
    """The smallest part of a regexp: an escape, a quoted run, the opening of a group, a character."""

    start: int
    text: str
    in_class: bool


def tokens(regexp: str) -> Iterator[Token]:
    """Yield the tokens of a regexp in order, each with whether it is inside `[...]`; nothing is validated."""
    at, in_class, first = 0, False, -1
    while token := (_IN_CLASS if in_class else _TOKEN).match(regexp, at):
        text, start, at = token[0], at, token.end()
        yield Token(start, text, in_class)
        if text == "[" and not in_class:
            in_class, first = True, at + regexp.startswith("^", at)
        elif text == "]" and in_class and start != first:
            in_class = False


@lru_cache(maxsize=2048)
def refusal(regexp: str) -> Refusal | None:
    """Return why a regexp is not compiled, with Go's message when regexp.Compile refuses it; None for one that is.

    Wording: KMM prints Go's `error parsing regexp: <reason>: <piece>`; reason and piece come from RE2.
    """
    return None if len(regexp) <= _SHORT and _is_simple(regexp) else _refusal(regexp)


def is_usable(regexp: str) -> bool:
    """Return True for a regexp that is compiled: Go accepts it, and it is not too large to be judged."""
    return refusal(regexp) is None


@lru_cache(maxsize=256)
def judged(regexps: tuple[str, ...]) -> int:
    """Return how many of a Module's regexps are judged, from the first on; a repeated one counts once, "" for none."""
    sizes, total = dict[str, int](), 0
    for at, regexp in enumerate(regexps):
        if regexp and regexp not in sizes:
            sizes[regexp] = size(regexp)
            total += sizes[regexp]
        if total > _LARGEST_TOGETHER:
            return at
    return len(regexps)


def size(regexp: str) -> int:
    """Return how many of RE2's instructions a regexp has; of a simple one, which is not compiled here, no fewer."""
    if len(regexp) <= _SHORT and _is_simple(regexp):
        return len(regexp) + 10 * (regexp.count(".") - regexp.count("\\."))
    compiled = _compile(regexp)
    return _REFUSED if isinstance(compiled, Refusal) else int(compiled.programsize)


def _refusal(regexp: str) -> Refusal | None:
    outcome = _compile(regexp)
    if outcome != _LARGE and (position := _go_refusal(regexp)):
        at, of_go = position
        head = _compile(regexp[:at])
        if not isinstance(head, Refusal) or head == _unclosed(regexp[:at]):  # what is before it is just unfinished
            return of_go
    return outcome if isinstance(outcome, Refusal) else None


def _unclosed(regexp: str) -> Refusal:
    """Return what Go says of a regexp whose groups are not all closed."""
    return _go_error("missing )", regexp)


def _go_refusal(regexp: str) -> tuple[int, Refusal] | None:
    r"""Return where and why Go refuses what C++ RE2 takes: `\C`, a group name beyond ASCII, deep nesting."""
    groups: list[bool] = []
    for token in tokens(regexp):
        if token.in_class:
            continue
        if token.text == "\\C":
            return token.start, _go_error("invalid escape sequence", "\\C")
        if token.text.startswith("(?") and not token.text.isascii():
            return token.start, _go_error("invalid named capture", token.text)
        if token.text.startswith("("):
            groups.append(token.text != "(?")
        elif token.text == ")" and groups:
            groups.pop()
        if len(groups) >= _DEEPEST and sum(groups) >= _DEEPEST:
            return token.start, _go_error("expression nests too deeply", regexp)
    return None


def _go_error(reason: str, piece: str) -> Refusal:
    count = re.search(r"\{(\d+)(?:,(\d*))?\}\Z", piece.rstrip("?"))
    if count and reason in ("bad repetition operator", "invalid repetition size"):
        low, high = int(count[1]), int(count[2] or count[1])
        if reason == "invalid repetition size" or high < low or max(low, high) > _DEEPEST:
            reason, piece = "invalid repetition size", count[0]
    return Refusal(f"error parsing regexp: {_GO_REASONS.get(reason, reason)}: `{piece}`")


@lru_cache(maxsize=2048)  # all of them take at most 2048 times _MEMORY
def _compile(regexp: str) -> Any:
    """Return the compiled regexp, or a Refusal."""
    if len(regexp) > _LONGEST:
        return _LARGE
    re2, options = _re2(_MEMORY)
    try:
        return re2.compile(regexp, options)
    except re2.error as failure:  # it has RE2's text alone: the module does not hand on RE2's error_code and error_arg
        raw = failure.args[0]
        message = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)
        reason, _, piece = message.partition(": ")
        if reason == _RE2_TOO_LARGE:
            return _LARGE
        if piece in ("(?<=", "(?<!"):
            return _go_error("invalid named capture group", _look_behind(regexp, piece))
        return _go_error(reason, piece)


def _look_behind(regexp: str, opening: str) -> str:
    """Return what Go takes for a named group in a look-behind: up to the next `>`, or the rest."""
    starts = (token.start for token in tokens(regexp) if not token.in_class)
    start = next(start for start in starts if regexp.startswith(opening, start))
    end = regexp.find(">", start)
    return regexp[start : end + 1] if end >= 0 else regexp[start:]


@cache
def _re2(memory: int) -> tuple[Any, Any]:
    """Import google-re2, which takes 5 ms, and return it with the options of a regexp that may take so much."""
    import re2  # type: ignore[import-untyped]

    options = re2.Options()
    options.log_errors = False
    options.max_mem = memory
    return re2, options


def matches(regexp: str, text: str) -> bool:
    """Return True when the regexp matches anywhere in the text (Go's MatchString); False if it does not compile."""
    compiled = _compile(regexp)
    return not isinstance(compiled, Refusal) and compiled.search(text) is not None


def matcher(regexps: Sequence[str]) -> Callable[[str], list[int]]:
    """Return the function that gives the positions of the regexps that match anywhere in a text, in no order.

    Each must compile by itself. They are matched together in one pass, unless they are too large for that: 128 of them
    and 50 kernels take 0.1 ms, after 1 ms to build the set; one after the other they take 10 to 28 ms, and a report
    asks for thousands of kernels (google-re2 1.1, Python 3.11, runs of both in turn).
    """

    def match_each(text: str) -> list[int]:
        return [at for at, regexp in enumerate(regexps) if matches(regexp, text)]

    def match_set(text: str) -> list[int]:
        hits = compiled.Match(text)
        return [at for at in hits if at < len(regexps)] if hits else match_each(text)

    re2, options = _re2(_MEMORY_TOGETHER)
    compiled = re2.Set.SearchSet(options)
    for regexp in (*regexps, ""):  # the last one matches all: when it is not reported, the set ran out of memory
        compiled.Add(regexp)
    try:
        compiled.Compile()
    except re2.error:
        return match_each
    return match_set
