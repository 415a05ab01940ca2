"""An item's text made anew from what was edited: its comments first, where they stand, then its data."""

from __future__ import annotations

from typing import Any

from .errors import KrmfnError, Refused
from .fieldpath import join
from .resource import check_plain, same
from .yamltext import edit, simple

__all__ = ["Comments", "text_of"]

Comments = dict[tuple[tuple[str, ...], bool], str]
"""Comments by the parts of their field's path, and whether the lines above it are meant."""
_Content = Any
"""An item's Content, which stands above."""


def text_of(content: _Content, comments: Comments, item: Any) -> bytes:
    """Return an item's text with comments and data written to it; it is read back.

    Raises Refused, with item and path, for a value that JSON does not have, and for a comment that has no place.
    """
    text, indent, manifest = content.text, content.indent, content.manifest
    try:
        check_plain(manifest)
    except KrmfnError as failure:
        raise Refused(str(failure), item, f"{item.ref}: ") from failure
    if comments:
        from .yamltext import remarks

        new = remarks.commented(text.decode(), lambda: content.node, content.spots, comments).encode()
        data = _data(new, indent)
        if same(data, manifest):
            return new
        if not same(data, _data(text, indent)):
            raise item.at(join(next(iter(comments))[0])).failure("has a comment that cannot be written")
        text = new
    return edit.updated(text, manifest, indent, content.lists)


def _data(text: bytes, indent: int) -> Any:
    data = simple.read(text.decode())
    if data is None:
        from .yamltext import load

        data = load.read(text)
    return data[0] if indent >= 0 else data
