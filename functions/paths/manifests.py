"""Read files, directories and streams into resources, each with its file and line."""

from __future__ import annotations

import codecs
import os
from collections.abc import Sequence

from krmfn import itemtext
from krmfn.errors import KrmfnError
from krmfn.item import Item
from krmfn.resource import Place
from krmfn.resourcelist import ResourceList
from krmfn.results import Result, error, warning
from krmfn.streams import max_bytes
from krmfn.yamltext import documents, split

from ..run import PassedOver, note, run_of
from . import contents, disk, division, files, lists, roots
from .unchecked import Unchecked

KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")
SUFFIXES = (".yaml", ".yml", ".json")

_TOGETHER = 1 << 22
"""The size of the files that are divided together."""


def read(
    path: str,
    stdin: bytes | None = None,
    root: str | None = None,
    in_full: bool = False,
    unchecked: Unchecked | None = None,
) -> ResourceList:
    """Return the resources in a file, below a directory (.yaml, .yml and .json files) or, for `-`, in `stdin`.

    Lists (kind List, NodeList, ...) and ResourceLists are replaced by their items. Every file's syntax is checked.
    Below a directory kustomizations are skipped. Which files may be read: see `files`; `root` is the argument of
    --root. With `in_full` the data of every document is read, too. Large texts are added to `unchecked`, if there is
    one, and count as YAML: the caller has them checked.
    Raises KrmfnError that names each file and line that cannot be read.
    """
    if path != "-" and os.path.isdir(path):
        folder = disk.File(path, os.path.realpath(path))
        readable, problems = disk.files_below(folder, _is_read, roots.root_of(folder.real, root))
        resources, failures = read_files(readable, in_full, unchecked)
        errors = [*dict(problems).values(), *(failure.located(name) for name, failure in failures.items())]
        if errors:
            raise KrmfnError(*errors)
        return resources
    name = "stdin" if path == "-" else os.path.normpath(path)
    text = stdin or b"" if path == "-" else files.read_named(path, root)
    try:
        resources = read_stream(text, name, in_full, unchecked)
    except KrmfnError as failure:
        failure.located(name)
        raise
    return resources


def read_files(
    listing: Sequence[disk.File], in_full: bool = False, unchecked: Unchecked | None = None
) -> tuple[ResourceList, dict[str, KrmfnError]]:
    """Return the resources in some files, and the errors of those that cannot be read, by name.

    `in_full` and `unchecked`: see `read`. Each file is regular and inside the root (see `disk.files_below`). Once they
    have more bytes together than KRMFN_MAX_BYTES allows, the rest counts as unreadable.
    """
    resources, failures = ResourceList(), dict[str, KrmfnError]()
    texts, size, rest = list[tuple[str, bytes]](), 0, max_bytes()
    for file in listing:
        name = os.path.normpath(file.name)
        try:
            content = file.text.take() if file.text else None
            text = files.read_regular(file.real, name, rest) if content is None else files.bounded(content, name, rest)
        except KrmfnError as failure:
            failures[name] = failure
            continue
        rest -= len(text)
        size += len(text)
        texts.append((name, text))
        if size >= _TOGETHER:
            _add_files(resources, failures, texts, in_full, unchecked)
            texts, size = [], 0
    _add_files(resources, failures, texts, in_full, unchecked)
    return resources, failures


def read_stream(text: bytes, name: str = "", in_full: bool = False, unchecked: Unchecked | None = None) -> ResourceList:
    """Return the resources in the text of the file `name`; those in the output of a tool ("") have no places.

    `in_full` and `unchecked`: see `read`. Raises KrmfnError when it cannot be read.
    """
    resources, failures = ResourceList(), dict[str, KrmfnError]()
    _add_files(resources, failures, [(name, text)], in_full, unchecked)
    for failure in failures.values():
        raise failure
    return resources


def kustomization_in(path: str) -> str | None:
    """Return the path of the kustomization in the directory `path`, even if it is no file; None without one."""
    names = (os.path.join(path, name) for name in KUSTOMIZATIONS)
    return next((name for name in names if os.path.lexists(name)), None)


def _is_read(name: str) -> bool:
    return name.endswith(SUFFIXES) and name not in KUSTOMIZATIONS


def _add_files(
    resources: ResourceList,
    failures: dict[str, KrmfnError],
    texts: list[tuple[str, bytes]],
    in_full: bool,
    unchecked: Unchecked | None,
) -> None:
    """Add the resources in some files, or the errors of files; a file with an error adds no resources."""
    texts = [(name, text.removeprefix(codecs.BOM_UTF8)) for name, text in texts]
    usual = [file for file in texts if not file[1].startswith(files.POINTER) and division.is_usual(file[1])]
    sheet = contents.read(usual, unchecked) if usual and not in_full else None
    for name, text in texts:
        count = len(resources.items)
        try:
            if sheet and name in sheet.files:
                for item, place, has_head in sheet.documents(name, resources.items):
                    _add_item(resources, item, place, "document", has_head)
            else:
                _add_text(resources, name, text, in_full)
        except KrmfnError as failure:
            failures[name] = contents.explain(failure, text)
            del resources.items[count:]


def _add_text(resources: ResourceList, name: str, text: bytes, in_full: bool) -> None:
    """Add the resources in a text of any form. Raises KrmfnError when it cannot be read."""
    if text.startswith(files.POINTER):
        raise KrmfnError("is stored in Git LFS, and only a pointer to it is checked out; run `git lfs pull`")
    from . import syntax

    count = len(resources.items)
    split.check_encoding(text)
    problem = documents.misread(text)
    if problem and contents.has_resource(text):
        raise problem
    for document in documents.documents(text):
        place = Place(name, len(resources.items), document.line)
        is_simple = split.is_simple(document.text)
        item = Item(document.text, 0, len(document.text), -2, is_simple, place if name else None)
        syntax.check(document.text, document.line - 1)
        _add_item(resources, item, place, "document")
    if problem and len(resources.items) > count:  # such as a List without apiVersion, divided by `---#:`
        raise problem
    for item in resources.items[count:] if in_full else ():
        _ = item.manifest


def _add_item(resources: ResourceList, item: Item, place: Place, noun: str, has_head: bool = False) -> None:
    """Add a document, or the items of a list, to the resources; report it when it is not a resource.

    `has_head`: it has a head (see `division.head`), and so no key `items`. Raises KrmfnError for a malformed list.
    """
    cut = lists.cut_of(item)
    if cut:
        _add_list(resources, item, place, cut)
    elif not item.kind or not item.api_version:
        if noun == "document" and _is_of_another_tool(item):
            note(resources, passed_over=(*run_of(resources).passed_over, PassedOver(place.path)))
        else:
            resources.report([_no_resource(item, noun, place)])
    elif item.kind in lists.KINDS:
        problem = f"`items` of this {item.kind} must be a list; write `items: []` if it is empty"
        raise KrmfnError(problem, line=place.line)
    elif not has_head and _is_taken_for_a_list(item):
        raise KrmfnError(
            f"this {item.kind} has `items`, so kubectl and Argo CD treat it as a list, whatever its kind, and apply "
            "only the items; make it a List, or remove `items`",
            line=place.line,
        )
    else:
        resources.items.append(item)


def _is_taken_for_a_list(item: Item) -> bool:
    """Return True for an object with a list `items`: kubectl and Argo CD treat it as a list, whatever its kind.

    Sources: apimachinery's pkg/apis/meta/v1/unstructured, Argo CD's reposerver/repository.
    """
    # the manifest is parsed only when nothing simpler can tell
    if not item.mentions("items") or itemtext.part(item, "items"):
        return False
    return item.is_read and isinstance(item.manifest.get("items"), list)


_OTHERS = frozenset({"entries", "baseDomain"})
"""A field of the index of a Helm repository, and of an install-config.yaml of OpenShift: `apiVersion: v1`, no kind."""


def _is_of_another_tool(item: Item) -> bool:
    """Return whether a document is a file of another tool that looks like a resource; no cluster takes it."""
    if item.kind or item.api_version != "v1":
        return False
    return not _OTHERS.isdisjoint(lists.keys_of(item.text))


def _no_resource(item: Item, noun: str, place: Place) -> Result:
    """Return the finding about a document without kind or apiVersion: an error when it has one of the two."""
    present, missing = ("kind", "apiVersion") if item.kind else ("apiVersion", "kind")
    if value := item.kind or item.api_version:
        message = f"this {noun} has {present} {value} but no {missing}, so it is not deployed"
        return error(message, rule="KRM100", place=place, remedy=f"add the {missing}, or remove the {noun}")
    message = f"this {noun} has no apiVersion and kind, so it is not a Kubernetes resource, and is skipped"
    remedy = "write them if it is one, or leave the file out with `exclude` in .krmfn.yaml"
    return warning(message, rule="KRM100", place=place, remedy=remedy)


def _add_list(resources: ResourceList, holder: Item, place: Place, cut: split.Cut) -> None:
    """Add the items of a list (`holder`) like documents, each with its own line."""
    text, line, seen = holder.text, place.line, 0
    for start, end in cut.items:
        line += text.count(b"\n", seen, start)
        seen = start
        place = place._replace(position=len(resources.items), line=line)
        item = Item(text, start, end, cut.indent, None if cut.is_quick else False, place if place.path else None)
        if b"&" in text:
            itemtext.check_aliases(item)
        head = lists.head_from(holder, item)
        if head or item.kind.endswith("List"):
            inner = lists.document_of(item, cut.indent, head)
            item = Item(inner, 0, len(inner), -2, False, place if place.path else None)
        _add_item(resources, item, place, "item")
    if any(section.key == "functionConfig" for section in cut.sections):
        resources.function_config = ResourceList.parse(text).function_config
