"""Checks of a Profile by itself: its schema, its expressions and conditions, the options that nothing reads."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import islice

from krmfn import Field, Result, error, info, warning
from krmfn.resource import FieldPath, join
from krmfn.typed import Any

from ..kmm.lookup import strings, table
from . import expressions, keywords, misuse, structural
from .expressions import Use
from .product import MADE, layers, whens
from .structural import Node

Mistake = tuple[FieldPath, str]
_METADATA = (("metadata", "name"), ("metadata", "namespace"))


def check(spec: Mapping[str, Any]) -> Iterator[Result]:
    """Yield what is wrong with a Profile that fits its schema."""
    node = spec.get("schema", _NO_OPTIONS)
    if mistakes := list(keywords.mistakes(node)):
        yield from (_error(("schema", *path), message) for path, message in mistakes)
        return
    used = list(uses(spec))
    yield from (_error(path, message) for path, message in _conditions(spec, node))
    yield from _expressions(spec, node, used)
    yield from (_error(("schema", *path), message) for path, message in structural.broken_defaults(node))
    for path in islice((path for path, one in structural.nodes(node) if one.get(_RULES)), 1):
        what = f"{_RULES} are not evaluated, here and elsewhere in this schema"
        remedy = "what must be refused needs an enum, a pattern, a bound or `required`"
        message = f"{what}: krmfn takes a config that they refuse; {remedy}"
        yield _result(info, "KRM180", ("schema", *path, _RULES), message)
    yield from _options(spec, node, used)


def check_overrides(spec: Mapping[str, Any], fields: Mapping[str, Any], path: str) -> Iterator[Result]:
    """Yield what is wrong with the expressions in fields over those of a Profile without errors; they stand at `path`.

    Else the field would be left out without a word. What may be absent is told of the config that lacks it.
    """
    own = {"config": fields, "texts": spec.get("texts", {})}
    used = [use._replace(is_whole=True) for use in uses(own)]
    for result in _expressions(own, spec.get("schema", _NO_OPTIONS), used):
        if result.field and result.field.path.startswith("spec.config"):
            yield result._replace(field=Field(path + result.field.path.removeprefix("spec.config")))


def _expressions(spec: Mapping[str, Any], node: Node, used: list[Use]) -> Iterator[Result]:
    """Yield what is wrong with expressions, and those that a shell would run."""
    yield from (_error(path, message) for path, message in _not_expressions(spec))
    for use in used:
        if message := _mistake(use, node, spec.get("texts", {})):
            yield _error(use.path, message)
    for use in used:
        if misuse.is_in_quotes(spec, use):
            yield _error(use.path, f"{use.text}: {misuse.TWICE}")
    yield from (_result(warning, "KRM183", *found) for found in misuse.unquoted(spec, node, used))
    yield from (_result(warning, "KRM175", *found) for found in misuse.rights(spec, node, used))


_EMPTY = "a `when` without `config` and `unset` does nothing; write one of the two, or remove it"
_NO_OPTIONS: Node = {"type": "object", "properties": {"spec": {"type": "object"}}}
_RULES = "x-kubernetes-validations"


def _error(path: FieldPath, message: str) -> Result:
    return _result(error, "KRM180", path, message)


def _result(report: Callable[..., Result], rule: str, path: FieldPath, message: str) -> Result:
    return report(message, rule=rule, field=Field(join(("spec", *path))))


def uses(spec: Mapping[str, Any]) -> Iterator[Use]:
    """Yield every expression of a Profile, in the order in which they stand."""
    for start, data, conditions in layers(spec):
        for path, text, is_key in strings(data, start):
            for one in () if is_key or "${" not in text else expressions.parse(text):
                yield Use(path, one.parts, one.text, one.text == text and start[0] != "texts", conditions)


def _not_expressions(spec: Mapping[str, Any]) -> Iterator[Mistake]:
    for start, data, _ in layers(spec):
        for path, text, is_key in strings(data, start):
            if is_key and expressions.NEARLY.search(text):
                yield path, "an expression cannot stand in a key; write the key itself"
            elif not is_key and (wrong := expressions.misspelt(text)):
                yield path, f"{wrong} is no expression; write ${{spec.a.b}}, or ${{spec.a['b.c/d']}} for such a name"


def _mistake(use: Use, node: Node, texts: Mapping[str, Any]) -> str:
    """Return what is wrong with an expression; "" for nothing."""
    if use.parts[0] == "texts":
        if use.path[0] == "texts":
            return f"{use.text}: a text cannot name a text; write the options themselves"
        return _mistake_of_text(use, texts)
    if use.parts[0] == "metadata":
        what = "of the metadata only ${metadata.name} and ${metadata.namespace} can be read"
        return "" if use.parts in _METADATA else f"{use.text}: {what}"
    own = structural.at(node, use.parts)
    if own is None:
        return f"{use.text}: {structural.unknown(node, use.parts)}"
    if use.is_whole:
        return ""
    if own.get("type") in ("object", "array"):
        what = "a mapping" if own["type"] == "object" else "a list"
        return f"{use.text} is {what} and cannot be part of a text; write an entry of `texts` with `each`"
    if structural.is_always_there(node, use.parts) or _is_guarded(use):
        return ""
    remedy = "remove `nullable` from" if own.get("nullable") else "give it a default in"
    return f"{use.text} may be absent; {remedy} the schema, or write this in a `when` on it"


def _mistake_of_text(use: Use, texts: Mapping[str, Any]) -> str:
    name = use.parts[1]
    if len(use.parts) > 2 or name not in texts:
        return f"{use.text}: there is no text of this name; texts are: {', '.join(texts) or 'none'}"
    condition = texts[name].get("if")
    if use.is_whole or not condition or any(condition.items() <= other.items() for other in use.conditions):
        return ""
    return f"{use.text} may be absent, since it has an `if`; let it be all of an entry, or write this in a `when` on it"


def _is_guarded(use: Use) -> bool:
    """Return True where a condition says that the option is written, or what it holds."""
    asked = ((path, wanted) for condition in use.conditions for path, wanted in condition.items())
    there = (path for path, wanted in asked if not isinstance(wanted, dict) or wanted.get("exists") is True)
    return use.parts in map(expressions.path_of, there)


def _conditions(spec: Mapping[str, Any], node: Node) -> Iterator[Mistake]:
    """Yield what is wrong with conditions, and with the paths of `each` and `ignored`."""
    ifs = [((*path, "if"), when["if"]) for path, when in whens(spec)]
    yield from ((path, _EMPTY) for path, when in whens(spec) if not when.keys() & {"config", "unset"})
    ifs += [(("texts", name, "if"), text["if"]) for name, text in spec.get("texts", {}).items() if "if" in text]
    for path, condition in ifs:
        for name, wanted in condition.items():
            if message := _wrong_path(name, node) or _wrong_value(name, wanted, node):
                yield (*path, name), message
    for name, text in spec.get("texts", {}).items():
        yield from _of_text(name, text, node)
    for name in spec.get("ignored", {}):
        if message := _wrong_path(name, node):
            yield ("ignored", name), message


def _of_text(name: str, text: Mapping[str, Any], node: Node) -> Iterator[Mistake]:
    """Yield what is wrong with an entry of `texts` but for its condition and the options in it."""
    message = _wrong_path(text["each"], node) if "each" in text else ""
    if not message and "each" in text and not _has_entries(text["each"], node):
        message = "must be a map or a list, since `each` is one entry of it; for one value write `as` alone"
    if message:
        yield ("texts", name, "each"), message
    if len(text.keys() & MADE) != 1 or ("each" not in text and "as" not in text):
        ways = "`as`, `each` with `entry` (for a list), `each` with `onto` (for a mapping)"
        yield ("texts", name), f"write one of {ways}"
    elif "as" not in text and not message:
        yield from _fields_of_entries(name, text, node)
    for match in expressions.OF_ENTRY.finditer(text.get("as", "")):
        if match[1] not in ("key", "value"):
            yield ("texts", name, "as"), f"{match[0]} is not read in `as`; write ${{value}}, or an `entry` for a list"
    if misuse.is_quoted_twice(text):
        yield ("texts", name, "as"), misuse.TWICE


def _fields_of_entries(name: str, text: Mapping[str, Any], node: Node) -> Iterator[Mistake]:
    """Yield an error per field of an entry of `each` that the schema has not."""
    own = structural.at(node, expressions.path_of(text["each"])) or {}
    entries = table(own, "items") or table(own, "additionalProperties")  # {} takes anything, as `true` does
    word = "entry" if "entry" in text else "onto"
    for path, written, _ in strings(text[word], ("texts", name, word)):
        for one in expressions.parse(written):
            yield path, f"{one.text} is not read in `{word}`; write what does not come from {text['each']} in a `when`"
        for match in expressions.OF_ENTRY.finditer(written):
            root, *inner = expressions.parts_of(match[1])
            if root == "value" and (wrong := structural.unknown(entries, inner)):
                yield path, f"{match[0]}: an entry of {text['each']} has no such field; {wrong}"


def _has_entries(name: str, node: Node) -> bool:
    parts = expressions.path_of(name)
    own = structural.at(node, parts) or {}
    holds_some = own.get("type", "object") in ("object", "array") and not own.get(structural.INT_OR_STRING)
    return parts[0] == "spec" and holds_some


def _wrong_path(name: str, node: Node) -> str:
    parts = expressions.path_of(name)
    if parts[:1] == ("metadata",):
        return "" if parts in _METADATA else "of the metadata only name and namespace can be read"
    if not parts:
        return f"{name!r} is not the path of an option; write spec.a.b, or spec.a['b.c/d'] for such a name"
    return structural.unknown(node, parts)


def _wrong_value(name: str, wanted: Any, node: Node) -> str:
    """Return why a condition cannot hold; "" when it can."""
    if isinstance(wanted, dict):
        is_right = list(wanted) == ["exists"] and isinstance(wanted["exists"], bool)
        return "" if is_right else "write a value, a list of values, {exists: true} or {exists: false}"
    if wanted == []:
        return "never holds: an empty list has no value; write one, or leave the condition out"
    parts = expressions.path_of(name)
    own = (structural.at(node, parts) or {}) if parts[0] == "spec" else {"type": "string"}
    for one in wanted if isinstance(wanted, list) else [wanted]:
        if isinstance(one, (dict, list)) or one is None:
            return "must be a scalar, or a list of scalars of which it is one"
        if not structural.may_be(own, one):
            return f"never holds: {name} cannot be {json.dumps(one)}"
    return ""


def _options(spec: Mapping[str, Any], node: Node, used: list[Use]) -> Iterator[Result]:
    """Yield a warning per option that nothing reads, and per text that is not used."""
    read = {use.parts for use in used}
    for name in spec.get("ignored", ()):
        if expressions.path_of(name) in read:
            message = f"an expression reads {name}, so it has an effect; remove it from `ignored`"
            yield _result(warning, "KRM181", ("ignored", name), message)
    names = [name for _, when in whens(spec) for name in when["if"]]
    names += [name for text in spec.get("texts", {}).values() for name in (*text.get("if", ()), text.get("each", ""))]
    read |= set(filter(None, map(expressions.path_of, (*names, *spec.get("ignored", ())))))
    for parts, _ in structural.leaves(node.get("properties", {}).get("spec", {}), ("spec",)):
        if not any(parts[: len(one)] == one or one[: len(parts)] == parts for one in read):
            path = ("schema", *(step for part in parts for step in ("properties", part)))
            message = f"nothing reads the option {join(parts)}; use it, or say in `ignored` why it has no effect"
            yield _result(warning, "KRM181", path, message)
    for name in spec.get("texts", {}):
        if ("texts", name) not in read:
            shown = f".{name}" if name.isidentifier() else f"['{name}']"
            message = f"nothing uses this text; write ${{texts{shown}}}, or remove it"
            yield _result(warning, "KRM181", ("texts", name), message)
