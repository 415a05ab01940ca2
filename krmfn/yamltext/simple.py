"""Plain scalars as Kubernetes reads them, and texts in the layout that kyaml and most people write, read by lines.

In that layout a line is a key, a key with a scalar, or a list's entry. Such a text is read without a parser: PyYAML is
not imported, which is 20 to 36 ms of start-up, and lines that many items share are read once.
Only a text in which every line is of that kind, ends in brackets or is in a block is read: everything else that begins
a scalar or a collection over several lines, a tag, the anchor of a collection, a merge or an escape makes the answer
None, "not simple", and a real parser reads the text. Nothing is guessed: a construct that runs over lines begins on a
line that is refused.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from ..typed import Any
from . import blocks, brackets
from .blocks import NotSimple
from .brackets import Brackets
from .lines import ABSENT, END, Line, node, resolve

__all__ = ["LONGEST_KEY", "MAX_DEPTH", "MAX_NODES", "MERGE", "OLD", "PLAIN", "WORDS", "Timestamp", "differs"]
__all__ += ["data_of", "has_odd_character", "is_merge", "line_at", "line_of", "lines_of", "read", "scalar"]

PLAIN, MERGE = "plain", "tag:yaml.org,2002:merge"
"""The tags of a scalar with neither a tag nor quotes in the text (see `load.Composer`), and of a key `<<`."""
MAX_DEPTH = 200
"""Levels of nesting; Kubernetes objects stay far below, and parsers crash from some 20,000 on."""
MAX_NODES = 100_000
"""Nodes of one resource: keys, scalars, lists and mappings. The largest CRDs have half as many."""
_MAX_LINES = MAX_NODES // 3
"""Lines that are surely no more nodes: a dash, a key and a value are three."""
# The words and numbers that sigs.k8s.io/yaml (go-yaml v2 rules) does not read as strings; kustomize and kpt
# (go-yaml v3 rules) agree on all but the old booleans y, n, yes, no, on, off, which they keep as strings.
WORDS: dict[str, bool | float | None] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}
OLD = frozenset(word for word in WORDS if word.lower() in ("y", "n", "yes", "no", "on", "off"))
"""The booleans of Kubernetes that are strings to kustomize."""
LONGEST_KEY = 1_000
"""Characters of a key that the readers by lines take; libyaml, and Go's readers, refuse one of more than 1,024."""
_INT = r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]([0-7]+)|0([0-7]+)|(0|[1-9][0-9]*))"
_BASES = {2: 16, 3: 2, 4: 8, 5: 8, 6: 10}
_LONGEST_INT = 67  # "-0b" and 64 digits; a longer one fits no integer type and is read as a float, or as a string
_FLOAT = r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
_DATE = r"(?s)[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}.*)?"


class Timestamp(str):
    """A plain date: kustomize and kubectl make another string of it, so it never counts as the string it looks like."""


def scalar(plain: str) -> str | bool | int | float | None:
    """Return the value that Kubernetes reads from the plain scalar `plain` (sigs.k8s.io/yaml; the tests have tables).

    A date comes back as `Timestamp`: each reader makes another string of it.
    """
    if plain in WORDS:
        return WORDS[plain]
    if plain[0] not in "+-.0123456789":
        return plain
    digits = plain.replace("_", "")
    number = re.fullmatch(_INT, digits)
    if number and len(digits) <= _LONGEST_INT:
        integer = int(number[1] + number[number.lastindex or 0], _BASES[number.lastindex or 0])
        if -(1 << 63) <= integer < 1 << 64:
            return integer
    if re.fullmatch(_FLOAT, digits):
        real = float(digits)
        return plain if abs(real) == float("inf") else real
    return Timestamp(plain) if re.fullmatch(_DATE, plain) else plain


def differs(plain: str) -> bool:
    """Return True for a plain scalar that Kubernetes and kustomize read differently as a value, or may: a date."""
    return plain in OLD or type(scalar(plain)) is Timestamp


_WORD = r"(?:[^\s\-?:,\[\]{}#&*!|>'\"%@`\\]|-(?=[^\s-])|--(?=[^\s-]))[^\s:#\\]*(?:(?: +|:)[^\s:#\\]+)*"
_BRACKETS = r"[\[{](?:[^\"'#\\]|\"[^\"\\]*\"|'[^']*')*[\]}]"
_NAME = "[A-Za-z0-9_-]+"
_SCALAR = rf"(?:&{_NAME} +)?(?:{_WORD}|\"[^\"\\]*\"|'[^']*')"
_VALUE = rf"({_SCALAR}|{_BRACKETS}|\|[-+]?|>-?|\*{_NAME})"
_KEY = rf"[A-Za-z_$][A-Za-z0-9_./$-]{{0,{LONGEST_KEY}}}"
_LINE = rf"(?s)( {{0,100}})(- +)?(?:({_KEY}):(?: +{_VALUE})?|{_VALUE}) *(?:(?<= )#.*)?"
_ODD = "[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]"
"""Other line breaks, and characters that YAML does not allow; none of them is printable."""


def read(text: str) -> Any:
    """Return the data of a document or of list items; None when the text is not simple."""
    try:
        return data_of(lines_of(text)[0])
    except NotSimple:
        return None


def data_of(lines: list[Line]) -> Any:
    """Return the data on all lines; these are changed. Raises NotSimple."""
    data, rest = node(lines, 0)
    if lines[rest] is not END:
        raise NotSimple
    return data


def lines_of(text: str) -> tuple[list[Line], Iterable[tuple[int, int]]]:
    """Return the lines that hold something and a last one in column -1; and where each begins and ends, in lines.

    Raises NotSimple, also for too many lines, and for a character that may break a line.
    """
    rows = text.split("\n")
    if len(rows) > _MAX_LINES:
        raise NotSimple
    lines, spans = _lines_over(rows) if "|" in text or ">" in text else _lines_alone(rows)
    if not all(map(str.isprintable, rows)) and has_odd_character(text):
        raise NotSimple
    if "*" in text or "&" in text:
        resolve(lines)
    if len(text) > MAX_NODES and any(type(line.value) is Brackets for line in lines):
        raise NotSimple  # a line with brackets may have a node for each character
    return lines, spans


def _lines_alone(rows: list[str]) -> tuple[list[Line], Iterable[tuple[int, int]]]:
    """Return the same for rows without blocks, which is quicker."""
    entries = [*map(line_of, rows)]
    return [*filter(None, entries), END], ((at, at + 1) for at, line in enumerate(entries) if line)


def _lines_over(rows: list[str]) -> tuple[list[Line], Iterable[tuple[int, int]]]:
    lines: list[Line] = []
    spans: list[tuple[int, int]] = []
    at = 0
    while at < len(rows):
        first = at
        line, at = line_at(rows, at)
        if line is not None:
            lines.append(line)
            spans.append((first, at))
    lines.append(END)
    return lines, spans


def line_at(rows: list[str], at: int) -> tuple[Line | None, int]:
    """Return what stands on a line, a block with its header, and the line behind it. Raises NotSimple."""
    line = line_of(rows[at])
    if line is None or line.quote not in ("|", ">"):
        return line, at + 1
    value, end = blocks.read(rows, at + 1, line.column + (line.dash if line.key else 0) + 1, line.value)
    return line._replace(value=value), end


def has_odd_character(text: str) -> bool:
    """Return True for a character that may break a line, or that YAML does not allow."""
    return bool(re.search(_ODD, text))


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    return re.compile(_LINE)  # here: a list with nothing of ours needs it not


@lru_cache(maxsize=4096)
def line_of(row: str) -> Line | None:
    """Return what stands on a line; None for a comment or nothing. Raises NotSimple."""
    if len(row) > brackets.LONGEST and ("[" in row or "{" in row):
        raise NotSimple
    match = _pattern().fullmatch(row)
    if not match:
        if row.lstrip(" ")[:1] in ("", "#"):
            return None
        raise NotSimple
    indent, dash, key, value, entry = match.groups()
    raw = value or entry
    anchor, alias = "", ""
    if raw and raw[0] == "&":
        anchor, raw = raw[1:].split(None, 1)
    elif raw and raw[0] == "*":
        alias, raw = raw[1:], "*"
    data = scalar(raw) if raw else ABSENT
    # `yes:` is the key "true" to Kubernetes; see `positions.ambiguous`
    if key in WORDS or raw in OLD or type(data) is Timestamp:
        raise NotSimple
    column, width = len(indent), len(dash or "")
    if not raw:
        return Line(column, width, key, ABSENT, "", (match.end(3) + 1, match.end(3) + 1))
    first, span = raw[0], match.span(4 if value else 5)
    if first in "\"'|>":
        return Line(column, width, key, raw if first in "|>" else raw[1:-1], first, span, anchor)
    return Line(column, width, key, _in_brackets(row, span) if first in "[{" else data, "", span, anchor, alias)


def _in_brackets(row: str, span: tuple[int, int]) -> Any:
    """Return what stands in brackets on a line. Raises NotSimple."""
    if row[slice(*span)] in ("[]", "{}"):
        return list if row[span[0]] == "[" else dict
    return brackets.read(row, span, _plain)


def _plain(raw: str) -> Any:
    """Return the value of a plain scalar in brackets. Raises NotSimple as `line_of` does."""
    value = scalar(raw)
    if raw in OLD or type(value) is Timestamp:
        raise NotSimple
    return value


def is_merge(key: Any) -> bool:
    """Return True for the key `<<`, which takes in another mapping's keys."""
    return key.id == "scalar" and bool(key.tag == MERGE or (key.value == "<<" and key.tag == PLAIN))
