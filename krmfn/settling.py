"""An item's text made anew from what was edited: its comments first, where they stand, then its data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .errors import KrmfnError, Refused
from .fieldpath import join
from .resource import Manifest, check_plain, same
from .yamltext import edit, load, remarks

__all__ = ["Comments", "text_of"]

Comments = Mapping[tuple[tuple[str, ...], bool], str]
"""Comments by the parts of their field's path, and whether the lines above it are meant."""


def text_of(
    text: bytes, indent: int, manifest: Manifest, comments: Comments, node: Callable[[], Any], item: Any
) -> bytes:
    """Return an item's text with comments and data written to it; it is read back. `node` returns its node tree.

    Raises Refused, with item and path, for a value that JSON does not have, and for a comment that has no place.
    """
    try:
        check_plain(manifest)
    except KrmfnError as failure:
        raise Refused(str(failure), item, f"{item.ref}: ") from failure
    if comments:
        new = remarks.commented(text.decode(), node(), comments).encode()
        if not same(_data(new, indent), _data(text, indent)):
            raise item.at(join(next(iter(comments))[0])).failure("has a comment that cannot be written")
        text = new
        if same(_data(text, indent), manifest):
            return text
    return edit.updated(text, manifest, indent)


def _data(text: bytes, indent: int) -> Any:
    data = load.read(text)
    return data[0] if indent >= 0 else data
