"""What kustomize does and says nothing of: patches that it skips, and resources that it changes after it has called us.

A patch whose target nothing can match is left out of the build; what was generated from a resource does not follow it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from krmfn.item import Item
from krmfn.ownership import Id, Mark, mark_of
from krmfn.printing import did_you_mean
from krmfn.resource import Manifest, annotations_of, join, same
from krmfn.resourcelist import ResourceList
from krmfn.results import Field, Result, error, warning
from krmfn.typed import Any

from ..rendering.kinds import PROFILE, owners_among
from ..run import Transformed, run_of
from . import tree, written
from .confinement import Seen
from .graph import Graph, Kustomization
from .mentions import entries
from .written import anywhere

_FIELDS = tree.FIELDS - {"components", "configMapGenerator", "secretGenerator"} | {"commonAnnotations"}
"""Fields that bring no resource but those of files, and that put something before and behind names at most."""
_LITERAL = re.compile(r"[A-Za-z0-9_-]+")
_OF_PROFILE = (
    "move the Profile's file here or into a base, and list it there under `resources` (what only .krmfn.yaml names is "
    "read after the build), or correct its target"
)
_RENAMING = re.compile(rb"/kind|/metadata(?!/(?:labels|annotations)/)")
_HASH = re.compile(r"-[a-z0-9]{10}$")
_PREFIX = "krmfn.dev/"
"""Of the metadata only annotations with this prefix say how something is generated."""

Path = tuple[str | int, ...]


def unmatched(graph: Graph, folder: str) -> Iterator[Result]:
    """Yield a warning for each patch of a build whose target surely matches nothing; a regexp may match anything."""
    for one in graph.below(folder):
        targets = [(path, entry["target"]) for path, entry in entries(one.manifest, "patches") if entry.get("target")]
        below = graph.below(one.folder) if targets else []
        held = [graph.resources(file) for part in below for file in written.resources(part)]
        if not one.item or not all(held) or not all(_is_closed(graph, part) for part in below):
            continue
        is_renamed = any(part.manifest.get(key) for part in below for key in ("namePrefix", "nameSuffix"))
        for path, target in targets:
            if not any(_may_match(target, item, is_renamed) for items in held for item in items):
                what = " ".join(str(target[key]) for key in ("kind", "name") if target.get(key))
                names = [item.name for items in held for item in items if item.kind == target.get("kind", item.kind)]
                remedy = _OF_PROFILE if target.get("kind") == PROFILE[1] else "correct its target"
                hint = did_you_mean(str(target.get("name", "")), names, remedy)
                message = f"nothing that is listed here is a {what}, and kustomize skips the patch{hint}"
                yield warning(message, rule="KRM518", place=one.item.field_place(f"{path}.target"))


def _is_closed(graph: Graph, one: Kustomization) -> bool:
    """Return True when all resources of a kustomization are in files, and none gets another kind or name."""
    patches = [reference for reference in one.references if reference.is_patch]
    texts = [graph.texts.get(patch.real) or patch.text.encode(errors="replace") for patch in patches]
    is_known = all(reference.kind in ("file", "folder", "inline") for reference in one.references)
    is_known = is_known and not one.is_component and one.manifest.keys() <= _FIELDS
    has_options = any(entry.get("options") for _, entry in entries(one.manifest, "patches"))
    return is_known and not has_options and not any(map(_RENAMING.search, texts))


def _may_match(target: Manifest, item: Item, is_renamed: bool) -> bool:
    """Return True unless kind or name of a target is another one; where names get a prefix, the item's is in it."""
    kind, name = (str(target.get(key) or ".") for key in ("kind", "name"))
    is_kind = kind == item.kind or not _LITERAL.fullmatch(kind)
    is_name = item.name in name if is_renamed else item.name == name
    return is_kind and (is_name or not _LITERAL.fullmatch(name))


def changed_later(calls: Sequence[Seen], resources: ResourceList) -> Iterator[Result]:
    """Yield an error for each resource that is not what the last call saw that generated something from it.

    Names in it do not count: kustomize gives references their prefixes, suffixes and hashes after all functions, in
    what was generated as well.
    """
    marked = [(item, mark) for item in resources.marked() if (mark := mark_of(item.annotations))]
    functions = {mark.owner: mark.function for _, mark in marked}
    functions |= {anywhere(owner): function for owner, function in functions.items()}
    seen = {function: _seen(calls, function) for function in set(functions.values())}
    for item in resources.items if seen else ():
        function = functions.get(item.ref.id)
        before = seen[function].get(item.ref.id) if function else None
        path = before and _changed(_meaning(before), _meaning(item), (), run_of(resources).transformed)
        if path:
            message = (
                "is changed after krmfn was called, so the objects generated from it are outdated; call krmfn in "
                "the outermost kustomization"
            )
            yield item.located(error(message, rule="KRM515", field=Field(join(path))))
    yield from _removed_later(marked, {item.ref.id for item in owners_among(resources.items)}, seen)


def _removed_later(
    marked: Sequence[tuple[Item, Mark]], owners: set[Id], seen: Mapping[str, Mapping[Id, Item]]
) -> Iterator[Result]:
    """Yield an error for each resource that is gone, at the first object that was generated from it.

    When one of its kind is there that nothing was generated from, it may only have got another name: that is KRM514.
    """
    known = {one for _, mark in marked for one in (mark.owner, anywhere(mark.owner))}
    renamed = {owner[:2] for owner in owners - known}
    gone: dict[Id, Item] = {}
    for item, mark in marked:
        ids = {mark.owner, anywhere(mark.owner)}
        if not ids.isdisjoint(seen[mark.function]) and ids.isdisjoint(owners) and mark.owner[:2] not in renamed:
            gone.setdefault(mark.owner, item)
    for (_, kind, namespace, name), item in gone.items():
        message = (
            f"is generated from {kind} {namespace}/{name}, which is removed after krmfn was called; call "
            f"krmfn in the outermost kustomization"
        )
        yield item.located(error(message, rule="KRM515"))


def _seen(calls: Sequence[Seen], function: str) -> dict[Id, Item]:
    """Return the resources as a function was shown them last, by itself or as a part of the program."""
    texts = [call.text for call in calls if call.program in ("krmfn", function)]
    items = [item for text in texts for item in ResourceList.parse(text).items]
    return {item.ref.id: item for item in owners_among(items)}


def _meaning(item: Item) -> Manifest:
    """Return what can change what is generated from a resource."""
    ours = {key: value for key, value in annotations_of(item.manifest).items() if key.startswith(_PREFIX)}
    return {**item.manifest, "metadata": {"annotations": ours}}


def _changed(old: Any, new: Any, path: Path, transformed: Transformed) -> Path:
    """Return the path of the first field that has another value, names aside; () when there is none."""
    if isinstance(old, dict) and isinstance(new, dict):
        inner = [(key, old.get(key), new.get(key)) for key in {**old, **new}]
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        inner = list(zip(range(len(old)), old, new, strict=True))
    else:
        return () if same(old, new) or _is_renamed(old, new, transformed) else path
    found = (_changed(one, other, (*path, key), transformed) for key, one, other in inner)
    return next(filter(None, found), ())


def _is_renamed(old: Any, new: Any, transformed: Transformed) -> bool:
    """Return True when a name is the other one with what kustomize puts before and behind names."""
    if not (isinstance(old, str) and isinstance(new, str) and old and old in new):
        return False
    before, behind = new.split(old, 1)
    return _is_made_of(before, transformed.prefixes) and _is_made_of(_HASH.sub("", behind), transformed.suffixes)


def _is_made_of(text: str, parts: Collection[str]) -> bool:
    """Return True when a text is some of the parts, one behind the other."""
    return not text or any(_is_made_of(text.removeprefix(part), parts) for part in parts if text.startswith(part))
