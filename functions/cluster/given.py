"""Run the function on a list with what it is given beside its resources: functionConfigs, Profiles, settings."""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout

from krmfn import Field, Item, KrmfnError, Manifest, ResourceList, Result, error
from krmfn.resource import join
from krmfn.results import Rule, placed
from krmfn.typed import Any

from ..all_kinds import krmfn
from ..options import RunOptions
from ..paths import manifests
from ..paths.roots import within
from ..rendering.kinds import CONFIG, PROFILE
from ..run import note, run_of
from ..settings import Intent, Settings

_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_MERGED = ("defaults", "profiles", "overrides", "ignore", "annotations", "kmm", "exclusivity")
"""Settings that several functionConfigs may have together, each of their fields once."""


def apply(options: RunOptions, intent: Intent, path: str, resources: ResourceList) -> None:
    """Run the function on the list of a root, with its functionConfig and the options of the command line.

    A list of nothing but functionConfigs can be checked: each in a run of its own. What a build has generated is
    checked with the functionConfig that the kustomization called us with.
    Raises KrmfnError for what is no namespace, for several functionConfigs, for options that would have no effect on a
    build, and for an item whose manifest was changed in place: a bug, for commands only read.
    """
    fallback = os.environ.get("ARGOCD_APP_NAMESPACE") or ""  # what stands in Git wins over it
    for where, name in (("--namespace", options.flags.get("namespace")), ("ARGOCD_APP_NAMESPACE", fallback)):
        if name and not _NAMESPACE.fullmatch(name):  # it becomes part of labels and of other names
            raise KrmfnError(
                f"{where} is {name!r}; a namespace must have 1 to 63 lower case letters, digits and dashes, and must "
                "not begin or end with a dash"
            )
    note(resources, settings=Settings(intent, fallback, options.flags))
    if options.profiles_from:
        resources.report(_untrusted(options, resources))
    is_settled = run_of(resources).is_settled
    runs = [] if is_settled else _runs(options, intent, path, resources)
    own = [f"--{name}" for name in ("function-config" if options.function_config else "", *options.flags) if name]
    if is_settled and own:
        raise KrmfnError(
            f"{path} calls krmfn itself, with a functionConfig of its own, so {', '.join(own)} would have "
            "no effect on what is deployed: set it in that functionConfig"
        )
    with redirect_stdout(sys.stderr):
        for item, manifest in runs:
            note(resources, config_item=item)
            resources.function_config = manifest
            krmfn(resources)
        if not runs and not (is_settled and resources.failed and not resources.items):
            krmfn(resources)
            if is_settled:
                from ..kustomization import builds

                resources.report(builds.never_rendered(path, resources))
    for item in () if resources.failed else resources.items:
        if item.is_read and item.content.is_changed and not item.is_edited:
            raise KrmfnError(f"{item.ref} was changed in place")


def _runs(options: RunOptions, intent: Intent, path: str, resources: ResourceList) -> list[tuple[Item, Manifest]]:
    """Return the functionConfigs with which the function is to run, one after the other."""
    configs = configs_of(options) if options.function_config else resources.select(CONFIG[1], CONFIG[0])
    if len(configs) > 1 and options.function_config:
        note(resources, config_items=tuple(configs))
        return [(configs[0], joined(configs))]
    if len(configs) > 1 and not (intent.takes_settings_alone and len(configs) == len(resources.items)):
        found = placed(Result("", ref=item.ref, place=item.place) for item in configs)
        names = ", ".join(f"{one.ref} ({one.place.path})" if one.place else str(one.ref) for one in found)
        raise KrmfnError(
            f"{path} holds {len(configs)} functionConfigs: {names}; choose one with --function-config FILE"
        )
    return [(item, item.manifest) for item in configs]


def add(options: RunOptions, profiles: Sequence[str], resources: ResourceList, beside: Sequence[Item]) -> None:
    """Add the Profiles that a run is given beside its resources; a list that is rendered already has its own.

    One that the resources hold, or what is to come from `beside` them, is there already.
    """
    if (profiles or options.function_config) and not run_of(resources).is_settled:
        known = {_origin(item) for item in (*resources.items, *beside) if (item.group, item.kind) == PROFILE}
        theirs = {_origin(item): item for item in profiles_of(options, profiles)}
        resources.items += [item for origin, item in theirs.items() if origin not in known]


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


def _origin(item: Item) -> tuple[str, str, int]:
    """Return the name of a Profile, its file, without links, and its line there: a file named twice counts once."""
    place = item.place
    return item.name, os.path.realpath(place.path) if place else "", place.line if place else 0


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


def _untrusted(options: RunOptions, resources: ResourceList) -> Iterator[Result]:
    """Yield an error per Profile and functionConfig that no path of --profiles-from holds: they give rights.

    What a kustomization has krmfn called with may be patched, and is not among what it builds.
    """
    config = run_of(resources).config_item
    if config and run_of(resources).is_settled:
        message = (
            "a kustomization calls krmfn with this, and --profiles-from cannot tell where all of it is from; take the "
            "call out of the kustomization, and use `krmfn render`"
        )
        yield config.located(error(message, rule="KRM187", field=Field("kind", config.kind)))
    folders = [os.path.realpath(path) for path in (*options.profiles_from, *options.function_config)]
    where = ", ".join(options.profiles_from)
    for item in (item for group, kind in (PROFILE, CONFIG) for item in resources.select(kind, group)):
        path = item.place.path if item.place else ""
        if not path or not any(within(os.path.realpath(path), folder) for folder in folders):
            remedy = "move it there, or have its owners name this file"
            if not path:
                remedy = "kustomize may have patched this one: name its file with --function-config"
            message = f"a {item.kind} gives rights, and --profiles-from takes them from {where} alone; {remedy}"
            yield item.located(error(message, rule="KRM187", field=Field("kind", item.kind)))


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
