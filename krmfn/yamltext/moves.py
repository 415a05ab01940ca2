"""Values that moved: each takes its lines along, with the comments in them, its quotes and its order.

A value is known by its identity, what a function was lent, or by what it holds (see `rebuilt`).
"""

from collections.abc import Iterable

from ..resource import same
from ..typed import Any
from . import copies, emit, lent, losses, positions, remarks
from .origins import Origin

__all__ = ["check_brackets", "dump"]


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
            origin = _now(walk, origin)
            pieces.append(_moved(walk, origin, (data, name), (word, column)))
            _note_moved(origin)  # now: what is edited in it has not moved out of it
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
        if not _has_left(walk, source, part):  # a copy leaves the comment beside it where it is
            source = source._replace(has_left_key=source.begin < 0)
        if rows := _now(walk, source).comments:
            problem = f"the comment {rows[0][:40]!r} would be lost in brackets; write these over lines first"
            raise losses.WouldLose(f"cannot be written: {problem}", tuple(walk.path))


def _has_left(walk: Any, origin: Origin, value: Any) -> bool:
    """Return False for a copy of a collection that is still where it stood; a scalar is known by having left."""
    known = walk.lists.get(id(value)) if isinstance(value, (dict, list)) else None
    if known is None:
        return True
    return id(origin.node) in walk.went if origin.walk is walk else lent.has_left(known, walk.held)


def _now(walk: Any, origin: Origin) -> Origin:
    """Return where a value stood, as the edit leaves it: its key may have another value now."""
    return walk.went.get(id(origin.node), origin) if origin.walk is walk else origin


def _names(data: Any) -> Iterable[Any]:
    return list(data) if isinstance(data, dict) else range(len(data))


def _has_origin(walk: Any, value: Any) -> bool:
    """Return True when a part of a collection, at any level, stood elsewhere."""
    return any(walk.origin(part, name) for part in lent.parts(value) for name in _names(part))


def _moved(walk: Any, origin: Origin, place: tuple[Any, Any], lead: tuple[str, int]) -> str:
    """Return the lines of a value that stood elsewhere, behind `lead`, a key or a dash, and its column."""
    text, node, (word, column) = origin.walk.text, origin.node, lead
    pad, value = " " * column, place[0][place[1]]
    above, comment = _beside(origin)
    heads = "".join(f"{pad}{row}\n" for row in above)
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


def _has_left_key(origin: Origin) -> bool:
    """Return True for a value of lines whose key, or dash, stays there, with the comments of that."""
    return origin.begin >= 0 and (origin.has_left_key or id(origin.key or origin.node) in origin.walk.kept)


def _beside(origin: Origin) -> tuple[list[str], str]:
    """Return the comments above a value that moves, and the one on its line behind a blank."""
    if _has_left_key(origin):
        return [], ""
    is_block = origin.node.id == "scalar" and origin.node.style in ("|", ">")
    comment = "" if is_block else origin.comment  # the comment behind its mark is in its text
    return origin.heads, f" {comment}" if comment else ""


def _note_moved(origin: Origin) -> None:
    """Note where the text was that stands elsewhere now."""
    node, source, (start, end) = origin.node, origin.walk, origin.span
    if _has_left_key(origin):
        is_below = node.id != "scalar" and not node.flow_style  # else the comment behind it is that of its key
        start = int(node.start_mark.index) if origin.key else origin.begin + 1  # behind its dash
        end = source.rows.end((origin.key, node)) if is_below else end
    for span in ((start, end), *origin.beside.above, *origin.beside.behind):
        source.moved.add(*span)


def _properties(origin: Origin, value: Any) -> str:
    """Return anchor and tag of a collection over lines behind its key; behind a dash they are in its lines."""
    if origin.key is None:
        return ""
    span = int(origin.key.end_mark.index), remarks.stop(origin.walk.text, origin.key, origin.node)
    words = remarks.patched(origin.walk.text[slice(*span)], copies.anchors(origin, value, *span), span[0])
    return words.lstrip(" \t").removeprefix(":").rstrip()


def _must_untie(walk: Any, origin: Origin) -> bool:
    """Return True for what is written anew in another text, without its anchors. Raises WouldLose for its comments."""
    if origin.walk is walk or not origin.is_tied:
        return False
    text = origin.walk.text
    if comments := origin.comments:
        name = next(filter(None, (losses.anchor(text, node) for node in positions.nodes(origin.node))), "")
        cause = f"its anchor &{name}" if name else "an alias in it"
        problem = f"the comment {comments[0][:40]!r} would be lost, since {cause} stays in the other item"
        raise losses.WouldLose(f"cannot be written: {problem}; write the value out there first", tuple(walk.path))
    return True


def _column(origin: Origin) -> int:
    """Return the column of a value's key or dash."""
    node = origin.key or origin.node
    begin = origin.begin if origin.begin >= 0 else int(node.start_mark.index)
    return int(begin - origin.walk.text.rfind("\n", 0, begin) - 1)


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
