"""Dumps of a cluster: a file of JSON or YAML, stdin, or the folder that `oc adm inspect` or a must-gather wrote."""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from io import BufferedReader

from krmfn import Item, KrmfnError, Manifest, Result
from krmfn.streams import max_bytes

from ..fleet import dumped_kinds, json_stream, live, readings
from ..fleet.live import Live
from ..kmm.lookup import table, text
from ..paths import files, gathered, manifests
from ..rendering.kinds import NODES

Read = Callable[[int], bytes]
_PIECE = 1 << 20
_OBJECT = re.compile(r"apiVersion:|kind:|metadata:|items:|spec:|- |---|#|%")
"""How YAML of Kubernetes objects begins."""


def _of_yaml(source: BufferedReader, name: str, inventories: list[Item]) -> Iterator[Manifest]:
    """Yield the objects in YAML, one in memory at a time; `name` is the file's name, or "" for stdin.

    The NodeInventories go to `inventories`, too, with their lines. Raises KrmfnError for an empty or too large text,
    for one that is no YAML, and, after the last object, for values that Kubernetes and kustomize read differently.
    """
    content = _content(source)
    if not content.strip():
        raise KrmfnError("is empty; expected what `krmfn why --kubectl` writes, or the output of `kubectl get -o json`")
    items, findings = _items(content, name), list[Result]()
    while items:  # what was read of an item goes with it: it takes many times the memory of its text
        item = items.pop()
        findings += readings.check(item)
        if (item.group, item.kind) in NODES and item.kind != "Node":
            inventories.append(item)
        yield item.manifest
    if findings:
        raise KrmfnError(*map(str, findings))


def _content(source: BufferedReader) -> bytes:
    """Return all of a file. Raises KrmfnError for more than KRMFN_MAX_BYTES.

    For a single read of as much as is allowed Python would reserve all of that; a file is read as long as it is, which
    makes one piece.
    """
    pieces, size = list[bytes](), 0
    length = max(_PIECE, min(os.fstat(source.fileno()).st_size, max_bytes()) + 1)
    while piece := source.read(length):
        pieces.append(piece)
        if (size := size + len(piece)) > max_bytes():
            raise KrmfnError(f"is YAML of more than {max_bytes():,} bytes; pass JSON instead")
    return b"".join(pieces)


def _items(content: bytes, name: str) -> list[Item]:
    """Return the items of a text from the last to the first. Raises KrmfnError for one that is no dump."""
    try:
        resources = manifests.read_stream(content, name)
        if resources.results:
            raise KrmfnError(*map(str, resources.results))
    except KrmfnError as failure:
        if _is_cut_list(content):
            raise KrmfnError("its last list ends without its kind: it was cut off there; dump it again") from failure
        first = content.lstrip().partition(b"\n")[0][:200].decode(errors="replace").rstrip()
        if _OBJECT.match(first):
            raise
        message = f"is no dump, neither JSON nor YAML: it begins with {first!r}; redirect only the output of"
        raise KrmfnError(f"{message} `kubectl get ... -o json`, without its messages") from failure
    return resources.items[::-1]


def _is_cut_list(content: bytes) -> bool:
    """Return True where the last document is a list without the kind that kubectl writes behind its items."""
    last = re.split(rb"(?m)^---", content)[-1]
    return bool(re.search(rb"(?m)^items:", last)) and not re.search(rb"(?m)^kind:", last)


@cache  # stdin can be read once, and a dump may be half a gigabyte
def read(name: str) -> Live:
    """Return the content of a dump. Raises KrmfnError, with the name of the dump, when it cannot be read."""
    return read_with(name, lambda manifest: None)


def read_with(name: str, add: Callable[[Manifest], None]) -> Live:
    """Return the content of a dump, whose objects `add` gets, too, one by one. Raises KrmfnError as `read` does."""

    def watched(objects: Iterable[Manifest]) -> Iterator[Manifest]:
        for manifest in objects:
            add(manifest)
            yield manifest

    try:
        if os.path.isdir(name):
            return live.read(watched(_of_folder(name)), name)
        with files.open_named(name) as source:
            if json_stream.begins(source):
                return live.read(watched(json_stream.objects(source.read, max_bytes())), name)
            inventories: list[Item] = []  # filled while the objects are read
            objects = _of_yaml(source, "" if name == "-" else name, inventories)
            return live.read(watched(objects), name, inventories)
    except KrmfnError as failure:
        raise KrmfnError(*(f"--live {name}: {line}" for line in failure.lines(name))) from failure


def objects_of(name: str, wrap: Callable[[Read], Read] = lambda read: read) -> Iterator[Manifest]:
    """Yield the objects of a file, stdin (`-`) or a folder: of JSON one at a time, of YAML after a file is read.

    `wrap` takes the function that reads JSON, and returns another one.
    """
    if os.path.isdir(name):
        yield from _of_folder(name)
        return
    with files.open_named(name) as source:
        if json_stream.begins(source):
            yield from json_stream.objects(wrap(source.read))
            return
        yield from _of_yaml(source, "", [])


def _of_folder(folder: str) -> Iterator[Manifest]:
    """Yield the objects of the known kinds in the files of a folder, each once.

    Raises KrmfnError, with the file's name, for one that cannot be read, and for a folder without any such file.
    """
    names = gathered.files_of(folder, lambda parts: dumped_kinds.of_path(parts) is not None)
    if not names:
        expected = "cluster-scoped-resources/core/nodes/NAME.yaml, as `oc adm inspect` writes them, or nodes.json"
        raise KrmfnError(f"is a folder without a file of a dump; expected {expected}")
    yield from _distinct(manifest for name in names for manifest in _of_file(name, folder))


def _of_file(name: str, folder: str) -> Iterator[Manifest]:
    """Yield the objects of a file in a folder. Raises KrmfnError with its path there."""
    try:
        yield from objects_of(name)
    except KrmfnError as failure:
        below = os.path.relpath(name, folder)
        raise KrmfnError(*(f"{below}: {line}" for line in failure.lines(name))) from failure


def _distinct(objects: Iterable[Manifest]) -> Iterator[Manifest]:
    """Yield each object once: a pod may stand in a list and in a file of its own."""
    seen: set[tuple[str, ...]] = set()
    for manifest in objects:
        metadata = table(manifest, "metadata")
        names = (text(manifest, "apiVersion"), text(manifest, "kind"))
        key = (*names, text(metadata, "namespace"), text(metadata, "name"), text(metadata, "uid"))
        if key not in seen:
            seen.add(key)
            yield manifest
