"""The quick division of a ResourceList into items, for the layouts that kyaml, kustomize, kpt and people write.

Nothing is parsed here. In block YAML a line that starts in column 0 (or at the dashes' indent) ends every block
scalar, plain scalar and nested collection, so such lines *are* the boundaries, unless one stands inside a quoted
scalar or a flow collection that runs over several lines. Those begin with `"`, `'`, `[` or `{` where a token can
begin, and do not end on their line: a few regular expressions find every such line (and a few harmless ones).
The units that hold one are parsed on their own; a unit that is complete by itself cannot swallow the next boundary.
Whatever else is unusual makes `quick` answer None, "not sure", and the caller uses `split_exact.exact`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

from ..errors import KrmfnError


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
    """The column of the items' dashes."""
    flow_items: bool = False
    flow_root: bool = False
    dubious: frozenset[int] = frozenset()
    """Indexes of items that hold a scalar or flow collection over several lines: `peek` does not read them."""
    keys: tuple[int, ...] = ()
    """With dashes in column 0: where lines two columns in begin with `kind` or with no letter (see `peek.kinds`)."""


# Lines that begin in column 0; and, for `peek.kinds` in the same pass, keys of items that may be `kind`.
_LEFT = re.compile(rb"""\n(?=[^ \n]|  [k"'?!&*<])""")
_KEY = re.compile(rb"([A-Za-z][A-Za-z0-9_.-]*):(?=[ \n]|$)")
_BARE = re.compile(rb"[A-Za-z]+: *(?:#[^\n]*)?(?:\n|$)")
_EMPTY = re.compile(rb"[A-Za-z]+: *(?:\[ *\]|null|~)? *(?:#[^\n]*)?(?:\n(?: *(?:#[^\n]*)?(?:\n|$))*|$)")
_FIRST_DASH = re.compile(rb"(?: *(?:#[^\n]*)?\n)*( *)-[ \n]")
_COMMENT = re.compile(rb" *#")
_PROLOGUE = re.compile(rb"(?: *(?:#[^\n]*)?\n)*(?:---\n(?: *(?:#[^\n]*)?\n)*)?")
_SIMPLE_FLOW = rb"""(?:[^"'#\[\]{}\\\n]|(?<=[:,] )(?:"[^"\\\n]*"|'[^'\n]*')|(?<=[\[{,])(?:"[^"\\\n]*"|'[^'\n]*'))*"""


def _begins(mark: bytes, rough: bytes, exact: bytes) -> tuple[bytes, re.Pattern[bytes], re.Pattern[bytes]]:
    """Return the mark and two patterns of a token that begins with it and may run over its line.

    The first is quick and finds every such token, and a few others; the second, which is exact, tells them apart.
    """
    token = re.escape(mark) + rb"(?<=[\s\[{,:]" + re.escape(mark) + rb")"
    return mark, re.compile(token + rough), re.compile(re.escape(mark) + exact)


_RUNS_ON = (
    _begins(b'"', rb'(?![^"\\\n]*")', rb'(?!(?:[^"\\\n]|\\[^\n])*")'),
    _begins(b"'", rb"(?![^'\n]*'(?!'))", rb"(?!(?:[^'\n]|'')*'(?!'))"),
    _begins(b"[", rb"(?!\])", rb"(?!" + _SIMPLE_FLOW + rb"\])"),
    _begins(b"{", rb"(?!\})", rb"(?!" + _SIMPLE_FLOW + rb"\})"),
)
_FEW = 20_000
"""Up to so many brackets a bytes search for each is faster than a regular expression; quotes are too many for it."""
_SPACE = ord(" ")
_OTHER_BREAKS = ("\u0085".encode(), "\u2028".encode(), "\u2029".encode())


def quick(data: bytes) -> Cut | None:
    """Return the cut of a ResourceList in block YAML; None when not sure. Nothing is guessed: see above."""
    if b"\r" in data or (not data.isascii() and any(mark in data for mark in _OTHER_BREAKS)):
        return None
    lines: list[int] = [0]
    keys: list[int] = []
    for match in _LEFT.finditer(data):
        at = match.end()
        if data[at] == _SPACE:
            keys.append(at + 2)
        else:
            lines.append(at)
    sections = _sections(data, lines)
    if sections is None:
        return None
    items = next((section for section in sections if section.key == "items"), None)
    if items is None or _EMPTY.fullmatch(data, items.start, items.end):
        cut = Cut(sections, ())
    else:
        starts, indent = _dashes(data, items, lines)
        if not starts:
            return None
        cut = Cut(sections, tuple(zip(starts, [*starts[1:], items.end], strict=True)), indent)
        cut = cut if indent else cut._replace(keys=tuple(keys))
    return _verified(data, cut)


def _runs_on(data: bytes) -> Iterator[int]:
    """Yield where a token begins, or seems to, that does not end on its line."""
    for mark, rough, exact in _RUNS_ON:
        start = 0
        for _ in range(_FEW if mark in b"[{" else 0):
            start = data.find(mark, start) + 1
            if not start:
                break
            if rough.match(data, start - 1) and exact.match(data, start - 1):
                yield start - 1
        else:
            candidates = (match.start() for match in rough.finditer(data, start))
            yield from (at for at in candidates if exact.match(data, at))


def is_simple(text: bytes) -> bool:
    """Return True when no quoted scalar or flow collection of a document runs over lines: `peek` may read it."""
    odd = b"\r" in text or (not text.isascii() and any(mark in text for mark in _OTHER_BREAKS))
    return not odd and not any(True for _ in _runs_on(text))


def _sections(data: bytes, lines: list[int]) -> tuple[Section, ...] | None:
    """Return the top-level keys; None for a line in column 0 that is no key, dash, comment or first `---`."""
    keys: list[tuple[str, int]] = []
    for start in lines:
        first = data[start : start + 1]
        if first == b"-" and keys and data[start + 1 : start + 2] in (b" ", b"\n", b""):
            continue
        key = _KEY.match(data, start)
        if key:
            keys.append((key[1].decode(), start))
        elif keys and first not in (b"#", b""):
            return None
    names = [name for name, _ in keys]
    if not keys or len(set(names)) < len(names) or not _PROLOGUE.fullmatch(data, 0, keys[0][1]):
        return None
    ends = [*(start for _, start in keys[1:]), len(data)]
    return tuple(Section(name, start, end) for (name, start), end in zip(keys, ends, strict=True))


def _dashes(data: bytes, items: Section, lines: list[int]) -> tuple[list[int], int]:
    """Return where the items' dash lines start, and the dashes' column; no starts when not sure."""
    header = _BARE.match(data, items.start)
    first = _FIRST_DASH.match(data, header.end(), items.end) if header else None
    if header is None or first is None:
        return [], 0
    indent = len(first[1])
    if indent:
        # Lines that start at or left of the dashes' column.
        pattern = re.compile(rb"\n(?=%s)" % b"|".join(b" " * n + rb"[^ \n]" for n in range(indent + 1)))
        lines = [match.end() for match in pattern.finditer(data, header.end() - 1, items.end)]
    else:
        lines = lines[bisect_right(lines, items.start) : bisect_right(lines, items.end - 1)]
    dash = re.compile(rb" {%d}-[ \n]" % indent)
    starts = [start for start in lines if dash.match(data, start)]
    others = (start for start in lines if not dash.match(data, start))
    return ([], 0) if any(not _COMMENT.match(data, start) for start in others) else (starts, indent)


def _verified(data: bytes, cut: Cut) -> Cut | None:
    """Return the cut with its dubious items named; None when a unit is not complete by itself."""
    positions = _runs_on(data)
    first = next(positions, None)
    if first is None:
        return cut
    units = [*cut.items, *((s.start, s.end) for s in cut.sections if s.key != "items" or not cut.items)]
    order = sorted(range(len(units)), key=units.__getitem__)
    starts = [units[index][0] for index in order]
    hit = {
        order[bisect_right(starts, position) - 1] for position in chain((first,), positions) if position >= starts[0]
    }
    if any(not _complete(data[slice(*units[index])]) for index in hit):
        return None
    return cut._replace(dubious=frozenset(index for index in hit if index < len(cut.items)))


def _complete(unit: bytes) -> bool:
    """Return True when the unit alone is one document: a list or mapping in block style with exactly one entry."""
    from yaml import YAMLError  # late: most lists need no parser

    from .load import events

    try:
        return _entries(events(unit)) == 1
    except (YAMLError, KrmfnError):
        return False


def _entries(events: Iterator[Any]) -> int:
    """Return how many entries the root collection has; -1 unless there is one document with a block collection."""
    root: Any = None
    nodes = depth = 0
    for event in events:
        name = type(event).__name__
        if name in ("SequenceEndEvent", "MappingEndEvent"):
            depth -= 1
        elif name in ("ScalarEvent", "AliasEvent", "SequenceStartEvent", "MappingStartEvent"):
            if depth == 0 and (root is not None or getattr(event, "flow_style", True)):
                return -1
            root = root or event
            nodes += depth == 1
            depth += name.endswith("StartEvent")
    return nodes // 2 if type(root).__name__ == "MappingStartEvent" else nodes
