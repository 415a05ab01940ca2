"""The build tree: a private folder that holds exactly what a kustomization reads, as krmfn has read and judged it.

The tree holds each file at its own absolute path, below a temporary folder, so that every path that a kustomization
names leads to the same file (see `workspace`).

Where nothing in a kustomization may see or set annotations, kustomize can be asked for origins at once: that adds
annotations to every resource, which a patch, a selector or a replacement could meet
(api/internal/target/kusttarget.go), and rewrites the others as strings. What is not known to leave annotations alone
counts as what does not; then kustomize runs once more when a finding asks.
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
from .references import Reference
from .texts import Texts
from .workspace import Tree
from .written import OPTIONS

NOTES = f"buildMetadata: [{', '.join(OPTIONS)}]\n".encode()
"""What asks kustomize for notes of origins; it counts in the outermost kustomization only."""
FIELDS = frozenset(
    (
        *("apiVersion", "kind", "metadata", "resources", "bases", "components", "namePrefix", "nameSuffix"),
        *("namespace", "commonLabels", "labels", "images", "replicas", "sortOptions"),
        *("patches", "patchesStrategicMerge", "patchesJson6902"),
        *("configMapGenerator", "secretGenerator", "generatorOptions"),
    )
)
"""The fields that a kustomization may have; annotations are in none of them, unless by their name."""
_WORD = re.compile(rb"annotation", re.IGNORECASE)
_HIDDEN = re.compile(rb"\\[xuU\r\n]|!!binary|!<")
"""An escape or a tag behind which a word may hide."""
_VALUE = rb"""[\w./-]+: *(?:"[^"\\\n]*"|'[^'\n]*')"""
_STRINGS = re.compile(
    rb"^( *)annotations:(?: *\n(?:\1 +%s\n)+)|(?<=[ {])annotations: *\{%s(?:, *%s)*\}(?=[\n,}])" % ((_VALUE,) * 3),
    re.MULTILINE,
)
"""Annotations that are strings for every reader."""
_POINTER = re.compile(r"/(?!metadata(?:/|$))[^/]+.*|/metadata/[^/]+.*", re.DOTALL)
"""The path of a JSON patch that leads neither to all of a resource nor to all of its metadata."""
_LARGE = 1 << 18
"""Bytes of resources from which the notes cost kustomize more than they may save."""


def tree(graph: Graph, folder: str, is_open: bool = False, aside: str = "") -> Tree:
    """Return what kustomize is given for the kustomization in `folder`; with `is_open` it may fetch, and run helm.

    `aside` is the name that takes the place of the annotation local-config, for what is untouched (see `Graph`): notes
    of origins are asked for, too, and it needs no wrapper.
    Raises KrmfnError for what cannot be read, for what is no part of the tree, and for a function that is not ours.
    """
    foreign = next((call for call in graph.calls(folder) if not call.program), None)
    if foreign:
        raise KrmfnError(f"{foreign.field}: {foreign.problem}")
    texts: dict[str, bytes] = {}
    named: list[str] = []
    for one in graph.below(folder):
        named.append(os.path.join(one.folder, os.path.basename(one.name)))
        texts[one.path] = graph.texts.get(one.path, b"") + (NOTES if aside and not one.is_component else b"")
        for reference in one.references:
            if reference.kind == "file":
                text = _text(graph, one, reference)
                is_renamed = aside and reference.role == "resource"
                texts[reference.real] = text.replace(LOCAL.encode(), aside.encode()) if is_renamed else text
            elif reference.kind == "chart" and is_open:
                texts |= _chart(reference)
            elif reference.kind not in ("folder", "inline") and not is_open:
                raise KrmfnError(f"{one.name}: {reference.field}: {reference.text} is not a file or folder here")
            if reference.kind in ("file", "folder"):
                named.append(os.path.normpath(os.path.join(one.folder, reference.text)))
    links: dict[str, str] = {}
    for path in named if graph.links else ():
        links.update(links_on(path, lambda place: graph.links.get(place, place)))
    folders = frozenset(one.folder for one in graph.below(folder))
    return Tree(folder, texts, links, folders, graph.names)


def _text(graph: Graph, one: Kustomization, reference: Reference) -> bytes:
    """Return what kustomize is given of a file: of one that it reads as YAML what was judged, else its bytes."""
    text = graph.texts.get(reference.real)
    if text is not None and reference.is_yaml:
        return text
    data = files.read_regular(reference.real, reference.name)
    if text is not None and text != data:
        raise KrmfnError(
            f"{one.name}: {reference.field}: {reference.name} is also read as YAML here, and krmfn writes it again for "
            "that; list a copy of it in one of the two places"
        )
    return data


def _chart(reference: Reference) -> dict[str, bytes]:
    """Return the files of a chart."""
    texts: dict[str, bytes] = {}
    left = max_bytes()
    for folder, _, names in os.walk(reference.real):
        for name in names:
            path = os.path.join(folder, name)
            if not within(os.path.realpath(path), reference.real):
                raise KrmfnError(f"{path}: is a link that leads out of its chart; replace it with a file")
            texts[path] = files.read_regular(path, path, left)
            left -= len(texts[path])
    return texts


def is_untouched(one: Kustomization, texts: Texts, given: Mapping[str, bytes], copied: Collection[str]) -> bool:
    """Return True for a kustomization that leaves annotations alone, and whose texts can be changed for a build.

    `given` is what kustomize is given of each file, `copied` are the files that it does not read as YAML.
    """
    own = texts.read.get(one.path, b"")
    if one.item is None or given.get(one.path) != own or not _can_grow(one.item, own):
        return False
    if not one.manifest.keys() <= FIELDS or _WORD.search(one.item.text) or _HIDDEN.search(one.item.text):
        return False
    size = 0
    for reference in one.references:
        text = reference.data if reference.kind == "inline" else given.get(reference.real, b"")
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
    """Return True for a kustomization to which a line can be added: a block mapping that ends with its file, `text`.

    It holds something, or kustomize would refuse it without that line.
    """
    node = item.content.composed
    is_block = isinstance(node, MappingNode) and not node.flow_style and node.start_mark.column == 0
    is_last = text.endswith(b"\n") and text.find(item.text) + len(item.text) == len(text)
    holds = any(value for key, value in item.manifest.items() if key not in ("apiVersion", "kind"))
    return is_block and is_last and holds


def _has_strings(text: bytes) -> bool:
    """Return True when all annotations in a file are plainly strings, and none is one of kustomize's notes."""
    if _HIDDEN.search(text) or any(key.encode() in text for key in OPTIONS.values()):
        return False
    return len(_WORD.findall(text)) == len(_WORD.findall(b"".join(one[0] for one in _STRINGS.finditer(text))))


def _is_harmless(name: str, text: bytes) -> bool:
    """Return True for a patch that neither names annotations nor replaces what holds them."""
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
    if not isinstance(node, SequenceNode) or not all(isinstance(one, MappingNode) for one in node.value):
        return False
    fields = [(key.value, value.value) for operation in node.value for key, value in operation.value]
    pointers = [value for key, value in fields if key in ("path", "from")]
    is_known = all(key in ("op", "path", "from", "value") for key, _ in fields)
    return is_known and all(isinstance(one, str) and _POINTER.fullmatch(one) for one in pointers)
