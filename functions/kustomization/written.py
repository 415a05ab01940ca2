"""The resources of a build as they are written: the files behind kustomize's origins, and the document in a file.

Origins are the annotations in which kustomize notes where a resource came from. A build goes through a wrapper, which
lists the kustomization by a name of its own, and patches every resource (see `kustomize`). Without it the paths in the
annotations begin at the kustomization's folder, and the patch is not among the transformations.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from krmfn.item import Item
from krmfn.ownership import Id
from krmfn.resource import Ref
from krmfn.typed import Any, NamedTuple, TypeVar
from krmfn.yamltext import emit, load

from ..kmm.lookup import table, text
from ..paths.disk import File
from .graph import Graph, Kustomization

T = TypeVar("T")

ORIGIN = "config.kubernetes.io/origin"
TRANSFORMATIONS = "alpha.config.kubernetes.io/transformations"
OPTIONS = {"originAnnotations": ORIGIN, "transformerAnnotations": TRANSFORMATIONS}
"""The entries of `buildMetadata` that ask for them (api/types/kustomization.go)."""

_WRAPPER = "kustomization.yaml"
"""What a path leads to that neither begins with the wrapper's name for the folder nor leads elsewhere."""
_BLOCK = re.compile(
    rb"^    (%s): \|-?\n((?:      .*\n|\n)+)" % b"|".join(key.encode() for key in OPTIONS.values()), re.MULTILINE
)
_METADATA = re.compile(rb"^metadata:\n((?: .*\n|\n)+)", re.MULTILINE)
_ANNOTATIONS = re.compile(rb"^  annotations:\n((?:    .*\n|\n)+)", re.MULTILINE)
PREVIOUS = "internal.config.kubernetes.io/previousNames"
"""Where kustomize notes earlier names while it builds, the first one first; what it prints lacks it."""
_MOST_WAYS = 10_000
"""How many ways from the outermost kustomization down are followed."""


class Origins(NamedTuple):
    """A build with origins, and what their paths lead to: nowhere if it may be two files or two kustomizations."""

    files: Mapping[str, File]
    kustomizations: Mapping[str, Kustomization]
    notes: Sequence[Mapping[str, str]] = ()
    """The origins of each resource, in the order of the build."""
    seen: Mapping[Id, Item] = {}
    """The resources as the functions were shown them last, with their origins."""


def origins(graph: Graph, folder: str, base: str) -> Origins:
    """Return what the origins of a build mean that calls the folder `base`.

    kustomize joins what is written on the way down, and follows no link for it: so the way is gone here again.
    """
    files: dict[str, dict[str, File]] = {}
    kustomizations: dict[str, dict[str, Kustomization]] = {}
    left, seen = [(base, folder)], {(base, folder)}
    while left:
        path, here = left.pop()
        one = graph.kustomizations[here]
        kustomizations.setdefault(os.path.join(path, os.path.basename(one.path)), {})[here] = one
        for reference in one.references:
            way = os.path.normpath(os.path.join(path, reference.text))
            if reference.kind == "file":
                files.setdefault(way, {})[reference.real] = File(reference.name, reference.real)
            next_ = (way, reference.real)
            if reference.real in graph.kustomizations and next_ not in seen and len(seen) < _MOST_WAYS:
                seen.add(next_)
                left.append(next_)
    return Origins(_certain(files), _certain(kustomizations))


def _certain(found: Mapping[str, Mapping[str, T]]) -> dict[str, T]:
    return {way: one for way, those in found.items() if len(those) == 1 for one in those.values()}


def notes_in(stream: bytes) -> list[dict[str, str]]:
    """Return these two annotations of each resource in the output of a build, in its order."""
    every = (_BLOCK.finditer(metadata[0]) for metadata in _METADATA.finditer(stream))
    return [{block[1].decode(): block[2].decode() for block in blocks} for blocks in every]


def origin_of(notes: Mapping[str, str]) -> Mapping[str, Any]:
    """Return where a resource comes from by the annotations of kustomize's; {} without a note."""
    value = _note(notes.get(ORIGIN, ""))
    return value if isinstance(value, dict) else {}


@lru_cache(maxsize=1024)
def _note(text: str) -> Any:
    """Return what a note holds; each finding asks several times."""
    return load.read(text.encode()) if text else None


def maker(notes: Mapping[str, str]) -> str:
    """Return the path, from the wrapper, of what has made a resource in the build; "" for one that a file holds.

    A patch that replaces all annotations looks like the item's maker; what it was made from is then not known.
    """
    origin = origin_of(notes)
    by = table(origin, "configuredBy")
    is_patch = by.get("apiVersion") == "builtin" and not str(by.get("kind")).endswith("Generator")
    return "" if is_patch else str(origin.get("configuredIn", ""))


def way(notes: Mapping[str, str], known: Origins, built: Sequence[Kustomization]) -> list[Kustomization]:
    """Return the kustomizations among `built` that changed a resource; all of them when kustomize does not tell."""
    steps = _note(notes.get(TRANSFORMATIONS, ""))
    names = {str(step.get("configuredIn")) for step in steps} if isinstance(steps, list) else set()
    folders = {known.kustomizations[name].folder for name in names if name in known.kustomizations}
    return [one for one in built if one.folder in folders] if names else list(built)


def resources(one: Kustomization) -> Iterator[File]:
    """Yield the files that a kustomization lists as resources."""
    for reference in one.references:
        if reference.kind == "file" and reference.role == "resource":
            yield File(reference.name, reference.real)


def document(candidates: Iterable[Item], ref: Ref, names: Collection[str]) -> Item | None:
    """Return the one of the resources in a file that has become `ref`; `names` are those it may have had.

    None when there is none, or when it may be one of several.
    """
    alike = [one for one in candidates if (one.group, one.kind) == (ref.group, ref.kind)]
    fitting = [one for one in alike if one.name in names] or (alike if len(alike) == 1 else [])
    if len(fitting) > 1:
        fitting = [one for one in fitting if one.ref.namespace == ref.namespace]
    return fitting[0] if len(fitting) == 1 else None


def anywhere(one: Id) -> Id:
    """Return an id without its namespace: a resource may have got that from the functionConfig."""
    return (*one[:2], "", one[3])


def names(ref: Ref, built: Sequence[Kustomization]) -> set[str]:
    """Return what a resource may have been called before the prefixes and suffixes of these kustomizations."""
    prefixes, suffixes = ({text(one.manifest, field) for one in built} for field in ("namePrefix", "nameSuffix"))
    known, left = {ref.name}, [ref.name]
    while left and len(known) < _MOST_WAYS:
        name = left.pop()
        shorter = [name.removeprefix(one) for one in prefixes] + [name.removesuffix(one) for one in suffixes]
        left += [one for one in shorter if one and one not in known]
        known.update(filter(None, shorter))
    return known


def unwrapped(stream: bytes, base: str) -> bytes:
    """Return the output of a build through the wrapper, which lists the folder as `base`, with the paths it would have.

    The text is kustomize's own: keys in two columns, sorted, annotations with several lines as block scalars.
    """
    if not any(key.encode() in stream for key in OPTIONS.values()):
        return stream
    return _rewritten(stream, lambda entry: _entry(entry[1].decode(), entry[2], base))


def without(stream: bytes) -> bytes | None:
    """Return the output of a build that was asked for these annotations as if it had not been.

    None when that is not certain: something else than a note of kustomize's holds their names.
    """
    plain = _rewritten(stream, lambda _: b"")
    return None if any(key.encode() in plain for key in OPTIONS.values()) else plain


def _rewritten(stream: bytes, entry: Callable[[re.Match[bytes]], bytes]) -> bytes:
    """Return the output with something else in place of each of the two annotations; without those that are empty."""

    def annotations(block: re.Match[bytes]) -> bytes:
        lines = _BLOCK.sub(entry, block[1])
        return b"  annotations:\n" + lines if lines else b""

    return _METADATA.sub(lambda metadata: _ANNOTATIONS.sub(annotations, metadata[0]), stream)


def _entry(key: str, block: bytes, base: str) -> bytes:
    """Return one of the two annotations; nothing when it was about the wrapper only."""
    value = load.read(block)
    entries = value if isinstance(value, list) else [value]
    kept = [_moved(one, base) for one in entries if one.get("configuredIn") != _WRAPPER or "repo" in one]
    if not kept:
        return b""
    return emit.dump({key: emit.dump(kept if isinstance(value, list) else kept[0])}, 4).encode()


def _moved(origin: dict[str, Any], base: str) -> dict[str, Any]:
    """Return an origin with its paths seen from the folder; those in a repository that was fetched begin there."""
    paths = {key: path for key in ("path", "configuredIn") if isinstance(path := origin.get(key), str)}
    moved = {key: f"../{path}".removeprefix(f"../{base}/") for key, path in paths.items()}
    return origin if "repo" in origin else {**origin, **moved}
