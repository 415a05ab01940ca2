"""The quick division of a ResourceList into items, for the layouts that kyaml, kustomize, kpt and people write.

Nothing is parsed here. In block YAML a line that starts in column 0 (or at the dashes' indent) ends every block
scalar, plain scalar and nested collection, so such lines *are* the boundaries, unless one stands inside a quoted
scalar or a flow collection that runs over several lines. A quoted scalar that is open where a unit ends began at the
unit's last quote, or at one before it that is escaped; a flow collection began at a bracket that is not closed on its
line. The units that have such a quote or bracket are parsed on their own; a unit that is complete by itself cannot
swallow the next boundary. Whatever else is unusual makes `quick` answer None, "not sure", and the caller uses
`split_exact.exact`.
"""

import codecs
import re
import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache

from ..errors import KrmfnError
from ..typed import Any, NamedTuple
from . import oddlines

__all__ = ["Cut", "Section", "check_encoding", "has_lone_lines", "has_other_breaks", "is_simple", "quick", "runs_on"]


class Section(NamedTuple):
    """A top-level key and the bytes from its line to the next key's (block) or of its value (flow root)."""

    key: str
    start: int
    end: int


class Cut(NamedTuple):
    """The division of a ResourceList's bytes. Offsets are bytes."""

    sections: tuple[Section, ...]
    items: tuple[tuple[int, int], ...]
    """Block: from the line of an item's dash to the next one's; flow: the item's value alone."""
    indent: int = 0
    """The column of the items' dashes; -2 where the items stand in flow style, as in JSON."""
    flow_root: bool = False
    is_quick: bool = False
    """True when only newlines break lines, so that `peek` reads items by their lines."""
    heads: tuple[int, ...] = ()
    """With dashes in column 0: the lines, two columns in, that may hold one of an item's first keys (see `peek`)."""


# Lines that begin in column 0; and, for `peek` in the same pass, those that may hold one of an item's first keys. Of
# most lines the three blanks say that they are neither, in two thirds of the time that the rest takes.
_LEFT = re.compile(rb"\n(?!   )(?:[^ \n]|  [akm'\"?!&*<])")
_KEY = re.compile(rb"([A-Za-z][A-Za-z0-9_.-]{0,1000}):(?=[ \n]|$)")  # see `simple.LONGEST_KEY`
_REST = rb"(?: *(?:#[^\n]*)?\n)*"
_EMPTY = rb"[A-Za-z]+: *(?:(?:\[ *\]|null|~) *)?(?:#[^\n]*)?(?:\n" + _REST + rb" *(?:#[^\n]*)?|$)"
_FIRST_DASH = re.compile(rb"[A-Za-z]+:" + _REST + rb"( *)-[ \n]")
_PROLOGUE = _REST + rb"(?:---\n" + _REST + rb")?"
_SIMPLE_FLOW = rb"""(?:[^"'#\[\]{}\\\n]|(?<=[:,] )(?:"[^"\\\n]*"|'[^'\n]*')|(?<=[\[{,])(?:"[^"\\\n]*"|'[^'\n]*'))*"""


_RUNS_ON = (
    (b'"', rb'"(?<=[\s\[{,:]")(?![^"\\\n]*")', rb'"(?!(?:[^"\\\n]|\\[^\n])*")'),
    (b"'", rb"'(?<=[\s\[{,:]')(?![^'\n]*'(?!'))", rb"'(?!(?:[^'\n]|'')*'(?!'))"),
    (b"[", rb"\[(?<=[\s\[{,:]\[)(?!\])", rb"\[(?!" + _SIMPLE_FLOW + rb"\])"),
    (b"{", rb"\{(?<=[\s\[{,:]\{)(?!\})", rb"\{(?!" + _SIMPLE_FLOW + rb"\})"),
)
"""Each mark with two patterns of a token that begins with it and may run over its line.

The first is quick and finds every such token, and a few others; the second, which is exact, tells them apart.
"""
_OPENING = {b'"': b" \t\n[{,:\\", b"'": b" \t\n[{,:'"}
"""What stands before a quote that opens a scalar (see _RUNS_ON), and before one that is escaped in it."""
_STEP = 1 << 20
_FEW = 20_000
"""Up to so many brackets a bytes search for each is faster than a regular expression; quotes are too many for it."""
_OTHER_BREAKS = ("\u0085".encode(), "\u2028".encode(), "\u2029".encode())
_DASHES = (b"- ", b"-\n", b"-")


def check_encoding(text: bytes) -> None:
    """Raise KrmfnError, with the line, for bytes that are not UTF-8 text and for NUL."""
    at, problem = text.find(b"\0"), "a NUL byte, so this is not text (perhaps UTF-16: save it as UTF-8)"
    if at < 0 and not text.isascii():
        view, done = memoryview(text), 0
        try:
            while done < len(text):
                done += codecs.utf_8_decode(view[done : done + _STEP], None, done + _STEP >= len(text))[1]
        except UnicodeDecodeError as failure:
            at, problem = done + failure.start, f"not UTF-8 ({failure.reason}); save it as UTF-8"
    if at >= 0:
        raise KrmfnError(problem, line=text.count(b"\n", 0, at) + 1)


def has_other_breaks(text: bytes) -> bool:
    """Return True when something other than a newline may break a line."""
    if b"\r" in text:
        return True
    is_possible = b"\xc2" in text or b"\xe2" in text  # a byte is found much faster than a mark of several
    return is_possible and any(mark in text for mark in _OTHER_BREAKS)


def quick(data: bytes) -> Cut | None:
    """Return the cut of a ResourceList in block YAML; None when not sure. Nothing is guessed: see above."""
    if has_other_breaks(data):
        return None
    lines: list[int] = [0]
    heads: list[int] = []
    for match in _LEFT.finditer(data):
        at = match.start() + 1
        if data[at] == 0x20:  # a blank
            heads.append(at + 2)
        else:
            lines.append(at)
    sections = _sections(data, lines)
    if sections is None:
        return None
    items = next((section for section in sections if section.key == "items"), None)
    starts, indent = _dashes(data, items, lines) if items else ([], 0)
    if items and not starts and not re.compile(_EMPTY).fullmatch(data, items.start, items.end):
        return None
    spans = tuple(zip(starts, [*starts[1:], items.end if items else 0], strict=False))
    cut = Cut(sections, spans, indent, is_quick=True, heads=() if indent else tuple(heads))
    return cut if _is_complete(data, cut) else None


@lru_cache(maxsize=8)
def _compiled(rough: bytes) -> re.Pattern[bytes]:
    """Return a pattern of `_RUNS_ON`, which are asked for each item: `re` takes some times as long to find it."""
    return re.compile(rough)


def runs_on(data: bytes, begin: int = 0, end: int = sys.maxsize, marks: bytes = b"\"'[{") -> Iterator[int]:
    """Yield where a token begins in data[begin:end], or seems to, that does not end on its line."""
    for mark, rough, exact in _RUNS_ON:
        start = data.find(mark, begin, end) if mark in marks else -1
        if start < 0:
            continue
        roughly = _compiled(rough)
        for _ in range(_FEW if mark in b"[{" else 0):
            if roughly.match(data, start, end) and re.compile(exact).match(data, start, end):
                yield start
            start = data.find(mark, start + 1, end)
            if start < 0:
                break
        else:
            candidates = (match.start() for match in roughly.finditer(data, start, end))
            yield from (at for at in candidates if re.compile(exact).match(data, at, end))


def has_lone_lines(data: bytes, start: int, end: int) -> bool:
    """Return True when no quoted scalar or flow collection of a document runs over lines: `peek` may read it.

    Only newlines may break lines in it.
    """
    return not any(True for _ in runs_on(data, start, end))


def is_simple(text: bytes) -> bool:
    """Return True when only newlines break lines of a document, and its lines stand alone (see `has_lone_lines`)."""
    return not has_other_breaks(text) and has_lone_lines(text, 0, len(text))


def _sections(data: bytes, lines: list[int]) -> tuple[Section, ...] | None:
    """Return the top-level keys; None for a line in column 0 that is no key, dash, comment or first `---`."""
    keys: list[tuple[str, int]] = []
    for start in lines:
        if data[start : start + 2] in _DASHES and keys:
            continue
        key = _KEY.match(data, start)
        if key:
            keys.append((key[1].decode(), start))
        elif keys and data[start : start + 1] not in (b"#", b""):
            return None
    names = [name for name, _ in keys]
    if not keys or len(set(names)) < len(names):
        return None
    if keys[0][1] and not re.compile(_PROLOGUE).fullmatch(data, 0, keys[0][1]):
        return None
    ends = [*(start for _, start in keys[1:]), len(data)]
    return tuple(Section(name, start, end) for (name, start), end in zip(keys, ends, strict=True))


def _dashes(data: bytes, items: Section, lines: list[int]) -> tuple[list[int], int]:
    """Return where the items' dash lines start, and the dashes' column; no starts when not sure."""
    first = _FIRST_DASH.match(data, items.start, items.end)
    if first is None:
        return [], 0
    indent = len(first[1])
    if indent:
        # Lines that start at or left of the dashes' column.
        pattern = re.compile(rb"\n(?=%s)" % b"|".join(b" " * n + rb"[^ \n]" for n in range(indent + 1)))
        lines = [match.end() for match in pattern.finditer(data, data.index(b"\n", items.start), items.end)]
    else:
        lines = lines[bisect_right(lines, items.start) : bisect_right(lines, items.end - 1)]
    dash = (first[1] + b"- ", first[1] + b"-\n")
    starts = [start for start in lines if data.startswith(dash, start)]
    if len(starts) < len(lines):
        comment = re.compile(rb" *#")
        if not all(data.startswith(dash, start) or comment.match(data, start) for start in lines):
            return [], 0
    return starts, indent


def _is_complete(data: bytes, cut: Cut) -> bool:
    """Return True when each unit of a cut is complete by itself: nothing that begins in it goes on behind it."""
    units = sorted([*cut.items, *(section[1:] for section in cut.sections if section.key != "items" or not cut.items)])
    starts = [start for start, _ in units]
    doubtful = set(_open_quoted(data, units))
    for at in runs_on(data, starts[0], marks=b"[{"):
        unit = units[bisect_right(starts, at) - 1]
        if at < unit[1]:  # between `items:` and the first dash only comments stand
            doubtful.add(unit)
    for start, end in sorted(doubtful):
        text = data[start:end]
        rows = _rows(text, [*runs_on(text)])
        if rows and not (oddlines.ends_alone(text.decode(), rows) or _is_one_entry(text)):
            return False
    return True


def _open_quoted(data: bytes, units: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the units at whose end a quoted scalar may be open; none is at their start.

    Where one is open, no quote of its kind stands between its first one and the end that is not escaped.
    """
    for mark, before in _OPENING.items():
        lasts = [data.rfind(mark, start, end) for start, end in units]
        yield from (unit for unit, last in zip(units, lasts, strict=True) if last > 0 and data[last - 1] in before)


def _rows(text: bytes, places: Iterable[int]) -> list[int]:
    """Return the numbers of the rows of a text in which some places are, in order, each once."""
    rows, number, start = dict[int, None](), 0, 0
    for place in sorted(places):
        number += text.count(b"\n", start, place)
        rows[number] = None
        start = place
    return [*rows]


def _is_one_entry(text: bytes) -> bool:
    """Return True when the text alone is one document: a list or mapping in block style with exactly one entry."""
    with suppress(KrmfnError):
        if known := oddlines.read(text.decode()):
            return len(known) == 1
        from . import load  # late: most lists need no parser

        root: Any = load.compose(text)
        return root is not None and root.id != "scalar" and not root.flow_style and len(root.value) == 1
    return False
