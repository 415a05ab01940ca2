"""Misspelt kinds, groups and versions, ours and KMM's: an error, since nobody else would read them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache

from krmfn import Item, ResourceList, Result, error, info
from krmfn.resource import ref

from . import metadata_checks
from .function_config import FunctionConfig
from .generated import Generated
from .kinds import HUB_GROUP, MODULE_GROUP, OURS, SEED
from .suspects import GUIDE_GROUP, PTEMPLATE_GROUP, near, suspects

Kinds = Collection[tuple[str, str]]
"""(group, kind) pairs."""

_V1, _KMM = ("v1alpha1",), ("v1beta1",)
KNOWN: dict[str, dict[str, tuple[str, ...]]] = {
    OURS: {"DeviceConfig": _V1, "RenderDeviceConfigs": _V1},
    SEED: {"DeviceConfig": _V1},
    PTEMPLATE_GROUP: {"Ptemplate": _V1},
    MODULE_GROUP: {
        "Module": _KMM,
        "PreflightValidation": ("v1beta1", "v1beta2"),
        **dict.fromkeys(("NodeModulesConfig", "ModuleImagesConfig", "ModuleBuildSignConfig", "BootModuleConfig"), _KMM),
    },
    HUB_GROUP: {"ManagedClusterModule": _KMM},
}
"""Group -> kind -> versions of what there is. Source: KMM v2.4.0 to main (2026-07-29), and the fork's CRDs."""

_SHARED = frozenset({SEED, MODULE_GROUP, HUB_GROUP})
"""Groups that may have other kinds, which are none of our business."""


def check(resources: ResourceList, handled: Kinds) -> Iterator[Result]:
    """Yield the errors about unknown kinds, groups, versions, annotations and labels in a list.

    `handled` are the pairs that are rendered in this run: their own schema judges their version.
    """
    items = suspects(resources)
    foreign = [item for item in items if (item.group, item.kind) not in handled]
    yield from kinds_exist(foreign)
    if any(kind == "DeviceConfig" for _, kind in handled):
        yield from vendors_are_named(foreign)
    for item in items:
        if (item.group, item.kind) in handled:
            _ = item.manifest  # read in full in any case; doing it first makes the looks at its metadata cheap
        yield from metadata_checks.check(item)


def check_run(resources: ResourceList, handled: Kinds, config: FunctionConfig) -> Iterator[Result]:
    """Yield the findings of `check`, and those about rules turned off in vain and about inputs without a mark."""
    yield from check(resources, handled)
    yield from metadata_checks.of_function_config(config, ref(resources.function_config or {}))
    yield from metadata_checks.inputs_are_marked(resources, handled)


def check_generated(objects: Iterable[Generated]) -> Iterator[Result]:
    """Yield errors about annotations and labels that configs pass on to their objects and that mean nothing there."""
    return metadata_checks.of_generated(objects)


def kinds_exist(items: list[Item]) -> Iterator[Result]:
    """KRM108: a kind, group or version that is ours or KMM's but for a letter is a mistake: nobody would read it."""
    for item in items:
        message = mistake(item.string("apiVersion"), item.kind)
        if message:
            yield item.located(error(message, rule="KRM108"))


def vendors_are_named(items: list[Item]) -> Iterator[Result]:
    """KRM107: a DeviceConfig of another vendor's group is not ours; it passes through as it is."""
    groups: dict[str, list[Item]] = {}
    for item in items:
        if item.kind == "DeviceConfig" and not mistake(item.string("apiVersion"), item.kind):
            groups.setdefault(item.group, []).append(item)
    for group, theirs in groups.items():
        others = f"; the same holds for {len(theirs) - 1:,} more" if len(theirs) > 1 else ""
        message = f"belongs to another vendor's group, {group}: nothing is made of it, and it stays as it is{others}"
        yield theirs[0].located(info(message, rule="KRM107"))


@lru_cache(maxsize=4096)
def mistake(api_version: str, kind: str) -> str:
    """Return what is wrong with a kind that is nearly ours or KMM's; "" when it exists or is none of our business."""
    group, slash, version = api_version.partition("/")
    if not slash:
        group, version = "", api_version
    kinds = KNOWN.get(group, {})
    if version in kinds.get(kind, ()) or (group, kind) == (GUIDE_GROUP, "Ptemplate"):
        return ""
    alike = [(g, k) for g, known in KNOWN.items() for k in known if near(kind, k)]
    if near(kind, "NodeInventory") and (not group or _near_group(group, OURS)):
        return (
            "this version does not read a NodeInventory; "
            "remove it and give the Node objects themselves, as `kubectl get nodes -o yaml` prints them"
        )
    if group in KNOWN and group not in _SHARED:
        return _no_such(api_version, kind, alike or [(group, k) for k in kinds])
    if not group or kind == "RenderDeviceConfigs" or any(_near_group(group, known) for known, _ in alike):
        return _no_such(api_version, kind, alike) if alike else ""
    return ""


def _no_such(api_version: str, kind: str, known: list[tuple[str, str]]) -> str:
    from difflib import get_close_matches

    names = [f"{group}/{version} {kind}" for group, kind in known for version in KNOWN[group][kind]]
    written = f"{api_version} {kind}"
    best = get_close_matches(written, names, 1, 0)[0]
    what = written if api_version else f"{kind} without an apiVersion"
    outcome = "the cluster refuses it" if known[0][0] in (MODULE_GROUP, HUB_GROUP) else "nothing is made of it"
    return f"there is no {what}, so {outcome}; did you mean {best}?"


def _near_group(group: str, known: str) -> bool:
    """Return True for a group that is a known one but for a letter, for its end, or for a part before it."""
    group = group.lower()
    part = known != SEED and (group.endswith(f".{known}") or known.endswith(f".{group}"))
    return part or near(group, known) or group.partition(".")[0] == known.partition(".")[0]
