"""The build tree: a private folder that holds exactly what a kustomization reads, as krmfn has read and judged it.

The tree holds each file at its own absolute path, below a temporary folder, so that every path in a kustomization leads
to the same file (see `workspace`).

A kustomization is untouched if nothing in it reads or sets annotations: it is built with origins at once. Origins add
annotations to every resource, which a patch, a selector or a replacement might see (api/internal/target/kusttarget.go),
and make the others strings. Any kustomization that is not surely untouched is built without origins, and again with
them when a finding needs its place.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping

from yaml.nodes import MappingNode, Node, SequenceNode

from krmfn.errors import KrmfnError
from krmfn.item import LOCAL, Item
from krmfn.streams import max_bytes

from ..paths import files
from ..paths.disk import links_on
from ..paths.roots import within
from .documents import documents
from .graph import Graph, Kustomization
from .provenance import OPTIONS
from .references import Reference
from .texts import Texts
from .workspace import Tree

NOTES = f"buildMetadata: [{', '.join(OPTIONS)}]\n".encode()
"""The line that asks kustomize for notes of origins; it counts in the outermost kustomization only."""
FIELDS = frozenset(
    (
        *("apiVersion", "kind", "metadata", "resources", "bases", "components", "namePrefix", "nameSuffix"),
        *("namespace", "commonLabels", "labels", "images", "replicas", "sortOptions"),
        *("patches", "patchesStrategicMerge", "patchesJson6902"),
        *("configMapGenerator", "secretGenerator", "generatorOptions"),
    )
)
"""The fields that an untouched kustomization may have: none sets annotations without the word in it."""
_WORD = re.compile(rb"annotation", re.IGNORECASE)
_HIDDEN = re.compile(rb"\\[xuU\r\n]|!!binary|!<")
"""An escape or a tag that may hide a word."""
_VALUE = rb"""[\w./-]+: *(?:"[^"\\\n]*"|'[^'\n]*')"""
_STRINGS = re.compile(
    rb"^( *)annotations:(?: *\n(?:\1 +%s\n)+)|(?<=[ {])annotations: *\{%s(?:, *%s)*\}(?=[\n,}])" % ((_VALUE,) * 3),
    re.MULTILINE,
)
"""Annotations that are strings for every reader."""
_POINTER = re.compile(r"/(?!metadata(?:/|$))[^/]+.*|/metadata/[^/]+.*", re.DOTALL)
"""The path of a JSON patch that replaces neither the whole resource nor all of its metadata."""
_LARGE = 1 << 18
"""The size of resources, in bytes, from which notes cost kustomize more time than they may save."""


def tree(graph: Graph, folder: str, is_open: bool = False, build_name: str = "") -> Tree:
    """Return the tree for the kustomization in `folder`; with `is_open` kustomize may fetch, and run helm.

    With `build_name`, for an untouched kustomization that is built without a wrapper, the annotation local-config has
    that name, and notes of origins are requested.
    Raises KrmfnError for a file that cannot be read, a reference that leads out of the tree, and a foreign function.
    """
    for call in graph.calls(folder):
        if call.mistake:
            raise KrmfnError(call.mistake.after(f"{call.field}: ").text)
    texts: dict[str, bytes] = {}
    paths: list[str] = []
    for kustomization in graph.below(folder):
        paths.append(os.path.join(kustomization.folder, os.path.basename(kustomization.name)))
        notes = NOTES if build_name and not kustomization.is_component else b""
        texts[kustomization.path] = graph.texts.get(kustomization.path, b"") + notes
        for reference in kustomization.references:
            if reference.kind == "file":
                text = _text(graph, kustomization, reference)
                is_renamed = build_name and reference.role == "resource"
                texts[reference.real] = text.replace(LOCAL.encode(), build_name.encode()) if is_renamed else text
            elif reference.kind == "chart" and is_open:
                texts |= _chart(reference)
            elif reference.kind not in ("folder", "inline") and not is_open:
                field = f"{kustomization.name}: {reference.field}"
                raise KrmfnError(f"{field}: {reference.text} is not a file or folder here")
            if reference.kind in ("file", "folder"):
                paths.append(os.path.normpath(os.path.join(kustomization.folder, reference.text)))
    links: dict[str, str] = {}
    for path in paths if graph.links else ():
        links.update(links_on(path, lambda place: graph.links.get(place, place)))
    folders = frozenset(kustomization.folder for kustomization in graph.below(folder))
    return Tree(folder, texts, links, folders, graph.names)


def _text(graph: Graph, kustomization: Kustomization, reference: Reference) -> bytes:
    """Return the text of a file in the tree: its build text if kustomize reads it as YAML, else its own."""
    text = graph.texts.get(reference.real)
    if text is not None and reference.is_yaml:
        return text
    data = files.read_regular(reference.real, reference.name)
    if text is not None and text != data:
        raise KrmfnError(
            f"{kustomization.name}: {reference.field}: {reference.name} is also read as YAML here, and krmfn writes it "
            "again for that; list a copy of it in one of the two places"
        )
    return data


def _chart(reference: Reference) -> dict[str, bytes]:
    """Return the files of a chart."""
    texts: dict[str, bytes] = {}
    rest = max_bytes()
    for folder, _, names in os.walk(reference.real):
        for name in names:
            path = os.path.join(folder, name)
            if not within(os.path.realpath(path), reference.real):
                raise KrmfnError("is a link that leads out of its chart; replace it with a file", file=path)
            texts[path] = files.read_regular(path, path, rest)
            rest -= len(texts[path])
    return texts


def is_untouched(
    kustomization: Kustomization, texts: Texts, build_texts: Mapping[str, bytes], copied: Collection[str]
) -> bool:
    """Return True for a kustomization that does not touch annotations, and whose texts can be changed for a build.

    `build_texts` are the texts that kustomize gets, by path; `copied` are the files that it does not read as YAML.
    """
    item, source = kustomization.item, texts.sources.get(kustomization.path, b"")
    if item is None or build_texts.get(kustomization.path) != source or not _can_grow(item, source):
        return False
    if not item.content.manifest.keys() <= FIELDS or _WORD.search(item.text) or _HIDDEN.search(item.text):
        return False
    size = 0
    for reference in kustomization.references:
        text = reference.data if reference.kind == "inline" else build_texts.get(reference.real, b"")
        if reference.kind not in ("file", "folder", "inline"):
            return False
        if reference.is_patch and not _is_harmless(reference.name, text):
            return False
        if reference.kind == "file" and reference.role == "resource":
            size += len(text)
            local = text.count(LOCAL.encode())
            if local != texts.local.get(reference.real) or (local and reference.real in copied):
                return False
            if size > _LARGE or not _has_strings(text):
                return False
    return True


def _can_grow(item: Item, text: bytes) -> bool:
    """Return True for a kustomization to which a line can be added: a block mapping up to the end of its file, `text`.

    It must not be empty: kustomize would refuse it without that line.
    """
    node = item.content.composed
    is_block = isinstance(node, MappingNode) and not node.flow_style and node.start_mark.column == 0
    is_last = text.endswith(b"\n") and text.find(item.text) + len(item.text) == len(text)
    has_content = any(value for key, value in item.content.manifest.items() if key not in ("apiVersion", "kind"))
    return is_block and is_last and has_content


def _has_strings(text: bytes) -> bool:
    """Return True when all annotations in a file are plainly strings, and none is one of kustomize's notes."""
    if _HIDDEN.search(text) or any(key.encode() in text for key in OPTIONS.values()):
        return False
    strings = b"".join(match[0] for match in _STRINGS.finditer(text))
    return len(_WORD.findall(text)) == len(_WORD.findall(strings))


def _is_harmless(name: str, text: bytes) -> bool:
    """Return True for a patch that neither names annotations nor replaces a field that may have them."""
    if _WORD.search(text) or _HIDDEN.search(text) or b"$" in text:
        return False
    try:
        return all(_is_narrow(item.content.composed) for item in documents(name, text))
    except KrmfnError:
        return False


def _is_narrow(node: Node | None) -> bool:
    if isinstance(node, MappingNode):
        keys = {key.value: value for key, value in node.value if isinstance(key.value, str)}
        return "<<" not in keys and isinstance(keys.get("metadata"), MappingNode)
    if not isinstance(node, SequenceNode) or not all(isinstance(entry, MappingNode) for entry in node.value):
        return False
    fields = [(key.value, value.value) for operation in node.value for key, value in operation.value]
    pointers = [value for key, value in fields if key in ("path", "from")]
    is_known = all(key in ("op", "path", "from", "value") for key, _ in fields)
    return is_known and all(isinstance(pointer, str) and _POINTER.fullmatch(pointer) for pointer in pointers)
