"""Patterns of gobwas/glob without separators, by which Argo CD includes and excludes files of a directory.

`*` and `**` are any text, also with `/`; `?` is one character; `[abc]` and `[a-z]` are one of some, with `!` one of no
others; `{a,b}` are alternatives, which may hold patterns; a backslash takes the next character as it is. A pattern that
gobwas cannot read matches nothing; braces that are open or empty are read here as if they were right. Bytes that are
not UTF-8 are each one character.
Source: Argo CD 3.2.1, util/glob/glob.go; gobwas/glob 0.2.3, syntax/lexer.
"""

import re
from functools import lru_cache

from krmfn.typed import Any

_RANGE = re.compile(r"(!?)([^\\\]])-([^\\\]])\]", re.DOTALL)
_LIST = re.compile(r"(!?)((?:\\.|[^\\\]])+)\]", re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
LONGEST = 20_000
"""How many characters a pattern has at most that is tried: a file is held against it in 11 ms then."""


def matches(text: str, pattern: str) -> bool:
    """Return True for a text that a whole pattern matches."""
    expression = _compiled(pattern)
    return expression is not None and expression.fullmatch(plain(text)) is not None


def is_readable(pattern: str) -> bool:
    """Return False for a pattern that matches nothing, since gobwas cannot read it, or since it is too large here."""
    return _compiled(pattern) is not None


@lru_cache(maxsize=128)
def _compiled(pattern: str) -> Any | None:
    """Return what RE2 makes of a pattern; None for one that cannot be read."""
    expression = _expression(plain(pattern)) if len(pattern) <= LONGEST else None
    return None if expression is None else compiled(expression)


def compiled(expression: str) -> Any | None:
    """Return what RE2 makes of an expression, in which a dot is any character; None where it refuses it."""
    import re2  # type: ignore[import-untyped]  # late: few repositories have such patterns; its work is linear

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(f"(?s:{expression})", options)
    except re2.error:
        return None


def plain(text: str) -> str:
    """Return a text for RE2, which takes only UTF-8: what stands for another byte of a name is replaced, as in Go."""
    return _SURROGATE.sub("\ufffd", text)


def _expression(pattern: str) -> str | None:
    """Return the regular expression of a pattern; None for one that cannot be read."""
    parts, at, depth = list[str](), 0, 0
    while at < len(pattern):
        sign, at = pattern[at], at + 1
        if sign == "[":
            match = _RANGE.match(pattern, at) or _LIST.match(pattern, at)
            if not match:
                return None
            parts.append(_characters(match))
            at = match.end()
        elif sign == "\\":
            parts.append(re.escape(pattern[at : at + 1]))
            at += 1
        elif sign == "}" and depth:
            depth -= 1
            parts.append(")")
        elif sign == "{":
            depth += 1
            parts.append("(?:")
        else:
            parts.append({"*": ".*", "?": "."}.get(sign) or ("|" if sign == "," and depth else re.escape(sign)))
    return "".join(parts) + ")" * depth


def _characters(match: re.Match[str]) -> str:
    """Return the expression of one character out of a range or a list; gobwas reads one range, or single ones."""
    negation = "^" if match[1] else ""
    if match.lastindex == 3:
        return (
            f"[{negation}{re.escape(match[2])}-{re.escape(match[3])}]"
            if match[2] <= match[3]
            else r"[^\x00-\x{10FFFF}]"
        )
    return f"[{negation}{re.escape(_ESCAPED.sub(lambda escape: escape[1], match[2]))}]"
