"""Generated objects in the list that no config in it asks for: removed, kept or refused.

An owner that is not in the input means that somebody deleted it only where last time's output is kept beside it, as in
a kpt package. Everywhere else it means that the input is a part of all there is: `kustomize build | render -` of an
output whose DeviceConfigs kustomize has dropped, a rendered branch, a dump of a cluster. To remove such objects would
unload drivers that nobody wanted to unload.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from krmfn import Item, Manifest, ResourceList, Result, error, warning
from krmfn.item import PATH
from krmfn.ownership import OWNER, Id, Scope, mark_of
from krmfn.resource import ref
from krmfn.results import Field

from .function_config import FunctionConfig
from .kinds import MODULE_GROUP

_LOOKING = ("check", "diff", "resolve")
"""Commands that only look: what is left over is judged as it stands."""
_SHOWN = 5
_KUSTOMIZE = "kustomize.config.k8s.io/id"
WAYS_OUT = (
    "or say what is meant: --prune always (in the functionConfig `prune: always`) removes it, "
    "--prune never (`prune: never`) keeps it as it stands"
)


class LeftOvers(NamedTuple):
    """The generated objects whose owner is not in the list and that no config asks for, by what becomes of them."""

    removed: list[Item]
    kept: list[Item]
    refused: list[Item]


def sort_out(resources: ResourceList, scope: Scope, config: FunctionConfig, wanted: Collection[Id]) -> LeftOvers:
    """Return the left-over objects by what becomes of each: the value of `prune`, the command and kpt decide."""
    left = LeftOvers([], [], [])
    items = [item for item in resources.left_over(scope, config.namespace) if item.ref.id not in wanted]
    packages = _kpt_folders(resources) if items else []
    for item in items:
        if config.prune == "always":
            left.removed.append(item)
        elif config.prune == "never":
            left.kept.append(item)
        elif _path(item) and any(_path(item).startswith(folder) for folder in packages):
            left.removed.append(item)
        elif resources.options.get("command") in _LOOKING:
            left.kept.append(item)
        else:
            left.refused.append(item)
    return left


def findings(left: LeftOvers, config: FunctionConfig) -> Iterator[Result]:
    """KRM116: a generated object's owner is in the input; one whose owner is not is never removed on a guess."""
    for item in left.refused:
        owner = _owner(item)
        message = f"was generated from {owner}, which is not in the input, and is not removed on a guess: "
        yield item.located(error(f"{message}give {owner}, too, {WAYS_OUT}", rule="KRM116"))
    if left.kept and config.prune == "auto":
        count, shown = len(left.kept), ", ".join(str(item.ref) for item in left.kept[:_SHOWN])
        more = f" and {count - _SHOWN:,} more" if count > _SHOWN else ""
        owners = sorted({_owner(item) for item in left.kept})
        some = ", ".join(owners[:_SHOWN]) + (f" and {len(owners) - _SHOWN:,} more" if len(owners) > _SHOWN else "")
        message = (
            f"the input has {count:,} generated object{'s' if count > 1 else ''} ({shown}{more}) without what "
            f"{'they were' if count > 1 else 'it was'} generated from ({some}): judged as if written by hand"
        )
        yield left.kept[0].located(warning(message, rule="KRM116"))


def strays(resources: ResourceList, scope: Scope, wanted: Collection[Id]) -> Iterator[Result]:
    """KRM117: an object carries its own mark: a copy of one under another name is neither updated nor removed."""
    copies = [item for item in resources.marked() if item.ref.id not in wanted and _is_stray(item, scope)]
    if copies:
        shown = ", ".join(str(item.ref) for item in copies[:_SHOWN])
        more = f" and {len(copies) - _SHOWN:,} more" if len(copies) > _SHOWN else ""
        message = (
            f"on {shown}{more} this is not the mark that the function wrote for the object, so it is a copy: it stays "
            "as it is, and nobody updates or removes it; take the annotation off"
        )
        yield copies[0].located(warning(message, rule="KRM117", field=Field(f"metadata.annotations[{OWNER}]")))


def handwritten(
    resources: ResourceList, scope: Scope, config: FunctionConfig, left: LeftOvers, wanted: Collection[Id]
) -> list[Item]:
    """Return the KMM Modules that this run neither generates nor removes.

    They are written by hand, copied or left over; with `prune: never` also generated ones that no config asks for.
    """
    gone = {id(item) for item in left.removed}
    left_over = {id(item) for item in (*left.kept, *left.refused)}

    def is_ours(item: Item) -> bool:
        if id(item) in gone:
            return True
        if id(item) in left_over or not item.mentions(OWNER):
            return False
        mark = mark_of(item.annotations)
        is_pruned = config.prune != "never" and scope.made(item.ref, item.annotations)
        return scope.names(mark) and (item.ref.id in wanted or is_pruned)

    return [item for item in resources.select("Module", MODULE_GROUP) if not is_ours(item)]


def ids(manifests: Collection[Manifest]) -> frozenset[Id]:
    """Return the ids of manifests."""
    return frozenset(ref(manifest).id for manifest in manifests)


def _is_stray(item: Item, scope: Scope) -> bool:
    mark = mark_of(item.annotations)
    return mark is None or (scope.names(mark) and not scope.made(item.ref, item.annotations))


def _owner(item: Item) -> str:
    mark = mark_of(item.annotations)
    _, kind, namespace, name = mark.owner if mark else ("", "", "", "")
    return f"{kind} {namespace + '/' if namespace else ''}{name}"


def _kpt_folders(resources: ResourceList) -> list[str]:
    """Return the folders of kpt packages with a final slash ("" for the top); [] for a list from kustomize."""
    if any(item.mentions(_KUSTOMIZE) and _KUSTOMIZE in item.annotations for item in resources.items):
        return []
    files = [_path(item) for item in resources.select("Kptfile", "kpt.dev")]
    return [path[: path.rindex("/") + 1] if "/" in path else "" for path in files if path]


def _path(item: Item) -> str:
    """Return the item's file, from kpt's annotation or as it was read; "" for an item of a stream."""
    place = item.place
    path = item.annotations.get(PATH) or (place.path if place and place.path != "stdin" else "")
    return path.replace("\\", "/")
