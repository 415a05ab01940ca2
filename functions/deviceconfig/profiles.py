"""Profiles and defaults on their own: what is wrong with one is said before a config comes that has it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from krmfn import Item, ResourceList, Result, info, warning
from krmfn.fieldpath import join, starts
from krmfn.results import Field

from ..rendering import module_checks
from ..rendering.function_config import Settings
from . import effects, generate, model, rules
from .model import DeviceConfig, Layer

Groups = Sequence[Sequence[DeviceConfig]]
"""DeviceConfigs, each as its pools."""


_ANSWERED = ("KRM201", "KMM021", "KMM022")
"""Rules about Modules whose question the rules about configs put themselves (KRM123, KRM124)."""


class Trial(NamedTuple):
    """A profile under a config that says nothing itself."""

    configs: list[DeviceConfig]
    fields: list[str]
    """The paths of the fields that it is about: those that no real config gets from here."""

    def concerns(self, result: Result) -> bool:
        """True when the finding is about one of the fields."""
        path = result.field.path if result.field else ""
        return any(starts(path, field) for field in self.fields)


def check(resources: ResourceList, groups: Groups, settings: Settings) -> Iterator[Result]:
    """Yield what is wrong with those fields of profiles and defaults that no config gets from there.

    The rules are asked, and then KMM's about the Module of a config that adds the least; what that config says itself
    is nobody's mistake, so findings about it are left out.
    """
    for trial in _trials(groups, settings):
        idle = (finding for _, finding in effects.fields_have_an_effect(trial.configs))
        found = [*module_checks.kept([*rules.check_group(trial.configs), *idle], None, settings)]
        if all(trial.concerns(finding) for finding in found if finding.severity == "error"):
            children = generate.children(trial.configs)
            found += [finding for _, finding in module_checks.generated(resources, children, settings, _ANSWERED)]
        yield from filter(trial.concerns, found)


def profiles_are_named(items: Sequence[Item], settings: Settings) -> Iterator[Result]:
    """KRM143: every profile is named by a config; it is checked nevertheless."""
    named = {model.profile_of(item) for item in items}
    say = warning if items else info
    why = "no config names this profile" if items else "there is no config here that could name this profile"
    for profile in settings.profiles:
        if profile not in named:
            field = Field(join(("spec", "profiles", profile)))
            yield settings.source.located(say(f"{why}; it was checked on its own", rule="KRM143", field=field))


def defaults_are_used(groups: Groups, settings: Settings) -> Iterator[Result]:
    """KRM144: a default or a field of a profile reaches some config; they do not all have their own."""
    known = carried(groups)
    for profile in ("", *settings.profiles):
        layer = model.shared_layers(profile, settings)[0]
        for name in layer.fields:
            if name not in known.get(layer.path, {name}):
                message = "reaches no config: each that could take it has its own"
                field = Field(f"{layer.path}.{name}")
                yield settings.source.located(info(message, rule="KRM144", field=field))


def carried(groups: Groups) -> dict[str, set[str]]:
    """Return which fields of each layer some config gets from there, by the layer's path."""
    found: dict[str, set[str]] = {}
    for config in (config for group in groups for config in group):
        for layer in config.layers:
            got = {field for field in layer.fields if config.layer(field) == layer}
            found.setdefault(layer.path, set()).update(got)
    return found


def _trials(groups: Groups, settings: Settings) -> Iterator[Trial]:
    known = carried(groups)
    for profile in ("", *settings.profiles):
        layers = model.shared_layers(profile, settings)
        rest = [f"{layers[0].path}.{field}" for field in layers[0].fields if field not in known.get(layers[0].path, ())]
        if rest:
            yield Trial(model.from_item(_stand_in(profile, layers), settings), rest)


def _stand_in(profile: str, layers: list[Layer]) -> Item:
    """Return a config with this profile that says no more than it must."""
    below = {key: value for layer in reversed(layers) for key, value in layer.fields.items()}
    spec = _missing(below) | ({"profile": profile} if profile else {})
    metadata = {"name": "x", "namespace": "x"}
    manifest = {"apiVersion": "krmfn.dev/v1alpha1", "kind": "DeviceConfig", "metadata": metadata, "spec": spec}
    text = json.dumps(manifest).encode()
    return Item(text, 0, len(text), -2)


def _missing(spec: dict[str, Any]) -> dict[str, Any]:
    """Return neutral values for what a config with these fields below it would still have to say."""
    found: dict[str, Any] = {}
    if "nodePools" not in spec and "nodeSelector" not in spec:
        found["nodeSelector"] = {} if spec.get("allNodes") else {"example.com/device": "true"}
    elif spec.get("nodeSelector") == {}:
        found["allNodes"] = True
    if spec.get("inTreeDriver"):
        found |= {} if "devicePlugin" in spec or "dra" in spec else {"devicePlugin": {"image": "plugin:1"}}
    else:
        found |= _module(spec) | _image(spec)
    if "daemonSets" not in spec and "hub" not in spec:
        found["daemonSets"] = [{"name": "x", "image": "x:1"}]
    if "serviceAccount" in spec:
        found["serviceAccountName"] = "x"
    return {field: value for field, value in found.items() if field not in spec}


def _module(spec: dict[str, Any]) -> dict[str, Any]:
    if "moduleName" in spec:
        return {}
    if "rawLoadArgs" in spec or "rawUnloadArgs" in spec:
        return {"rawLoadArgs": ["x"], "rawUnloadArgs": ["-r", "x"]}
    return {"moduleName": spec.get("modulesLoadingOrder", ["x"])[0]}


def _image(spec: dict[str, Any]) -> dict[str, Any]:
    mappings = spec.get("kernelMappings", [{}])
    named = "driverImage" in spec or "driverImageParts" in spec or all("image" in mapping for mapping in mappings)
    return ({} if named else {"driverImage": "driver"}) | {"driverVersion": "1"}
