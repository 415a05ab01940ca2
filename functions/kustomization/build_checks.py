"""Report what kustomize does silently: it skips patches, and changes resources after it has called our functions.

A patch whose target matches nothing has no effect. What was generated from a resource does not follow later changes.
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

from ..grouping import grouped
from ..rendering.kinds import PROFILE, owners_among
from ..run import Transformed, run_of
from . import provenance, tree
from .confinement import Input
from .graph import Graph, Kustomization
from .mentions import entries
from .provenance import without_namespace

_FIELDS = tree.FIELDS - {"components", "configMapGenerator", "secretGenerator"} | {"commonAnnotations"}
"""Fields that add no resources but those of files, and change names by a prefix or suffix at most."""
_LITERAL = re.compile(r"[A-Za-z0-9_-]+")
_OF_PROFILE = (
    "move the Profile's file here or into a base, and list it there under `resources` (what only .krmfn.yaml names is "
    "read after the build), or correct its target"
)
_RENAMING = re.compile(rb"/kind|/metadata(?!/(?:labels|annotations)/)")
_HASH = re.compile(r"-[a-z0-9]{10}$")
_PREFIX = "krmfn.dev/"
"""The prefix of the annotations that change what is generated; other metadata do not."""

Path = tuple[str | int, ...]
_HINTS = 50
"""For so many patches of a kustomization a similar name is looked for: each look takes up to 1,000 comparisons."""


def unmatched_patches(graph: Graph, folder: str) -> Iterator[Result]:
    """Yield a warning for each patch of a build whose target surely matches nothing; a regexp may match anything."""
    for kustomization in graph.below(folder):
        patches = entries(kustomization.manifest, "patches")
        targets = [(path, patch["target"]) for path, patch in patches if patch.get("target")]
        bases = graph.below(kustomization.folder) if targets else []
        lists = [graph.resources(file) for base in bases for file in provenance.resource_files(base)]
        if not kustomization.item or not all(lists) or not all(_is_closed(graph, base) for base in bases):
            continue
        items = [item for resources in lists for item in resources]
        is_renamed = any(base.manifest.get(key) for base in bases for key in ("namePrefix", "nameSuffix"))
        names_by_kind = grouped(pair for item in items for pair in ((item.kind, item.name), ("", item.name)))
        names = {kind: frozenset(group) for kind, group in names_by_kind.items()}
        unmatched = ((path, target) for path, target in targets if not _may_match(target, names, is_renamed))
        for number, (path, target) in enumerate(unmatched):
            noun = " ".join(str(target[key]) for key in ("kind", "name") if target.get(key))
            remedy = _OF_PROFILE if target.get("kind") == PROFILE[1] else "correct its target"
            known = names.get(target.get("kind", ""), frozenset()) if number < _HINTS else ()
            hint = did_you_mean(str(target.get("name", "")), known, remedy)
            message = f"nothing that is listed here is a {noun}, and kustomize skips the patch"
            place = kustomization.item.field_place(f"{path}.target")
            yield warning(message, rule="KRM518", place=place, remedy=hint)


def _is_closed(graph: Graph, kustomization: Kustomization) -> bool:
    """Return True when all resources of a kustomization are in files, and none gets another kind or name."""
    patches = [reference for reference in kustomization.references if reference.is_patch]
    texts = [graph.texts.get(patch.real) or patch.text.encode(errors="replace") for patch in patches]
    is_known = all(reference.kind in ("file", "folder", "inline") for reference in kustomization.references)
    is_known = is_known and not kustomization.is_component and kustomization.manifest.keys() <= _FIELDS
    has_options = any(entry.get("options") for _, entry in entries(kustomization.manifest, "patches"))
    return is_known and not has_options and not any(map(_RENAMING.search, texts))


def _may_match(target: Manifest, names: Mapping[str, frozenset[str]], is_renamed: bool) -> bool:
    """Return True unless kind or name of a target differs from each item's, which may still get a prefix or suffix.

    `names` are those of the items by kinds; those of all are at "".
    """
    kind, name = (str(target.get(key) or ".") for key in ("kind", "name"))
    known = names.get(kind if _LITERAL.fullmatch(kind) else "", frozenset())
    if not known or not _LITERAL.fullmatch(name):
        return bool(known)
    if not is_renamed:
        return name in known
    ends = [(at, at + length) for length in {*map(len, known)} for at in range(len(name) - length + 1)]
    return any(name[start:end] in known for start, end in ends)


def later_changes(inputs: Sequence[Input], resources: ResourceList) -> Iterator[Result]:
    """Yield an error for each resource that was changed or removed after the last call that generated objects from it.

    Changed names do not count: after all functions kustomize adds prefixes, suffixes and hashes to references, also in
    generated objects.
    """
    marks = ((item, mark_of(item.annotations)) for item in resources.marked())
    marked = [(item, mark) for item, mark in marks if mark]
    functions = {mark.owner: mark.function for _, mark in marked}
    functions |= {without_namespace(owner): function for owner, function in functions.items()}
    owners = {function: _owners(inputs, function) for function in set(functions.values())}
    for item in resources.items if owners else ():
        function = functions.get(item.ref.id)
        before = owners[function].get(item.ref.id) if function else None
        path = before and _difference(_relevant_part(before), _relevant_part(item), (), run_of(resources).transformed)
        if path:
            message = "is changed after krmfn was called, so the objects generated from it are outdated"
            yield item.located(
                error(
                    message, rule="KRM515", field=Field(join(path)), remedy="call krmfn in the outermost kustomization"
                )
            )
    yield from _later_removals(marked, {item.ref.id for item in owners_among(resources.items)}, owners)


def _later_removals(
    marked: Sequence[tuple[Item, Mark]], current: set[Id], owners: Mapping[str, Mapping[Id, Item]]
) -> Iterator[Result]:
    """Yield an error for each of the `owners` of a function that is gone, at the first object generated from it.

    If there is a resource of its kind from which nothing was generated, it may only have been renamed; that is KRM514.
    """
    known = {id_ for _, mark in marked for id_ in (mark.owner, without_namespace(mark.owner))}
    renamed = {id_[:2] for id_ in current - known}
    products: dict[Id, Item] = {}
    for item, mark in marked:
        ids = {mark.owner, without_namespace(mark.owner)}
        if not ids.isdisjoint(owners[mark.function]) and ids.isdisjoint(current) and mark.owner[:2] not in renamed:
            products.setdefault(mark.owner, item)
    for (_, kind, namespace, name), item in products.items():
        message = f"is generated from {kind} {namespace}/{name}, which is removed after krmfn was called"
        yield item.located(error(message, rule="KRM515", remedy="call krmfn in the outermost kustomization"))


def _owners(inputs: Sequence[Input], function: str) -> dict[Id, Item]:
    """Return the resources in the last input of a function, called alone or as a part of krmfn, that it renders."""
    texts = [call.text for call in inputs if call.program in ("krmfn", function)]
    items = [item for text in texts for item in ResourceList.parse(text).items]
    return {item.ref.id: item for item in owners_among(items)}


def _relevant_part(item: Item) -> Manifest:
    """Return the part of a resource that can change what is generated from it."""
    ours = {key: value for key, value in annotations_of(item.manifest).items() if key.startswith(_PREFIX)}
    return {**item.manifest, "metadata": {"annotations": ours}}


def _difference(old: Any, new: Any, path: Path, transformed: Transformed) -> Path:
    """Return the path of the first field that has another value, names aside; () when there is none."""
    if isinstance(old, dict) and isinstance(new, dict):
        values = [(key, old.get(key), new.get(key)) for key in {**old, **new}]
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        values = list(zip(range(len(old)), old, new, strict=True))
    else:
        return () if same(old, new) or _is_renamed(old, new, transformed) else path
    paths = (_difference(before, after, (*path, key), transformed) for key, before, after in values)
    return next(filter(None, paths), ())


def _is_renamed(old: Any, new: Any, transformed: Transformed) -> bool:
    """Return True when the new name is the old one with prefixes, suffixes and a hash of kustomize's."""
    if not (isinstance(old, str) and isinstance(new, str) and old and old in new):
        return False
    prefix, suffix = new.split(old, 1)
    return _is_made_of(prefix, transformed.prefixes) and _is_made_of(_HASH.sub("", suffix), transformed.suffixes)


def _is_made_of(text: str, parts: Collection[str]) -> bool:
    """Return True when a text is a sequence of some of the parts; the work is that of each part at each place once."""
    ends = {0}
    for at in range(len(text)):
        if at in ends:
            ends.update(at + len(part) for part in parts if text.startswith(part, at))
    return len(text) in ends
