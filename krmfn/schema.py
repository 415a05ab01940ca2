"""Validation of manifests with JSON Schema: findings with field paths and messages that say what to do.

A quick test passes what fits; only what does not is given to jsonschema (85 ms to import), which lists
everything that is wrong (see `schema_findings`). The tests compare the two.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from sys import maxsize
from typing import Any

from .resource import Manifest
from .results import Result

Schema = dict[str, Any]
"""JSON Schema 2020-12. `x-says` on a subschema with a pattern is the rule as a sentence for people, `x-elsewhere` on an
object says where fields belong that it does not have."""
Test = Callable[[Any], bool]

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}
_OBJECT = {"properties", "additionalProperties"}
_WORDLESS = {
    "$schema",
    "$id",
    "$defs",
    "title",
    "description",
    "default",
    "examples",
    "x-says",
    "x-elsewhere",
    *_OBJECT,
}
_OF_STRINGS = {"type", "pattern", "minLength", "maxLength"}
_made: dict[int, _Tests] = {}
"""The tests made so far, by the identity of the schema that they are for; they hold it."""


def check(manifest: Manifest, schema: Schema, rule: str = "") -> list[Result]:
    """Return a finding of the rule for everything in `manifest` that does not fit `schema`, ordered by path.

    A schema is read once: it must not be changed afterwards.
    """
    if fits(manifest, schema, schema):
        return []
    from .schema_findings import findings

    return findings(_validator()(schema).iter_errors(manifest), rule)


def fits(value: Any, schema: Schema, root: Schema) -> bool:
    """Return True when `value` surely fits; False when it does not, or when a keyword is not known here.

    `schema` is `root` or a part of it.
    """
    tests = _made.get(id(root))
    if tests is None:
        tests = _made[id(root)] = _Tests(root)
    return tests.of(schema)(value)


def matches(pattern: str, value: str) -> bool:
    r"""Return True when a pattern is in a text, as ECMA 262 and Kubernetes read it: `$` is not before a last \n."""
    return _pattern(pattern).search(value) is not None


@lru_cache(maxsize=256)
def _pattern(rule: str) -> re.Pattern[str]:
    # `$`, or what may hold one that is not meant: an escape, a class.
    end = r"\\.|\[(?:\\.|[^\]\\])*\]|\$"
    return re.compile(re.sub(end, lambda match: r"\Z" if match[0] == "$" else match[0], rule, flags=re.DOTALL))


def _string(pattern: str, least: int, most: int) -> Test:
    """Return the test of a schema that is about strings alone, as most are: in one step."""
    if not pattern:
        return lambda value: type(value) is str and least <= len(value) <= most
    return lambda value: type(value) is str and least <= len(value) <= most and matches(pattern, value)


def _always(_: Any) -> bool:
    return True


def _never(_: Any) -> bool:
    return False


_SIMPLE: dict[str, Callable[[Any], Test]] = {
    "required": lambda keys: lambda value: not isinstance(value, dict) or all(key in value for key in keys),
    "enum": lambda values: lambda value: value in values,
    "pattern": lambda rule: lambda value: not isinstance(value, str) or matches(rule, value),
    "minItems": lambda least: lambda value: not isinstance(value, list) or len(value) >= least,
    "maxItems": lambda most: lambda value: not isinstance(value, list) or len(value) <= most,
    "minLength": lambda least: lambda value: not isinstance(value, str) or len(value) >= least,
    "maxLength": lambda most: lambda value: not isinstance(value, str) or len(value) <= most,
    "minProperties": lambda least: lambda value: not isinstance(value, dict) or len(value) >= least,
    "maxProperties": lambda most: lambda value: not isinstance(value, dict) or len(value) <= most,
    "minimum": lambda least: lambda value: type(value) not in (int, float) or value >= least,
    "maximum": lambda most: lambda value: type(value) not in (int, float) or value <= most,
}
"""A function per keyword that makes the test from the keyword's value."""


class _Tests:
    """The tests of a schema and its parts; that of a part is made when a value first comes there."""

    def __init__(self, root: Schema) -> None:
        self.root = root
        self.made: dict[int, tuple[Schema, Test]] = {}

    def of(self, schema: Schema) -> Test:
        """Return the test of a schema, made when it is first needed."""
        made = self.made.get(id(schema))
        if made is None:
            made = self.made[id(schema)] = (schema, self.test(schema))
        return made[1]

    def test(self, schema: Schema | bool) -> Test:
        """Return the test of a schema; one that nothing passes where a keyword is not known."""
        if isinstance(schema, bool):
            return _always if schema else _never
        if schema.get("type") == "string" and _OF_STRINGS.union(_WORDLESS).issuperset(schema):
            return _string(schema.get("pattern", ""), schema.get("minLength", 0), schema.get("maxLength", maxsize))
        tests = [self.keyword(name, rule) for name, rule in schema.items() if name not in _WORDLESS]
        if not _OBJECT.isdisjoint(schema):
            tests.append(self.properties(schema.get("properties", {}), schema.get("additionalProperties", True)))
        if len(tests) == 1:
            return tests[0]

        def test(value: Any) -> bool:
            for one in tests:  # noqa: SIM110 - twice as fast as all() of a generator
                if not one(value):
                    return False
            return True

        return test

    def keyword(self, name: str, rule: Any) -> Test:
        """Return the test of one keyword."""
        if name == "type":
            kinds = {kind for word in ([rule] if isinstance(rule, str) else rule) for kind in _TYPES[word]}
            return lambda value: type(value) in kinds
        if name == "$ref":
            definition = self.root["$defs"][rule.removeprefix("#/$defs/")]
            return lambda value: self.of(definition)(value)  # late: a definition may need itself
        if name == "items":
            entry = self.test(rule)
            return lambda value: not isinstance(value, list) or all(map(entry, value))
        if name == "propertyNames":
            key = self.test(rule)
            return lambda value: not isinstance(value, dict) or all(map(key, value))
        return _SIMPLE[name](rule) if name in _SIMPLE else _never

    def properties(self, known: dict[str, Schema], rest: Schema | bool) -> Test:
        """Return the test of a mapping's values: those of known keys, and the others."""
        other = self.test(rest)
        made: dict[str, Test] = {}

        def test(value: Any) -> bool:
            if isinstance(value, dict):
                for key, child in value.items():
                    one = made.get(key)
                    if one is None:
                        one = made.setdefault(key, self.of(known[key])) if key in known else other
                    if not one(child):
                        return False
            return True

        return test


@lru_cache(maxsize=1)
def _validator() -> Any:
    """Return jsonschema's validator with Kubernetes' types: a string is only what was written as one."""
    from jsonschema import Draft202012Validator, ValidationError
    from jsonschema.validators import extend

    def is_type(names: tuple[type, ...]) -> Any:
        return lambda checker, value: type(value) in names

    def pattern(validator: Any, rule: str, value: Any, schema: Schema) -> Iterator[Any]:
        if isinstance(value, str) and not matches(rule, value):
            yield ValidationError(f"{value!r} does not match {rule!r}")

    types = Draft202012Validator.TYPE_CHECKER.redefine_many({name: is_type(kinds) for name, kinds in _TYPES.items()})
    return extend(Draft202012Validator, {"pattern": pattern}, type_checker=types)  # type: ignore[no-untyped-call]
