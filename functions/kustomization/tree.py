"""The build tree: a private folder that holds exactly what a kustomization reads, as krmfn has read and judged it.

The tree holds each file at its own absolute path, below a temporary folder, so that every path that a kustomization
names leads to the same file (see `workspace`).
"""

from __future__ import annotations

import os

from krmfn.errors import KrmfnError
from krmfn.item import LOCAL
from krmfn.streams import max_bytes

from ..paths import files
from ..paths.disk import links_on
from ..paths.roots import within
from .graph import Graph, Kustomization
from .references import Reference
from .workspace import Tree
from .written import OPTIONS

NOTES = f"buildMetadata: [{', '.join(OPTIONS)}]\n".encode()
"""What asks kustomize for notes of origins; it counts in the outermost kustomization only."""


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
