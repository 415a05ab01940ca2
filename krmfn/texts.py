"""Resources as text: documents in, with their comments, and manifests that stand for them."""

from collections import deque
from collections.abc import Iterator
from functools import partial

from .errors import KrmfnError
from .item import Item
from .resource import Manifest, checked

__all__ = ["item_from", "items_of", "parse_all"]

_UNREAD = "the text cannot be read: "
_MOST = 1_000
"""How many manifests of `parse_all` keep the link to their text: the last ones."""
_items: "deque[Item]" = deque(maxlen=_MOST)
"""The items of those: what is lent of a text is known as long as its item is there."""


def parse_all(text: str | bytes) -> list[Manifest]:
    """Return the resources in a YAML text, a manifest for each document with anything in it.

    They are plain data; appended to a list they keep the comments of the text, whatever was changed in them. Raises
    KrmfnError, with the line, for no YAML, and for a document without apiVersion or kind.
    """
    items = [*items_of(text.encode() if isinstance(text, str) else text)]
    _items.extend(items)
    return [item.manifest for item in items]


def item_from(manifest: Manifest, line_end: bytes) -> Item | None:
    """Return a new item for a manifest that was read from a text, or its copy: the text changed to the data.

    `line_end`: how its lines have to end, b"" for "as they do". None for any other manifest.
    """
    from .yamltext import lent

    source = lent.source_of(manifest)
    if source is None or source.lists[id(manifest)].origin is not source.root:
        return None
    from .yamltext import edit, lineends

    checked(manifest, is_named=False)
    text = source.text[: edit.trailer(source.text, source.indent)] if source.indent >= 0 else source.text
    text = lineends.ended(edit.with_line_end(edit.undashed(text, source.indent), -2), line_end)
    item = Item(text, 0, len(text), -2)
    item.content.take(manifest, source)
    item.content.settle(item)
    return item


def items_of(text: bytes) -> Iterator[Item]:
    """Yield an item for each document of a text. Raises KrmfnError as `parse_all` does."""
    from .yamltext import documents, load, split

    split.check_encoding(text)
    if problem := documents.misread(text):
        raise problem.located(subject=_UNREAD)
    for document in documents.documents(text.removeprefix(b"\xef\xbb\xbf")):
        item = Item(document.text, 0, len(document.text), -2)

        load.placed(partial(_check, item), lambda line=document.line: line - 1, subject=_UNREAD)  # type: ignore[misc]
        yield item


def _check(item: Item) -> None:
    """Raise KrmfnError, with its line in the document, unless an item is a resource."""
    from .yamltext import load

    if not isinstance(load.read(item.text), dict):
        raise KrmfnError("this document is no mapping", line=1)
    try:
        checked(item.content.manifest, is_named=False)
    except KrmfnError as failure:
        raise KrmfnError(failure, line=1) from failure
