"""The rule about the fields that a profile locks."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache

from krmfn import Field, Result, error
from krmfn.printing import closest
from krmfn.resource import FieldPath, join, split
from krmfn.typed import Any

from .. import oracles
from ..kmm.lookup import MISSING, at, table, tables
from ..rendering.function_config import FunctionConfig
from ..rendering.kinds import schema
from ..rule import Rule
from .merging import ATOMIC, EITHER, KEYS, UNSET
from .model import DeviceConfig


def locked_fields_are_left_alone(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per field that the profile locks and that the config, its pool or `overrides` writes.

    `overrides` of the functionConfig may write the field if it repeats the vendor's reason.
    """
    overrides = [layer for layer in config.layers if layer.path.startswith("spec.overrides")]
    for name, reason in config.vendor.locked.items():
        message = f"{name} is locked by the profile {config.profile}: {reason}"
        for path in _written(config.item.content.manifest.get("spec") or {}, name):
            yield error(message, field=Field(join(("spec", *path))))
        for layer in overrides if config.vendor.unlocked.get(name) != reason else ():
            for path in _written(layer.fields, name):
                remedy = f"to override it nevertheless, repeat the reason in {layer.path}.locked"
                yield error(f"{message}; {remedy}", field=Field(f"{layer.path}.{join(path)}"))


def _written(fields: dict[str, Any], name: str) -> Iterator[FieldPath]:
    """Yield each path at which fields, or the node pools in them, have the locked field `name` in either form."""
    if _mistake(name):
        return
    *parents, last = split(name)
    forms = next((pair for pair in EITHER if last in pair), (last,))
    holders: list[tuple[FieldPath, Any]] = [((), fields)]
    holders += [(("nodePools", index), pool) for index, pool in enumerate(fields.get("nodePools", ()))]
    for start, holder in holders:
        for form in forms:
            if path := _path(holder, [*parents, form]):
                yield (*start, *path)
            if not parents and form in holder.get(UNSET, ()):
                yield (*start, UNSET, holder[UNSET].index(form))


def _path(fields: Any, parts: Sequence[str]) -> FieldPath:
    """Return the path of a field, with the index of an entry in place of its name; () if `fields` does not have it."""
    path: FieldPath = ()
    for part in parts:
        key: str | int = part
        if isinstance(fields, list):
            names = KEYS.get(str(path[-1]), ())
            key = next((index for index, entry in enumerate(fields) if names and str(entry.get(names[0])) == part), -1)
        fields, path = at(fields, (key,)), (*path, key)
        if fields is MISSING:
            return ()
    return path


def check(config: FunctionConfig) -> Iterator[Result]:
    """Yield an error per lock of a profile for an unknown field, and per locked field that the defaults write."""
    for profile, start, fields, locate in _profiles(config):
        for name, reason in table(fields, "locked").items():
            if mistake := _mistake(name):
                yield locate(error(mistake, rule="KRM148", field=Field(join((*start, "locked", name)))))
            for path in _written(config.defaults, name) if "when" not in start else ():
                message = f"{name} is locked by the profile {profile}: {reason}"
                field = Field(join(("spec", "defaults", *path)))
                yield config.source.located(error(message, rule="KRM148", field=field))


def _profiles(config: FunctionConfig) -> Iterator[tuple[str, FieldPath, dict[str, Any], Callable[[Result], Result]]]:
    """Yield each profile, and each `when` of a Profile: name, path of the fields, fields, `located` of the document."""
    for profile, fields in config.profiles.items():
        yield profile, ("spec", "profiles", profile), fields, config.source.located
    for product in config.products.values():
        if product.is_sound:
            yield product.name, ("spec", "config"), product.spec["config"], product.item.located
            for index, when in tables(product.spec, "when"):
                yield product.name, ("spec", "when", index, "config"), table(when, "config"), product.item.located


@cache
def _mistake(name: str) -> str:
    """Return the message about the path of a locked field; "" for a field of a config, or of Kubernetes inside one."""
    definitions = schema("renderdeviceconfigs")["$defs"]
    node, holder = definitions["vendor"], ""
    parts = split(name) or ("",)
    for index, part in enumerate(parts):
        node = definitions[node["$ref"].removeprefix("#/$defs/")] if "$ref" in node else node
        parent, kind = ".".join(parts[:index]), node.get("type", "object")
        if holder in ATOMIC or (kind == "array" and holder not in KEYS):
            return f"{parent} is replaced as a whole; lock {parent}"
        if kind == "array":
            node, holder = node["items"], ""  # the part is an entry's name
            continue
        known, rest = node.get("properties", {}), node.get("additionalProperties")
        if kind != "object" or (part not in known and rest is False):
            hint = f"known {f'in {parent}' if parent else 'here'}: {', '.join(sorted(known)) or 'none'}"
            if suggestion := closest(part, known):
                hint = f"did you mean {'.'.join([*parts[:index], suggestion, *parts[index + 1 :]])!r}?"
            return f"unknown field {name!r}; {hint}"
        node, holder = known.get(part) or (rest if isinstance(rest, dict) else {}), part
    return ""


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
