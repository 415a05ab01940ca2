"""What is edited in an item, and its text made anew from that: its comments first, where they stand, then its data."""

from __future__ import annotations

from collections.abc import Iterator

from .errors import KrmfnError, Refused
from .fieldpath import join
from .resource import check_plain, same
from .typed import Any
from .yamltext import simple

__all__ = ["comments", "head", "remark", "settle", "touch"]

_Content = Any
"""An item's Content, which stands above."""
_Parts = tuple[str, ...]


def touch(content: _Content) -> None:
    """Note that a field is about to be written: an entry that is renamed stays the entry that it was."""
    if content.lists is None and not content.is_changed:
        content.lists = dict(_lists(content.manifest))
    content.is_edited = True


def _lists(value: Any) -> Iterator[tuple[int, tuple[list[Any], list[Any]]]]:
    """Yield the id of each list in a value, with the list, and a copy of it."""
    if isinstance(value, list):
        yield id(value), (value, [*value])
    for child in value.values() if isinstance(value, dict) else value:
        if isinstance(child, (dict, list)):
            yield from _lists(child)


def comments(content: _Content, item: Any) -> dict[_Parts, str]:
    """Return the comments on the lines of fields, by the parts of their paths; what was edited counts."""
    if content.is_changed:  # what was written to fields that moved since stands in the text then
        settle(content, item)
    if content.comments is None:
        from .yamltext import remarks

        content.comments = remarks.comments(content.text.decode(), _spots(content)) if b"#" in content.text else {}
    found: dict[_Parts, str] = content.comments
    return found


def head(content: _Content, item: Any, parts: _Parts) -> str:
    """Return the comment in the lines above a field; what was edited counts."""
    if content.is_changed:
        settle(content, item)
    if (parts, True) in content.remarks or parts not in _spots(content):
        return str(content.remarks.get((parts, True), ""))
    from .yamltext import remarks

    return remarks.head(content.text.decode(), content.node, content.spots[parts])


def remark(content: _Content, parts: _Parts, words: str, head: bool) -> bool:
    """Write the comment of a field, `head`: that above it; return False where it has no line of its own."""
    from .yamltext import remarks

    spot = _spots(content).get(parts)
    if spot is None or not (head or remarks.rest(content.text.decode(), spot.stop)):
        return False
    content.remarks[parts, head], content.is_edited = words, True
    if content.comments is not None and not head:
        content.comments[parts] = words
    return True


def _spots(content: _Content) -> Any:
    if content.spots is None:
        from .yamltext import remarks

        content.spots = remarks.spots(content.text.decode(), content.tree, content.indent >= 0)
    return content.spots


def settle(content: _Content, item: Any) -> None:
    """Write what was edited in an item to its text, which is read back.

    Raises Refused, with item and path, for a value that JSON does not have, and for a comment that has no place.
    """
    if not (content.remarks or content.is_changed):
        return
    text, manifest = content.text, content.manifest
    try:
        check_plain(manifest)
    except KrmfnError as failure:
        raise Refused(str(failure), item, f"{item.ref}: ") from failure
    if content.remarks:
        from .yamltext import remarks

        text = remarks.commented(text.decode(), lambda: content.node, _spots(content), content.remarks).encode()
        data = _data(text, content.indent)
        if same(data, manifest):
            content.write(text)
            return
        if not same(data, _data(content.text, content.indent)):
            raise item.at(join(next(iter(content.remarks))[0])).failure("has a comment that cannot be written")
    from .yamltext import edit

    content.write(edit.updated(text, manifest, content.indent, content.lists))


def _data(text: bytes, indent: int) -> Any:
    data = simple.read(text.decode())
    if data is None:
        from .yamltext import load

        data = load.read(text)
    return data[0] if indent >= 0 else data
