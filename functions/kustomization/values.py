"""Look up the fields of a built resource in its source, and in the patches and transformers that set them.

Transformers are the namespace, labels, images and replacements of a kustomization.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from functools import lru_cache

from krmfn.errors import KrmfnError
from krmfn.item import Item
from krmfn.resource import Manifest, Place, is_index, join, same, split
from krmfn.typed import Any

from ..kmm.lookup import MISSING, at, table, text
from ..paths import files
from .documents import documents
from .graph import Kustomization
from .mentions import entries
from .references import Reference

Parts = tuple[str, ...]
"""The path of a field in parts; the index of a list entry as digits."""

_KEYS = ("name", "mountPath", "containerPort", "regexp", "literal", "key", "topologyKey")
"""The keys that identify an entry of a list when a patch, or kustomize itself, moves it."""
_STEP = re.compile(r"\[([^\[\]=]+)=([^\[\]]*)\]|((?:\\.|[^.\[])+)")
"""A step of a replacement's path: `[name=gpu]`, or a key in which a backslash escapes a dot."""
_HASH = re.compile(r"-[a-z0-9]{10}\Z")


def corresponding_path(parts: Parts, source: Any, target: Any) -> Parts:
    """Return the path of the field in `target` that corresponds to the one at `parts` in `source`.

    An entry of a list is identified by its name or a similar key; one that `target` lacks gets an index past the end.
    """
    steps: list[str] = []
    for part in parts:
        if isinstance(source, list) and isinstance(target, list) and is_index(part) and int(part) < len(source):
            steps.append(_index(source[int(part)], int(part), target))
        else:
            steps.append(part)
        source, target = at(source, (part,)), at(target, (steps[-1],))
    return tuple(steps)


def _index(entry: Any, index: int, entries: list[Any]) -> str:
    """Return the index of the entry of a list that corresponds to `entry`, which has the index `index` in another."""
    key = next((key for key in _KEYS if isinstance(entry, dict) and key in entry), None)
    matches = [same(item, entry) if key is None else at(item, (key,)) == entry[key] for item in entries]
    if True in matches:
        return str(matches.index(True))
    return str(index if key is None and isinstance(entry, (dict, list)) else len(entries))


def path_in_source(path: str, manifest: Manifest, source: Item) -> str | None:
    """Return the path at which `source` has the value of `manifest` at `path`, `path` if both lack it, else None."""
    parts = corresponding_path(split(path), manifest, source.manifest)
    value, source_value = at(manifest, split(path)), at(source.manifest, parts)
    if value is MISSING or source_value is MISSING:
        return path if value is source_value else None
    return join(parts) if same(value, source_value) else None


def is_for(target: Manifest, manifest: Manifest, names: Collection[str]) -> bool:
    """Return True when the target of a patch may match a resource; selectors by labels and annotations are ignored."""
    return _fits(target.get("kind"), [manifest.get("kind", "")]) and _fits(target.get("name"), names)


def _fits(pattern: Any, words: Iterable[str]) -> bool:
    if not pattern:
        return True
    plain = str(pattern).replace("\\-", "-")
    return plain in words if plain.replace("-", "").isalnum() else any(_matches(str(pattern), word) for word in words)


@lru_cache(maxsize=1024)
def _matches(pattern: str, word: str) -> bool:
    """Return True when a regexp matches a whole word, as kustomize matches it, or when that is not known.

    An untrusted regexp is only run by RE2, with limits: Python's engine may take for ever.
    """
    import re2  # type: ignore[import-untyped]  # late: few selectors are regexps

    options = re2.Options()
    options.log_errors, options.max_mem = False, 256 << 10
    try:
        is_long = len(pattern) + len(word) > 1000  # no name is as long
        return is_long or re2.search(f"^(?:{pattern})$", word, options) is not None
    except (re2.error, UnicodeError):
        return True


Documents = Callable[[Reference], list[Item]]
"""Returns the documents of a patch (see `documents_of`)."""
Change = tuple[str, Place | None]
"""The name of a kustomization that changes a field of a resource, and the place of the field's value.

The place is None when the kustomization may change the field, or a field above it, to another value.
"""


def changes(
    path: str, manifest: Manifest, names: Collection[str], kustomizations: Iterable[Kustomization], read: Documents
) -> Iterator[Change]:
    """Yield the changes of a field of a resource, or of a field above it, beginning with the last one.

    `manifest` is the built resource, `names` are those that it has during the build, `kustomizations` begin with the
    outermost one, and `read` returns the documents of a patch (see `documents_of`).
    """
    parts = split(path)
    for kustomization in kustomizations:
        for reference in reversed(kustomization.references):
            if reference.is_patch:
                target = table(at(kustomization.manifest, split(reference.field)[:2]), "target")
                for patch in read(reference):
                    for place in _patch_places(patch, target, parts, manifest, names):
                        yield kustomization.name, place if reference.has_lines or not place else reference.place
        if kustomization.item:
            fields = [*_replacements(kustomization.manifest, parts, manifest, names)]
            fields += _transformers(kustomization.manifest, parts, at(manifest, parts))
            yield from ((kustomization.name, kustomization.item.field_place(field)) for field in fields)


def documents_of(reference: Reference) -> list[Item]:
    """Return the documents of a patch; [] when it cannot be read any more."""
    with suppress(KrmfnError):
        if reference.kind == "inline":
            return list(documents(reference.place.path, reference.data, reference.first, reference.column))
        return list(documents(reference.name, files.read_regular(reference.real, reference.name)))
    return []


def _patch_places(
    patch: Item, target: Manifest, parts: Parts, manifest: Manifest, names: Collection[str]
) -> Iterator[Place | None]:
    """Yield the places where a document of a patch sets a field; None where it may set another value."""
    from krmfn.yamltext import values

    operations = patch.manifest or values.build(patch.content.composed)
    if not isinstance(operations, list):  # a strategic merge patch, which names its resource
        own_target = {"kind": re.escape(patch.kind), "name": re.escape(patch.name)}
        if is_for(target or own_target, manifest, names):
            value, path = at(manifest, parts), corresponding_path(parts, manifest, patch.manifest)
            new_value = at(patch.manifest, path)
            if new_value is not MISSING and (same(new_value, value) if value is not MISSING else new_value is None):
                yield patch.field_place(join(path))
            elif new_value is not MISSING or "$patch" in json.dumps(patch.manifest):
                yield None
    elif target and is_for(target, manifest, names):
        for number, operation in reversed([*enumerate(operations)]):
            yield from _json_places(patch, number, operation, parts, manifest)


def _json_places(patch: Item, number: int, operation: Any, parts: Parts, manifest: Manifest) -> Iterator[Place | None]:
    if not isinstance(operation, dict) or operation.get("op") == "test":
        return
    pointer = tuple(step.replace("~1", "/").replace("~0", "~") for step in str(operation.get("path")).split("/")[1:])
    if any(step not in (part, "-") for step, part in zip(pointer, parts, strict=False)):
        return
    parts = max(parts, pointer, key=len)  # the operation may be about a field inside of the field
    value, rest = at(manifest, parts), parts[len(pointer) :]
    if operation.get("op") == "remove":
        yield patch.field_place(f"[{number}]") if value is MISSING else None
    else:
        new_value = at(operation.get("value", MISSING), rest)
        is_same = new_value is not MISSING and value is not MISSING and same(new_value, value)
        yield patch.field_place(join((number, "value", *rest))) if is_same else None


def generator(kustomization: Kustomization, kind: str, names: Collection[str]) -> Place | None:
    """Return the place where a kustomization generates a ConfigMap or Secret, whose name may have got a hash."""
    field = {"ConfigMap": "configMapGenerator", "Secret": "secretGenerator"}.get(kind, "")
    for path, entry in entries(kustomization.manifest, field):
        name = str(entry.get("name"))
        if kustomization.item and any(known == name or _HASH.sub("", known) == name for known in names):
            return kustomization.item.field_place(path)
    return None


def _transformers(kustomization: Manifest, parts: Parts, value: Any) -> Iterator[str]:
    """Yield the path of each namespace, label, annotation or image of a kustomization that gives a field its value."""
    if parts == ("metadata", "namespace") and kustomization.get("namespace") == value:
        yield "namespace"
    if parts[0] == "metadata" and len(parts) == 3:
        is_label = parts[1] == "labels"
        field = "commonLabels" if is_label else "commonAnnotations"
        groups = entries(kustomization, "labels") if is_label else ()
        pairs = ((f"{path}.pairs", table(entry, "pairs")) for path, entry in groups)
        for path, labels in ((field, table(kustomization, field)), *pairs):
            if labels.get(parts[2], MISSING) == value:
                yield f"{path}[{parts[2]}]"
    for path, entry in entries(kustomization, "images") if isinstance(value, str) else ():
        texts = [text(entry, key) for key in ("newName", "newTag", "digest") if text(entry, key)]
        name = entry.get("newName") or entry.get("name")
        if texts and value.startswith(str(name)) and all(part in value for part in texts):
            yield path


def _replacements(kustomization: Manifest, parts: Parts, manifest: Manifest, names: Collection[str]) -> Iterator[str]:
    """Yield the path of each replacement's target that is the field, or a field above it."""
    for path, replacement in entries(kustomization, "replacements"):
        for inner, target in entries(replacement, "targets"):
            if is_for(target.get("select") or {}, manifest, names):
                for number, field_path in enumerate(target.get("fieldPaths") or ()):
                    prefix = _field_parts(str(field_path), manifest)
                    if prefix and parts[: len(prefix)] == prefix:
                        yield f"{path}.{inner}.fieldPaths[{number}]"


def _field_parts(path: str, manifest: Manifest) -> Parts:
    """Return the parts of a replacement's path in a resource; () when the resource has no such field."""
    steps: list[str] = []
    value: Any = manifest
    for key, expected, step in _STEP.findall(path):
        part = step.replace("\\.", ".")
        if key:
            entries = enumerate(value if isinstance(value, list) else ())
            part = next((str(n) for n, entry in entries if isinstance(entry, dict) and entry.get(key) == expected), "")
        value = at(value, (part,))
        if value is MISSING:
            return ()
        steps.append(part)
    return tuple(steps)
