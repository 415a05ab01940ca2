"""Runs of the function on the list of a root, with its functionConfig, Profiles and settings."""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout

from krmfn import Field, Item, KrmfnError, Manifest, ResourceList, Result, error
from krmfn.resource import join
from krmfn.typed import Any

from .. import oracles
from ..all_kinds import krmfn
from ..options import RunOptions
from ..paths import manifests
from ..paths.roots import within
from ..rendering.kinds import CONFIG, PROFILE
from ..rule import Rule
from ..run import note, run_of
from ..settings import Intent, Settings

_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_MERGED = ("defaults", "profiles", "overrides", "ignore", "annotations", "kmm", "exclusivity")
"""Settings that several functionConfigs may share: each of them sets other fields."""


def apply(options: RunOptions, intent: Intent, path: str, resources: ResourceList) -> None:
    """Run the function on the list of a root, with its functionConfig and the options of the command line.

    On a list of only functionConfigs it runs once with each, to check them. A list that kustomize has built with a call
    of the function is checked with the functionConfig of that call.
    Raises KrmfnError for an invalid namespace, several functionConfigs, options without an effect on such a build, and
    an item whose manifest was changed in place, which is a bug: commands only read.
    """
    fallback = os.environ.get("ARGOCD_APP_NAMESPACE") or ""  # the functionConfig and the command line go before it
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
    flags = [*(["--function-config"] if options.function_config else []), *map("--{}".format, options.flags)]
    if is_settled and flags:
        raise KrmfnError(
            f"{path} calls krmfn itself, with a functionConfig of its own, so {', '.join(flags)} would have "
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
        if item.is_read and item.content.is_changed and not item.content.is_edited:
            raise KrmfnError(f"{item.ref} was changed in place")


def _runs(options: RunOptions, intent: Intent, path: str, resources: ResourceList) -> list[tuple[Item, Manifest]]:
    """Return the functionConfigs that the function runs with, one after the other.

    Raises KrmfnError for several of them in one root.
    """
    configs = configs_of(options) if options.function_config else resources.where(kind=CONFIG[1], group=CONFIG[0])
    if len(configs) > 1 and options.function_config:
        note(resources, config_items=tuple(configs))
        return [(configs[0], join_configs(configs))]
    if len(configs) > 1 and not (intent.takes_settings_alone and len(configs) == len(resources.items)):
        results = run_of(resources).sources.placed(Result("", ref=item.ref, place=item.place) for item in configs)
        names = ", ".join(f"{r.ref} ({r.place.path})" if r.place else str(r.ref) for r in results)
        raise KrmfnError(
            f"{path} holds {len(configs)} functionConfigs: {names}; choose one with --function-config FILE"
        )
    return [(item, item.manifest) for item in configs]


def more_profiles(options: RunOptions, paths: Sequence[str], items: Sequence[Item]) -> list[Item]:
    """Return the Profiles of --function-config and of `paths`, but for those that are among the items already."""
    known = {_origin(item) for item in items if (item.group, item.kind) == PROFILE}
    profiles = {_origin(item): item for item in profiles_of(options, paths)}
    return [item for origin, item in profiles.items() if origin not in known]


def configs_of(options: RunOptions) -> list[Item]:
    """Return the functionConfigs of --function-config. Raises KrmfnError for a file without a resource."""
    configs: list[Item] = []
    for path in options.function_config:
        items = manifests.read(path, root=options.root).items
        if not items:
            raise KrmfnError(f"{path} holds no resource; pass a file with one to --function-config")
        configs += [item for item in items if (item.group, item.kind) != PROFILE]
    return configs


def profiles_of(options: RunOptions, paths: Sequence[str]) -> list[Item]:
    """Return the Profiles in the files of --function-config, and below the paths of `profiles` in .krmfn.yaml.

    Raises KrmfnError for one of these paths that holds none.
    """
    profiles: list[Item] = []
    for path in (*options.function_config, *paths):
        items = manifests.read(path, root=options.root).where(kind=PROFILE[1], group=PROFILE[0])
        if path in paths and not items:
            raise KrmfnError(f".krmfn.yaml: profiles: {path} holds no Profile; correct the path, or remove it")
        profiles += items
    return profiles


def _origin(item: Item) -> tuple[str, str, int]:
    """Return what tells Profiles apart: name, real path of the file, line. A Profile that is read twice has one."""
    place = item.place
    return item.name, os.path.realpath(place.path) if place else "", place.line if place else 0


def join_configs(configs: Sequence[Item]) -> Manifest:
    """Return several functionConfigs as one. Raises KrmfnError for a ConfigMap, and for a setting in two of them."""
    spec: dict[str, Any] = {}
    sources: dict[tuple[str, ...], Item] = {}
    for item in configs:
        if (item.group, item.kind) != CONFIG:
            raise KrmfnError(f"{_named(item)} cannot be one of several functionConfigs; write a RenderDeviceConfigs")
        settings = item.manifest.get("spec") or {}
        for name, value in settings.items() if isinstance(settings, dict) else ():
            if name == "operators" and isinstance(value, list) and isinstance(spec.get(name, value), list):
                spec[name] = [*spec.get(name, ()), *value]
                sources[name,] = item
                continue
            is_merged = name in _MERGED and isinstance(value, dict)
            for path in [(name, key) for key in value] if is_merged else [(name,)]:
                twin = next((known for known in sources if path in (known, known[:1]) or known == path[:1]), None)
                if twin:
                    raise KrmfnError(
                        f"{join(('spec', *path))} is in {_named(sources[twin])} and in {_named(item)}; set it once"
                    )
                sources[path] = item
            spec[name] = {**spec.get(name, {}), **value} if is_merged else value
    return {**configs[0].manifest, "spec": spec}


def _untrusted(options: RunOptions, resources: ResourceList) -> Iterator[Result]:
    """Yield an error for each Profile and functionConfig outside of the paths of --profiles-from: they give rights.

    Also for the functionConfig of a kustomization that calls krmfn: it may be patched, and is not in the build.
    """
    config = run_of(resources).config_item
    if config and run_of(resources).is_settled:
        message = "a kustomization calls krmfn with this, and --profiles-from cannot tell where all of it is from"
        remedy = "take the call out of the kustomization, and use `krmfn render`"
        yield config.located(error(message, rule="KRM187", field=Field("kind", config.kind), remedy=remedy))
    folders = [os.path.realpath(path) for path in (*options.profiles_from, *options.function_config)]
    where = ", ".join(options.profiles_from)
    for item in (item for group, kind in (PROFILE, CONFIG) for item in resources.where(kind=kind, group=group)):
        path = item.place.path if item.place else ""
        if not path or not any(within(os.path.realpath(path), folder) for folder in folders):
            remedy = "move it there, or have its owners name this file"
            if not path:
                remedy = "kustomize may have patched this one: name its file with --function-config"
            message = f"a {item.kind} gives rights, and --profiles-from takes them from {where} alone"
            finding = error(message, rule="KRM187", field=Field("kind", item.kind), remedy=remedy)
            yield item.located(finding)


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
        held=oracles.OUR_KINDS,
    ),
)
"""The rule about where Profiles come from."""
