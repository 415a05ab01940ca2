"""Check profiles and defaults by themselves, whether a config uses them or not."""

import json
from collections.abc import Collection, Iterator, Sequence

from krmfn import Field, Item, ResourceList, Result, info, warning
from krmfn.resource import join, starts
from krmfn.typed import Any

from .. import oracles
from ..kmm.lookup import table
from ..pods.daemon_set import RULE as REFUSED
from ..rendering import module_checks, undriven
from ..rendering.function_config import FunctionConfig
from ..rendering.kinds import PROFILE_MARK
from ..rendering.variables import IMAGE
from ..rule import Rule
from ..run import run_of
from . import effects, generate, lock_rules, reading, rules, version_rules
from .layers import Layer, is_offer, profile_layers
from .merging import OF_MAPPINGS, SWITCHES, merged
from .model import DeviceConfig
from .reading import Groups

_REPLACED = frozenset({"KMM021", "KMM022"})
"""Rules about Modules that a rule about configs (KRM124) replaces."""
OF_CLUSTER = frozenset({"KMM051", "KRM209"})
"""Rules about what a cluster has: they wait until a config switches on what a profile only offers."""

Trial = tuple[list[DeviceConfig], list[str], frozenset[str]]
"""A config with as little as possible beside a profile, the paths of its unused fields, and the rules to leave out."""


def check(resources: ResourceList, items: Sequence[Item], groups: Groups, config: FunctionConfig) -> Iterator[Result]:
    """Yield the findings about profiles and defaults; `items` are all DeviceConfigs, `groups` those without an error.

    A field that reaches no config is tried with a config that adds as little as possible: our rules apply to it, and
    KMM's to its Module. Findings about these are left out; a profile that other clusters use is judged there.
    """
    used = effects.used_fields(groups)
    elsewhere = run_of(resources).used - {*map(reading.profile_of, items)}
    for configs, fields, left_out in _trials(used, config, elsewhere):
        judged, _ = judge(configs, resources, config, fields)
        yield from (entry for entry in judged if entry.rule not in left_out and _concerns(fields, entry))
    if not run_of(resources).is_part:
        yield from profiles_are_named(items, config, run_of(resources).named)
    yield from undriven.overrides_nothing(resources, config)
    if config.extra_kinds:
        from ..rendering import extra_kinds  # here, since few have any

        entries = table(resources.function_config or {}, "spec")["extraKinds"]
        yield from map(config.source.located, extra_kinds.superfluous(entries))
    yield from (*version_rules.check(config), *lock_rules.check(config))
    if len(groups) == len(items):
        yield from defaults_are_used(used, config)


def _concerns(fields: Sequence[str], result: Result) -> bool:
    """Return True when the finding is about one of the fields."""
    return any(starts(result.field.path if result.field else "", field) for field in fields)


def judge(
    configs: Sequence[DeviceConfig], resources: ResourceList, config: FunctionConfig, fields: Sequence[str] = ()
) -> tuple[list[Result], bool]:
    """Return the findings about the pools of a config, and about its objects if all errors are about `fields`.

    The second value is True when the objects are judged.
    """
    findings = rules.check_group(configs, set())
    findings += (finding for _, finding in effects.fields_have_an_effect(configs))
    has_objects = all(_concerns(fields, finding) for finding in findings if finding.severity == "error")
    if has_objects:
        judged = module_checks.check(resources, generate.objects(configs, {}), [], config, lint=True)
        findings = _once([*findings, *(finding for _, finding in judged)])
    return findings, has_objects


def _once(findings: Sequence[Result]) -> list[Result]:
    """Return the findings without what is refused of a pod where its field has an error of another rule."""
    errors = [finding for finding in findings if finding.severity == "error" and finding.rule != REFUSED]
    wrong = {finding.field.path for finding in errors if finding.field}
    return [entry for entry in findings if entry.rule != REFUSED or not entry.field or entry.field.path not in wrong]


def profiles_are_named(items: Sequence[Item], config: FunctionConfig, other_names: frozenset[str]) -> Iterator[Result]:
    """Yield a finding per profile that no config names, here or in `other_names` (see `Run.named`)."""
    names = {*other_names, *map(reading.profile_of, items if config.profiles else ())}
    report = warning if items else info
    reason = "no config names this profile" if items else "there is no config here to name this profile"
    message = f"{reason}, so it was checked on its own"
    for profile in config.profiles:
        if profile not in names:
            field = Field(join(("spec", "profiles", profile)))
            remedy = f"write `profile: {profile}` in a config, or remove it" if items else ""
            yield config.source.located(report(message, rule="KRM143", field=field, remedy=remedy))


def defaults_are_used(used: dict[str, set[str]], config: FunctionConfig) -> Iterator[Result]:
    """Yield an info per default or field of a profile that reaches no config; `used` is what `used_fields` returns."""
    for profile in ("", *config.profiles):
        layers, vendor = profile_layers(profile, config)
        versions = vendor.versions.values()
        strongest: dict[str, Layer] = {}
        for layer in layers[:-1] if profile else layers:
            strongest |= {name: layer for name in layer.fields if name not in strongest}
        for name, layer in strongest.items():
            differs = any(name in version.fields for version in versions)  # versions that are not listed use the field
            is_off = name not in merged([{name: layer.fields[name]}])  # KRM142 is about those
            if name not in used.get(layer.path, {name}) and not differs and not is_off:
                message = "has no effect: every config that could use it has its own value, or does without it"
                finding = info(message, rule="KRM144", field=Field(f"{layer.path}.{name}"), remedy="remove it")
                yield config.source.located(finding)


def _trials(used: dict[str, set[str]], config: FunctionConfig, elsewhere: Collection[str]) -> Iterator[Trial]:
    without_overrides = config._replace(overrides={})  # fields that they replace are tried, too
    for profile in ("", *(name for name in config.profiles if name not in elsewhere)):
        for settings in (config, without_overrides) if config.overrides.get(profile) else (without_overrides,):
            layers, vendor = profile_layers(profile, settings)
            first = next(iter(vendor.versions), "")
            for version, layer in (("", layers[0]), *vendor.versions.items()):
                rest = [f"{layer.path}.{name}" for name in layer.fields if name not in used.get(layer.path, ())]
                if rest:
                    item = _least_config(profile, [layer, *layers] if version else layers, version or first)
                    yield reading.from_item(item, settings), rest, _REPLACED
            switches, paths = _offers(layers[0].fields)
            if switches:
                item = _least_config(profile, layers, first, switches)
                paths = [f"{layers[0].path}.{path}" for path in paths]
                yield reading.from_item(item, settings), paths, _REPLACED | OF_CLUSTER


def _offers(fields: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return fields that switch on what a profile describes but leaves switched off, and the paths of these parts."""
    offers = [name for name in SWITCHES if is_offer(fields.get(name))]
    switches: dict[str, Any] = {name: {"enabled": True, **_secret_keys(name, fields[name])} for name in offers}
    if {"dra", "devicePlugin"} <= switches.keys():  # only one of them can be on
        del switches["dra"]
    paths = list(switches)
    for name, other in (("dra", "devicePlugin"), ("devicePlugin", "dra")):
        if name in switches and other in fields:
            switches.setdefault(other, {"enabled": False})
    entries = [(index, entry) for index, entry in enumerate(fields.get("daemonSets", ())) if is_offer(entry)]
    if entries:
        switches["daemonSets"] = [{"name": entry["name"], "enabled": True} for _, entry in entries]
    return switches, [*paths, *(f"daemonSets[{index}]" for index, _ in entries)]


def _least_config(profile: str, layers: list[Layer], version: str, switches: dict[str, Any] | None = None) -> Item:
    """Return a config with this profile, the version if there is one, `switches`, and the fields that it must have."""
    base = merged(layer.fields for layer in layers)
    spec = missing_fields(base) | (switches or {}) | ({"profile": profile} if profile else {})
    return stand_in(spec | ({"driverVersion": version} if version else {}))


def stand_in(spec: Any, api: str = "krmfn.dev/v1alpha1", kind: str = "DeviceConfig", profile: str = "") -> Item:
    """Return a config of this kind, with the name and namespace x, and with an annotation that names the `profile`."""
    metadata = {"name": "x", "namespace": "x", **({"annotations": {PROFILE_MARK: profile}} if profile else {})}
    text = json.dumps({"apiVersion": api, "kind": kind, "metadata": metadata, "spec": spec}).encode()
    return Item(text, 0, len(text), -2)


def missing_fields(spec: dict[str, Any]) -> dict[str, Any]:
    """Return neutral values for the fields that a config still needs when `spec` is below it."""
    fields: dict[str, Any] = {}
    if "nodePools" not in spec and "nodeSelector" not in spec:
        fields["nodeSelector"] = {} if spec.get("allNodes") else {"example.com/device": "true"}
    elif spec.get("nodeSelector") == {}:
        fields["allNodes"] = True
    if not spec.get("inTreeDriver"):
        if "moduleName" not in spec and ("rawLoadArgs" in spec or "rawUnloadArgs" in spec):
            fields |= {"rawLoadArgs": ["x"], "rawUnloadArgs": ["-r", "x"]}
        else:
            fields["moduleName"] = spec.get("modulesLoadingOrder", ["x"])[0]
        fields["driverVersion"] = "1"
        have_images = all("image" in mapping for mapping in spec.get("kernelMappings", [{}]))
        if "driverImageParts" not in spec and (not have_images or IMAGE in str(spec)):
            fields["driverImage"] = "driver"
    if "daemonSets" not in spec and "hub" not in spec:
        fields["daemonSets"] = [{"name": "x", "image": "x:1"}]
    for name in OF_MAPPINGS:
        section = next((holder[name] for holder in (spec, *spec.get("kernelMappings", ())) if name in holder), None)
        if section is not None and (keys := _secret_keys(name, section)):
            fields[name] = keys
    if "'serviceAccount'" in str(spec):
        fields["serviceAccountName"] = "x"
    return {field: value for field, value in fields.items() if field not in spec or field in OF_MAPPINGS}


def _secret_keys(name: str, fields: dict[str, Any]) -> dict[str, Any]:
    """Return stand-ins for the Secrets and the ConfigMap that a `sign` or `build` lacks, since users provide them."""
    return {key: {"name": "x"} for key in OF_MAPPINGS.get(name, ()) if key not in fields}


RULES = (
    Rule(
        "KRM143",
        "a config should name each profile, and each entry of `overrides` a profile that exists",
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
        held=oracles.OUR_KINDS,
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
        held=oracles.OUR_KINDS,
        severities=("info",),
        advice=True,
    ),
)
"""The rules about profiles and defaults: `profiles_are_named` and `defaults_are_used`."""
