"""All configs of an import together: their profiles, and the errors that only all of them have."""

from collections.abc import Container, Iterable, Sequence

from krmfn import Manifest, ResourceList, Result
from krmfn.typed import Any

from ..kmm.lookup import table
from ..kmm.module import kernel_name
from ..settings import Settings
from .drafts import rendered
from .importer import Taken, with_extras, with_settings
from .normal import normal


def assembled(
    taken: Sequence[Taken], settings: Settings, existing: Manifest | None = None
) -> tuple[list[Manifest], Manifest | None]:
    """Return the DeviceConfigs and, where there is something to say in it, the functionConfig with what they share.

    With the profiles, each must give what it gave by itself. Those of several clusters share them. `existing` is the
    functionConfig that is there already: its profiles are used, and the new one has only what is not in it.
    """
    whole = [one.config for one in taken]
    there = table(existing, "spec", "profiles")
    configs = [_on_a_profile(config, settings, existing) for config in whole] if existing and there else list(whole)
    rest = [at for at, config in enumerate(configs) if config is whole[at]]
    others, profiles = with_profiles([configs[at] for at in rest], there)
    for at, config in zip(rest, others, strict=True):
        configs[at] = config
    shared = with_settings(existing, profiles=profiles)
    for config, alone in zip(configs, whole, strict=True):
        if _forms(rendered([config], settings, shared)) != _forms(rendered([alone], settings, existing)):
            raise AssertionError("the profiles change what is rendered")
    profiles = {**there, **profiles}
    for at, one in enumerate(taken):
        configs[at], profiles = with_extras(configs[at], profiles, one.extras)
    used = {config["spec"].get("profile") for config in configs}
    new = {name: fields for name, fields in profiles.items() if name in used and name not in there}
    version = settings.flags.get("kmm-version")
    spec = {**({"kmm": {"version": version}} if version and not existing else {}), **({"profiles": new} if new else {})}
    return configs, with_settings(None, **spec) if spec else None


def errors(
    manifests: Iterable[Manifest], settings: Settings, config: Manifest | None, existing: Manifest | None = None
) -> list[Result]:
    """Return the errors about the configs together with what stays hand-written: those about nodes, above all."""
    whole = with_settings(existing, **table(config, "spec")) if existing else config
    results = rendered(manifests, settings, whole).results
    return [result for result in results if result.severity == "error"]


_OF_DRIVER = (
    *("moduleName", "modulesLoadingOrder", "dirName", "firmwarePath", "rawLoadArgs", "rawUnloadArgs", "inTreeDriver"),
)
"""Fields that are about the driver, and go into the profile of a single config."""
_OWN = frozenset({"nodeSelector", "allNodes", "driverVersion", "hub"})
"""Fields that are each config's own, also where two have the same."""
_IN_PARTS = frozenset({"devicePlugin", "dra", "resources", "limits", "requests", "labels", "annotations"})
"""Mappings of which a config may have a part: they merge, and none of their fields must be there."""

Fields = dict[str, Any]


def _on_a_profile(config: Manifest, settings: Settings, existing: Manifest) -> Manifest:
    """Return the config with the profile that leaves the least to write and renders the same; itself without one."""
    whole, best, fewest = _forms(rendered([config], settings, existing)), config, len(config["spec"]) + 1
    for name, profile in table(existing, "spec", "profiles").items():
        attempt = {**config, "spec": {"profile": name, **config["spec"]}}
        for field in profile if isinstance(profile, dict) and _is_same(attempt, whole, settings, existing) else ():
            less = {**config, "spec": {key: value for key, value in attempt["spec"].items() if key != field}}
            if field in attempt["spec"] and _is_same(less, whole, settings, existing):
                attempt = less
        is_its_driver = not any(field in attempt["spec"] for field in _OF_DRIVER if field in profile)
        if is_its_driver and len(attempt["spec"]) < fewest:
            best, fewest = attempt, len(attempt["spec"])
    return best


def _is_same(config: Manifest, whole: list[Manifest], settings: Settings, existing: Manifest) -> bool:
    resources = rendered([config], settings, existing)
    return not resources.failed and _forms(resources) == whole


def _forms(resources: ResourceList) -> list[Manifest]:
    """Return what was rendered, without marks."""
    return [normal(item.manifest) for item in resources.items if item.kind != "DeviceConfig"]


def with_profiles(configs: Sequence[Manifest], there: Container[str] = ()) -> tuple[list[Manifest], dict[str, Fields]]:
    """Return the configs without what they share, each with the name of its profile, and the profiles by name.

    A name that is `there` already is of another profile: the new one gets `-imported` behind it.

    Drivers have a profile each, since configs of one profile never share a node, and those of different profiles may.
    A single config needs none.
    """
    if len(configs) < 2:
        return list(configs), {}
    named = [(_name(config["spec"], there), config) for config in configs]
    names = dict.fromkeys(name for name, _ in named)
    profiles = {name: _common([one["spec"] for own, one in named if own == name]) for name in names}
    specs = ({"profile": name, **_without(config["spec"], profiles[name])} for name, config in named)
    return [{**config, "spec": spec} for config, spec in zip(configs, specs, strict=True)], profiles


def _name(spec: Fields, there: Container[str]) -> str:
    """Return a name for a driver's profile: its kernel module's, else that of the image that is started or loaded."""
    module = spec.get("moduleName") or (spec.get("modulesLoadingOrder") or [""])[0]
    plugin = spec.get("devicePlugin") or spec.get("dra") or {}
    image = str(plugin.get("image") or spec.get("driverImage") or "driver")
    name = kernel_name(module) if module else image.rpartition("/")[2].partition("@")[0].partition(":")[0]
    while name in there:
        name += "-imported"
    return name


def _common(specs: Sequence[Fields]) -> Fields:
    """Return what all configs of a driver have in common; of a single one, what is about the driver."""
    if len(specs) == 1:
        return {name: value for name, value in specs[0].items() if name in _OF_DRIVER}
    own = [{name: value for name, value in spec.items() if name not in _OWN} for spec in specs]
    return _shared(own)


def _shared(values: Sequence[Fields]) -> Fields:
    """Return the fields that are equal in all; of mappings that merge, the part that is."""
    first, *others = values
    fields: Fields = {}
    for name in (name for name in first if all(name in other for other in others)):
        if all(other[name] == first[name] for other in others):
            fields[name] = first[name]
        elif name in _IN_PARTS and (part := _shared([one[name] for one in values])):
            fields[name] = part
    return fields


def _without(fields: Fields, profile: Fields) -> Fields:
    """Return the fields that the profile does not give."""
    rest = {name: value for name, value in fields.items() if name not in profile or value != profile[name]}
    return {name: _without(value, profile[name]) if name in profile else value for name, value in rest.items()}
