"""Patterns of gobwas/glob without separators, by which Argo CD includes and excludes files of a directory.

`*` and `**` are any text, also with `/`; `?` is one character; `[abc]` and `[a-z]` are one of some, with `!` one of no
others; `{a,b}` are alternatives, which may hold patterns; a backslash takes the next character as it is. A pattern that
gobwas cannot read matches nothing; braces that are open or empty are read here as if they were right.
Source: Argo CD 3.2.1, util/glob/glob.go; gobwas/glob 0.2.3, syntax/lexer.
"""

import re

_RANGE = re.compile(r"(!?)([^\\\]])-([^\\\]])\]", re.DOTALL)
_LIST = re.compile(r"(!?)((?:\\.|[^\\\]])+)\]", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def matches(text: str, pattern: str) -> bool:
    """Return True for a text that a whole pattern matches."""
    import re2  # type: ignore[import-untyped]  # late: few repositories have such patterns; its work is linear

    expression = _expression(pattern)
    if expression is None:
        return False
    try:
        return re2.fullmatch(f"(?s:{expression})", text) is not None
    except re2.error:
        return False


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
