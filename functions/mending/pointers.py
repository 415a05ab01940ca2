"""Rename a field that an operation of a JSON patch adds: its name is the last word of the operation's path."""

from __future__ import annotations

from krmfn.errors import KrmfnError
from krmfn.resource import Place
from krmfn.typed import Any
from krmfn.yamltext import positions

from .sources import Part, path_at, sources


def renamed(text: str, place: Place, written: str, name: str) -> Part | None:
    """Return the edit of the path of the operation whose value stands at a place; None where that is another field."""
    try:
        for source in sources(text, place.line):
            root = source.item.content.composed
            path = path_at(root, place.line - source.line, place.column - 1 - source.column)
            pointer = _pointer(root, path) if path[1:] == ("value",) else None
            if pointer is not None and pointer.value.endswith(f"/{written}"):
                end = source.offset(pointer.end_mark) - (1 if pointer.style in ("'", '"') else 0)
                start = end - len(written)
                return (start, end, name) if text[start:end] == written else None
    except (KrmfnError, ValueError):
        return None  # another reader has more to say about it
    return None


def _pointer(root: Any, path: tuple[str, ...]) -> Any:
    """Return the node of the path of an operation, given the path of its value."""
    operation = positions.children(root)[path[0]][1]
    return positions.children(operation).get("path", (None, None))[1]
