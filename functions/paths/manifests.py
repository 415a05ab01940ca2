"""Read files, directories and streams into resources, each with its file and line."""

from __future__ import annotations

import codecs
import os
from collections.abc import Sequence

from krmfn import itemtext
from krmfn.envelope import Envelope
from krmfn.errors import KrmfnError, NoData, TooLarge
from krmfn.item import Item
from krmfn.resource import Place, ref
from krmfn.resourcelist import ResourceList
from krmfn.results import Result, error, warning
from krmfn.streams import max_bytes
from krmfn.yamltext import documents, edit, emit, split

from ..run import note
from . import contents, disk, divided, files, roots

KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")
LISTS = ("List", "ResourceList")
SUFFIXES = (".yaml", ".yml", ".json")

_TOGETHER = 1 << 22
"""How many bytes of files are divided together."""


def read(path: str, stdin: bytes | None = None, root: str | None = None, in_full: bool = False) -> ResourceList:
    """Return the resources in a file, below a directory (.yaml, .yml and .json files) or, for `-`, in `stdin`.

    Lists (kind List, NodeList, ...) and ResourceLists count as what they hold. Every file's syntax is checked. Below a
    directory kustomizations are passed over. Which files may be read: see `files`; `root` is what --root names.
    `in_full`: the data of every document is read, too.
    Raises KrmfnError that names each file and line that cannot be read.
    """
    if path != "-" and os.path.isdir(path):
        folder = disk.File(path, os.path.realpath(path))
        readable, problems = disk.below(folder, _is_read, roots.root_of(folder.real, root))
        resources, unread = read_files(readable, in_full)
        sentences = [*dict(problems).values(), *(named(name, failure) for name, failure in unread.items())]
        if sentences:
            raise KrmfnError(*sentences)
        return resources
    name = "stdin" if path == "-" else os.path.normpath(path)
    text = stdin or b"" if path == "-" else files.read_named(path, root)
    try:
        resources = read_stream(text, name, in_full)
    except KrmfnError as failure:
        raise KrmfnError(named(name, failure)) from failure
    note(resources, files=int(path != "-"))
    return resources


def read_files(listed: Sequence[disk.File], in_full: bool = False) -> tuple[ResourceList, dict[str, KrmfnError]]:
    """Return the resources in some files, and why nothing of others can be read, by their names; `in_full`: see `read`.

    Each file is regular and within what may be read (see `disk.below`); together they have no more than KRMFN_MAX_BYTES
    allows.
    """
    resources, failures = ResourceList(), dict[str, KrmfnError]()
    those, size, left = list[tuple[str, bytes]](), 0, max_bytes()
    for file in listed:
        name = os.path.normpath(file.name)
        try:
            seen = file.text
            text = files.read_regular(file.real, name, left) if seen is None else files.bounded(seen, name, left)
        except KrmfnError as failure:
            failures[name] = failure
            continue
        left -= len(text)
        size += len(text)
        those.append((name, text))
        if size >= _TOGETHER:
            _add_files(resources, failures, those, in_full)
            those, size = [], 0
    _add_files(resources, failures, those, in_full)
    note(resources, files=len(listed) - len(failures))
    return resources, failures


def named(name: str, failure: KrmfnError) -> str:
    """Return the message of an error with the name of its file before it."""
    message = str(failure)
    return message if message.startswith(f"{name}: ") else f"{name}: {message}"


def read_stream(text: bytes, name: str = "", in_full: bool = False) -> ResourceList:
    """Return the resources in a text: of the file `name`, or the output of a tool, which has no places in a file.

    `in_full`: see `read`. Raises KrmfnError when it cannot be read.
    """
    resources, failures = ResourceList(), dict[str, KrmfnError]()
    _add_files(resources, failures, [(name, text)], in_full)
    for failure in failures.values():
        raise failure
    return resources


def kustomization_in(path: str) -> str | None:
    """Return the path of the kustomization in the directory `path`, file or not; None without one."""
    names = (os.path.join(path, name) for name in KUSTOMIZATIONS)
    return next((name for name in names if os.path.lexists(name)), None)


def _is_read(name: str) -> bool:
    return name.endswith(SUFFIXES) and name not in KUSTOMIZATIONS


def _add_files(
    resources: ResourceList, failures: dict[str, KrmfnError], those: list[tuple[str, bytes]], in_full: bool
) -> None:
    """Add what some files hold; nothing of a file that cannot be read, half would be judged as if it were all."""
    those = [(name, text.removeprefix(codecs.BOM_UTF8)) for name, text in those]
    usual = [one for one in those if not (in_full or one[1].startswith(files.POINTER)) and divided.is_usual(one[1])]
    sheet = contents.read(usual) if usual else None
    for name, text in those:
        before = len(resources.items)
        try:
            if sheet and name in sheet.files:
                for item, place, has_head in sheet.documents(name, resources.items):
                    _sort(resources, item, place, "document", has_head)
            else:
                _add(resources, name, text, in_full)
        except KrmfnError as failure:
            failures[name] = contents.explained(failure, text)
            del resources.items[before:]


def _add(resources: ResourceList, name: str, text: bytes, in_full: bool = False) -> None:
    """Add what a text holds, which may be anything."""
    if text.startswith(files.POINTER):
        raise KrmfnError("is stored in Git LFS, and only a pointer to it is checked out; run `git lfs pull`")
    from . import syntax

    before = len(resources.items)
    split.check_encoding(text)
    problem = documents.misread(text)
    if problem and contents.has_resource(text):
        raise KrmfnError(problem)
    for document in documents.documents(text):
        place = Place(name, len(resources.items), document.line)
        sure = split.is_simple(document.text)
        item = Item(document.text, 0, len(document.text), -2, sure, place if name else None)
        syntax.check(document.text, document.line - 1)
        _sort(resources, item, place, "document")
    if problem and len(resources.items) > before:  # such as a List without apiVersion, divided by `---#:`
        raise KrmfnError(problem)
    for item in resources.items[before:] if in_full else ():
        _ = item.manifest


def _sort(resources: ResourceList, item: Item, place: Place, noun: str, has_head: bool = False) -> None:
    """Put a document, or what it holds when it is a list, among the resources; report what is not a resource.

    `has_head`: see `divided.head`; it has no key `items` then.
    """
    cut = _list_cut(item)
    if cut:
        _add_list(resources, item.text, place, cut)
    elif not item.kind or not item.api_version:
        resources.report([_no_resource(item, noun, place)])
    elif item.kind in LISTS:
        raise KrmfnError(
            f"line {place.line}: `items` of this {item.kind} must be a list; write `items: []` if it is empty"
        )
    elif not has_head and _is_taken_for_a_list(item):
        raise KrmfnError(
            f"line {place.line}: this {item.kind} has `items`, so kubectl and Argo CD treat it as a list, whatever "
            "its kind, and apply only the items; make it a List, or remove `items`"
        )
    else:
        resources.items.append(item)


def _is_taken_for_a_list(item: Item) -> bool:
    """Return True for an object with a list `items`, which counts for kubectl and Argo CD as a list whatever its kind.

    Sources: apimachinery's pkg/apis/meta/v1/unstructured, Argo CD's reposerver/repository.
    """
    # the second reads all of it only where nothing else can tell
    if not item.mentions("items") or itemtext.part(item, "items"):
        return False
    return item.is_read and isinstance(item.manifest.get("items"), list)


def _no_resource(item: Item, noun: str, place: Place) -> Result:
    """Return the finding about what is left out; half of what makes a resource was meant as one."""
    present, missing = ("kind", "apiVersion") if item.kind else ("apiVersion", "kind")
    if value := item.kind or item.api_version:
        message = (
            f"this {noun} has {present} {value} but no {missing}, so it is not deployed; add the {missing}, or "
            f"remove the {noun}"
        )
        return error(message, rule="KRM100", place=place)
    message = f"this {noun} has no apiVersion and kind, so it is not a Kubernetes resource; it is skipped"
    return warning(message, rule="KRM100", place=place)


def _list_cut(item: Item) -> split.Cut | None:
    """Return how the items of a list divide; None for a resource.

    Lists are List and ResourceList, and what has a kind that ends in List, `items` that are one, and no name.
    """
    try:
        if item.kind not in LISTS and (not item.kind.endswith("List") or item.ref.name):
            return None
    except NoData as failure:
        if not isinstance(failure.__cause__, TooLarge):
            raise
        cut = _cut(item.text)  # many resources, perhaps, of which none is too large, or one that nobody looks into
        head = Envelope(b"", item.text, cut, ())
        item.set_ref(ref({key: head.value(key) for key in ("apiVersion", "kind", "metadata")}))
        if not (item.kind and item.api_version):
            raise
        return cut if cut.items and item.kind.endswith("List") and not item.name else None
    cut = _cut(item.text)
    present = any(section.key == "items" for section in cut.sections)
    return cut if cut.items or (present and item.manifest["items"] in (None, [])) else None


def _cut(text: bytes) -> split.Cut:
    from krmfn.yamltext import split_exact

    return split.quick(text) or split_exact.exact(text)


def _add_list(resources: ResourceList, text: bytes, place: Place, cut: split.Cut) -> None:
    """Add the items of a List or ResourceList, each with its own line, as if each were a document."""
    line, seen = place.line, 0
    for index, (start, end) in enumerate(cut.items):
        line += text.count(b"\n", seen, start)
        seen = start
        spot = place._replace(position=len(resources.items), line=line)
        item = Item(text, start, end, cut.indent, index not in cut.dubious, spot if place.path else None)
        if b"&" in text:
            itemtext.check_aliases(item)
        if item.kind.endswith("List"):
            lines = item.text.replace(b"\r\n", b"\n")  # behind another line break the indent would stay
            inner = edit.undashed(lines, cut.indent) if divided.is_plain(lines) else emit.dump(item.manifest).encode()
            item = Item(inner, 0, len(inner), -2, False, spot if place.path else None)
        _sort(resources, item, spot, "item")
    if any(section.key == "functionConfig" for section in cut.sections):
        resources.function_config = ResourceList.parse(text).function_config
