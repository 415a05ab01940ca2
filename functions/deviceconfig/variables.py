"""krmfn's variables in a DeviceConfig: their values, the fields with them filled in, and the errors about them."""

from collections.abc import Iterator, Mapping

from krmfn import Field, Ref, Result, error, schema
from krmfn.printing import some
from krmfn.resource import join
from krmfn.typed import Any

from ..rendering.variables import IMAGE, MODULE, NAME, NAMESPACE, OF_CONFIG, VERSION, fill, mistake, references
from .fields import Spec
from .model import DeviceConfig, typed, value
from .names import named_image

IMAGES = ("driverImage", "driverImageParts")
"""The fields that $KRMFN_DRIVER_IMAGE comes from, so that it has no value in them."""
SOURCES = {VERSION: ("driverVersion",), IMAGE: IMAGES, MODULE: ("moduleName",)}
"""The fields that variables get their values from, but for the config's name and namespace."""
_NAME = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
_LABEL = (
    r"^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$",
    "a label's value has at most 63 letters, digits, -, _ and ., and begins and ends with a letter or digit",
)
_REPOSITORY = (
    r"^[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)*$",
    "a repository has lower case letters, digits, -, _, . and /",
)
_CONFIG_MAP = (_NAME, "a ConfigMap's name has lower case letters, digits, - and .")
_FORMS = {
    **dict.fromkeys(("labels", "podLabels", "matchLabels"), _LABEL),
    **{f"{name}.name": _CONFIG_MAP for name in ("configMap", "configMapRef", "configMapKeyRef", "dockerfileConfigMap")},
    "[].objectName": (_NAME, "a DaemonSet's name has lower case letters, digits, - and ."),
    **dict.fromkeys(("imageParts.repository", "driverImageParts.repository"), _REPOSITORY),
}
"""The form of values after variables are filled in, as a regexp and in words.

The key is the field that holds the value (`labels`), or that field and the value's own (`configMap.name`).
"""


def values(fields: Mapping[str, Any], ref: Ref) -> dict[str, str]:
    """Return the values of the variables that have one, for the DeviceConfig `ref` with these merged fields."""
    known = {NAME: ref.name, NAMESPACE: ref.namespace}
    known |= {MODULE: fields.get("moduleName", ""), VERSION: fields.get("driverVersion", "")}
    known = {name: value for name, value in known.items() if value}
    image = named_image(typed(Spec, fill(_images(fields), known)))
    return {**known, IMAGE: image} if image else known


def filled(fields: Mapping[str, Any], ref: Ref) -> dict[str, Any]:
    """Return merged fields with the variables filled in where they are allowed."""
    known = values(fields, ref)
    result: dict[str, Any] = fill(fields, known, everywhere=False)
    result.update(fill(_images(fields), {name: value for name, value in known.items() if name != IMAGE}))
    return result


def source_fields(fields: Mapping[str, Any]) -> set[str]:
    """Return the fields that the variables in `fields` get their values from."""
    return {source for reference in references(fields) for source in SOURCES.get(reference.name, ())}


def _images(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: fields[name] for name in IMAGES if name in fields}


def mistakes(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per variable that is unknown, not allowed in its field, or without a fitting value."""
    for layer in config.layers:  # also fields that a stronger layer replaces
        fields = {name: value for name, value in layer.fields.items() if name != "nodePools"}  # pools have own layers
        for reference in references(fields):
            if wrong := mistake(reference):
                field = Field(f"{layer.path}.{join(reference.path)}", reference.text)
                yield error(wrong.message, field=field, remedy=wrong.remedy)
    yield from _without_value(config)
    yield from _misfits(config)


def _without_value(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per variable without a value; for a shared layer it is at the field that would give the value."""
    known = values(config.fields, config.ref)
    inherited: dict[str, list[str]] = {}  # the paths in shared layers, by the variable
    for reference in references(config.fields):
        path, text, name = reference.path, reference.text, reference.name
        is_inside = name == IMAGE and path[0] in IMAGES
        if not reference.is_filled or name not in SOURCES or not (is_inside or name not in known):
            continue
        layer = config.layer(join(path))
        if layer and layer.shared and not is_inside:
            inherited.setdefault(name, []).append(config.at(join(path)))
            continue
        reason = "it cannot be used in the driver's image itself" if is_inside else f"{SOURCES[name][0]} is missing"
        remedy = "write the image itself" if is_inside else f"write {SOURCES[name][0]}"
        yield config.error(f"{text} has no value: {reason}", join(path), text, remedy)
    for name, paths in inherited.items():
        message = f"{SOURCES[name][0]} is missing: ${name} has no value in {some(paths, len(paths))}"
        yield config.error(message, SOURCES[name][0], remedy="write it")


def _misfits(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per label or name that a variable makes invalid, and per selector that would change."""
    for reference in references(config.fields):
        name, path = join(reference.path), reference.path
        if path[0] == "daemonSets" and path[2:3] == ("matchLabels",) and reference.name not in ("", *OF_CONFIG):
            message = f"{reference.text} changes with the config, and a DaemonSet's selector never can"
            yield config.error(message, name, value(config.fields, name), remedy=f"use ${OF_CONFIG[0]}")
        text = value(config.spec, name) if reference.is_filled else None
        holder = "" if len(path) < 2 else "[]" if isinstance(path[-2], int) else path[-2]
        form, words = _FORMS.get(holder) or _FORMS.get(f"{holder}.{path[-1]}") or ("", "")
        if isinstance(text, str) and not schema.matches(form, text):
            yield config.error(f"becomes {text!r}; {words}", name, value(config.fields, name))
