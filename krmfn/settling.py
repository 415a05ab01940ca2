"""An item's text made anew from what was edited: its comments first, where they stand, then its data."""

from __future__ import annotations

from typing import Any

from .errors import KrmfnError
from .fieldpath import join
from .item import Item
from .resource import check_plain, same
from .yamltext import edit, load, remarks


def settle(item: Item) -> None:
    """Write the comments and the data of an item to its text; the text is read back.

    Raises KrmfnError, with item and path, for a value that JSON does not have, and for a comment that has no place.
    """
    text = item.written
    try:
        check_plain(item.manifest)
    except KrmfnError as failure:
        raise KrmfnError(f"{item.ref}: {failure}") from failure
    if item.remarks:
        text = _commented(item, text)
        if same(_data(text, item.indent), item.manifest):
            item.settled(text)
            return
    item.settled(edit.updated(text, item.manifest, item.indent))


def _commented(item: Item, text: bytes) -> bytes:
    new, refused = remarks.commented(text.decode(), item.node, item.remarks)
    if refused or not same(_data(new.encode(), item.indent), _data(text, item.indent)):
        where = join(refused[0] if refused else next(iter(item.remarks))[0])
        item.remarks.clear()
        raise KrmfnError(f"{item.ref}: {where} can have no comment: it has no line of its own")
    return new.encode()


def _data(text: bytes, indent: int) -> Any:
    data = load.read(text)
    return data[0] if indent >= 0 else data
