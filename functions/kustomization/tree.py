"""The build tree: a private folder that holds exactly what a kustomization reads, as krmfn has read and judged it.

kustomize builds there and never reads the repository. The tree holds each file at its own absolute path, below a
temporary folder, so that every path that a kustomization names leads to the same file. No file of it can be executed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from krmfn.errors import KrmfnError
from krmfn.streams import max_bytes
from krmfn.typed import NamedTuple

from ..paths import files
from ..paths.roots import within
from .graph import Graph, Kustomization
from .references import Reference


class Tree(NamedTuple):
    """What kustomize is given for one root: paths are absolute, and without links."""

    folder: str
    """The folder that is built."""
    files: Mapping[str, bytes]
    links: Mapping[str, str]
    """The place of each link, and where it leads."""
    folders: frozenset[str]
    """Folders that may be empty."""
    names: Mapping[str, str]
    """The functions of ours (a program, an image), and the names by which kustomize calls them in this tree."""


def tree(graph: Graph, folder: str, is_open: bool = False) -> Tree:
    """Return what kustomize is given for the kustomization in `folder`; with `is_open` it may fetch, and run helm.

    Raises KrmfnError for what cannot be read, for what is no part of the tree, and for a function that is not ours.
    """
    foreign = next((call for call in graph.calls(folder) if not call.program), None)
    if foreign:
        raise KrmfnError(f"{foreign.field}: {foreign.problem}")
    texts: dict[str, bytes] = {}
    links: dict[str, str] = {}
    folders: set[str] = set()
    for one in graph.below(folder):
        folders.add(one.folder)
        texts[one.path] = graph.texts.get(one.path, b"")
        links.update(_links(graph, os.path.join(one.folder, os.path.basename(one.name))))
        for reference in one.references:
            if reference.kind == "file":
                texts[reference.real] = _text(graph, one, reference)
            elif reference.kind == "chart" and is_open:
                texts |= _chart(reference)
            elif reference.kind not in ("folder", "inline") and not is_open:
                raise KrmfnError(f"{one.name}: {reference.field}: {reference.text} is not a file or folder here")
            if reference.kind in ("file", "folder"):
                links.update(_links(graph, os.path.normpath(os.path.join(one.folder, reference.text))))
    return Tree(folder, texts, links, frozenset(folders), graph.names)


def write(tree: Tree, top: str) -> str:
    """Write a tree below the folder `top`, and return the folder that is built there. Raises OSError."""
    made: set[str] = set()

    def place(path: str) -> str:
        folder = os.path.dirname(path)
        if folder not in made:
            os.makedirs(top + folder, exist_ok=True)
            made.add(folder)
        return top + path

    for folder in tree.folders:
        place(os.path.join(folder, "."))
    for path, text in tree.files.items():
        with open(os.open(place(path), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(text)
    for path, real in tree.links.items():
        os.symlink(os.path.relpath(real, os.path.dirname(path)), place(path))
    return top + tree.folder


def _text(graph: Graph, one: Kustomization, reference: Reference) -> bytes:
    """Return what kustomize is given of a file: of one that it reads as YAML what was judged, else its bytes."""
    text = graph.texts.get(reference.real)
    if text is not None and reference.is_yaml:
        return text
    data = files.read_regular(reference.real, reference.name, max_bytes())
    if text is not None and text != data:
        raise KrmfnError(
            f"{one.name}: {reference.field}: {reference.name} is also read as YAML here, and krmfn writes it again for "
            "that; list a copy of it in one of the two places"
        )
    return data


def _links(graph: Graph, path: str) -> Iterator[tuple[str, str]]:
    """Yield the links on the way along a path."""
    here = "/"
    for part in path.split("/")[1:]:
        place = os.path.join(here, part)
        here = graph.links.get(place, place)
        if here != place:
            yield place, here


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
