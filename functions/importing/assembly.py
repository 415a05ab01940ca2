"""Assemble the configs of an import: the profiles that they share, and the errors that only all of them have."""

from collections.abc import Container, Iterable, Sequence

from krmfn import Manifest, ResourceList, Result
from krmfn.typed import Any

from ..grouping import grouped
from ..kmm.lookup import table
from ..kmm.module import kernel_name
from ..run import Run
from .drafts import rendered
from .importer import Conversion, with_extras, with_settings
from .normal import normal


def assemble(
    conversions: Sequence[Conversion], run: Run, existing: Manifest | None = None
) -> tuple[list[Manifest], Manifest | None]:
    """Return the DeviceConfigs, in the same order, and the functionConfig with their profiles; None if it were empty.

    `run` is that of a render, with the CRDs of each conversion. `existing` is the functionConfig that is there already:
    the configs use its profiles, and the new one has only what it lacks. Raises AssertionError when a config renders
    something else with its profile than alone.
    """
    originals = [conversion.config for conversion in conversions]
    runs = [run._replace(crds=conversion.crds) for conversion in conversions]
    known, configs = table(existing, "spec", "profiles"), list(originals)
    if existing and known:
        configs = [_with_existing_profile(*pair, existing) for pair in zip(originals, runs, strict=True)]
    rest = [index for index, config in enumerate(configs) if config is originals[index]]
    others, profiles = with_profiles([configs[index] for index in rest], known)
    for index, config in zip(rest, others, strict=True):
        configs[index] = config
    for config, original, known_run in zip(configs, originals, runs, strict=True):
        name = config["spec"].get("profile")  # no other one is given: with as many as configs that would be slow
        shared = with_settings(existing, profiles={name: profiles[name]} if name in profiles else {})
        if _forms(rendered([config], known_run, shared)) != _forms(rendered([original], known_run, existing)):
            raise AssertionError("the profiles change what is rendered")
    profiles = {**known, **profiles}
    for index, conversion in enumerate(conversions):
        configs[index], profiles = with_extras(configs[index], profiles, conversion.extras)
    used = {config["spec"].get("profile") for config in configs}
    new = {name: fields for name, fields in profiles.items() if name in used and name not in known}
    version = run.settings.flags.get("kmm-version")
    spec = {**({"kmm": {"version": version}} if version and not existing else {}), **({"profiles": new} if new else {})}
    return configs, with_settings(None, **spec) if spec else None


def errors(
    manifests: Iterable[Manifest], run: Run, config: Manifest | None, existing: Manifest | None = None
) -> list[Result]:
    """Return the errors about all configs and hand-written objects together, such as conflicts about nodes."""
    function_config = with_settings(existing, **table(config, "spec")) if existing else config
    results = rendered(manifests, run, function_config).results
    return [result for result in results if result.severity == "error"]


_OF_DRIVER = (
    *("moduleName", "modulesLoadingOrder", "dirName", "firmwarePath", "modprobedDir"),
    *("rawLoadArgs", "rawUnloadArgs", "inTreeDriver"),
)
"""Fields about the driver, which the profile of a single config gets."""
_OF_CONFIG = frozenset({"nodeSelector", "allNodes", "driverVersion", "hub"})
"""Fields that no profile gets, even if all configs have the same."""
_IN_PARTS = frozenset({"devicePlugin", "dra", "resources", "limits", "requests", "labels", "annotations"})
"""Mappings that merge and have no required fields, so that a profile may have a part of them."""

Fields = dict[str, Any]


def _with_existing_profile(config: Manifest, run: Run, existing: Manifest) -> Manifest:
    """Return the config with the profile that leaves the fewest fields and renders the same; unchanged without one."""
    forms, best, fewest = _forms(rendered([config], run, existing)), config, len(config["spec"]) + 1
    for name, profile in table(existing, "spec", "profiles").items():
        attempt = {**config, "spec": {"profile": name, **config["spec"]}}
        for field in profile if isinstance(profile, dict) and _renders(attempt, forms, run, existing) else ():
            shorter = {**config, "spec": {key: value for key, value in attempt["spec"].items() if key != field}}
            if field in attempt["spec"] and _renders(shorter, forms, run, existing):
                attempt = shorter
        is_its_driver = not any(field in attempt["spec"] for field in _OF_DRIVER if field in profile)
        if is_its_driver and len(attempt["spec"]) < fewest:
            best, fewest = attempt, len(attempt["spec"])
    return best


def _renders(config: Manifest, forms: list[Manifest], run: Run, existing: Manifest) -> bool:
    """Return True for a config that renders these forms without an error."""
    resources = rendered([config], run, existing)
    return not resources.failed and _forms(resources) == forms


def _forms(resources: ResourceList) -> list[Manifest]:
    """Return the rendered objects in the form of `normal`."""
    return [normal(item.manifest) for item in resources.items if item.kind != "DeviceConfig"]


def with_profiles(configs: Sequence[Manifest], known: Container[str] = ()) -> tuple[list[Manifest], dict[str, Fields]]:
    """Return the configs without the fields that they share, each with a profile, and the profiles by name.

    Each driver has a profile, since configs of one profile never share a node, and those of different profiles may. A
    single config needs none. A profile whose name is `known`, because another one has it, gets `-imported` at its end.
    """
    if len(configs) < 2:
        return list(configs), {}
    named = [(_profile_name(config["spec"], known), config["spec"]) for config in configs]
    profiles = {name: _common(group) for name, group in grouped(named).items()}
    specs = ({"profile": name, **_differing_fields(spec, profiles[name])} for name, spec in named)
    return [{**config, "spec": spec} for config, spec in zip(configs, specs, strict=True)], profiles


def _profile_name(spec: Fields, known: Container[str]) -> str:
    """Return a name for a driver's profile: its kernel module's, else that of the image that is started or loaded."""
    module = spec.get("moduleName") or (spec.get("modulesLoadingOrder") or [""])[0]
    plugin = spec.get("devicePlugin") or spec.get("dra") or {}
    image = str(plugin.get("image") or spec.get("driverImage") or "driver")
    name = kernel_name(module) if module else image.rpartition("/")[2].partition("@")[0].partition(":")[0]
    while name in known:
        name += "-imported"
    return name


def _common(specs: Sequence[Fields]) -> Fields:
    """Return the fields that all configs of a driver share; for a single config, those about the driver."""
    if len(specs) == 1:
        return {name: value for name, value in specs[0].items() if name in _OF_DRIVER}
    return _shared([{name: value for name, value in spec.items() if name not in _OF_CONFIG} for spec in specs])


def _shared(mappings: Sequence[Fields]) -> Fields:
    """Return the fields that are equal in all mappings; of inner mappings that merge, the fields that are equal."""
    first, *others = mappings
    fields: Fields = {}
    for name in (name for name in first if all(name in other for other in others)):
        if all(other[name] == first[name] for other in others):
            fields[name] = first[name]
        elif name in _IN_PARTS and (part := _shared([mapping[name] for mapping in mappings])):
            fields[name] = part
    return fields


def _differing_fields(fields: Fields, profile: Fields) -> Fields:
    """Return the fields that differ from those of the profile."""
    rest = {name: value for name, value in fields.items() if name not in profile or value != profile[name]}
    return {name: _differing_fields(value, profile[name]) if name in profile else value for name, value in rest.items()}
