"""Fields of a resource as it is in the end, looked up in what it was made from, and in what gives them their values.

That is a patch, or a kustomization's namespace, labels, images, replacements.
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

from ..kmm.lookup import MISSING, at, table
from ..paths import files
from .documents import documents
from .graph import Kustomization
from .mentions import entries
from .references import Reference

Parts = tuple[str, ...]
"""A field's path in parts; an index of a list as its digits."""

_KEYS = ("name", "mountPath", "containerPort", "regexp", "literal", "key", "topologyKey")
"""What entries of lists are known by, where a patch or kustomize itself may move them."""
_STEP = re.compile(r"\[([^\[\]=]+)=([^\[\]]*)\]|((?:\\.|[^.\[])+)")
"""A step of a replacement's path: `[name=gpu]`, or a key in which a backslash keeps a dot."""
_HASH = re.compile(r"-[a-z0-9]{10}\Z")


def moved(parts: Parts, whole: Any, other: Any) -> Parts:
    """Return the path that leads to the same field in `other` as `parts` do in `whole`.

    An entry of a list is known by its name or its like; one that `other` lacks gets an index past the end.
    """
    way: list[str] = []
    for part in parts:
        if isinstance(whole, list) and isinstance(other, list) and is_index(part) and int(part) < len(whole):
            way.append(_index(whole[int(part)], int(part), other))
        else:
            way.append(part)
        whole, other = at(whole, (part,)), at(other, (way[-1],))
    return tuple(way)


def _index(entry: Any, index: int, entries: list[Any]) -> str:
    key = next((key for key in _KEYS if isinstance(entry, dict) and key in entry), None)
    for number, one in enumerate(entries):
        if one[key] == entry[key] if key and isinstance(one, dict) and key in one else key is None and same(one, entry):
            return str(number)
    return str(index if key is None and isinstance(entry, (dict, list)) else len(entries))


def same_at(path: str, whole: Manifest, other: Item) -> str | None:
    """Return the path at which `other` has what `whole` has at `path`, or lacks it, too; None when it differs."""
    way = moved(split(path), whole, other.manifest)
    value, there = at(whole, split(path)), at(other.manifest, way)
    if value is MISSING or there is MISSING:
        return path if value is there else None
    return join(way) if same(value, there) else None


def is_for(target: Manifest, manifest: Manifest, names: Collection[str]) -> bool:
    """Return True when a patch may be for the resource; selectors by labels and annotations are not evaluated."""
    return _fits(target.get("kind"), [manifest.get("kind", "")]) and _fits(target.get("name"), names)


def _fits(pattern: Any, words: Iterable[str]) -> bool:
    if not pattern:
        return True
    plain = str(pattern).replace("\\-", "-")
    return plain in words if plain.replace("-", "").isalnum() else any(_matches(str(pattern), word) for word in words)


@lru_cache(maxsize=1024)
def _matches(pattern: str, word: str) -> bool:
    """Return True when a regexp is all of a word, as kustomize says, or when it cannot be told.

    A stranger's regexp runs in RE2 only, with bounds: Python's engine may take for ever.
    """
    import re2  # type: ignore[import-untyped]  # late: few selectors are regexps

    options = re2.Options()
    options.log_errors, options.max_mem = False, 256 << 10
    try:
        long = len(pattern) + len(word) > 1000  # no name is
        return long or re2.search(f"^(?:{pattern})$", word, options) is not None
    except (re2.error, UnicodeError):
        return True


Documents = Callable[[Reference], list[Item]]
"""Returns the documents of a patch (see `documents_of`)."""
Change = tuple[str, Place | None]
"""The name of a kustomization that changes a field of a resource, and where the field has its value.

None when the field, or what holds it, may be changed to something else there.
"""


def changes(
    path: str, manifest: Manifest, names: Collection[str], built: Iterable[Kustomization], read: Documents
) -> Iterator[Change]:
    """Yield what changes a field of a resource, or what holds it; the outermost kustomization and the last patch first.

    `manifest` is the resource as it is in the end, `names` what it is called on the way, `built` the kustomizations
    from the outermost down; `read` returns the documents of a patch (see `documents_of`).
    """
    parts = split(path)
    for one in built:
        for reference in reversed(one.references):
            if reference.is_patch:
                target = table(at(one.manifest, split(reference.field)[:2]), "target")
                for patch in read(reference):
                    for place in _by_patch(patch, target, parts, manifest, names):
                        yield one.name, place if reference.has_lines or not place else reference.place
        ways = (*_replaced(one.manifest, parts, manifest, names), *_named(one.manifest, parts, at(manifest, parts)))
        yield from ((one.name, one.item.field_place(way)) for way in ways if one.item)


def documents_of(reference: Reference) -> list[Item]:
    """Return the documents of a patch; [] when it cannot be read any more."""
    with suppress(KrmfnError):
        if reference.kind == "inline":
            return list(documents(reference.place.path, reference.data, reference.first, reference.column))
        return list(documents(reference.name, files.read_regular(reference.real, reference.name)))
    return []


def _by_patch(
    patch: Item, target: Manifest, parts: Parts, manifest: Manifest, names: Collection[str]
) -> Iterator[Place | None]:
    from krmfn.yamltext import values

    operations = patch.manifest or values.build(patch.content.composed)
    if not isinstance(operations, list):  # it looks like its resource
        own = {"kind": re.escape(patch.kind), "name": re.escape(patch.name)}
        if is_for(target or own, manifest, names):
            yield from _by_merge(patch, parts, manifest)
    elif target and is_for(target, manifest, names):
        for number, operation in reversed([*enumerate(operations)]):
            yield from _by_operation(patch, number, operation, parts, manifest)


def _by_merge(patch: Item, parts: Parts, manifest: Manifest) -> Iterator[Place | None]:
    value, way = at(manifest, parts), moved(parts, manifest, patch.manifest)
    there = at(patch.manifest, way)
    if there is not MISSING and (same(there, value) if value is not MISSING else there is None):
        yield patch.field_place(join(way))
    elif there is not MISSING or "$patch" in json.dumps(patch.manifest):
        yield None


def _by_operation(patch: Item, number: int, operation: Any, parts: Parts, manifest: Manifest) -> Iterator[Place | None]:
    if not isinstance(operation, dict) or operation.get("op") == "test":
        return
    pointer = tuple(part.replace("~1", "/").replace("~0", "~") for part in str(operation.get("path")).split("/")[1:])
    if any(mine not in (theirs, "-") for mine, theirs in zip(pointer, parts, strict=False)):
        return
    parts = max(parts, pointer, key=len)  # it may be about a part of the field
    value, rest = at(manifest, parts), parts[len(pointer) :]
    if operation.get("op") == "remove":
        yield patch.field_place(f"[{number}]") if value is MISSING else None
    else:
        there = at(operation.get("value", MISSING), rest)
        is_it = there is not MISSING and value is not MISSING and same(there, value)
        yield patch.field_place(join((number, "value", *rest))) if is_it else None


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
