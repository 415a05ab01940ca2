"""Lists of Kubernetes objects (List, PodList, ResourceList): their items as texts of their own."""

import json

from krmfn import itemtext
from krmfn.envelope import Envelope
from krmfn.errors import KrmfnError, NoData, TooLarge
from krmfn.item import Item
from krmfn.resource import Manifest, ref
from krmfn.yamltext import emit, split

from . import division

KINDS = ("List", "ResourceList")
"""The lists whose items always have a kind of their own."""


def cut_of(item: Item) -> split.Cut | None:
    """Return the cut of a list into its items; None for a resource.

    Lists are List and ResourceList, and what has a kind that ends in List, a list of `items`, and no name.
    """
    try:
        if item.kind not in KINDS and (not item.kind.endswith("List") or item.ref.name):
            return None
    except NoData as failure:
        if not isinstance(failure.__cause__, TooLarge):
            raise
        cut = _cut(item.text)  # too large as a text; its items may be small enough
        head = Envelope(b"", item.text, cut, ())
        itemtext.note_ref(item, ref({key: head.value(key) for key in ("apiVersion", "kind", "metadata")}))
        if not (item.kind and item.api_version):
            raise
        return cut if cut.items and item.kind.endswith("List") and not item.name else None
    cut = _cut(item.text)
    present = any(section.key == "items" for section in cut.sections)
    return cut if cut.items or (present and item.manifest["items"] in (None, [])) else None


def _cut(text: bytes) -> split.Cut:
    from krmfn.yamltext import split_exact

    return split.quick(text) or split_exact.exact(text)


def keys_of(text: bytes) -> set[str]:
    """Return the keys at the top of a document, also of one that is too large to be parsed as a whole."""
    return {section.key for section in _cut(text).sections}


def head_from(holder: Item, item: Item) -> dict[str, str]:
    """Return the apiVersion and kind that an item has from its list (RoleList); {} where it has its own, or none.

    A list of any kind gives them to an item that has neither; kustomize and Argo CD refuse such an item.
    Source: apimachinery's pkg/apis/meta/v1/unstructured, unstructured_list.go and helpers.go (decodeToList).
    """
    if holder.kind in KINDS or item.kind or item.api_version or not item.ref.name:
        return {}
    head = {"apiVersion": holder.api_version, "kind": holder.kind.removesuffix("List")}
    return {key: value for key, value in head.items() if value}


def document_of(item: Item, indent: int, head: dict[str, str]) -> bytes:
    """Return an item of a list, its dash at column `indent`, as a document, with the fields of `head` if it has any.

    These move no line, so that findings about the other fields keep theirs.
    """
    lines = item.text.replace(b"\r\n", b"\n")  # `undashed` removes the indent only after newlines
    if not division.is_plain(lines):
        return emit.dump({**item.manifest, **head}).encode()
    from krmfn.yamltext import edit  # here, for the start: few files are lists

    document = edit.undashed(lines, indent)
    if not head:
        return document
    if document.startswith(b"{"):
        text = json.dumps(head).encode().removesuffix(b"}") + b", " + document[1:]
    else:
        text = document.rstrip(b"\n") + b"\n" + emit.dump(head).encode()
    data = {**item.manifest, **head}
    return text if _is(text, data) else emit.dump(data).encode()


def _is(document: bytes, data: Manifest) -> bool:
    """Return True for a document with this data."""
    try:
        return Item(document, 0, len(document), -2).manifest == data
    except KrmfnError:
        return False
