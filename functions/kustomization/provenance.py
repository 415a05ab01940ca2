"""Find the file and document that a built resource comes from, by the origins that kustomize notes.

Origins are the annotations in which kustomize notes the file and the transformations of a resource. A build goes
through a wrapper, which lists the kustomization under a random name, and patches every resource (see `kustomize`).
Without the wrapper paths in the annotations begin at the kustomization's folder, and that patch is not noted.
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
"""The wrapper's own file in a note; other paths begin with the folder's name in the wrapper, or with `..`."""
_BLOCK = re.compile(
    rb"^    (%s): \|-?\n((?:      .*\n|\n)+)" % b"|".join(key.encode() for key in OPTIONS.values()), re.MULTILINE
)
_METADATA = re.compile(rb"^metadata:\n((?: .*\n|\n)+)", re.MULTILINE)
_ANNOTATIONS = re.compile(rb"^  annotations:\n((?:    .*\n|\n)+)", re.MULTILINE)
PREVIOUS = "internal.config.kubernetes.io/previousNames"
"""The annotation in which kustomize notes earlier names during a build, oldest first; its output lacks it."""
_MAX_STEPS = 10_000
"""How many references, or earlier names, are followed."""


class Origins(NamedTuple):
    """The origins of a build, and files and kustomizations by the paths in them, but for paths that mean several."""

    files: Mapping[str, File]
    kustomizations: Mapping[str, Kustomization]
    notes: Sequence[Mapping[str, str]] = ()
    """The origins of each resource, in the order of the build."""
    inputs: Mapping[Id, Item] = {}
    """The resources in the last inputs of functions, with their origins."""


def origins(graph: Graph, folder: str, base: str) -> Origins:
    """Return files and kustomizations by the paths in the origins of a build, in which the folder is called `base`.

    kustomize joins the paths in the references and resolves no links, so the references are followed here in that way.
    """
    files: dict[str, dict[str, File]] = {}
    kustomizations: dict[str, dict[str, Kustomization]] = {}
    stack, seen = [(base, folder)], {(base, folder)}
    while stack:
        path, folder = stack.pop()
        kustomization = graph.kustomizations[folder]
        file_path = os.path.join(path, os.path.basename(kustomization.path))
        kustomizations.setdefault(file_path, {})[folder] = kustomization
        for reference in kustomization.references:
            target = os.path.normpath(os.path.join(path, reference.text))
            if reference.kind == "file":
                files.setdefault(target, {})[reference.real] = File(reference.name, reference.real)
            step = (target, reference.real)
            if reference.real in graph.kustomizations and step not in seen and len(seen) < _MAX_STEPS:
                seen.add(step)
                stack.append(step)
    return Origins(_unique(files), _unique(kustomizations))


def _unique(candidates: Mapping[str, Mapping[str, T]]) -> dict[str, T]:
    return {path: value for path, values in candidates.items() if len(values) == 1 for value in values.values()}


def notes_in(stream: bytes) -> list[dict[str, str]]:
    """Return the notes, these two annotations, of each resource in the output of a build, in its order."""
    groups = (_BLOCK.finditer(metadata[0]) for metadata in _METADATA.finditer(stream))
    return [{block[1].decode(): block[2].decode() for block in blocks} for blocks in groups]


def origin_of(notes: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the origin in the notes of a resource; {} without one."""
    value = _note(notes.get(ORIGIN, ""))
    return value if isinstance(value, dict) else {}


@lru_cache(maxsize=1024)
def _note(text: str) -> Any:
    """Return the data in a note, cached, since each finding needs it several times."""
    return load.read(text.encode()) if text else None


def maker(notes: Mapping[str, str]) -> str:
    """Return the path, from the wrapper, of the file that generated a resource; "" for one that is in a file.

    A patch that replaces all annotations looks like the generator of the resource, whose origin is then not known: "".
    """
    origin = origin_of(notes)
    plugin = table(origin, "configuredBy")
    is_patch = plugin.get("apiVersion") == "builtin" and not str(plugin.get("kind")).endswith("Generator")
    return "" if is_patch else str(origin.get("configuredIn", ""))


Documents = Mapping[tuple[str, str], Mapping[str, Sequence[Item]]]
"""The resources of files by group and kind, and by name."""


def transformers(notes: Mapping[str, str], known: Origins, build: Sequence[Kustomization]) -> list[Kustomization]:
    """Return the kustomizations of a build that changed a resource; all of them when kustomize has not noted it."""
    steps = _note(notes.get(TRANSFORMATIONS, ""))
    names = {str(step.get("configuredIn")) for step in steps} if isinstance(steps, list) else set()
    folders = {known.kustomizations[name].folder for name in names if name in known.kustomizations}
    return [base for base in build if base.folder in folders] if names else list(build)


def resource_files(kustomization: Kustomization) -> Iterator[File]:
    """Yield the files that a kustomization lists as resources."""
    for reference in kustomization.references:
        if reference.kind == "file" and reference.role == "resource":
            yield File(reference.name, reference.real)


def by_kind(candidates: Iterable[Item]) -> Documents:
    """Return resources of files by group and kind, and by their names."""
    documents: dict[tuple[str, str], dict[str, list[Item]]] = {}
    for item in candidates:
        documents.setdefault((item.group, item.kind), {}).setdefault(item.name, []).append(item)
    return documents


def document(candidates: Documents, ref: Ref, names: Collection[str]) -> Item | None:
    """Return the resource of a file that has become `ref`; `names` are those that it may have had.

    None when there is none, or when it may be one of several.
    """
    by_name = candidates.get((ref.group, ref.kind), {})
    matches = [item for name in {*names} for item in by_name.get(name, ())]
    if not matches and len(by_name) == 1:  # the only one of its kind, whatever its name
        others = next(iter(by_name.values()))
        matches = [*others] if len(others) == 1 else []
    if len(matches) > 1:
        matches = [item for item in matches if item.ref.namespace == ref.namespace]
    return matches[0] if len(matches) == 1 else None


def without_namespace(id_: Id) -> Id:
    """Return an id without its namespace, which a resource may have got from the functionConfig."""
    return (*id_[:2], "", id_[3])


def names(ref: Ref, kustomizations: Sequence[Kustomization]) -> set[str]:
    """Return the names that a resource may have had before the prefixes and suffixes of these kustomizations."""
    prefixes = {text(base.manifest, "namePrefix") for base in kustomizations}
    suffixes = {text(base.manifest, "nameSuffix") for base in kustomizations}
    known, stack = {ref.name}, [ref.name]
    while stack and len(known) < _MAX_STEPS:
        name = stack.pop()
        shorter = {name.removeprefix(prefix) for prefix in prefixes} - {""}
        shorter |= {name.removesuffix(suffix) for suffix in suffixes} - {""}
        stack += shorter - known
        known |= shorter
    return known


def without_wrapper(stream: bytes, base: str) -> bytes:
    """Return the output of a build with the paths that it would have without the wrapper; `base` is the folder in it.

    It has kustomize's layout: an indent of two columns, sorted keys, annotations of several lines as block scalars.
    """
    if not any(key.encode() in stream for key in OPTIONS.values()):
        return stream
    return _replace_notes(stream, lambda entry: _user_note(entry[1].decode(), entry[2], base))


def without_notes(stream: bytes) -> bytes | None:
    """Return the output of a build without the notes in it.

    None when that is not certain, because their keys are elsewhere in it, too.
    """
    plain = _replace_notes(stream, lambda _: b"")
    return None if any(key.encode() in plain for key in OPTIONS.values()) else plain


def _replace_notes(stream: bytes, entry: Callable[[re.Match[bytes]], bytes]) -> bytes:
    """Return the output with each note replaced by what `entry` returns; annotations that become empty are removed."""

    def annotations(block: re.Match[bytes]) -> bytes:
        lines = _BLOCK.sub(entry, block[1])
        return b"  annotations:\n" + lines if lines else b""

    return _METADATA.sub(lambda metadata: _ANNOTATIONS.sub(annotations, metadata[0]), stream)


def _user_note(key: str, block: bytes, base: str) -> bytes:
    """Return the annotation of a note with the user's paths; b"" when it is only about the wrapper."""
    value = load.read(block)
    entries = value if isinstance(value, list) else [value]
    data = [
        _user_origin(origin, base) for origin in entries if origin.get("configuredIn") != _WRAPPER or "repo" in origin
    ]
    if not data:
        return b""
    return emit.dump({key: emit.dump(data if isinstance(value, list) else data[0])}, 4).encode()


def _user_origin(origin: dict[str, Any], base: str) -> dict[str, Any]:
    """Return an origin with paths relative to the folder; those in a fetched repository stay relative to that."""
    keys = [key for key in ("path", "configuredIn") if isinstance(origin.get(key), str)]
    user_paths = {key: f"../{origin[key]}".removeprefix(f"../{base}/") for key in keys}
    return origin if "repo" in origin else {**origin, **user_paths}
