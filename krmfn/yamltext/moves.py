"""Values that moved: each takes its lines along, with the comments in them, its quotes and its order.

A value is known by its identity, what a function was lent, or by what it holds (see `rebuilt`).
"""

from collections.abc import Iterable, Iterator

from ..resource import same
from ..typed import Any, NamedTuple
from . import copies, emit, lent, losses, positions, remarks, units
from .positions import key_name
from .simple import is_merge

__all__ = ["Origin", "check_brackets", "comment", "dump", "origins", "parts_of"]


class Origin(NamedTuple):
    """Where a value stood in a text."""

    walk: Any
    """The walk over that text."""
    key: Any
    """The node of its key; None in a list."""
    node: Any
    begin: int
    """Where its key or dash is; -1 in brackets."""
    old: Any
    """What it held."""
    is_alone: bool = False
    """Whether it is all that a mapping has: a comment behind the dash of that goes with it."""

    @property
    def is_tied(self) -> bool:
        """Return True where an anchor or an alias is in it: another text has not what these name."""
        nodes = [*positions.nodes(self.node)]
        return any(id(node) in self.walk.shared or losses.anchor(self.walk.text, node) for node in nodes)

    @property
    def span(self) -> tuple[int, int]:
        """Return where its lines begin and end, comment lines above it included."""
        if self.begin < 0:
            return int(self.node.start_mark.index), int(self.node.end_mark.index)
        return self.walk.rows.begin(self.begin), self.walk.rows.end((self.key, self.node))


def parts_of(walk: Any, node: Any, old: Any) -> Iterator[tuple[Any, Origin]]:
    """Yield the key or index of each part of a collection, with where it stands; no alias, nothing that `<<` brings."""
    if node.id == "mapping" and isinstance(old, dict):
        last = {key_name(key): (key, value) for key, value in node.value if not is_merge(key)}  # of a key that is twice
        for name, (key, value) in last.items():
            if value.start_mark.index >= key.end_mark.index and id(value) not in walk.shared:
                begin = -1 if node.flow_style else key.start_mark.index
                yield name, Origin(walk, key, value, begin, old[name], len(node.value) == 1)
    elif node.id == "sequence" and isinstance(old, list):
        for at, value in enumerate(node.value):
            if not walk.rows.alias(node, at) and id(value) not in walk.shared:
                begin = -1 if node.flow_style else walk.rows.dash(node, at, value)
                yield at, Origin(walk, None, value, begin, old[at])


def origins(walk: Any, node: Any, old: Any, known: Any, lists: Any) -> Iterator[tuple[int, Origin]]:
    """Yield each collection below a node by the identity that it had; `known` is the collection that the node gave."""
    entries = lists.get(id(known))
    parts = entries.entries if entries else ()
    kind = "mapping" if isinstance(parts, dict) else "sequence"
    if not parts or node.id != kind:  # what has become another kind gave nothing
        return
    for name, origin in parts_of(walk, node, old):
        part = parts.get(name) if isinstance(parts, dict) else parts[name] if name < len(parts) else None
        if isinstance(part, (dict, list)):
            yield id(part), origin
            yield from origins(walk, origin.node, origin.old, part, lists)


def dump(walk: Any, data: Any, names: Iterable[Any], column: int, lead: str = "") -> str:
    """Return parts of a collection as `emit.dump` does, but what stood elsewhere in a text with its lines.

    `names` are keys or indexes of `data`; `lead` is what stands before the value of the only one, where that is known:
    then the walk's path has the name already.
    """
    pieces: list[str] = []
    pad, depth = " " * column, len(walk.path)
    for name in names:
        value = data[name]
        walk.path += [] if lead else [str(name)]
        word = lead or (f"{emit.dump({name: 0})[:-4]}:" if isinstance(data, dict) else "-")
        if origin := walk.origin(data, name):
            pieces.append(_moved(walk, origin, (data, name), (word, column)))
        elif isinstance(value, (dict, list)) and value and _has_origin(walk, value):
            is_inner = word == "-" or isinstance(value, dict)
            below = dump(walk, value, _names(value), column + 2 * is_inner)
            is_inline = word == "-" and not below.lstrip(" ").startswith("#")
            pieces.append(f"{pad}- {below.lstrip(' ')}" if is_inline else f"{pad}{word}\n{below}")
        else:
            anew = emit.dump({"k": value} if isinstance(data, dict) else [value], column)
            pieces.append(f"{pad}{word}{anew[column + len('k:' if isinstance(data, dict) else '-') :]}")
        del walk.path[depth:]
    return "".join(pieces)


def check_brackets(walk: Any, value: Any, origin: Origin | None = None) -> None:
    """Raise WouldLose for a value, which stood at `origin`, whose comments move into brackets, where none can stand."""
    inner = ((walk.origin(part, name), part[name]) for part in lent.parts(value) for name in _names(part))
    for source, part in (pair for pair in ((origin or walk.known(value), value), *inner) if pair[0]):
        text = source.walk.text
        rows = [text[slice(*span)].strip() for span in losses.comments(text, source.walk.root, *source.span)]
        known = walk.lists.get(id(part))
        has_left = known is not None and lent.has_left(known, walk.held)  # a copy leaves its comment where it is
        for row in filter(None, (*rows, _behind_brackets(source) if has_left else "")):
            comment = row.strip()[:40]
            problem = f"the comment {comment!r} would be lost in brackets; write these over lines first"
            raise losses.WouldLose(f"cannot be written: {problem}", tuple(walk.path))


def _names(data: Any) -> Iterable[Any]:
    return list(data) if isinstance(data, dict) else range(len(data))


def _has_origin(walk: Any, value: Any) -> bool:
    """Return True when a part of a collection, at any level, stood elsewhere."""
    return any(walk.origin(part, name) for part in lent.parts(value) for name in _names(part))


def _moved(walk: Any, origin: Origin, place: tuple[Any, Any], lead: tuple[str, int]) -> str:
    """Return the lines of a value that stood elsewhere, behind `lead`, a key or a dash, and its column."""
    text, node, source, (word, column) = origin.walk.text, origin.node, origin.walk, lead
    pad, heads, comment, value = " " * column, "", "", place[0][place[1]]
    is_block = node.id == "scalar" and node.style in ("|", ">")
    start, end = origin.span
    if origin.begin >= 0 and id(origin.key or node) not in source.kept:
        heads = "".join(f"{pad}{row}\n" for row in _heads(origin))
        comment = "" if is_block else _comment(text, remarks.stop(text, origin.key, node))
        source.moved.add(start, end)
    else:
        is_below = node.id != "scalar" and not node.flow_style  # else the comment behind it is that of its key
        comment = "" if source is walk else _behind_brackets(origin)
        first = node.start_mark.index if origin.key or origin.begin < 0 else origin.begin + 1  # behind its dash
        source.moved.add(int(first), source.rows.end((origin.key, node)) if is_below else end)
    block = None if _must_untie(walk, origin) else _block(origin, value)
    if block is None:
        walk.anew_places.add((id(place[0]), place[1]))
        first, end_of_line, rest = dump(walk, place[0], [place[1]], column, word).partition("\n")
        return f"{heads}{first}{comment}{end_of_line}{rest}"
    if node.id == "scalar":
        first, end_of_line, rest = block.partition("\n")
        block = f"{first}{end_of_line}{_shifted(rest, column - _column(origin))}"
        return f"{heads}{pad}{word} {block}{comment}".removesuffix("\n") + "\n"
    if node.flow_style:
        return f"{heads}{pad}{word} {block}{comment}\n"
    target = column + 2 * (word == "-" or node.id == "mapping")
    if origin.key is None:  # it stood behind its dash
        block = " " * (origin.begin - text.rfind("\n", 0, origin.begin)) + block[1:]
    block = _shifted(block.removesuffix("\n") + "\n", target - remarks.column(text, node))
    comment = _properties(origin, value) + comment
    if word == "-" and not comment and not block.lstrip(" ").startswith("#"):
        return f"{heads}{pad}- {block.lstrip(' ')}"
    return f"{heads}{pad}{word}{comment}\n{block}"


def _properties(origin: Origin, value: Any) -> str:
    """Return anchor and tag of a collection over lines behind its key; behind a dash they are in its lines."""
    if origin.key is None:
        return ""
    span = int(origin.key.end_mark.index), remarks.stop(origin.walk.text, origin.key, origin.node)
    words = remarks.patched(origin.walk.text[slice(*span)], copies.anchors(origin, value, *span), span[0])
    return words.lstrip(" \t").removeprefix(":").rstrip()


def _heads(origin: Origin) -> list[str]:
    """Return the comment lines above a value; of the only key behind a dash also one behind that, none above it."""
    text, above = origin.walk.text, origin.span[0]
    if origin.is_alone:
        above = remarks.above(text, origin.walk.root, origin.begin)
    rows = [row.strip() for row in text[above : origin.begin].splitlines() if row.strip()]
    dash = max((at for at, row in enumerate(rows) if row[0] == "-"), default=-1)
    rows = [rows[dash].lstrip("- "), *rows[dash + 1 :]] if dash >= 0 else rows
    return [row for row in rows if row]


def _must_untie(walk: Any, origin: Origin) -> bool:
    """Return True for what is written anew in another text, without its anchors. Raises WouldLose for its comments."""
    if origin.walk is walk or not origin.is_tied:
        return False
    text = origin.walk.text
    if spans := losses.comments(text, origin.walk.root, *origin.span):
        name = next(filter(None, (losses.anchor(text, node) for node in positions.nodes(origin.node))), "")
        cause = f"its anchor &{name}" if name else "an alias in it"
        comment = text[spans[0][0] : spans[0][1]].strip()[:40]
        problem = f"the comment {comment!r} would be lost, since {cause} stays in the other item"
        raise losses.WouldLose(f"cannot be written: {problem}; write the value out there first", tuple(walk.path))
    return True


def _column(origin: Origin) -> int:
    """Return the column of a value's key or dash."""
    node = origin.key or origin.node
    begin = origin.begin if origin.begin >= 0 else int(node.start_mark.index)
    return int(begin - origin.walk.text.rfind("\n", 0, begin) - 1)


def comment(origin: Origin) -> str:
    """Return the comment on the line of a value; "" where it has none of its own."""
    end = remarks.stop(origin.walk.text, origin.key, origin.node) if origin.begin >= 0 else -1
    return _comment(origin.walk.text, end).strip()


def _behind_brackets(origin: Origin) -> str:
    """Return the comments of a value that stands in brackets, with a blank before them."""
    above, behind = units.beside(origin.walk.text, origin.key, origin.node) if origin.begin < 0 else ([], [])
    return f" # {' '.join((*above, *behind))}" if above or behind else ""


def _comment(text: str, end: int) -> str:
    """Return the comment behind a place in a line, with a blank before it."""
    span = remarks.rest(text, end)
    comment = text[span[0] : span[1]].strip() if span else ""
    return f" {comment}" if comment else ""


def _block(origin: Origin, value: Any) -> str | None:
    """Return the text of a value with its edits; None where it must be written anew.

    A scalar, and what is in brackets, is itself; of lines all below the key's line, or from the dash on.
    """
    walk, node = origin.walk, origin.node
    start, end = int(node.start_mark.index), int(node.end_mark.index)
    if node.id != "scalar" and not node.flow_style:
        start = walk.text.find("\n", origin.key.end_mark.index) + 1 if origin.key else origin.begin
        end = walk.rows.end((origin.key, node))
    outer, walk.patches = walk.patches, []
    try:
        if not same(origin.old, value) and not walk.is_edited(node, origin.old, value):
            spans = losses.comments(walk.text, walk.root, start, end)
            if problem := losses.reason(walk.text, node, spans, (origin.old, value)):
                raise losses.WouldLose(problem, tuple(walk.path))
            return None
        marks = copies.anchors(origin, value, start, end)
        walk.patches += [mark for mark in marks if not any(first <= mark[0] < last for first, last, _ in walk.patches)]
        return remarks.patched(walk.text[start:end], walk.patches, start)
    finally:
        walk.patches = outer


def _shifted(block: str, columns: int) -> str:
    """Return lines some columns further in, or out; the first one of a scalar stands behind its key."""
    rows = block.split("\n")
    if columns >= 0:
        return "\n".join(" " * columns + row if row.strip() else row for row in rows)
    return "\n".join(row[min(-columns, len(row) - len(row.lstrip(" "))) :] for row in rows)
