"""A functionConfig, of its own kind or a ConfigMap, read into a dataclass; what is wrong with it are findings."""

import dataclasses
import re
import types
import typing
from contextlib import suppress
from functools import lru_cache
from typing import Any

from .annotations import place_of
from .errors import KrmfnError
from .resource import Manifest, annotations_of, join, ref, split
from .results import Field, Result, error
from .schema import check

__all__ = [
    "Doc",
    "Option",
    "Rest",
    "check_class",
    "expected",
    "inner_class",
    "is_required",
    "options",
    "read",
    "schema",
    "schema_of",
]

_HEAD = ("apiVersion", "kind", "metadata")
_TYPES = {str: "string", int: "integer", bool: "boolean", float: "number"}
_PARSERS: dict[str, tuple[str, typing.Callable[[str], Any]]] = {
    "integer": (r"[-+]?[0-9]{1,18}", int),
    "number": (r"[-+]?[0-9]+(?:\.[0-9]+)?", float),
    "boolean": ("true|false", "true".__eq__),
}
"""By the name of a type: the pattern of its texts, and what makes a value of one."""


class Doc(typing.NamedTuple):
    """What a field of a config means, for `--help` and `--schema`: `Annotated[str, Doc("image without tag")]`."""

    text: str


class Rest(typing.NamedTuple):
    """Mark the field that takes what is left of a ConfigMap's data: `Annotated[dict[str, str], Rest()]`."""


class Option(typing.NamedTuple):
    """A field of a config."""

    name: str
    """In Python."""
    key: str
    """In YAML: `newTag` for `new_tag`."""
    hint: Any
    """The type, without its annotations."""
    doc: str
    is_rest: bool
    default: Any
    """dataclasses.MISSING for a field that must be there."""


def read(manifest: Manifest | None, spec: Any) -> tuple[Any, list[Result]]:
    """Return the config and no findings; or None and the findings about the functionConfig."""
    if not manifest and is_required(spec):
        return None, [error("the functionConfig is missing", remedy=f"pass {expected(spec)}")]
    manifest = manifest or {}
    reference, version = ref(manifest), f"{spec.group}/{spec.version}"
    is_map = reference[:2] == ("v1", "ConfigMap")
    section = "data" if is_map else "" if spec.is_top else "spec"
    data: Any = {key: value for key, value in manifest.items() if key not in _HEAD}
    strays = data.keys() - {section, "immutable" if is_map else "status"} if section else ()
    if section:
        data = {} if manifest.get(section) is None else manifest[section]
    findings: list[Result] = []
    if manifest and not is_map and (reference.group != spec.group or reference.kind not in spec.kinds):
        kind = reference.kind or "a resource without kind"
        findings = [error(f"the functionConfig must be {expected(spec)}, not {kind}")]
    elif manifest and not is_map and reference.api_version != version:
        findings = [error(f"must be {version}, not {reference.api_version}", field=Field("apiVersion"))]
    elif strays:
        advice = "move it there if it is a field of the function, else remove it"
        message = f"is not read: only what is below {section} is; {advice}"
        findings = [error(message, field=Field(key)) for key in sorted(map(str, strays))]
    elif isinstance(data, dict):
        names = {_camel(key): key for key in data}
        data = _from_texts(data, spec.config) if is_map else data
        for result in check(data, schema(spec.config)):
            field = result.field or Field(section)
            first, *rest = split(field.path)
            path = join(filter(None, (section, names.get(first, first), *rest)))
            findings.append(result._replace(field=field._replace(path=path)))
    else:
        findings = [error("must be a mapping", field=Field(section))]
    if not findings:
        try:
            return _instance(spec.config, data), []
        except (ValueError, KrmfnError) as failure:  # what the class itself checks when it is made
            findings = [error(str(failure), field=Field(section) if section else None)]
    place = place_of(annotations_of(manifest))
    return None, [finding._replace(ref=reference, place=place) for finding in findings]


def is_required(spec: Any) -> bool:
    """Return True for a function that does not run without a functionConfig."""
    return bool(spec.config) and "required" in schema(spec.config)


def expected(spec: Any) -> str:
    """Return what a functionConfig may be, for people."""
    return f"{spec.kinds[0]} ({spec.group}/{spec.version}) or a ConfigMap (v1)"


def _from_texts(data: Manifest, config: Any) -> Manifest:
    """Return a ConfigMap's data with the types of the fields, and by their keys; `new-tag` is `newTag` there."""
    known = {option.key: option for option in options(config)}
    rest = next((option for option in known.values() if option.is_rest), None)
    values: Manifest = {}
    for name, value in data.items():
        key = _camel(name)
        if key in known and known[key] is not rest:
            values[key] = _typed(value, schema_of(known[key].hint))
        elif rest:
            values.setdefault(rest.key, {})[name] = value
        else:
            values[name] = value
    return values


def _typed(value: Any, rule: Manifest) -> Any:
    """Return a text as a value of its field's type; a text that does not fit stays one, and the schema reports it."""
    if not isinstance(value, str):
        return value
    kind = rule.get("type", "string")
    kind = kind[0] if isinstance(kind, list) else kind  # of a type `| None`
    if kind in _PARSERS:
        pattern, convert = _PARSERS[kind]
        return convert(value) if re.fullmatch(pattern, value) else value
    if kind in ("array", "object"):
        from .yamltext.edit import parse

        with suppress(KrmfnError):
            return parse(value)
    return value


@lru_cache
def options(config: Any) -> list[Option]:
    """Return the fields of a dataclass, in their order."""
    hints = typing.get_type_hints(config, include_extras=True)
    return [_option(field, hints[field.name]) for field in dataclasses.fields(config) if field.init]


def _option(field: dataclasses.Field[Any], hint: Any) -> Option:
    notes = getattr(hint, "__metadata__", ())
    default = field.default
    if default is dataclasses.MISSING and field.default_factory is not dataclasses.MISSING:
        default = field.default_factory()
    doc = " ".join(note.text for note in notes if isinstance(note, Doc))
    is_rest = any(note is Rest or isinstance(note, Rest) for note in notes)
    return Option(field.name, _camel(field.name), hint.__origin__ if notes else hint, doc, is_rest, default)


def _camel(name: str) -> str:
    return re.sub(r"(?<=[A-Za-z0-9])[_-]([A-Za-z0-9])", lambda match: match[1].upper(), name)


@lru_cache
def schema(config: type | None) -> Manifest:
    """Return the JSON Schema of a dataclass."""
    properties: Manifest = {}
    for option in options(config):
        text = {"description": option.doc} if option.doc else {}
        properties[option.key] = schema_of(option.hint) | text
        if isinstance(option.default, (str, int, float)) and option.default != "":
            properties[option.key]["default"] = option.default
    needed = [option.key for option in options(config) if option.default is dataclasses.MISSING]
    required = {"required": needed} if needed else {}
    return {"type": "object", "properties": properties, **required, "additionalProperties": False}


def check_class(config: Any) -> None:
    """Raise TypeError, with the field, for a class that no functionConfig can be read into."""
    if not (isinstance(config, type) and dataclasses.is_dataclass(config)):
        raise TypeError(f"config={config!r} is no dataclass; put @dataclass(frozen=True) above it")
    try:
        fields = options(config)
    except NameError:  # a class that is defined below the function
        return
    for option in fields:
        try:
            schema_of(option.hint)
        except TypeError as failure:
            raise TypeError(f"{config.__name__}.{option.name}: {failure}") from failure


def schema_of(hint: Any) -> Manifest:
    """Return the JSON Schema of a type. Raises TypeError for one that no functionConfig can have."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if hint in _TYPES:
        return {"type": _TYPES[hint]}
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return dict(schema(hint))
    if origin in (list, tuple):
        return {"type": "array", "items": schema_of(args[0])}
    if origin is dict:
        return {"type": "object", "additionalProperties": schema_of(args[1])}
    if origin is typing.Literal:
        return {"enum": list(args)}
    if origin in (typing.Union, types.UnionType) and len(args) == 2 and type(None) in args:
        rule = schema_of(next(arg for arg in args if arg is not type(None)))
        return rule | {"type": [rule["type"], "null"]} if "type" in rule else {"enum": [*rule["enum"], None]}
    if hint is Any:
        return {}
    known = "str, int, bool, float, list, dict or a dataclass"
    raise TypeError(f"{hint} cannot be the type of a config's field; take {known}")


def inner_class(hint: Any) -> Any:
    """Return the dataclass in a type, that of a list's entries among them; None without one."""
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return hint
    inner = (inner_class(arg) for arg in typing.get_args(hint)) if typing.get_origin(hint) is not dict else ()
    return next((part for part in inner if part is not None), None)


def _instance(hint: Any, value: Any) -> Any:
    """Return a value, which fits the schema of a type, as an instance of it."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if dataclasses.is_dataclass(hint) and isinstance(value, dict):
        make: Any = hint
        known = (option for option in options(make) if option.key in value)
        return make(**{option.name: _instance(option.hint, value[option.key]) for option in known})
    if origin in (list, tuple) and isinstance(value, list):
        return origin(_instance(args[0], entry) for entry in value)
    if origin is dict and isinstance(value, dict):
        return {key: _instance(args[1], entry) for key, entry in value.items()}
    if origin in (typing.Union, types.UnionType) and value is not None:
        return _instance(next(arg for arg in args if arg is not type(None)), value)
    return float(value) if hint is float else value
