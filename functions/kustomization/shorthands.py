"""What changes fields of resources without a patch: a kustomization's namespace, labels, images, replacements."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from krmfn.resource import Manifest, Place
from krmfn.typed import Any

from ..kmm.lookup import MISSING, at, table
from .graph import Kustomization
from .mentions import entries
from .values import Parts, is_for

_STEP = re.compile(r"\[([^\[\]=]+)=([^\[\]]*)\]|((?:\\.|[^.\[])+)")
"""A step of a replacement's path: `[name=gpu]`, or a key in which a backslash keeps a dot."""
_HASH = re.compile(r"-[a-z0-9]{10}\Z")


def places(one: Kustomization, parts: Parts, manifest: Manifest, names: Collection[str]) -> Iterator[Place | None]:
    """Yield where the kustomization gives a field of a resource the value that it has in the end."""
    value = at(manifest, parts)
    if one.item:
        paths = (*_replaced(one.manifest, parts, manifest, names), *_named(one.manifest, parts, value))
        yield from map(one.item.field_place, paths)


def generator(one: Kustomization, kind: str, names: Collection[str]) -> Place | None:
    """Return where the kustomization generates a ConfigMap or Secret; behind its name it may have a hash."""
    field = {"ConfigMap": "configMapGenerator", "Secret": "secretGenerator"}.get(kind, "")
    for path, entry in entries(one.manifest, field):
        name = str(entry.get("name"))
        if one.item and any(known == name or _HASH.sub("", known) == name for known in names):
            return one.item.field_place(path)
    return None


def _named(kustomization: Manifest, parts: Parts, value: Any) -> Iterator[str]:
    """Yield the path of the namespace, label, annotation or image that the value is."""
    if parts == ("metadata", "namespace") and kustomization.get("namespace") == value:
        yield "namespace"
    if parts[0] == "metadata" and len(parts) == 3:
        is_label = parts[1] == "labels"
        field = "commonLabels" if is_label else "commonAnnotations"
        groups = entries(kustomization, "labels") if is_label else ()
        pairs = ((f"{path}.pairs", table(entry, "pairs")) for path, entry in groups)
        for path, held in ((field, table(kustomization, field)), *pairs):
            if held.get(parts[2], MISSING) == value:
                yield f"{path}[{parts[2]}]"
    for path, entry in entries(kustomization, "images"):
        new = [entry[key] for key in ("newName", "newTag", "digest") if isinstance(entry.get(key), str) and entry[key]]
        name = entry.get("newName") or entry.get("name")
        if isinstance(value, str) and new and value.startswith(str(name)) and all(part in value for part in new):
            yield path


def _replaced(kustomization: Manifest, parts: Parts, manifest: Manifest, names: Collection[str]) -> Iterator[str]:
    """Yield the path of each replacement's target that is the field, or holds it."""
    for path, replacement in entries(kustomization, "replacements"):
        for inner, target in entries(replacement, "targets"):
            if is_for(target.get("select") or {}, manifest, names):
                for number, text in enumerate(target.get("fieldPaths") or ()):
                    way = _way(str(text), manifest)
                    if way and parts[: len(way)] == way:
                        yield f"{path}.{inner}.fieldPaths[{number}]"


def _way(path: str, manifest: Manifest) -> Parts:
    """Return the parts of a replacement's path in a resource; () when it leads nowhere."""
    way: list[str] = []
    value: Any = manifest
    for key, wanted, step in _STEP.findall(path):
        part = step.replace("\\.", ".")
        if key:
            entries = enumerate(value if isinstance(value, list) else ())
            part = next((str(n) for n, one in entries if isinstance(one, dict) and one.get(key) == wanted), "")
        value = at(value, (part,))
        if value is MISSING:
            return ()
        way.append(part)
    return tuple(way)
