"""Read files, directories and streams into resources, each with its file and line."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ..errors import KrmfnError
from ..item import Item
from ..resource import Place
from ..resourcelist import ResourceList
from ..results import warning
from ..runner import max_bytes
from ..yamltext import edit, load, split
from . import files, tree
from .tree import File

KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")
LISTS = ("List", "ResourceList")
SUFFIXES = (".yaml", ".yml", ".json")

_MARK = re.compile(rb"\n(?:---|\.\.\.)(?=[ \t\r\n]|\Z)")
_NOTHING = re.compile(rb"(?:\s|#[^\n]*|^%[^\n]*)*\Z", re.MULTILINE)


class Document(NamedTuple):
    """One document of a file: its text, and the line (from 1) where it begins."""

    text: bytes
    line: int


def read(path: str, stdin: bytes | None = None, root: str | None = None, in_full: bool = False) -> ResourceList:
    """Return the resources in a file, below a directory (.yaml, .yml and .json files) or, for `-`, in `stdin`.

    Lists (kind List, NodeList, ...) and ResourceLists count as what they hold. Every file's syntax is checked. Below a
    directory kustomizations are passed over. Which files may be read: see `files`; `root` is what --root names.
    `in_full`: the data of every document is read, too.
    Raises KrmfnError that names each file and line that cannot be read.
    """
    if path != "-" and Path(path).is_dir():
        readable, problems = tree.below(path, _is_read, root)
        resources, failures = read_files(readable, in_full)
        problems += [named(name, failure) for name, failure in failures.items()]
        if problems:
            raise KrmfnError(*problems)
        return resources
    resources = ResourceList()
    name = "stdin" if path == "-" else os.path.normpath(path)
    text = stdin or b"" if path == "-" else files.read_named(path, root)
    resources.files = int(path != "-")
    try:
        _add(resources, name, text, in_full)
    except KrmfnError as failure:
        raise KrmfnError(named(name, failure)) from failure
    return resources


def read_files(listed: Iterable[File], in_full: bool = False) -> tuple[ResourceList, dict[str, KrmfnError]]:
    """Return the resources in some files, and why nothing of others can be read, by their names; `in_full`: see `read`.

    Each file is regular and within what may be read (see `tree.below`); together they have no more than KRMFN_MAX_BYTES
    allows.
    """
    resources = ResourceList()
    failures: dict[str, KrmfnError] = {}
    left = max_bytes()
    for file in listed:
        name = os.path.normpath(file.name)
        before = len(resources.items)
        try:
            seen = file.text
            text = files.read_regular(file.real, name, left) if seen is None else files.within(seen, name, left)
            left -= len(text)
            _add(resources, name, text, in_full)
            resources.files += 1
        except KrmfnError as failure:
            failures[name] = failure
            del resources.items[before:]  # half of a file would be judged as if it were all
    return resources, failures


def named(name: str, failure: KrmfnError) -> str:
    """Return the message of an error with the name of its file before it."""
    message = str(failure)
    return message if message.startswith(f"{name}: ") else f"{name}: {message}"


def read_stream(text: bytes, name: str = "") -> ResourceList:
    """Return the resources in a text: of the file `name`, or the output of a tool, which has no places in a file."""
    resources = ResourceList()
    _add(resources, name, text)
    return resources


def kustomization_in(path: str) -> str | None:
    """Return the path of the kustomization in the directory `path`, file or not; None without one."""
    names = (os.path.join(path, name) for name in KUSTOMIZATIONS)  # noqa: PTH118
    return next((name for name in names if os.path.lexists(name)), None)


def documents(text: bytes) -> Iterator[Document]:
    """Yield the documents of a stream but for those of comments only. `---` at the start of a line always divides."""
    start, line = 0, 1
    marks = [mark.end() - 3 for mark in _MARK.finditer(text)]
    for end in ([0] if _MARK.match(b"\n" + text[:4]) else []) + marks + [len(text)]:
        part = text[start:end]
        if not _NOTHING.match(part):
            yield Document(part, line)
        line += text.count(b"\n", start, end)
        start = end + 3


def _is_read(name: str) -> bool:
    return name.endswith(SUFFIXES) and name not in KUSTOMIZATIONS


def _add(resources: ResourceList, name: str, text: bytes, in_full: bool = False) -> None:
    before = len(resources.items)
    text = text.removeprefix(b"\xef\xbb\xbf")
    split.check_encoding(text)
    for document in documents(text):
        place = Place(name, len(resources.items), document.line)
        sure = split.is_simple(document.text)
        item = Item(document.text, 0, len(document.text), -2, sure, place if name else None)
        load.check_syntax(document.text, document.line - 1)
        _sort(resources, item, document, place, "document")
    for item in resources.items[before:] if in_full else ():
        _ = item.manifest


def _sort(resources: ResourceList, item: Item, document: Document, place: Place, noun: str) -> None:
    """Put a document, or what it holds when it is a list, among the resources; report what is not a resource."""
    cut = _list_cut(item, document.text)
    if cut:
        _add_list(resources, document, place, cut)
    elif not item.kind or not item.ref.api_version:
        message = f"this {noun} has no apiVersion and kind, so it is no Kubernetes resource; it is left out"
        resources.report([warning(message, rule="KRM100", place=place)])
    elif item.kind in LISTS:
        raise KrmfnError(
            f"line {document.line}: this {item.kind} has no `items` that are a list; an empty one says `items: []`"
        )
    else:
        resources.items.append(item)


def _list_cut(item: Item, text: bytes) -> split.Cut | None:
    """Return how the items of a list divide; None for a resource.

    Lists are List and ResourceList, and what has a kind that ends in List, `items` that are one, and no name.
    """
    if item.kind not in LISTS and (not item.kind.endswith("List") or item.ref.name):
        return None
    from ..yamltext import split_exact

    cut = split.quick(text) or split_exact.exact(text)
    present = any(section.key == "items" for section in cut.sections)
    return cut if cut.items or (present and item.manifest["items"] in (None, [])) else None


def _add_list(resources: ResourceList, document: Document, place: Place, cut: split.Cut) -> None:
    """Add the items of a List or ResourceList, each with its own line, as if each were a document."""
    indent = -2 if cut.flow_items else cut.indent
    line, seen = document.line, 0
    for index, (start, end) in enumerate(cut.items):
        line += document.text.count(b"\n", seen, start)
        seen = start
        sure = not cut.flow_items and index not in cut.dubious
        spot = place._replace(position=len(resources.items), line=line)
        item = Item(document.text, start, end, indent, sure, spot if place.path else None)
        if b"&" in document.text:
            item.check_aliases()
        inner = document.text[start:end]
        if item.kind.endswith("List"):
            inner = edit.undashed(inner, indent)
            item = Item(inner, 0, len(inner), -2, False, spot if place.path else None)
        _sort(resources, item, Document(inner, line), spot, "item")
    if any(section.key == "functionConfig" for section in cut.sections):
        resources.function_config = ResourceList.parse(document.text).function_config
