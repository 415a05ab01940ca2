"""Flux's ArtifactGenerator: which folder of the repository stands at a path of the ExternalArtifact that it makes.

Source: fluxcd/source-watcher, docs/spec/v1beta1/artifactgenerators.md: `copy` puts what a pattern of a source matches
below a path of the artifact; `DIR/**` is all that is in a folder.
"""

import posixpath
from collections.abc import Iterator, Sequence

from krmfn import Manifest

from ..kmm.lookup import table, tables, text
from .deployment import EngineObject, covers, normal_path

GROUP = "source.extensions.fluxcd.io"
KIND = "ExternalArtifact"
_ALL, _TARGET = "/**", "@artifact"


def source_of(item: EngineObject, name: str, path: str, objects: Sequence[EngineObject]) -> tuple[Manifest, str]:
    """Return the reference to the source, and the folder in it, of a path in the artifact that an object names.

    The folder is "" where it is not known: no generator of this artifact is here, or several folders are put together.
    """
    candidates: dict[tuple[int, str], Manifest] = {}
    namespace = text(table(item.manifest, "spec", "sourceRef"), "namespace") or item.ref.namespace
    for generator in objects:
        if (generator.ref.group, generator.ref.kind) != (GROUP, "ArtifactGenerator"):
            continue
        if generator.ref.namespace not in ("", namespace):
            continue
        spec = table(generator.manifest, "spec")
        references = {text(source, "alias"): source for _, source in tables(spec, "sources")}
        for _, artifact in tables(spec, "artifacts"):
            if text(artifact, "name") == name:
                for depth, alias, folder in _folders(artifact, path):
                    candidates[depth, folder] = references.get(alias, {})
    deepest = max((depth for depth, _ in candidates), default=0)
    best = {folder: reference for (depth, folder), reference in candidates.items() if depth == deepest}
    if len(best) != 1 or not next(iter(best)):
        return {}, ""
    ((folder, reference),) = best.items()
    return reference, folder


def _folders(artifact: Manifest, path: str) -> Iterator[tuple[int, str, str]]:
    """Yield how deep a copy of an artifact begins that gives a path, the alias of its source, and the folder in that.

    The folder is "" for what is put into the path itself, or by a pattern that is not a whole folder.
    """
    path = normal_path(path)
    for _, copy in tables(artifact, "copy"):
        target = normal_path(text(copy, "to").removeprefix(_TARGET))
        alias, _, pattern = text(copy, "from").removeprefix("@").partition("/")
        if covers(target, path):
            is_whole = pattern == _ALL[1:] or pattern.endswith(_ALL)
            inner = posixpath.join(normal_path(pattern.removesuffix(_ALL[1:])), posixpath.relpath(path, target))
            folder = normal_path(inner) if is_whole and "*" not in inner else ""
            yield (0 if target == "." else target.count("/") + 1), alias, folder
        elif covers(path, target):
            yield target.count("/") + 1, alias, ""
