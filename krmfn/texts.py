"""Resources as text: documents in, with their comments, and manifests that stand for them."""

from collections import OrderedDict
from collections.abc import Iterator
from functools import partial

from .errors import KrmfnError
from .item import Item
from .resource import Manifest, checked

__all__ = ["items_from", "items_of", "parse_all"]

_UNREAD = "the text cannot be read: "
_MOST = 1_000
"""How many manifests of `parse_all` keep the link to their text: the last ones."""
_texts: "OrderedDict[int, tuple[Manifest, bytes]]" = OrderedDict()
"""The manifests that `parse_all` gave, with their texts, by the ids of the manifests, which are held here."""


def parse_all(text: str | bytes) -> list[Manifest]:
    """Return the resources in a YAML text, a manifest for each document with anything in it.

    They are plain data; appended to a list they keep the comments of the text, whatever was changed in them. Raises
    KrmfnError, with the line, for no YAML, and for a document without apiVersion or kind.
    """
    manifests = []
    for item in items_of(text):
        manifest = item.content.manifest
        manifests.append(manifest)
        _texts[id(manifest)] = manifest, item.text
        while len(_texts) > _MOST:
            _texts.popitem(last=False)
    return manifests


def items_from(manifest: Manifest) -> list[Item]:
    """Return the item of a manifest of `parse_all`, its text changed to the data; [] of any other manifest."""
    known, text = _texts.get(id(manifest), ({}, b""))
    if known is not manifest or not text:
        return []
    checked(manifest, is_named=False)
    item = Item(text, 0, len(text), -2)
    item.content.take(manifest)
    item.content.settle(item)
    return [item]


def items_of(text: str | bytes) -> Iterator[Item]:
    """Yield an item for each document of a text. Raises KrmfnError as `parse_all` does."""
    from .yamltext import documents, load, split

    data = text.encode() if isinstance(text, str) else text
    split.check_encoding(data)
    if problem := documents.misread(data):
        raise KrmfnError(_UNREAD + problem)
    for document in documents.documents(data.removeprefix(b"\xef\xbb\xbf")):
        item = Item(document.text, 0, len(document.text), -2)

        load.placed(partial(_check, item), lambda line=document.line: line - 1, _UNREAD)  # type: ignore[misc]
        yield item


def _check(item: Item) -> None:
    """Raise KrmfnError, with its line in the document, unless an item is a resource."""
    from .yamltext import load

    if not isinstance(load.read(item.text), dict):
        raise KrmfnError("line 1: this document is no mapping")
    try:
        checked(item.content.manifest, is_named=False)
    except KrmfnError as failure:
        raise KrmfnError(f"line 1: {failure}") from failure
