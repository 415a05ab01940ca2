"""Validation of manifests with JSON Schema: findings with field paths and messages that say what to do.

A quick test passes what fits; only what does not is given to jsonschema (85 ms to import), which lists
everything that is wrong (see `schema_findings`). The tests compare the two.
"""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from operator import ge, le
from sys import maxsize

from .resource import Manifest, same
from .results import Result
from .typed import Any

__all__ = ["Schema", "Test", "check", "matches"]

Test = Callable[[Any], bool]

_TYPES: dict[str, tuple[type, ...]] = {"object": (dict,), "array": (list,), "string": (str,), "null": (type(None),)}
_TYPES |= {"boolean": (bool,), "integer": (int,), "number": (int, float)}
_COUNTED = {"Items": list, "Length": str, "Properties": dict}
"""What keywords like `minItems` and `maxLength` count the entries of."""
_OBJECT = {"properties", "additionalProperties"}
_WORDLESS = {"$schema", "$id", "$defs", "title", "description", "default", "examples", *_OBJECT}
_WORDLESS |= {"x-says", "x-elsewhere"}
_OF_STRINGS = {"type", "pattern", "minLength", "maxLength"}


def check(manifest: Manifest, schema: dict[str, Any], rule: str = "") -> list[Result]:
    """Return a finding of the rule for everything in `manifest` that does not fit `schema`, ordered by path.

    One that is asked often should be a `Schema`.
    """
    if (schema if isinstance(schema, Schema) else Schema(schema)).fits(manifest):
        return []
    from .schema_findings import findings

    return findings(_validator()(schema).iter_errors(manifest), rule)


def matches(pattern: str, value: str) -> bool:
    r"""Return True when a pattern is in a text, as ECMA 262 and Kubernetes read it: `$` is not before a last \n."""
    return _pattern(pattern).search(value) is not None


@lru_cache(maxsize=256)
def _pattern(rule: str) -> re.Pattern[str]:
    # `$`, or what may hold one that is not meant: an escape, a class.
    end = r"\\.|\[(?:\\.|[^\]\\])*\]|\$"
    return re.compile(re.sub(end, lambda match: r"\Z" if match[0] == "$" else match[0], rule, flags=re.DOTALL))


def _one_of(values: list[Any]) -> Test:
    """Return the test of `enum`. To Python True is 1, to JSON Schema it is not."""
    if all(type(value) is str for value in values):
        texts = frozenset(values)
        return lambda value: type(value) is str and value in texts
    return lambda value: any(same(value, other) for other in values)


_SIMPLE: dict[str, Callable[[Any], Test]] = {
    "enum": _one_of,
    "pattern": lambda rule: lambda value: not isinstance(value, str) or matches(rule, value),
    "minimum": lambda least: lambda value: type(value) not in (int, float) or value >= least,
    "maximum": lambda most: lambda value: type(value) not in (int, float) or value <= most,
}
"""A function per keyword that makes the test from the keyword's value."""


class Schema(dict[str, Any]):
    """A JSON Schema (2020-12) with the tests made from it: it must not be changed once `fits` was called.

    `x-says` on a subschema with a pattern is the rule as a sentence for people, `x-elsewhere` on an object says where
    fields belong that it does not have.
    """

    def __init__(self, rules: dict[str, Any]) -> None:
        """Take the schema as data."""
        super().__init__(rules)
        self._tests: dict[str, Test] = {}
        """The test of the whole by "", those of its definitions by their names; each is made when it is needed."""

    def fits(self, value: Any, definition: str = "") -> bool:
        """Return True when `value` surely fits, the whole or a definition; False also where a keyword is not known."""
        if definition not in self._tests:
            self._tests[definition] = self._test(self["$defs"][definition] if definition else self)
        return self._tests[definition](value)

    def _test(self, schema: dict[str, Any] | bool) -> Test:
        """Return the test of a part; one that nothing passes where a keyword is not known."""
        if isinstance(schema, bool):
            return lambda _: schema
        if schema.get("type") == "string" and _OF_STRINGS.union(_WORDLESS).issuperset(schema):
            # about strings alone, as most are: in one step
            rule, least, most = schema.get("pattern"), schema.get("minLength", 0), schema.get("maxLength", maxsize)
            if not rule:
                return lambda value: type(value) is str and least <= len(value) <= most
            search = _pattern(rule).search
            return lambda value: type(value) is str and least <= len(value) <= most and search(value) is not None
        tests = [self._keyword(name, rule) for name, rule in schema.items() if name not in _WORDLESS]
        if not _OBJECT.isdisjoint(schema):
            tests.append(self._properties(schema.get("properties", {}), schema.get("additionalProperties", True)))
        if len(tests) == 1:
            return tests[0]

        def test(value: Any) -> bool:
            for fits in tests:  # noqa: SIM110 - twice as fast as all() of a generator
                if not fits(value):
                    return False
            return True

        return test

    def _keyword(self, name: str, rule: Any) -> Test:
        """Return the test of one keyword."""
        if name == "type":
            kinds = {kind for word in ([rule] if isinstance(rule, str) else rule) for kind in _TYPES[word]}
            return lambda value: type(value) in kinds
        if name == "$ref":
            return partial(self.fits, definition=rule.removeprefix("#/$defs/"))  # late: it may need itself
        if name in ("items", "propertyNames"):
            entry, collection = self._test(rule), list if name == "items" else dict
            return lambda value: not isinstance(value, collection) or all(map(entry, value))
        if name == "required":
            keys = frozenset(rule)
            return lambda value: not isinstance(value, dict) or keys.issubset(value)
        if name[3:] in _COUNTED:
            counted, fits = _COUNTED[name[3:]], ge if name.startswith("min") else le
            return lambda value: not isinstance(value, counted) or fits(len(value), rule)
        return _SIMPLE[name](rule) if name in _SIMPLE else lambda _: False

    def _properties(self, known: dict[str, Any], rest: dict[str, Any] | bool) -> Test:
        """Return the test of a mapping's values: those of known keys, and the others."""
        other = self._test(rest)
        tests: dict[str, Test] = {}

        def test(value: Any) -> bool:
            for key, child in value.items() if isinstance(value, dict) else ():
                fits = tests.get(key)
                if fits is None:
                    fits = tests.setdefault(key, self._test(known[key])) if key in known else other
                if not fits(child):
                    return False
            return True

        return test


@lru_cache(maxsize=1)
def _validator() -> Any:
    """Return jsonschema's validator with Kubernetes' types: a string is only what was written as one."""
    from jsonschema import Draft202012Validator, ValidationError
    from jsonschema.validators import extend

    def pattern(validator: Any, rule: str, value: Any, schema: Any) -> Iterator[Any]:
        if isinstance(value, str) and not matches(rule, value):
            yield ValidationError(f"{value!r} does not match {rule!r}")

    tests = {name: lambda _, value, kinds=kinds: type(value) in kinds for name, kinds in _TYPES.items()}
    types = Draft202012Validator.TYPE_CHECKER.redefine_many(tests)
    return extend(Draft202012Validator, {"pattern": pattern}, type_checker=types)  # type: ignore[no-untyped-call]
