"""Expressions of a Profile, such as `${spec.PATH}`, and conditions on options; every other dollar stays as it is."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence

from krmfn.resource import FieldPath
from krmfn.typed import Any, NamedTuple

from .structural import ABSENT

_PATH = r"(?:\.[A-Za-z_][A-Za-z0-9_-]*|\['[^'\]]*'\])+"
_EXPRESSION = re.compile(rf"\$\{{((?:spec|metadata|texts){_PATH})\}}")
NEARLY = re.compile(r"\$\{(?:spec|metadata|texts)[.\[]")
"""What may stand in a Profile only as an expression, and nowhere in what is generated."""
OF_ENTRY = re.compile(r"\$\{((?:key|value)(?:\.[A-Za-z_][A-Za-z0-9_-]*)*)\}")
"""What a text with `each` is read for: the key of an entry, its value, a field of its value."""
_MEANT = re.compile(r"\$\{[\s.]{0,9}(?:spec|metadata|texts)\s{0,9}[.\[][^}]*\}?")
"""What is meant as an expression in a Profile, and has spaces or a dot too many."""
_PART = re.compile(r"([\w-]+)|\['([^']*)'\]", re.ASCII)
_DOLLAR = re.compile(r"\$(?=[$(])")
_OPTION = re.compile(rf"(?:spec|metadata){_PATH}")


class Expression(NamedTuple):
    """What stands in place of a value of a config."""

    parts: tuple[str, ...]
    """What it names: `spec`, `metadata` or `texts`, and the path in that."""
    text: str
    """As it is written."""


class Use(NamedTuple):
    """An expression or a condition, and where it stands."""

    path: FieldPath
    parts: tuple[str, ...]
    text: str
    is_whole: bool
    """It is all of its text, and no part of a longer one."""
    conditions: tuple[Mapping[str, Any], ...] = ()
    """The conditions under which it counts."""


class Values(NamedTuple):
    """What expressions and conditions of a Profile see of one config."""

    seen: Mapping[str, Any]
    """`spec`, which are the options with their defaults, `metadata` and `texts`."""
    written: Mapping[str, Any]
    """`spec` as it is written, and `metadata`."""
    sources: Mapping[tuple[str, ...], tuple[Expression, ...]] = {}  # read only
    """What each of `texts` is made of, by its path."""

    def written_in(self, text: str) -> Expression | None:
        """Return the first expression of a text whose option is written, by way of `texts` too; else the first."""
        every = [end for one in parse(text) for end in (one, *self.sources.get(one.parts[:2], ()))]
        options = (one for one in every if one.parts[0] == "spec")
        is_written = (one for one in options if at(self.written, one.parts) is not ABSENT)
        return next(is_written, next(iter(every), None))


def parse(text: str) -> Iterator[Expression]:
    """Yield the expressions in a text."""
    for match in _EXPRESSION.finditer(text):
        yield Expression(parts_of(match[1]), match[0])


def sources(entry: Mapping[str, Any]) -> Iterator[Expression]:
    """Yield what an entry of `texts` is made of; what `each` names is written as no expression, so its text is ""."""
    if path := path_of(entry.get("each", "")):
        yield Expression(path, "")
    yield from parse(entry.get("as", ""))


def parts_of(path: str) -> tuple[str, ...]:
    """Return the parts of `spec.a.b['c/d']`."""
    return tuple(match[1] or match[2] for match in _PART.finditer(path))


def path_of(text: str) -> tuple[str, ...]:
    """Return the parts of the path of an option or of metadata, such as `spec.a['b/c']`; () for what is none."""
    return parts_of(text) if _OPTION.fullmatch(text) else ()


def misspelt(text: str) -> str:
    """Return what of a text looks like an expression and is none; "" without any."""
    match = _MEANT.search(_EXPRESSION.sub("", text))
    return match[0] if match else ""


def whole(text: str) -> Expression | None:
    """Return the expression that a text is and nothing else; None for another text."""
    return next((one for one in parse(text) if one.text == text), None)


def at(data: Any, parts: Sequence[str]) -> Any:
    """Return the value at a path; ABSENT when there is none."""
    for part in parts:
        if not isinstance(data, Mapping) or part not in data:
            return ABSENT
        data = data[part]
    return ABSENT if data is None else data


def printed(scalar: Any) -> str:
    """Return a scalar as Kubernetes prints it."""
    if isinstance(scalar, bool):
        return "true" if scalar else "false"
    if isinstance(scalar, float):
        return str(int(scalar)) if scalar == int(scalar) and abs(scalar) < 1e21 else repr(scalar)
    return str(scalar)


def quoted(text: str) -> str:
    """Return a text as one word of a shell, in which the kubelet finds no $(VARIABLE) to fill in before."""
    return _DOLLAR.sub("$''", shlex.quote(text))


def replaced(text: str, values: Values, show: Callable[[str], str] = str) -> tuple[str, str]:
    """Return a text with its expressions filled in, and what is wrong with one of them ("" for nothing).

    `show` returns what is written for an option's text.
    """
    problem = ""

    def filled(match: re.Match[str]) -> str:
        nonlocal problem
        own = at(values.seen, parts_of(match[1]))
        if own is ABSENT:
            problem = f"{match[0]} has no value here; give the option a default, or write a `when` for it"
        elif isinstance(own, (dict, list)):
            what = "a mapping" if isinstance(own, dict) else "a list"
            problem = f"{match[0]} is {what} and cannot be part of a text; write an entry of `texts` with `each`"
        else:
            return show(printed(own))
        return ""

    return _EXPRESSION.sub(filled, text), problem


def holds(condition: Mapping[str, Any], values: Values) -> bool:
    """Return True when all entries of a condition hold."""
    return all(_holds(path, wanted, values) for path, wanted in condition.items())


def _holds(path: str, wanted: Any, values: Values) -> bool:
    parts = path_of(path)
    if isinstance(wanted, dict):
        return (at(values.written, parts) is not ABSENT) is wanted.get("exists")
    own, choices = at(values.seen, parts), wanted if isinstance(wanted, list) else [wanted]
    return any(own == one and isinstance(own, bool) == isinstance(one, bool) for one in choices)  # true is not 1


def filled(own: Any, values: Mapping[str, Any]) -> Any:
    """Return an entry of a list made of one of `each`, without what comes to nothing; ABSENT when all of it does."""
    if isinstance(own, dict):
        fields = {key: made for key, inner in own.items() if (made := filled(inner, values)) is not ABSENT}
        return fields if fields or not own else ABSENT
    if isinstance(own, list):
        entries = [made for inner in own if (made := filled(inner, values)) is not ABSENT]
        return entries if entries or not own else ABSENT
    if not isinstance(own, str):
        return own

    def value(match: re.Match[str]) -> Any:
        return at(values, parts_of(match[1]))

    if match := OF_ENTRY.fullmatch(own):
        return value(match)
    return OF_ENTRY.sub(lambda match: "" if (it := value(match)) is ABSENT else printed(it), own)
