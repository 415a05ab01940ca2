"""Write manifests: a stream of YAML documents, a JSON List, or folders with a file per object; write to stdout."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from krmfn.errors import KrmfnError
from krmfn.item import Item
from krmfn.resource import Manifest, check_plain
from krmfn.streams import ensure_stdout, write
from krmfn.yamltext import documents, emit

from . import deadline, division, files

KUSTOMIZATION = "kustomization.yaml"
_HEAD = """\
# Written by krmfn render; with --replace it removes the files that are listed here.
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:"""
_UNFIT = re.compile(r"[^A-Za-z0-9._-]|^\.+")


def write_stdout(data: str | bytes) -> None:
    """Write stdout and close it. Raises KrmfnError when it cannot be written in full.

    A lone surrogate, which UTF-8 does not have, is escaped, in a way that is valid in JSON, too.
    """
    ensure_stdout()
    deadline.finish()
    write(1, [data if isinstance(data, bytes) else data.encode(errors="backslashreplace")])


def dump(items: Iterable[Item | Manifest]) -> bytes:
    """Return a stream of documents: items as the bytes that were read, manifests in kyaml's layout."""
    texts = (_document(item) if isinstance(item, Item) else emit.dump(item).encode() for item in items)
    return b"---\n".join(texts)


def dump_json(items: Iterable[Item]) -> bytes:
    """Return the items as one JSON List, a line each. Raises KrmfnError for a value that JSON cannot hold."""
    lines: list[str] = []
    for item in items:
        try:
            check_plain(item.manifest)
            lines.append(emit.dump_json(item.manifest))
        except KrmfnError as failure:
            raise KrmfnError(f"{item.ref} cannot be written as JSON: {failure}") from failure
    return ('{"apiVersion": "v1", "kind": "List", "items": [\n' + ",\n".join(lines) + "\n]}\n").encode()


def write_folders(items_by_folder: Mapping[str, Sequence[Item]], root: str | None = None) -> None:
    """Write a file per object and a kustomization.yaml that lists them into each folder, or nothing into any.

    Raises KrmfnError when a folder is neither new nor empty, or cannot be written; what was written is removed then.
    """
    write_texts({folder: texts_of(items) for folder, items in items_by_folder.items()}, root)


def write_texts(texts: Mapping[str, Mapping[str, bytes]], root: str | None = None) -> None:
    """Write files, by name, into folders, by path; all or none. Raises KrmfnError as `write_folders` does."""
    from pathlib import Path

    from .whole import all_or_nothing  # imported here, as pathlib: few runs write files

    with all_or_nothing() as written:
        for folder in texts:
            files.check_named(folder, root)
            with files.errors_of(folder):
                written.make(Path(folder))
                if any(Path(folder).iterdir()):
                    raise KrmfnError(f"{folder} is not empty; pass a new folder, so that no stale objects stay in it")
        for folder, texts_by_name in texts.items():
            for name, text in texts_by_name.items():
                written.write(Path(folder, name), text)


def safe_name(name: str) -> str:
    """Return a name as that of a file or folder, without slashes and leading dots, so that it stays in its folder."""
    return _UNFIT.sub("-", name) or "-"


def texts_of(items: Sequence[Item]) -> dict[str, bytes]:
    """Return the files of a folder by their names."""
    names = _file_names(items)
    texts = {name: dump([item]) for name, item in zip(names, items, strict=True)}
    return texts | {KUSTOMIZATION: kustomization(names)}


def kustomization(names: Sequence[str]) -> bytes:
    """Return the kustomization.yaml of a folder with these files; its first line says that render has written it."""
    lines = "".join(f"- {name}\n" for name in names)
    return (f"{_HEAD}\n{lines}" if lines else f"{_HEAD} []\n").encode()


def _file_names(items: Sequence[Item]) -> list[str]:
    """Return a file name per item, with the first word of its API group, or the whole group if two would be equal.

    Raises KrmfnError when two are equal even so. No name leads out of the folder, whatever an object is called.
    """
    short_names = [_file_name(item, item.ref.group.partition(".")[0]) for item in items]
    counts = Counter(short_names)
    names: dict[str, Item] = {}
    for item, short_name in zip(items, short_names, strict=True):
        name = _file_name(item, item.ref.group) if counts[short_name] > 1 else short_name
        if name in names:
            raise KrmfnError(
                f"{item.ref} and {names[name].ref} would both be written to the file {name}; rename or remove one"
            )
        names[name] = item
    return list(names)


def _file_name(item: Item, group: str) -> str:
    ref = item.ref
    parts = [ref.namespace, group, ref.kind.lower(), ref.name.replace(":", ".")]
    return safe_name("_".join(part for part in parts if part)) + ".yaml"


def _document(item: Item) -> bytes:
    """Return an item as a document that ends with a newline, in its own text if all readers read that alike.

    Empty lines at its end are removed unless they belong to a scalar. Raises KrmfnError for a text that a reader would
    divide.
    """
    text = _own_text(item)
    if documents.DIVISION.search(b"\n" + text):
        text = emit.dump(item.manifest).encode()
    if documents.DIVISION.search(b"\n" + text):
        raise KrmfnError(f"{item.ref} cannot be written: a line of it would begin with `---` or be `...`")
    return text


def _own_text(item: Item) -> bytes:
    """Return an item's text if all readers read it alike, else the same in kyaml's layout; it ends with a newline."""
    text = item.text.lstrip(b"\r\n").replace(b"\r\n", b"\n")
    first = text.lstrip()[:1]  # kubectl skips white space of any kind before a brace
    is_block = item.indent == -2 and first.isascii() and first not in (b"{", b"[")
    if not is_block or not division.is_plain(text):
        return emit.dump(item.manifest).encode()
    from krmfn.yamltext import edit  # here, for the start: most commands write no resource

    if not text.endswith(b"\n"):
        return edit.with_line_end(text, -2)
    return text if re.search(edit.KEEPS, text) else text.rstrip(b"\n") + b"\n"
