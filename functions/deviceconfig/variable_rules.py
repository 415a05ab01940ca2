"""The rule about krmfn's variables: a known name, where it is filled in, with a value that fits there."""

from collections.abc import Iterator

from krmfn import Field, Result, error, schema
from krmfn.printing import some
from krmfn.resource import join
from krmfn.results import Rule

from .model import DeviceConfig, value

_NAME = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
_FORMS = {
    **dict.fromkeys(
        ("labels", "podLabels", "matchLabels"),
        (
            r"^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$",
            "a label's value has at most 63 letters, digits, -, _ and ., and begins and ends with a letter or digit",
        ),
    ),
    **dict.fromkeys(
        [f"{holder}.name" for holder in ("configMap", "configMapRef", "configMapKeyRef", "dockerfileConfigMap")],
        (_NAME, "a ConfigMap's name has lower case letters, digits, - and ."),
    ),
    "[].objectName": (_NAME, "a DaemonSet's name has lower case letters, digits, - and ."),
    **dict.fromkeys(
        ("imageParts.repository", "driverImageParts.repository"),
        (
            r"^[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)*$",
            "a repository has lower case letters, digits, -, _, . and /",
        ),
    ),
}
"""What holds what has to have a form after variables are filled in, alone or with its own name: the form, in words."""


def variables_are_known(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per variable that is unknown, that stands where none is filled in, or that has no value."""
    yield from _as_written(config)
    yield from _without_value(config)
    yield from _misfits(config)


def _as_written(config: DeviceConfig) -> Iterator[Result]:
    """Yield the errors that a layer has by itself, also in fields that a stronger one replaces."""
    from ..rendering.variables import mistake, references

    for layer in config.layers:
        own = {name: fields for name, fields in layer.fields.items() if name != "nodePools"}  # layers of their own
        for reference in references(own):
            if wrong := mistake(reference):
                yield error(wrong, field=Field(f"{layer.path}.{join(reference.path)}", reference.text))


def _without_value(config: DeviceConfig) -> Iterator[Result]:
    from ..rendering.variables import IMAGE, references
    from .variables import IMAGES, SOURCES, values

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
    from ..rendering.variables import OF_CONFIG, references

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


RULES = (
    Rule(
        "KRM146",
        "a krmfn variable must be known and allowed in its field, and must have a value that fits there",
        good="""\
spec:
  devicePlugin: {image: "registry.example.com/plugin:$KRMFN_DRIVER_VERSION"}
""",
        bad="""\
spec:
  devicePlugin: {image: "registry.example.com/plugin:$KRMFN_DRIVER_VERISON"}
""",
        remedy="Correct the name, write the field that gives the variable its value, or write the value itself.",
        check=variables_are_known,
    ),
)
"""The rule about variables in one config or pool."""
