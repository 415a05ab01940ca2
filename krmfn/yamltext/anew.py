"""Values that are written anew at their own place, and what goes: with the comments that stay, or a refusal."""

from ..resource import same
from ..typed import Any
from . import lent, losses, moves, remarks
from .inline import TooMuch

__all__ = ["behind_dash", "entry", "is_as_it_was", "is_behind", "is_taken", "note_anew", "remove", "with_comment"]


def note_anew(walk: Any, node: Any, place: tuple[Any, Any]) -> None:
    """Note that a value is written anew at its own place, unless it came from elsewhere."""
    origin = walk.origin(*place)
    if not origin or origin.node is node:
        walk.anew_places.add((id(place[0]), place[1]))


def is_taken(walk: Any, node: Any, place: tuple[Any, Any]) -> bool:
    """Return True where another value moved to a place; its key or entry keeps its comment, but for `replaced`."""
    key = id(place[0]), place[1]
    is_other = key in walk.rebuilt or _has_come(walk, node, place[0][place[1]])
    known = walk.lists.get(id(place[0][place[1]]))
    if known and lent.has_left(known, walk.held):
        walk.replaced.add(key)
    is_replaced = key in walk.replaced
    walk.kept.update(() if is_replaced else (id(node),))
    return is_other or is_replaced


def is_as_it_was(walk: Any, node: Any, old: Any, new: Any) -> bool:
    """Return True for what is as it was, and no equal one that came to the place of a node with its comments."""
    return same(old, new) and not (isinstance(new, (dict, list)) and walk.went and _has_come(walk, node, new))


def _has_come(walk: Any, node: Any, value: Any) -> bool:
    """Return True for a collection that stood elsewhere in the text, and has comments, at the place of a node."""
    origin = walk.known(value)
    is_moved = origin and origin.walk is walk and node not in (origin.key, origin.node)
    return bool(is_moved and id(origin.node) in walk.went and origin.comments)


def _brings_comments(walk: Any, place: tuple[Any, Any]) -> bool:
    """Return True where comments came with a value that take the place of those there; a key keeps what is above it."""
    if (id(place[0]), place[1]) not in walk.replaced:
        return False
    origin = walk.origin(*place)  # None: its anchors were left out, which nothing with comments may lack
    return bool(origin and (origin.comment or (isinstance(place[0], list) and origin.heads)))


def with_comment(
    walk: Any, nodes: tuple[Any, ...], span: tuple[int, int, int], change: tuple[Any, tuple[Any, Any]], piece: str
) -> str:
    """Return the text of a value that is written anew, `piece`, with the comment that may begin at span[1].

    Raises WouldLose for what else is lost in the span: comments, anchors. `nodes`: the value; () of an alias. `change`:
    what it was, and its place.
    """
    old, (data, name) = change
    values, line = (old, data[name]), remarks.rest(walk.text, span[1])
    if (id(data), name) in walk.replaced:  # another value, which has its own comments
        values = (None, data[name])
        line = None if _brings_comments(walk, (data, name)) else line
    if nodes:
        walk.check_anchors(*nodes)
        spans = losses.comments(walk.text, walk.root, span[0], span[2])
        start, end = line or (0, 0)  # the comment that stays
        lost = [place for place in spans if place[0] not in walk.moved and not start <= place[0] < end]
        if problem := losses.reason(walk.text, nodes[0], lost, values):
            raise losses.WouldLose(problem, tuple(walk.path))
    comment = walk.text[line[0] : line[1]].strip() if line and line[0] not in walk.moved else ""
    rows = piece.split("\n")
    at = next(at for at, row in enumerate(rows) if not row.lstrip(" ").startswith("#"))  # what moved has its own
    rows[at] += f" {comment}" if comment else ""
    return "\n".join(rows)


def entry(
    walk: Any, node: Any, number: int, values: tuple[Any, list[Any], int], dashes: list[int]
) -> tuple[int, int, str]:
    """Return the patch that writes an entry of a list anew, behind its dash.

    `values`: the old one, the new list, and where the new one is in that.
    """
    place, value, alias = values[1:], node.value[number], walk.rows.alias(node, number)
    end = walk.rows.begin(dashes[number + 1]) if number + 1 < len(dashes) else walk.rows.end((None, node))
    start, column = dashes[number], remarks.column(walk.text, node)
    note_anew(walk, value, place)
    piece = moves.dump(walk, place[0], [place[1]], column, "-")
    nodes, stop = ((), alias[1]) if alias else ((value,), remarks.stop(walk.text, None, value))
    piece = with_comment(walk, nodes, (start + 1, stop, end), (values[0], place), piece)
    begin = walk.rows.begin(start) if _brings_comments(walk, place) else start
    return begin, end, piece[column if begin == start else 0 :]


def remove(walk: Any, key: Any, value: Any, after: Any) -> None:
    """Add the patch that removes a key; behind a dash the next key takes its place."""
    if value.start_mark.index >= key.end_mark.index:
        walk.check_anchors(key, value)
    begin = walk.rows.begin(key.start_mark.index)
    end = walk.rows.begin(after.start_mark.index) if after else walk.rows.end((key, value))
    line = walk.text.rfind("\n", 0, begin) + 1
    if not walk.text[line:begin].strip():  # below a comment behind the dash, which stays, it is not the whole line
        begin = line
    else:
        if not after:
            raise TooMuch
        end = remarks.above(walk.text, walk.root, after.start_mark.index)
    walk.patches.append((begin, end, ""))


def is_behind(text: str, dash: int, column: int) -> bool:
    """Return True for the first dash of a list that stands behind another dash, on its line."""
    return bool(text[dash - column : dash].strip())


def behind_dash(pieces: list[str], column: int) -> list[str]:
    """Return the entries of a list whose first one goes on behind another dash."""
    first, *others = (piece.lstrip(" ") for piece in pieces)
    if first.startswith("#"):
        raise TooMuch
    return [first, *(" " * column + piece for piece in others)]
