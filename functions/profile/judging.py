"""Checks of a Profile by itself: its schema, its expressions and conditions, the options that nothing reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from krmfn import Field, Result, error, info, warning
from krmfn.resource import FieldPath, join
from krmfn.typed import Any

from ..formats.unjudged import UNTRIED
from ..kmm.lookup import strings
from ..mistake import FieldMistake, Mistake
from . import conditions, defaulting, expressions, keywords, misfits, misuse, structural, versions
from .expressions import Use
from .product import SERIALISED, layers, whens
from .structural import Node


def check(spec: Mapping[str, Any]) -> Iterator[Result]:
    """Yield the findings about a Profile that fits its schema."""
    by_path = versions.schemas(spec)
    mistakes = [
        ((*start, *path), mistake) for start, part in by_path.items() for path, mistake in keywords.mistakes(part)
    ]
    if mistakes:
        yield from (_error(path, mistake) for path, mistake in mistakes)
        return
    node, used = versions.union([*by_path.values()]), list(uses(spec))
    yield from (_error(path, mistake) for path, mistake in conditions.mistakes(spec, node))
    yield from _expressions(spec, node, used)
    for start, part in by_path.items():
        yield from (_error((*start, *path), mistake) for path, mistake in misfits.broken_defaults(part))
    nodes = (
        (*start, *path)
        for start, part in by_path.items()
        for path, child in structural.nodes(part)
        if child.get(_RULES)
    )
    for path in islice(nodes, 1):
        problem = f"{_RULES} are not evaluated, here and elsewhere in this schema"
        remedy = "what must be refused needs an enum, a pattern, a bound or `required`"
        message = f"{problem}: krmfn takes a config that they refuse"
        finding = _result(info, "KRM180", (*path, _RULES), Mistake(message, remedy))
        yield finding._replace(tags=((UNTRIED, f"{_RULES} of Profiles"),))
    yield from _options(spec, by_path, used)


def check_overrides(spec: Mapping[str, Any], fields: Mapping[str, Any], path: str) -> Iterator[Result]:
    """Yield the errors in the expressions of fields that override those of a Profile; `path` is that of the fields.

    Without them a wrong field would be left out silently. An option that may be absent is no error here: the config
    that lacks it gets one.
    """
    override = {"config": fields, "texts": spec.get("texts", {})}
    used = [use._replace(is_whole=True) for use in uses(override)]
    for result in _expressions(override, versions.union([*versions.schemas(spec).values()]), used):
        if result.field and result.field.path.startswith("spec.config"):
            yield result._replace(field=Field(path + result.field.path.removeprefix("spec.config")))


def _expressions(spec: Mapping[str, Any], node: Node, used: list[Use]) -> Iterator[Result]:
    """Yield the errors in expressions, and a warning per expression that a shell would run or that chooses rights."""
    yield from (_error(path, mistake) for path, mistake in _not_expressions(spec))
    for use in used:
        if mistake := _mistake(use, node, spec.get("texts", {})):
            yield _error(use.path, mistake)
    for use in used:
        if misuse.is_in_quotes(spec, use):
            yield _error(use.path, misuse.TWICE.after(f"{use.text}: "))
    yield from (_result(warning, "KRM183", path, mistake) for path, mistake in misuse.scripts(spec, node, used))
    yield from (_result(warning, "KRM175", path, mistake) for path, mistake in misuse.rights(spec, node, used))


_RULES = "x-kubernetes-validations"


def _error(path: FieldPath, mistake: Mistake) -> Result:
    return _result(error, "KRM180", path, mistake)


def _result(report: Callable[..., Result], rule: str, path: FieldPath, mistake: Mistake) -> Result:
    return report(mistake.message, rule=rule, field=Field(join(("spec", *path))), remedy=mistake.remedy)


def uses(spec: Mapping[str, Any]) -> Iterator[Use]:
    """Yield every expression of a Profile, in the order of the Profile."""
    for start, data, when in layers(spec):
        for path, text, is_key in strings(data, start):
            for expression in () if is_key or "${" not in text else expressions.parse(text):
                is_whole = expression.text == text and start[0] != "texts"
                yield Use(path, expression.parts, expression.text, is_whole, when)


def _not_expressions(spec: Mapping[str, Any]) -> Iterator[FieldMistake]:
    """Yield the texts that look like expressions and are none, and the expressions in keys."""
    for start, data, _ in layers(spec):
        for path, text, is_key in strings(data, start):
            if is_key and expressions.NEARLY.search(text):
                yield path, Mistake("an expression cannot stand in a key", "write the key itself")
            elif not is_key and (word := expressions.misspelt(text)):
                mistake = Mistake(
                    f"{word} is no expression", "write ${spec.a.b}, or ${spec.a['b.c/d']} for such a name"
                )
                yield path, mistake


def _mistake(use: Use, node: Node, texts: Mapping[str, Any]) -> Mistake | None:
    """Return what is wrong with an expression; None for nothing."""
    if use.parts[0] == "texts":
        if use.path[0] == "texts":
            return Mistake(f"{use.text}: a text cannot name a text", "write the options themselves")
        return _mistake_of_text(use, node, texts)
    if use.parts[0] == "metadata":
        problem = "of the metadata only ${metadata.name} and ${metadata.namespace} can be read"
        return None if use.parts in conditions.METADATA else Mistake(f"{use.text}: {problem}")
    if unknown := structural.unknown_option(node, use.parts):
        return unknown.after(f"{use.text}: ")
    option = structural.at(node, use.parts) or {}
    if use.is_whole:
        return None
    if kind := structural.NESTED.get(option.get("type", "")):
        return Mistake(f"{use.text} is {kind} and cannot be part of a text", "write an entry of `texts` with `each`")
    missing = _missing_part(use, node)
    if not missing:
        return None
    if missing != use.parts:
        parent = join(missing)
        remedy = f"give {parent} `default: {{}}` in the schema, or write this in a `when` on it"
        return Mistake(f"{use.text} may be absent, since {parent} may be", remedy)
    remedy = "remove `nullable` from" if option.get("nullable") else "give it a default in"
    return Mistake(f"{use.text} may be absent", f"{remedy} the schema, or write this in a `when` on it")


def _mistake_of_text(use: Use, node: Node, texts: Mapping[str, Any]) -> Mistake | None:
    """Return what is wrong with an expression that names an entry of `texts`; None for nothing."""
    name = use.parts[1]
    if len(use.parts) > 2 or name not in texts:
        return Mistake(f"{use.text}: there is no text of this name", f"texts are: {', '.join(texts) or 'none'}")
    option = next((texts[name][word] for word in SERIALISED & texts[name].keys()), "")
    path = expressions.path_of(option)
    if option and not use.is_whole and _missing_part(use._replace(parts=path), node):
        return Mistake(
            f"{use.text} may be absent, since {option} may be", "let it be all of an entry, or give that a default"
        )
    condition = texts[name].get("if")
    if use.is_whole or not condition or any(condition.items() <= other.items() for other in use.conditions):
        return None
    return Mistake(
        f"{use.text} may be absent, since it has an `if`", "let it be all of an entry, or write this in a `when` on it"
    )


def _missing_part(use: Use, node: Node) -> Sequence[str]:
    """Return the first part of an option's path that may be absent where its expression counts; () for none.

    A condition that holds only with a value gives all parents of that value, and what these require.
    """
    entries = (entry for condition in use.conditions for entry in condition.items())
    names = (name for name, value in entries if not isinstance(value, dict) or value.get("exists") is True)
    paths = [use.parts[:1], *map(expressions.path_of, names)]
    starts = (use.parts[:length] for length in range(len(use.parts), 0, -1))
    present = next(start for start in starts if any(path[: len(start)] == start for path in paths))
    return defaulting.missing_part(node, use.parts, len(present))


def _options(spec: Mapping[str, Any], schemas: Mapping[FieldPath, Node], used: list[Use]) -> Iterator[Result]:
    """Yield a warning per option that nothing reads, and per text that is not used."""
    used_paths = {use.parts for use in used}
    for name in spec.get("ignored", ()):
        if expressions.path_of(name) in used_paths:
            mistake = Mistake(f"an expression reads {name}, so it has an effect", "remove it from `ignored`")
            yield _result(warning, "KRM181", ("ignored", name), mistake)
    names = [name for _, when in whens(spec) for name in when["if"]]
    names += [name for entry in spec.get("refuse", ()) for name in entry["if"]]
    for text in spec.get("texts", {}).values():
        names += [*text.get("if", ()), *(text.get(word, "") for word in ("each", "json", "yaml"))]
    used_paths |= set(filter(None, map(expressions.path_of, (*names, *spec.get("ignored", ())))))
    starts: dict[tuple[str, ...], FieldPath] = {}
    for start, node in schemas.items():
        for parts, _ in structural.leaves(node.get("properties", {}).get("spec", {}), ("spec",)):
            starts.setdefault(tuple(parts), start)
    for parts, start in starts.items():
        if not any(parts[: len(path)] == path or path[: len(parts)] == parts for path in used_paths):
            path = (*start, *(step for part in parts for step in ("properties", part)))
            mistake = Mistake(
                f"nothing reads the option {join(parts)}", "use it, or say in `ignored` why it has no effect"
            )
            yield _result(warning, "KRM181", path, mistake)
    for name in spec.get("texts", {}):
        if ("texts", name) not in used_paths:
            step = f".{name}" if name.isidentifier() else f"['{name}']"
            mistake = Mistake("nothing uses this text", f"write ${{texts{step}}}, or remove it")
            yield _result(warning, "KRM181", ("texts", name), mistake)
