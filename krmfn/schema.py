"""Validation of manifests with JSON Schema: findings with field paths and messages that say what to do.

A quick check passes what fits; only what does not is given to jsonschema (85 ms to import), which lists
everything that is wrong. The tests compare the two.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from .fieldpath import join
from .resource import Manifest
from .results import Field, Result
from .yamltext.scalars import Timestamp

Schema = dict[str, Any]
"""JSON Schema 2020-12. `x-says` on a subschema with a pattern is the rule as a sentence for people."""

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}
_NAMES = {"object": "a mapping", "array": "a list", "string": "a string", "boolean": "true or false", "null": "empty"}
_NAMES |= {"integer": "a whole number", "number": "a number"}
_KEY = "its key "
_LONG = 80
"""Characters up to which a value is shown whole."""
_WORDLESS = {"$schema", "$id", "$defs", "title", "description", "default", "examples", "x-says", "additionalProperties"}


def check(manifest: Manifest, schema: Schema, rule: str = "KRM101") -> list[Result]:
    """Return a finding for everything in `manifest` that does not fit `schema`, ordered by path."""
    if fits(manifest, schema, schema):
        return []
    validator = _validator()(schema)
    results = {
        (field.path, message.startswith(_KEY)): Result(message, "error", rule, field=field)
        for message, field in _explained(validator, manifest)
    }
    return [results[key] for key in sorted(results, key=lambda key: (_order(key[0]), key))]


def fits(value: Any, schema: Schema, root: Schema) -> bool:
    """Return True when `value` surely fits; False when it does not, or when a keyword is not known here."""
    for keyword, rule in schema.items():
        if keyword not in _WORDLESS and not _fits_keyword(keyword, rule, value, root):
            return False
    if isinstance(value, dict):
        known = schema.get("properties", {})
        rest = schema.get("additionalProperties", True)
        for key, child in value.items():
            sub = known.get(key, rest)
            if sub is False or (isinstance(sub, dict) and not fits(child, sub, root)):
                return False
    return True


def _fits_keyword(keyword: str, rule: Any, value: Any, root: Schema) -> bool:
    if keyword == "$ref":
        return fits(value, root["$defs"][rule.removeprefix("#/$defs/")], root)
    if keyword == "items":
        return not isinstance(value, list) or all(fits(child, rule, root) for child in value)
    if keyword == "propertyNames":
        return not isinstance(value, dict) or all(fits(key, rule, root) for key in value)
    test = _TESTS.get(keyword)
    return test is not None and test(value, rule)


_END = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\$", re.DOTALL)
"""`$`, or what may hold one that is not meant: an escape, a class."""


@lru_cache(maxsize=256)
def _pattern(rule: str) -> re.Pattern[str]:
    r"""Return a pattern as ECMA 262 and Kubernetes read it: `$` is only the end of the text, not before a last \n."""
    return re.compile(_END.sub(lambda match: r"\Z" if match[0] == "$" else match[0], rule))


_TESTS: dict[str, Callable[[Any, Any], bool]] = {
    "properties": lambda value, rule: True,  # looked at together with additionalProperties
    "type": lambda value, rule: any(type(value) in _TYPES[name] for name in ([rule] if type(rule) is str else rule)),
    "required": lambda value, rule: not isinstance(value, dict) or all(key in value for key in rule),
    "enum": lambda value, rule: value in rule,
    "pattern": lambda value, rule: not isinstance(value, str) or _pattern(rule).search(value) is not None,
    "minItems": lambda value, rule: not isinstance(value, list) or len(value) >= rule,
    "maxItems": lambda value, rule: not isinstance(value, list) or len(value) <= rule,
    "minLength": lambda value, rule: not isinstance(value, str) or len(value) >= rule,
    "maxLength": lambda value, rule: not isinstance(value, str) or len(value) <= rule,
    "minProperties": lambda value, rule: not isinstance(value, dict) or len(value) >= rule,
    "maxProperties": lambda value, rule: not isinstance(value, dict) or len(value) <= rule,
    "minimum": lambda value, rule: type(value) not in (int, float) or value >= rule,
    "maximum": lambda value, rule: type(value) not in (int, float) or value <= rule,
}


@lru_cache(maxsize=1)
def _validator() -> Any:
    """Return jsonschema's validator with Kubernetes' types: a string is only what was written as one."""
    from jsonschema import Draft202012Validator, ValidationError
    from jsonschema.validators import extend

    def is_type(names: tuple[type, ...]) -> Any:
        return lambda checker, value: type(value) in names

    def pattern(validator: Any, rule: str, value: Any, schema: Schema) -> Iterator[Any]:
        if not _TESTS["pattern"](value, rule):
            yield ValidationError(f"{value!r} does not match {rule!r}")

    types = Draft202012Validator.TYPE_CHECKER.redefine_many({name: is_type(kinds) for name, kinds in _TYPES.items()})
    return extend(Draft202012Validator, {"pattern": pattern}, type_checker=types)  # type: ignore[no-untyped-call]


def _explained(validator: Any, manifest: Manifest) -> Iterator[tuple[str, Field]]:
    """Yield (message, field) of each thing that is wrong."""
    for problem in validator.iter_errors(manifest):
        path: list[str | int] = list(problem.absolute_path)
        if problem.validator == "additionalProperties":
            for key in problem.instance:
                if key not in problem.schema.get("properties", {}):
                    yield _unknown(str(key), problem.schema), Field(join([*path, key]))
        elif problem.validator == "required":
            for key in problem.validator_value:
                if key not in problem.instance:
                    yield _missing(key, problem.schema), Field(join([*path, key]))
        elif "propertyNames" in problem.absolute_schema_path:
            yield f"{_KEY}{_wrong(problem)}", Field(join([*path, problem.instance]))
        else:
            yield _wrong(problem), Field(join(path), _current(problem.instance))


def _current(value: Any) -> Any:
    """Return the value for a finding, a date as text, where it is short enough to be read."""
    if isinstance(value, str):
        return str(value) if len(value) <= _LONG else None
    return value if isinstance(value, (int, float)) else None


def _unknown(key: str, schema: Schema) -> str:
    from difflib import get_close_matches

    known = list(schema.get("properties", {}))
    folded = {name.lower(): name for name in known}
    close = [folded[name] for name in get_close_matches(key.lower(), folded, 1, 0.6)]
    if close:
        return f"unknown field {key!r}; did you mean {close[0]!r}?"
    return f"unknown field {key!r}; known here: {', '.join(sorted(known))}"


def _missing(key: str, schema: Schema) -> str:
    description = schema.get("properties", {}).get(key, {}).get("description", "")
    return f"is required{': ' + description if description else ''}"


def _wrong(problem: Any) -> str:
    value, rule = problem.instance, problem.validator_value
    match problem.validator:
        case "type":
            return _wrong_type(value, [rule] if isinstance(rule, str) else list(rule))
        case "enum":
            return f"is {value!r}; must be {'one of ' if len(rule) > 1 else ''}{', '.join(map(repr, rule))}"
        case "pattern" | "maxLength" if "x-says" in problem.schema:
            shown = value if len(value) <= _LONG else f"{value[:60]}... ({len(value):,} characters)"
            says, longest = problem.schema["x-says"], problem.schema.get("maxLength")
            too_long = problem.validator == "maxLength" and str(longest) not in says
            return f"is {shown!r}; must be {says}{f', at most {longest:,} characters' if too_long else ''}"
        case "minItems" | "minLength" | "minProperties" if not value:
            return "must not be empty; leave the field out if it is not needed"
        case "minItems" | "maxItems" | "minProperties" | "maxProperties":
            return _wrong_count(len(value), problem)
        case "minimum":
            return f"is {value}; must be at least {rule}"
        case "maximum":
            return f"is {value}; must be at most {rule}"
    return str(problem.message)[:300]


def _wrong_count(count: int, problem: Any) -> str:
    one, many = ("entry", "entries") if isinstance(problem.instance, list) else ("field", "fields")
    bound = f"{'at most' if problem.validator.startswith('max') else 'at least'} {problem.validator_value}"
    return f"has {count:,} {one if count == 1 else many}; must be {problem.schema.get('x-says', bound)}"


def _wrong_type(value: Any, wanted: list[str]) -> str:
    must = " or ".join(_NAMES[name] for name in wanted)
    if value is None:
        return f"is empty; must be {must}"
    if isinstance(value, (dict, list)) or (isinstance(value, str) and len(value) > _LONG):
        actual = next(_NAMES[name] for name, kinds in _TYPES.items() if type(value) in kinds)
        return f"is {actual}; must be {must}"
    if type(value) is str:
        return f"is the string {value!r}; must be {must}"
    remedy = ""
    if "string" in wanted:
        digits = ", with every digit: a YAML reader turns 1.10 into 1.1" if isinstance(value, float) else ""
        remedy = f': write it in quotes, "{_shown(value)}"{digits}'
    return f"is the {_WHAT[type(value)]} {_shown(value)}; must be {must}{remedy}"


_WHAT = {bool: "boolean", int: "number", float: "number", Timestamp: "date"}


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _order(path: str) -> list[tuple[int, str]]:
    """Return a sort key for paths: their parts, list indexes as numbers."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"[.\[\]]+", path) if part]
