"""Reading of files, directories and streams, each resource with its file and line; writing of manifests."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ..errors import KrmfnError
from ..item import Item
from ..resource import Manifest, Place
from ..resourcelist import ResourceList
from ..results import Result, warning
from ..runner import max_bytes
from ..yamltext import edit, emit, load, split
from ..yamltext.comments import KEEPS
from ..yamltext.encoding import check_encoding
from ..yamltext.plain import copied
from . import files

KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")
LISTS = ("List", "ResourceList")
SUFFIXES = (".yaml", ".yml", ".json")

_UNFIT = re.compile(r"[^A-Za-z0-9._-]|^\.+")
_MARK = re.compile(rb"^(?:---|\.\.\.)(?=[ \t\r\n]|$)", re.MULTILINE)
_NOTHING = re.compile(rb"(?:\s|#[^\n]*|^%[^\n]*)*\Z", re.MULTILINE)


class Document(NamedTuple):
    """One document of a file: its text, and the line (from 1) where it begins."""

    text: bytes
    line: int


def read(path: str, stdin: bytes | None = None, root: str | None = None) -> ResourceList:
    """Return the resources in a file, below a directory (.yaml, .yml and .json files) or, for `-`, in `stdin`.

    Lists (kind List, NodeList, ...) and ResourceLists count as what they hold. Every file's syntax is checked.
    Which files may be read: see `files`; `root` is what --root names.
    Raises KrmfnError that names each file and line that cannot be read.
    """
    resources = ResourceList()
    problems: list[str] = []
    for name, text in _texts(path, stdin, root, resources, problems):
        try:
            _add(resources, name, text)
        except KrmfnError as failure:
            message = str(failure)
            problems.append(message if message.startswith(f"{name}: ") else f"{name}: {message}")
    if problems:
        raise KrmfnError(*problems)
    return resources


def read_stream(text: bytes) -> ResourceList:
    """Return the resources in the output of a tool; they have no place in a file."""
    resources = ResourceList()
    _add(resources, "", text)
    return resources


def kustomization_in(path: str) -> str | None:
    """Return the path of the kustomization in the directory `path`, file or not; None without one."""
    names = (os.path.join(path, name) for name in KUSTOMIZATIONS)  # noqa: PTH118
    return next((name for name in names if os.path.lexists(name)), None)


def documents(text: bytes) -> Iterator[Document]:
    """Yield the documents of a stream but for those of comments only. `---` at the start of a line always divides."""
    start, line = 0, 1
    for mark in [*_MARK.finditer(text), None]:
        end = mark.start() if mark else len(text)
        part = text[start:end]
        if not _NOTHING.match(part):
            yield Document(part, line)
        line += text.count(b"\n", start, mark.end() if mark else end)
        start = mark.end() if mark else end


def dump(items: Iterable[Item | Manifest]) -> bytes:
    """Return a stream of documents: items as the bytes they were read from, new manifests in kyaml's layout."""
    texts = (_document(item) if isinstance(item, Item) else emit.dump(item).encode() for item in items)
    return b"---\n".join(texts)


def dump_json(items: Iterable[Item]) -> bytes:
    """Return the items as one JSON List, a line each. Raises KrmfnError for a value that JSON does not have."""
    lines: list[str] = []
    for item in items:
        try:
            lines.append(emit.dump_json(copied(item.manifest)))
        except KrmfnError as failure:
            raise KrmfnError(f"{item.ref} cannot be written as JSON: {failure}") from failure
    return ('{"apiVersion": "v1", "kind": "List", "items": [\n' + ",\n".join(lines) + "\n]}\n").encode()


def read_text(path: str, root: str | None = None) -> str:
    """Return the text of a file. Raises KrmfnError when it cannot be read."""
    try:
        return files.read_named(path, root).decode()
    except ValueError as failure:
        raise KrmfnError(f"{path}: not UTF-8") from failure


def write_text(path: str, text: str, root: str | None = None) -> None:
    """Write a text file anew. Raises KrmfnError when that fails; the old one stays then."""
    files.write(path, text.encode(), root)


def write_folder(folder: str, items: Sequence[Item], root: str | None = None) -> None:
    """Write a file per object and a kustomization.yaml that lists them, into a folder that is new or empty.

    Raises KrmfnError when it is neither, or cannot be written; nothing of ours stays in it then.
    """
    target = Path(folder)
    names = _file_names(items)
    files.check_named(folder, root)
    try:
        target.mkdir(parents=True, exist_ok=True)
        if any(target.iterdir()):
            raise KrmfnError(f"{folder} is not empty; render into a new folder, so that no stale object stays in it")
    except OSError as failure:
        raise KrmfnError(f"{folder}: {failure.strerror}") from failure
    listed = "".join(f"- {name}\n" for name in names)
    head = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:"
    texts = {name: dump([item]) for name, item in zip(names, items, strict=True)}
    texts["kustomization.yaml"] = (f"{head}\n{listed}" if listed else f"{head} []\n").encode()
    try:
        for name, text in texts.items():
            files.write(str(target / name), text)
    except BaseException:
        for name in texts:
            (target / name).unlink(missing_ok=True)
        raise


def _file_names(items: Sequence[Item]) -> list[str]:
    """Return a file name per item: with the first word of its API group, or with all of it where two would be equal.

    Raises KrmfnError for an object that stands twice. No name leads out of the folder, whatever an object is called.
    """
    short = Counter(_file_name(item, item.ref.group.partition(".")[0]) for item in items)
    names: dict[str, Item] = {}
    for item in items:
        name = _file_name(item, item.ref.group.partition(".")[0])
        name = _file_name(item, item.ref.group) if short[name] > 1 else name
        if name in names:
            raise KrmfnError(f"{item.ref} and {names[name].ref} would both be the file {name}; rename or remove one")
        names[name] = item
    return list(names)


def _file_name(item: Item, group: str) -> str:
    ref = item.ref
    parts = [ref.namespace, group, ref.kind.lower(), ref.name.replace(":", ".")]
    return _UNFIT.sub("-", "_".join(part for part in parts if part)) + ".yaml"


def _document(item: Item) -> bytes:
    """Return an item as a document that ends with its line; empty lines at its end go unless they are text."""
    if item.indent != -2 or item.text.lstrip()[:1] in (b"{", b"["):
        return emit.dump(item.manifest).encode()
    text = item.text.lstrip(b"\r\n")
    plain = text.replace(b"\r\n", b"\n")
    if b"\r" not in plain:  # a CR of its own is a line break, too, and would become part of one
        text = plain
    if not text.endswith(b"\n"):
        return edit.closed(text, -2)
    return text if KEEPS.search(text) or b"\r" in text else text.rstrip(b"\n") + b"\n"


def _texts(
    path: str, stdin: bytes | None, root: str | None, resources: ResourceList, problems: list[str]
) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the text of every file; what cannot be read is added to `problems`."""
    if path == "-":
        yield "stdin", stdin or b""
        return
    if not Path(path).is_dir():
        resources.files = 1
        yield os.path.normpath(path), files.read_named(path, root)
        return
    readable, refused = files.below(path, _is_read, root)
    problems += refused
    left = max_bytes()
    for name, real in readable:
        if Path(name).name in KUSTOMIZATIONS:
            resources.report([_unbuilt(name)])
            continue
        try:
            text = files.read_regular(real, name, left)
        except KrmfnError as failure:
            problems.append(str(failure))
            continue
        left -= len(text)
        resources.files += 1
        yield os.path.normpath(name), text


def _is_read(name: str) -> bool:
    return name in KUSTOMIZATIONS or name.endswith(SUFFIXES)


def _unbuilt(name: str) -> Result:
    """Return a warning for a kustomization in a folder below: its patches would count as resources."""
    message = "is not built, its folder is read file by file; give the folder itself as PATH to build it"
    return warning(message, rule="KRM105", place=Place(os.path.normpath(name)))


def _add(resources: ResourceList, name: str, text: bytes) -> None:
    text = text.removeprefix(b"\xef\xbb\xbf")
    check_encoding(text)
    for document in documents(text):
        place = Place(name, len(resources.items), document.line)
        sure = split.is_simple(document.text)
        item = Item(document.text, 0, len(document.text), -2, sure, place if name else None)
        load.check_syntax(document.text, document.line - 1)
        _sort(resources, item, document, place, "document")


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
