"""Resources that a kustomization changes after it has called us: what was generated from them does not follow."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from krmfn.item import Item
from krmfn.ownership import Id, Mark, mark_of
from krmfn.resource import Manifest, annotations_of, join, same
from krmfn.resourcelist import ResourceList
from krmfn.results import Field, Result, error
from krmfn.typed import Any

from ..rendering.kinds import owning
from ..run import Transformed, run_of
from .confinement import Seen
from .written import anywhere

_HASH = re.compile(r"-[a-z0-9]{10}$")
_PREFIX = "krmfn.dev/"
"""Of the metadata only annotations with this prefix say how something is generated."""

Path = tuple[str | int, ...]


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
    yield from _removed_later(marked, {item.ref.id for item in owning(resources.items)}, seen)


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
    return {item.ref.id: item for item in owning(items)}


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
