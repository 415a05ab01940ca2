"""Expressions of a Profile, such as `${spec.PATH}`, and conditions on options; other dollars have no meaning here."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache

from krmfn.resource import FieldPath
from krmfn.typed import Any, NamedTuple

from ..mistake import Mistake
from .structural import ABSENT

_PATH = r"(?:\.[A-Za-z_][A-Za-z0-9_-]*|\['[^'\]]*'\])+"
_EXPRESSION = re.compile(rf"\$\{{((?:spec|metadata|texts){_PATH})\}}")
NEARLY = re.compile(r"\$\{(?:spec|metadata|texts)[.\[]")
"""The start of an expression: in a Profile it must be one, and a generated object must not have it."""
OF_ENTRY = re.compile(r"\$\{((?:key|value)(?:\.[A-Za-z_][A-Za-z0-9_-]*)*)\}")
"""In an entry of `texts` with `each`: the key of an entry, its value, a field of its value."""
_MISSPELT = re.compile(r"\$\{[\s.]{0,9}(?:spec|metadata|texts)\s{0,9}[.\[][^}]*\}?")
"""A text that is meant as an expression, but has spaces or a dot too many."""
_PART = re.compile(r"([\w-]+)|\['([^']*)'\]", re.ASCII)
_DOLLAR = re.compile(r"\$(?=[$(])")
_OPTION = re.compile(rf"(?:spec|metadata){_PATH}")


class Expression(NamedTuple):
    """A reference to a value of a config."""

    parts: tuple[str, ...]
    """Its path, which begins with `spec`, `metadata` or `texts`."""
    text: str
    """As it is written."""


class Use(NamedTuple):
    """An expression in a Profile: its path there, and the expression itself."""

    path: FieldPath
    parts: tuple[str, ...]
    text: str
    is_whole: bool
    """Whether it is the whole text, and no part of a longer one."""
    conditions: tuple[Mapping[str, Any], ...] = ()
    """The conditions under which the text counts."""


class Values(NamedTuple):
    """The values of one config that expressions and conditions of a Profile refer to."""

    data: Mapping[str, Any]
    """For expressions: `spec`, which are the options with their defaults, `metadata` and `texts`."""
    written: Mapping[str, Any]
    """`spec` as it is written, and `metadata`."""
    sources: Mapping[tuple[str, ...], tuple[Expression, ...]] = {}  # read only
    """The expressions that each of `texts` consists of, by its path."""

    def option_in(self, text: str) -> Expression | None:
        """Return the first expression of a text whose option is written, also one in `texts`; else the first of all."""
        expressions = [source for use in parse(text) for source in (use, *self.sources.get(use.parts[:2], ()))]
        options = (expression for expression in expressions if expression.parts[0] == "spec")
        written = (option for option in options if at(self.written, option.parts) is not ABSENT)
        return next(written, next(iter(expressions), None))


@lru_cache(maxsize=4096)
def parse(text: str) -> tuple[Expression, ...]:
    """Return the expressions in a text.

    Those of a Profile are asked for at each config, and at each of the values that `explain` tries.
    """
    return tuple(Expression(parts_of(match[1]), match[0]) for match in _EXPRESSION.finditer(text))


def sources(entry: Mapping[str, Any]) -> Iterator[Expression]:
    """Yield the expressions of an entry of `texts`; first its `each`, `json` or `yaml`, a path, with the text ""."""
    for word in ("each", "json", "yaml"):
        if path := path_of(entry.get(word, "")):
            yield Expression(path, "")
    yield from parse(entry.get("as", ""))


@lru_cache(maxsize=4096)
def parts_of(path: str) -> tuple[str, ...]:
    """Return the parts of `spec.a.b['c/d']`."""
    return tuple(match[1] or match[2] for match in _PART.finditer(path))


def path_of(text: str) -> tuple[str, ...]:
    """Return the parts of the path of an option or of metadata, such as `spec.a['b/c']`; () for any other text."""
    return parts_of(text) if _OPTION.fullmatch(text) else ()


def fixed_parts(data: Any) -> dict[int, Any]:
    """Return the mappings and lists in nested data that are the same for each config, by their identities.

    Nothing in them is an expression, and no list is empty: an empty one may count as none.
    """
    fixed: dict[int, Any] = {}

    def is_fixed(value: Any) -> bool:
        if not isinstance(value, (dict, list)):
            return not (isinstance(value, str) and "${" in value)
        children = [is_fixed(child) for child in (value.values() if isinstance(value, dict) else value)]
        if all(children) and value != []:
            fixed[id(value)] = value
            return True
        return False

    is_fixed(data)
    return fixed


def misspelt(text: str) -> str:
    """Return the part of a text that looks like an expression and is none; "" without one."""
    match = _MISSPELT.search(_EXPRESSION.sub("", text))
    return match[0] if match else ""


def single_expression(text: str) -> Expression | None:
    """Return the expression that is the whole text; None for another text."""
    return next((expression for expression in parse(text) if expression.text == text), None)


def at(data: Any, parts: Sequence[str]) -> Any:
    """Return the value at a path; ABSENT when there is none."""
    for part in parts:
        if not isinstance(data, Mapping) or part not in data:
            return ABSENT
        data = data[part]
    return ABSENT if data is None else data


def format_scalar(scalar: Any) -> str:
    """Return a scalar as Kubernetes prints it."""
    if isinstance(scalar, bool):
        return "true" if scalar else "false"
    if isinstance(scalar, float):
        return str(int(scalar)) if scalar == int(scalar) and abs(scalar) < 1e21 else repr(scalar)
    return str(scalar)


def quote_for_shell(text: str) -> str:
    """Return a text as one word of a shell, in which the kubelet finds no $(VARIABLE)."""
    return _DOLLAR.sub("$''", shlex.quote(text))


def replace_in(text: str, values: Values, show: Callable[[str], str] = str) -> tuple[str, Mistake | None]:
    """Return a text with its expressions filled in, and what is wrong with the last wrong one (None for nothing).

    `show` formats the value of each option.
    """
    mistake: Mistake | None = None

    def replacement(match: re.Match[str]) -> str:
        nonlocal mistake
        value = at(values.data, parts_of(match[1]))
        if value is ABSENT:
            mistake = Mistake(f"{match[0]} has no value here", "give the option a default, or write a `when` for it")
        elif isinstance(value, (dict, list)):
            mistake = Mistake(_not_a_part(match[0], value), "write an entry of `texts` with `each`")
        else:
            return show(format_scalar(value))
        return ""

    return _EXPRESSION.sub(replacement, text), mistake


def _not_a_part(text: str, value: Any) -> str:
    """Return the message about an expression whose value is a mapping or a list."""
    return f"{text} is {'a mapping' if isinstance(value, dict) else 'a list'} and cannot be part of a text"


def holds(condition: Mapping[str, Any], values: Values) -> bool:
    """Return True when all entries of a condition hold."""
    return all(_holds(path, expected, values) for path, expected in condition.items())


def _holds(path: str, expected: Any, values: Values) -> bool:
    """Return True when an option has the expected value, or one of several, or exists as expected."""
    parts = path_of(path)
    if isinstance(expected, dict):
        return (at(values.written, parts) is not ABSENT) is expected.get("exists")
    value, choices = at(values.data, parts), expected if isinstance(expected, list) else [expected]
    # true is not 1
    return any(value == choice and isinstance(value, bool) == isinstance(choice, bool) for choice in choices)


def fill_entry(template: Any, values: Mapping[str, Any], mistakes: list[Mistake]) -> Any:
    """Return the template of an `entry` with `${key}` and `${value}` filled in; ABSENT when nothing remains of it.

    What cannot be part of a text goes to `mistakes`.
    """
    if isinstance(template, dict):
        fields = {key: fill_entry(child, values, mistakes) for key, child in template.items()}
        fields = {key: value for key, value in fields.items() if value is not ABSENT}
        return fields if fields or not template else ABSENT
    if isinstance(template, list):
        filled = [fill_entry(child, values, mistakes) for child in template]
        entries = [entry for entry in filled if entry is not ABSENT]
        return entries if entries or not template else ABSENT
    if not isinstance(template, str):
        return template
    if match := OF_ENTRY.fullmatch(template):
        return at(values, parts_of(match[1]))

    def replacement(match: re.Match[str]) -> str:
        value = at(values, parts_of(match[1]))
        if value is ABSENT:
            remedy = "require it in the schema, or give it a default there"
            mistakes.append(Mistake(f"{match[0]} has no value here", remedy))
        elif isinstance(value, (dict, list)):
            mistakes.append(Mistake(_not_a_part(match[0], value), "name a field that is text or a number"))
        else:
            return format_scalar(value)
        return ""

    return OF_ENTRY.sub(replacement, template)
