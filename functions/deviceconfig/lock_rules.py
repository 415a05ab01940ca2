"""The rule about the fields that a profile locks."""

from collections.abc import Callable, Iterator

from krmfn import Field, Result, error
from krmfn.resource import FieldPath, join, split
from krmfn.typed import Any

from .. import oracles
from ..kmm.lookup import table, tables
from ..rendering.function_config import FunctionConfig
from ..rule import Rule
from .keyed import path_in
from .merging import EITHER, UNSET
from .model import DeviceConfig
from .named_fields import LOCK, mistake


def locked_fields_are_left_alone(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per field that the profile locks and that the config, its pool or `overrides` writes.

    `overrides` of the functionConfig may write the field if it repeats the vendor's reason.
    """
    overrides = [layer for layer in config.layers if layer.path.startswith("spec.overrides")]
    for name, reason in config.vendor.locked.items():
        message = f"{name} is locked by the profile {config.profile}: {reason}"
        for path in _written(config.item.content.manifest.get("spec") or {}, name):
            yield error(message, field=Field(join(("spec", *path))), remedy="remove the field")
        for layer in overrides if config.vendor.unlocked.get(name) != reason else ():
            for path in _written(layer.fields, name):
                remedy = f"to override it nevertheless, repeat the reason in {layer.path}.locked"
                yield error(message, field=Field(f"{layer.path}.{join(path)}"), remedy=remedy)


def _written(fields: dict[str, Any], name: str) -> Iterator[FieldPath]:
    """Yield each path at which fields, or the node pools in them, have the locked field `name` in either form."""
    if mistake(name, LOCK):
        return
    *parents, last = split(name)
    locks = [(*parents, form) for form in next((pair for pair in EITHER if last in pair), (last,))]
    holders: list[tuple[FieldPath, Any]] = [((), fields)]
    holders += [(("nodePools", index), pool) for index, pool in enumerate(fields.get("nodePools", ()))]
    for start, holder in holders:
        yield from ((*start, *path) for names in locks if (path := path_in(holder, names)))
        for index, unset in enumerate(holder.get(UNSET, ())):
            names = split(unset)
            if any(names[: len(lock)] == lock for lock in locks):
                yield (*start, UNSET, index)


def check(config: FunctionConfig) -> Iterator[Result]:
    """Yield an error per lock of a profile for an unknown field, and per locked field that the defaults write."""
    for profile, start, fields, locate in _profiles(config):
        for name, reason in table(fields, "locked").items():
            if wrong := mistake(name, LOCK):
                field = Field(join((*start, "locked", name)))
                yield locate(error(wrong.message, rule="KRM148", field=field, remedy=wrong.remedy))
            for path in _written(config.defaults, name) if "when" not in start else ():
                message = f"{name} is locked by the profile {profile}: {reason}"
                field = Field(join(("spec", "defaults", *path)))
                yield config.source.located(error(message, rule="KRM148", field=field, remedy="remove the field"))


def _profiles(config: FunctionConfig) -> Iterator[tuple[str, FieldPath, dict[str, Any], Callable[[Result], Result]]]:
    """Yield each profile, and each `when` of a Profile: name, path of the fields, fields, `located` of the document."""
    for profile, fields in config.profiles.items():
        yield profile, ("spec", "profiles", profile), fields, config.source.located
    for product in config.products.values():
        if product.is_sound:
            yield product.name, ("spec", "config"), product.spec["config"], product.item.located
            for index, when in tables(product.spec, "when"):
                yield product.name, ("spec", "when", index, "config"), table(when, "config"), product.item.located


RULES = (
    Rule(
        "KRM148",
        "a field that a profile locks must not be set by a config, a pool or the defaults",
        good="""\
kind: RenderDeviceConfigs
spec: {profiles: {gpu: {moduleName: gpu, locked: {moduleName: the device plugin knows no other module}}}}
---
spec: {profile: gpu, moduleName: null}
""",
        bad="""\
kind: RenderDeviceConfigs
spec: {profiles: {gpu: {moduleName: gpu, locked: {moduleName: the device plugin knows no other module}}}}
---
spec: {profile: gpu, moduleName: gpu_open}
""",
        remedy="Remove the field; the finding gives the vendor's reason.",
        held=oracles.OUR_KINDS,
        check=locked_fields_are_left_alone,
    ),
)
"""The rule about one config or pool; `check` applies it to profiles and defaults by themselves."""
