"""Checks of profiles and defaults by themselves, before any config uses them."""

import json
from collections.abc import Iterator, Sequence

from krmfn import Field, Item, ResourceList, Result, info, warning
from krmfn.resource import join, starts
from krmfn.results import Rule
from krmfn.typed import Any

from ..rendering import module_checks, undriven
from ..rendering.function_config import FunctionConfig
from ..rendering.kinds import PROFILE_MARK
from ..rendering.variables import IMAGE
from ..run import run_of
from . import effects, generate, lock_rules, reading, rules, version_rules
from .layers import Layer, is_offer, of_profile
from .merging import OF_MAPPINGS, SWITCHES, merged
from .model import DeviceConfig

Groups = Sequence[Sequence[DeviceConfig]]
"""DeviceConfigs, each as its pools."""

_ANSWERED = frozenset({"KMM021", "KMM022"})
"""Rules about Modules that a rule about configs (KRM124) stands for."""
_OF_THE_CLUSTER = frozenset({"KMM051", "KRM209"})
"""Rules about what a cluster has: who switches on what is only offered has it, or is told then."""


Trial = tuple[list[DeviceConfig], list[str], frozenset[str]]
"""A config that adds the least to a profile, the paths of the fields that no real config gets from there, and the
rules whose findings about its Module do not count."""


def check(resources: ResourceList, items: Sequence[Item], groups: Groups, config: FunctionConfig) -> Iterator[Result]:
    """Yield the findings about profiles and defaults; `items` are all DeviceConfigs, `groups` those that are right.

    A field that no config takes from there is tried with a config that adds the least: the rules are applied, and then
    KMM's, to its Module. Findings about what that config adds are left out.
    """
    known = carried(groups)
    for configs, fields, left_out in _trials(known, config):
        found = judge(configs, resources, config, fields)
        yield from (one for one in found if one.rule not in left_out and _concerns(fields, one))
    if not run_of(resources).is_part:
        yield from profiles_are_named(items, config, run_of(resources).named)
    yield from undriven.overrides_nothing(resources, config)
    yield from (*version_rules.check(config), *lock_rules.check(config))
    if len(groups) == len(items):
        yield from defaults_are_used(known, config)


def _concerns(fields: Sequence[str], result: Result) -> bool:
    """Return True when the finding is about one of the fields."""
    return any(starts(result.field.path if result.field else "", field) for field in fields)


def judge(
    configs: Sequence[DeviceConfig], resources: ResourceList, config: FunctionConfig, fields: Sequence[str] = ()
) -> list[Result]:
    """Return what rules find in the pools of a config, and in its objects if each error is about one of the fields."""
    findings = [*rules.check_group(configs, set()), *(one for _, one in effects.fields_have_an_effect(configs))]
    if all(_concerns(fields, finding) for finding in findings if finding.severity == "error"):
        judged = module_checks.check(resources, generate.objects(configs, {}), [], config, lint=True)
        findings += [finding for _, finding in judged]
    return findings


def profiles_are_named(items: Sequence[Item], config: FunctionConfig, elsewhere: frozenset[str]) -> Iterator[Result]:
    """Yield a finding per profile that no config names, here or `elsewhere` (see `Run.named`)."""
    named = {*elsewhere, *map(reading.profile_of, items if config.profiles else ())}
    report = warning if items else info
    why = "no config names this profile" if items else "there is no config here to name this profile"
    for profile in config.profiles:
        if profile not in named:
            field = Field(join(("spec", "profiles", profile)))
            yield config.source.located(report(f"{why}; it was checked on its own", rule="KRM143", field=field))


def defaults_are_used(known: dict[str, set[str]], config: FunctionConfig) -> Iterator[Result]:
    """Yield an info per default or field of a profile that reaches no config; `known` are those that one carries."""
    for profile in ("", *config.profiles):
        layers, vendor = of_profile(profile, config)
        versions = vendor.versions.values()
        strongest: dict[str, Layer] = {}
        for layer in layers[:-1] if profile else layers:
            strongest |= {name: layer for name in layer.fields if name not in strongest}
        for name, layer in strongest.items():
            differs = any(name in version.fields for version in versions)  # and one that is not listed takes this
            is_off = name not in merged([{name: layer.fields[name]}])  # by itself, which KRM142 is about
            if name not in known.get(layer.path, {name}) and not differs and not is_off:
                message = "has no effect: every config that could use it has its own value, or does without it"
                yield config.source.located(info(message, rule="KRM144", field=Field(f"{layer.path}.{name}")))


def carried(groups: Groups) -> dict[str, set[str]]:
    """Return the fields that some config takes from each layer of the functionConfig, by the layer's path."""
    used: dict[str, set[str]] = {}
    for one in (one for group in groups for config in group for one in (config, *config.retained)):
        for layer in one.layers:
            if layer.shared and layer.fields:
                taken = (field for field in layer.fields if any(giver is layer for giver in one.givers(field)))
                used.setdefault(layer.path, set()).update(taken)
    return used


def _trials(known: dict[str, set[str]], config: FunctionConfig) -> Iterator[Trial]:
    bare = config._replace(overrides={})  # what an override hides is tried, too
    for profile in ("", *config.profiles):
        for settings in (config, bare)[not config.overrides.get(profile) :]:
            layers, vendor = of_profile(profile, settings)
            first = next(iter(vendor.versions), "")
            for version, tried in (("", layers[0]), *vendor.versions.items()):
                rest = [f"{tried.path}.{field}" for field in tried.fields if field not in known.get(tried.path, ())]
                if rest:
                    own = [tried, *layers] if version else layers
                    yield reading.from_item(_stand_in(profile, own, version or first), settings), rest, _ANSWERED
            switched_on, paths = _offers(layers[0].fields)
            if switched_on:
                whole = reading.from_item(_stand_in(profile, layers, first, switched_on), settings)
                yield whole, [f"{layers[0].path}.{path}" for path in paths], _ANSWERED | _OF_THE_CLUSTER


def _offers(fields: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the fields that switch on what a profile has switched off for those who want it, and where it stands."""
    offered = [name for name in SWITCHES if is_offer(fields.get(name))]
    on: dict[str, Any] = {name: {"enabled": True, **_keys(name, fields[name])} for name in offered}
    if {"dra", "devicePlugin"} <= on.keys():  # only one of them can be on
        del on["dra"]
    paths = list(on)
    for one, other in (("dra", "devicePlugin"), ("devicePlugin", "dra")):
        if one in on and other in fields:
            on.setdefault(other, {"enabled": False})
    entries = [(at, entry) for at, entry in enumerate(fields.get("daemonSets", ())) if is_offer(entry)]
    if entries:
        on["daemonSets"] = [{"name": entry["name"], "enabled": True} for _, entry in entries]
    return on, [*paths, *(f"daemonSets[{at}]" for at, _ in entries)]


def _stand_in(profile: str, layers: list[Layer], version: str, switched_on: dict[str, Any] | None = None) -> Item:
    """Return a config with this profile, of this version where it has any, and only the fields that it must have."""
    below = merged(layer.fields for layer in layers)
    spec = missing(below) | (switched_on or {}) | ({"profile": profile} if profile else {})
    return stand_in(spec | ({"driverVersion": version} if version else {}))


def stand_in(spec: Any, api: str = "krmfn.dev/v1alpha1", kind: str = "DeviceConfig", profile: str = "") -> Item:
    """Return a config of this kind, called x; with `profile` an annotation names that."""
    metadata = {"name": "x", "namespace": "x", **({"annotations": {PROFILE_MARK: profile}} if profile else {})}
    text = json.dumps({"apiVersion": api, "kind": kind, "metadata": metadata, "spec": spec}).encode()
    return Item(text, 0, len(text), -2)


def missing(spec: dict[str, Any]) -> dict[str, Any]:
    """Return neutral values for the fields that a config over these ones would still need."""
    fields: dict[str, Any] = {}
    if "nodePools" not in spec and "nodeSelector" not in spec:
        fields["nodeSelector"] = {} if spec.get("allNodes") else {"example.com/device": "true"}
    elif spec.get("nodeSelector") == {}:
        fields["allNodes"] = True
    if not spec.get("inTreeDriver"):
        is_raw = "rawLoadArgs" in spec or "rawUnloadArgs" in spec
        raw = {"rawLoadArgs": ["x"], "rawUnloadArgs": ["-r", "x"]}
        named = {"moduleName": spec.get("modulesLoadingOrder", ["x"])[0]}
        fields |= raw if is_raw and "moduleName" not in spec else named
        mappings = spec.get("kernelMappings", [{}])
        has_image = "driverImageParts" in spec or (all("image" in one for one in mappings) and IMAGE not in str(spec))
        fields |= {"driverVersion": "1"} | ({} if has_image else {"driverImage": "driver"})
    if "daemonSets" not in spec and "hub" not in spec:
        fields["daemonSets"] = [{"name": "x", "image": "x:1"}]
    for name in OF_MAPPINGS:
        own = next((one[name] for one in (spec, *spec.get("kernelMappings", ())) if name in one), None)
        if own is not None and (keys := _keys(name, own)):
            fields[name] = keys
    if "'serviceAccount'" in str(spec):
        fields["serviceAccountName"] = "x"
    return {field: value for field, value in fields.items() if field not in spec or field in OF_MAPPINGS}


def _keys(name: str, fields: dict[str, Any]) -> dict[str, Any]:
    """Return stand-ins for the Secrets and the ConfigMap that users bring along to what a profile signs or builds."""
    return {key: {"name": "x"} for key in OF_MAPPINGS.get(name, ()) if key not in fields}


RULES = (
    Rule(
        "KRM143",
        "a profile should be named by a config, and is checked in any case; one that is overridden should be there",
        good="""\
kind: RenderDeviceConfigs
spec: {profiles: {gpu: {imagePullSecret: vendor}}}
---
spec: {profile: gpu}
""",
        bad="""\
kind: RenderDeviceConfigs
spec: {profiles: {gpu: {imagePullSecret: vendor}}}
---
kind: DeviceConfig
""",
        remedy="Name the profile in a config, or remove it; keep it if its configs are in other folders.",
        severities=("warning", "info"),
        advice=True,
    ),
    Rule(
        "KRM144",
        "a default or a field of a profile should be used by a config: it has no effect if each config has its own "
        "value",
        good="""\
kind: RenderDeviceConfigs
spec: {defaults: {moduleName: gpu}}
---
spec: {moduleName: null}
""",
        bad="""\
kind: RenderDeviceConfigs
spec: {defaults: {moduleName: gpu}}
---
spec: {moduleName: gpu_open}
""",
        remedy="Remove the default, or remove the field from configs that do not need their own value.",
        severities=("info",),
        advice=True,
    ),
)
"""The rules about profiles and defaults: `profiles_are_named` and `defaults_are_used`."""
