"""The values of krmfn's variables in a DeviceConfig, its fields with them filled in, and what is wrong with them."""

from collections.abc import Iterator, Mapping

from krmfn import Field, Ref, Result, error, schema
from krmfn.printing import some
from krmfn.resource import join
from krmfn.typed import Any

from ..rendering.variables import IMAGE, MODULE, NAME, NAMESPACE, OF_CONFIG, VERSION, fill, mistake, references
from .model import DeviceConfig, spec, value
from .names import named_image

IMAGES = ("driverImage", "driverImageParts")
"""The fields that $KRMFN_DRIVER_IMAGE is made from, so that it has no value in them."""
SOURCES = {VERSION: ("driverVersion",), IMAGE: IMAGES, MODULE: ("moduleName",)}
"""The fields that a variable's value comes from; the config's name is always there, and its namespace has a rule."""
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
    **{f"{of}.name": _CONFIG_MAP for of in ("configMap", "configMapRef", "configMapKeyRef", "dockerfileConfigMap")},
    "[].objectName": (_NAME, "a DaemonSet's name has lower case letters, digits, - and ."),
    **dict.fromkeys(("imageParts.repository", "driverImageParts.repository"), _REPOSITORY),
}
"""What holds what has to have a form after variables are filled in, alone or with its own name: the form, in words."""


def values(fields: Mapping[str, Any], ref: Ref) -> dict[str, str]:
    """Return the variables that have a value, for merged fields of a DeviceConfig `ref` in which none is filled in."""
    known = {NAME: ref.name, NAMESPACE: ref.namespace}
    known |= {MODULE: fields.get("moduleName", ""), VERSION: fields.get("driverVersion", "")}
    known = {name: value for name, value in known.items() if value}
    image = named_image(spec(fill(_images(fields), known)))
    return {**known, IMAGE: image} if image else known


def filled(fields: Mapping[str, Any], ref: Ref) -> dict[str, Any]:
    """Return merged fields with the variables filled in where they may stand."""
    known = values(fields, ref)
    done: dict[str, Any] = fill(fields, known, everywhere=False)
    done.update(fill(_images(fields), {name: value for name, value in known.items() if name != IMAGE}))
    return done


def used(fields: Mapping[str, Any]) -> set[str]:
    """Return the fields that some variable takes its value from."""
    return {source for reference in references(fields) for source in SOURCES.get(reference.name, ())}


def _images(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: fields[name] for name in IMAGES if name in fields}


def mistakes(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per variable that is unknown, that stands where none is filled in, or that has no value."""
    yield from _as_written(config)
    yield from _without_value(config)
    yield from _misfits(config)


def _as_written(config: DeviceConfig) -> Iterator[Result]:
    """Yield the errors that a layer has by itself, also in fields that a stronger one replaces."""
    for layer in config.layers:
        own = {name: fields for name, fields in layer.fields.items() if name != "nodePools"}  # layers of their own
        for reference in references(own):
            if wrong := mistake(reference):
                yield error(wrong, field=Field(f"{layer.path}.{join(reference.path)}", reference.text))


def _without_value(config: DeviceConfig) -> Iterator[Result]:
    known = values(config.fields, config.ref)
    inherited: dict[str, list[str]] = {}  # where shared layers use a variable that the config has to give a value
    for reference in references(config.fields):
        path, text, name = reference.path, reference.text, reference.name
        inside = name == IMAGE and path[0] in IMAGES
        if not reference.is_filled or name not in SOURCES or not (inside or name not in known):
            continue
        layer = config.layer(join(path))
        if layer and layer.shared and not inside:
            inherited.setdefault(name, []).append(config.at(join(path)))
            continue
        why = "it cannot be used in the driver's image itself" if inside else f"{SOURCES[name][0]} is missing"
        yield config.error(f"{text} has no value: {why}", join(path), text)
    for name, paths in inherited.items():
        message = f"{SOURCES[name][0]} is missing: ${name} has no value in {some(paths, len(paths))}"
        yield config.error(message, SOURCES[name][0])


def _misfits(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per label or name that is none any more, and per selector that would change."""
    for reference in references(config.fields):
        name, path = join(reference.path), reference.path
        if path[0] == "daemonSets" and path[2:3] == ("matchLabels",) and reference.name not in ("", *OF_CONFIG):
            what = f"{reference.text} changes with the config, and a DaemonSet's selector never can"
            yield config.error(f"{what}; use ${OF_CONFIG[0]}", name, value(config.fields, name))
        text = value(config.spec, name) if reference.is_filled else None
        holder = "" if len(path) < 2 else "[]" if isinstance(path[-2], int) else path[-2]
        form, says = _FORMS.get(holder) or _FORMS.get(f"{holder}.{path[-1]}") or ("", "")
        if isinstance(text, str) and not schema.matches(form, text):
            yield config.error(f"becomes {text!r}; {says}", name, value(config.fields, name))
