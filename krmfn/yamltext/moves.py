"""Values that moved: each takes its lines along, with the comments in them, its quotes and its order.

A value is known by its identity: what a function was lent, and put under another key or into another list.
"""

from collections.abc import Iterator

from ..resource import same
from ..typed import Any, NamedTuple
from . import emit, losses, remarks
from .positions import key_name
from .simple import is_merge

__all__ = ["Origin", "check_brackets", "dump", "origins"]


class Origin(NamedTuple):
    """Where a collection stood in a text."""

    key: Any
    """The node of its key; None in a list."""
    node: Any
    begin: int
    """Where its key or dash is."""
    old: Any
    """What it held."""


def origins(walk: Any, node: Any, old: Any, known: Any) -> Iterator[tuple[int, Origin]]:
    """Yield each collection below a node by the identity that it had; `known` is the collection that the node gave."""
    entries = walk.lists.get(id(known))
    parts = entries.entries if entries else ()
    kind = "mapping" if isinstance(parts, dict) else "sequence"
    if not parts or node.id != kind:  # what has become another kind gave nothing
        return
    pairs: list[tuple[Any, Any, Any]]
    if isinstance(parts, dict):
        pairs = [(key_name(key), key, value) for key, value in node.value if not is_merge(key)]
        pairs = [(name, key, value) for name, key, value in pairs if value.start_mark.index > key.start_mark.index]
    else:
        pairs = [(at, None, entry) for at, entry in enumerate(node.value) if (id(node), at) not in walk.rows.aliases]
    for name, key, value in pairs:
        part = parts.get(name) if isinstance(parts, dict) else parts[name] if name < len(parts) else None
        if isinstance(part, (dict, list)) and id(value) not in walk.shared:
            begin = key.start_mark.index if key else -1 if node.flow_style else walk.rows.dash(node, name, value)
            yield id(part), Origin(key, value, begin, old[name])
            yield from origins(walk, value, old[name], part)


def dump(walk: Any, data: Any, column: int) -> str:
    """Return data as `emit.dump` does, but what stood elsewhere in the text with its lines."""
    if not walk.lists or not any(map(walk.origin, _collections(data))):
        return emit.dump(data, column)
    pieces: list[str] = []
    pad = " " * column
    for name, value in data.items() if isinstance(data, dict) else enumerate(data):
        lead = f"{emit.dump({name: 0})[:-4]}:" if isinstance(data, dict) else "-"
        if origin := walk.origin(value):
            pieces.append(_moved(walk, origin, value, (lead, column)))
        elif isinstance(value, (dict, list)) and any(map(walk.origin, _collections(value))):
            is_inner = lead == "-" or isinstance(value, dict)
            below = dump(walk, value, column + 2 * is_inner)
            is_inline = lead == "-" and not below.lstrip(" ").startswith("#")
            pieces.append(f"{pad}- {below.lstrip(' ')}" if is_inline else f"{pad}{lead}\n{below}")
        else:
            pieces.append(emit.dump({name: value} if isinstance(data, dict) else [value], column))
    return "".join(pieces)


def check_brackets(walk: Any, value: Any) -> None:
    """Raise WouldLose for a value with comments that moves into brackets, where none can stand."""
    for origin in filter(None, map(walk.origin, _collections(value))):
        begin = walk.rows.begin(origin.begin) if origin.begin >= 0 else int(origin.node.start_mark.index)
        for start, end in losses.comments(walk.text, walk.root, begin, walk.rows.end((origin.key, origin.node))):
            comment = walk.text[start:end].strip()[:40]
            problem = f"the comment {comment!r} would be lost in brackets; write these over lines first"
            raise losses.WouldLose(f"cannot be written: {problem}", tuple(walk.path))


def _collections(value: Any) -> Iterator[Any]:
    """Yield the mappings and lists in a value, itself among them."""
    if isinstance(value, (dict, list)):
        yield value
        for part in value.values() if isinstance(value, dict) else value:
            yield from _collections(part)


def _moved(walk: Any, origin: Origin, value: Any, lead: tuple[str, int]) -> str:
    """Return the lines of a value that stood elsewhere, behind `lead`, a key or a dash, and its column."""
    text, node, (word, column) = walk.text, origin.node, lead
    pad, heads, comment = " " * column, "", ""
    if origin.begin >= 0 and id(origin.key) not in walk.kept_keys:
        begin = walk.rows.begin(origin.begin)
        rows = text[begin : origin.begin].rstrip(" ").splitlines()
        heads = "".join(f"{pad}{row.strip()}\n" for row in rows)
        span = remarks.rest(text, remarks.stop(text, origin.key, node)) if origin.key else None
        comment = " " + text[span[0] : span[1]].strip() if span and text[span[0] : span[1]].strip() else ""
        walk.moved.append((begin, walk.rows.end((origin.key, node))))
    else:
        walk.moved.append((int(node.start_mark.index), walk.rows.end((origin.key, node))))
    start, end = _span(text, origin), walk.rows.end((origin.key, node))
    if node.flow_style:
        start, end = int(node.start_mark.index), int(node.end_mark.index)
    block = _edited(walk, origin, value, (start, end))
    if block is None:
        walk.anew_values.add(id(value))
        data = {"k": value} if word != "-" else [value]
        return heads + pad + word + dump(walk, data, column)[column + 1 :]
    if node.flow_style:
        tail = "" if origin.key else _rest_of(text, end)
        return f"{heads}{pad}{word} {block}{comment or tail}\n"
    target = column + 2 * (word == "-" or node.id == "mapping")
    if origin.key is None:  # it stood behind its dash
        block = " " * (origin.begin - text.rfind("\n", 0, origin.begin)) + block[1:]
    block = _shifted(block.removesuffix("\n") + "\n", target - node.start_mark.column)
    if word == "-" and not comment and not block.lstrip(" ").startswith("#"):
        return f"{heads}{pad}- {block.lstrip(' ')}"
    return f"{heads}{pad}{word}{comment}\n{block}"


def _span(text: str, origin: Origin) -> int:
    """Return where the lines of a value begin: below its key's line, or at its dash."""
    return text.find("\n", origin.key.end_mark.index) + 1 if origin.key else origin.begin


def _rest_of(text: str, end: int) -> str:
    """Return the comment behind a value in brackets, with a blank before it."""
    span = remarks.rest(text, end)
    comment = text[span[0] : span[1]].strip() if span else ""
    return f" {comment}" if comment else ""


def _edited(walk: Any, origin: Origin, value: Any, span: tuple[int, int]) -> str | None:
    """Return a piece of the text with the edits of a value in it; None where the value must be written anew."""
    outer, walk.patches = walk.patches, []
    try:
        if not same(origin.old, value) and not walk.is_edited(origin.node, origin.old, value):
            spans = losses.comments(walk.text, walk.root, *span)
            if problem := losses.reason(walk.text, origin.node, spans, (origin.old, value)):
                raise losses.WouldLose(problem, tuple(walk.path))
            return None
        return remarks.patched(walk.text[span[0] : span[1]], walk.patches, span[0])
    finally:
        walk.patches = outer


def _shifted(block: str, columns: int) -> str:
    """Return lines some columns further in, or out."""
    rows = block.split("\n")
    if columns >= 0:
        return "\n".join(" " * columns + row if row.strip() else row for row in rows)
    return "\n".join(row[min(-columns, len(row) - len(row.lstrip(" "))) :] for row in rows)
