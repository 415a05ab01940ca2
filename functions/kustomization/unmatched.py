"""Patches whose target nothing can match: kustomize leaves them out of the build and says nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from krmfn.item import Item
from krmfn.printing import did_you_mean
from krmfn.resource import Manifest
from krmfn.results import Result, warning

from ..rendering.kinds import PROFILE
from . import untouched, written
from .graph import Graph, Kustomization
from .mentions import entries

_FIELDS = untouched.FIELDS - {"components", "configMapGenerator", "secretGenerator"} | {"commonAnnotations"}
"""Fields that bring no resource but those of files, and that put something before and behind names at most."""
_LITERAL = re.compile(r"[A-Za-z0-9_-]+")
_OF_PROFILE = (
    "move the Profile's file here or into a base, and list it there under `resources` (what only .krmfn.yaml names is "
    "read after the build), or correct its target"
)
_RENAMING = re.compile(rb"/kind|/metadata(?!/(?:labels|annotations)/)")


def findings(graph: Graph, folder: str) -> Iterator[Result]:
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
