"""What a run is given beside its resources: functionConfigs, Profiles, and which files may hold these."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from krmfn.errors import KrmfnError
from krmfn.fieldpath import join
from krmfn.item import Item
from krmfn.resource import Manifest
from krmfn.resourcelist import ResourceList
from krmfn.results import Field, Result, error
from krmfn.rule import Rule
from krmfn.typed import Any

from ..options import RunOptions
from ..paths import manifests
from ..paths.roots import within
from ..rendering.kinds import CONFIG, PROFILE

_MERGED = ("defaults", "profiles", "overrides", "ignore", "annotations", "kmm", "exclusivity")
"""Settings that several functionConfigs may have together, each of their fields once."""


def configs_of(options: RunOptions) -> list[Item]:
    """Return the functionConfigs of --function-config. Raises KrmfnError for a file that holds none and no Profile."""
    items: list[Item] = []
    for path in options.function_config:
        held = manifests.read(path, root=options.root).items
        if not held:
            raise KrmfnError(f"{path} holds no resource; pass a file with one to --function-config")
        items += [item for item in held if (item.group, item.kind) != PROFILE]
    return items


def profiles_of(options: RunOptions, paths: Sequence[str]) -> list[Item]:
    """Return the Profiles in the files of --function-config, and below the paths of `profiles` in .krmfn.yaml."""
    items: list[Item] = []
    for path in (*options.function_config, *paths):
        held = manifests.read(path, root=options.root).items
        theirs = [item for item in held if (item.group, item.kind) == PROFILE]
        if path in paths and not theirs:
            raise KrmfnError(f".krmfn.yaml: profiles: {path} holds no Profile; correct the path, or remove it")
        items += theirs
    return items


def origin(item: Item) -> tuple[str, str]:
    """Return the name of a Profile and the file that it is in, without links: one that is named twice counts once."""
    return item.name, os.path.realpath(item.place.path) if item.place else ""


def joined(configs: Sequence[Item]) -> Manifest:
    """Return several functionConfigs as one. Raises KrmfnError for a ConfigMap, and for a setting in two of them."""
    spec: dict[str, Any] = {}
    givers: dict[tuple[str, ...], Item] = {}
    for item in configs:
        if (item.group, item.kind) != CONFIG:
            raise KrmfnError(f"{_named(item)} cannot be one of several functionConfigs; write a RenderDeviceConfigs")
        own = item.manifest.get("spec") or {}
        for name, value in own.items() if isinstance(own, dict) else ():
            if name == "operators" and isinstance(value, list) and isinstance(spec.get(name, value), list):
                spec[name] = [*spec.get(name, ()), *value]
                givers[name,] = item
                continue
            is_merged = name in _MERGED and isinstance(value, dict)
            for path in [(name, key) for key in value] if is_merged else [(name,)]:
                twin = next((known for known in givers if path in (known, known[:1]) or known == path[:1]), None)
                if twin:
                    raise KrmfnError(
                        f"{join(('spec', *path))} is in {_named(givers[twin])} and in {_named(item)}; set it once"
                    )
                givers[path] = item
            spec[name] = {**spec.get(name, {}), **value} if is_merged else value
    first = configs[0].manifest
    return {**first, "spec": spec}


def untrusted(options: RunOptions, resources: ResourceList) -> Iterator[Result]:
    """Yield an error per Profile and functionConfig that no path of --profiles-from holds: they give rights."""
    folders = [os.path.realpath(path) for path in (*options.profiles_from, *options.function_config)]
    for group, kind in (PROFILE, CONFIG):
        for item in resources.select(kind, group):
            path = item.place.path if item.place else ""
            if not path or not any(within(os.path.realpath(path), folder) for folder in folders):
                where = ", ".join(options.profiles_from)
                message = (
                    f"a {kind} gives rights, and --profiles-from takes them from {where} alone; move it there, or have "
                    "its owners name this file"
                )
                yield item.located(error(message, rule="KRM187", field=Field("kind", kind)))


def _named(item: Item) -> str:
    return f"{item.kind} {item.name}" + (f" ({item.place.path})" if item.place and item.place.path else "")


RULES = (
    Rule(
        "KRM187",
        "with --profiles-from, Profiles and functionConfigs must come from the files that it names, since they give "
        "rights",
        good="""\
# profiles-from: vendors
# vendors/profile.yaml
apiVersion: krmfn.dev/v1alpha1
kind: Profile
metadata: {name: gpu}
spec: {config: {moduleName: gpu, driverImage: registry.example.com/gpu}}
---
spec: {profile: gpu, moduleName: null, driverImage: null}
""",
        bad="""\
# profiles-from: vendors
# profile.yaml
apiVersion: krmfn.dev/v1alpha1
kind: Profile
metadata: {name: gpu}
spec: {config: {moduleName: gpu, driverImage: registry.example.com/gpu}}
---
spec: {profile: gpu, moduleName: null, driverImage: null}
""",
        remedy="Move the resource into a file that --profiles-from names, or name its file there.",
    ),
)
"""The rule about where Profiles come from."""
