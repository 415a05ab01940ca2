"""Checks of profiles and defaults by themselves, before any config uses them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from krmfn import Item, ResourceList, Result, info, warning
from krmfn.fieldpath import join, starts
from krmfn.results import Field

from ..rendering import module_checks
from ..rendering.function_config import FunctionConfig
from . import effects, generate, model, rules
from .model import DeviceConfig, Layer

Groups = Sequence[Sequence[DeviceConfig]]
"""DeviceConfigs, each as its pools."""


_ANSWERED = ("KRM201", "KMM021", "KMM022")
"""Rules about Modules that rules about configs (KRM123, KRM124) stand for."""


class Trial(NamedTuple):
    """A profile, tried with a config that has no fields of its own."""

    configs: list[DeviceConfig]
    fields: list[str]
    """The paths of the fields that it is about: those that no real config gets from here."""

    def concerns(self, result: Result) -> bool:
        """Return True when the finding is about one of the fields."""
        path = result.field.path if result.field else ""
        return any(starts(path, field) for field in self.fields)


def check(resources: ResourceList, groups: Groups, function_config: FunctionConfig) -> Iterator[Result]:
    """Yield the findings about those fields of profiles and defaults that no config takes from there.

    The rules are applied, and then KMM's, to the Module of a config that adds the least; findings about what that
    config adds are left out.
    """
    for trial in _trials(groups, function_config):
        idle = (finding for _, finding in effects.fields_have_an_effect(trial.configs))
        findings = [*module_checks.kept([*rules.check_group(trial.configs), *idle], None, function_config)]
        if all(trial.concerns(finding) for finding in findings if finding.severity == "error"):
            objects = generate.objects(trial.configs)
            findings += [
                finding for _, finding in module_checks.generated(resources, objects, function_config, _ANSWERED)
            ]
        yield from filter(trial.concerns, findings)


def profiles_are_named(items: Sequence[Item], function_config: FunctionConfig) -> Iterator[Result]:
    """KRM143: every profile is named by a config; it is checked nevertheless."""
    named = {model.profile_of(item) for item in items}
    report = warning if items else info
    why = "no config names this profile" if items else "there is no config here that could name this profile"
    for profile in function_config.profiles:
        if profile not in named:
            field = Field(join(("spec", "profiles", profile)))
            yield function_config.source.located(
                report(f"{why}; it was checked on its own", rule="KRM143", field=field)
            )


def defaults_are_used(groups: Groups, function_config: FunctionConfig) -> Iterator[Result]:
    """KRM144: a default or a field of a profile reaches some config; they do not all have their own."""
    known = carried(groups)
    for profile in ("", *function_config.profiles):
        layer = model.shared_layers(profile, function_config)[0]
        for name in layer.fields:
            if name not in known.get(layer.path, {name}):
                message = "reaches no config: each that could take it has its own"
                field = Field(f"{layer.path}.{name}")
                yield function_config.source.located(info(message, rule="KRM144", field=field))


def carried(groups: Groups) -> dict[str, set[str]]:
    """Return the fields that some config takes from each layer, by the layer's path."""
    used: dict[str, set[str]] = {}
    for config in (config for group in groups for config in group):
        for layer in config.layers:
            got = {field for field in layer.fields if config.layer(field) == layer}
            used.setdefault(layer.path, set()).update(got)
    return used


def _trials(groups: Groups, function_config: FunctionConfig) -> Iterator[Trial]:
    known = carried(groups)
    for profile in ("", *function_config.profiles):
        layers = model.shared_layers(profile, function_config)
        rest = [f"{layers[0].path}.{field}" for field in layers[0].fields if field not in known.get(layers[0].path, ())]
        if rest:
            yield Trial(model.from_item(_stand_in(profile, layers), function_config), rest)


def _stand_in(profile: str, layers: list[Layer]) -> Item:
    """Return a config with this profile and only the fields that it must have."""
    below = {key: value for layer in reversed(layers) for key, value in layer.fields.items()}
    spec = _missing(below) | ({"profile": profile} if profile else {})
    metadata = {"name": "x", "namespace": "x"}
    manifest = {"apiVersion": "krmfn.dev/v1alpha1", "kind": "DeviceConfig", "metadata": metadata, "spec": spec}
    text = json.dumps(manifest).encode()
    return Item(text, 0, len(text), -2)


def _missing(spec: dict[str, Any]) -> dict[str, Any]:
    """Return neutral values for the fields that a config over these ones would still need."""
    fields: dict[str, Any] = {}
    if "nodePools" not in spec and "nodeSelector" not in spec:
        fields["nodeSelector"] = {} if spec.get("allNodes") else {"example.com/device": "true"}
    elif spec.get("nodeSelector") == {}:
        fields["allNodes"] = True
    if spec.get("inTreeDriver"):
        fields |= {} if "devicePlugin" in spec or "dra" in spec else {"devicePlugin": {"image": "plugin:1"}}
    else:
        fields |= _module(spec) | _image(spec)
    if "daemonSets" not in spec and "hub" not in spec:
        fields["daemonSets"] = [{"name": "x", "image": "x:1"}]
    if "serviceAccount" in spec:
        fields["serviceAccountName"] = "x"
    return {field: value for field, value in fields.items() if field not in spec}


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
