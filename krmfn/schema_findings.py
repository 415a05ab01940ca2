"""Findings about what does not fit a JSON Schema, made of the errors that jsonschema lists."""

import re
from collections.abc import Iterable, Iterator

from .findings import Findings
from .printing import counted, did_you_mean, only_similar
from .resource import is_index, join
from .results import MEND, MOST, QUOTE, RENAME, Facts, Field, Result
from .typed import Any
from .yamltext.simple import Timestamp

__all__ = ["EMPTY", "findings"]

_NAMES = {"object": "a mapping", "array": "a list", "string": "a string", "boolean": "true or false", "null": "empty"}
_NAMES |= {"integer": "a whole number", "number": "a number"}
EMPTY = "empty"
"""The fact `problem` of a finding about a field without a value."""
_LONG = 80
"""The most characters of a value that a message quotes in full."""


def findings(problems: Iterable[Any], rule: str) -> list[Result]:
    """Return a finding with the id `rule` for each of jsonschema's errors (ValidationError), ordered by path."""
    results = Findings()
    for message, remedy, field, problem, mend in _messages(problems):
        name, facts = (field.path, problem == "key"), (("problem", problem), *mend)
        result = Result(message, "error", rule, field=field, facts=facts, remedy=remedy)
        results.add(result, name)
        if name in results.listed:  # the last one about a field counts
            results.listed[name] = result
    results.listed = dict(sorted(results.listed.items(), key=lambda pair: (_order(pair[0][0]), pair[0])))
    return list(results)


def _messages(problems: Iterable[Any]) -> Iterator[tuple[str, str, Field, str, Facts]]:
    """Yield (message, remedy, field, problem, MEND) of each mistake: unknown, missing, key, empty or value."""
    guesses = iter(range(MOST))  # each takes as long as a hundred findings
    for problem in problems:
        path: list[str | int] = list(problem.absolute_path)
        if problem.validator == "additionalProperties":
            known = problem.schema.get("properties", {})
            names = iter([f"known here: {', '.join(sorted(known))}"])  # once
            for key in problem.instance:
                if key not in known:
                    is_guessed = next(guesses, None) is not None
                    message, remedy = _unknown_key(str(key), problem.schema, is_guessed, names)
                    mend = _rename(str(key), problem) if is_guessed else ()
                    yield message, remedy, Field(join([*path, key])), "unknown", mend
        elif problem.validator == "required":
            for key in problem.validator_value:
                if key not in problem.instance:
                    description = problem.schema.get("properties", {}).get(key, {}).get("description", "")
                    message = f"is required{': ' + description if description else ''}"
                    yield message, "", Field(join([*path, key])), "missing", ()
        elif "propertyNames" in problem.absolute_schema_path:
            message, remedy = _message(problem)
            yield f"its key {message}", remedy, Field(join([*path, problem.instance])), "key", ()
        else:
            kind = EMPTY if problem.instance is None else "value"
            yield *_message(problem), Field(join(path), _current_value(problem.instance)), kind, _quotes(problem)


def _current_value(value: Any) -> Any:
    """Return the value for a finding, a date as text, where it is short enough to be read."""
    if isinstance(value, str):
        return str(value) if len(value) <= _LONG else None
    return value if isinstance(value, (int, float)) else None


def _rename(key: str, problem: Any) -> Facts:
    """Return MEND with the one field that an unknown key is similar to; nothing where that is there, too."""
    elsewhere, known = problem.schema.get("x-elsewhere", {}), problem.schema.get("properties", {})
    name = "" if key in elsewhere else only_similar(key, known)
    return ((MEND, (RENAME, key, name)),) if name and name not in problem.instance else ()


def _quotes(problem: Any) -> Facts:
    """Return MEND for a plain number, boolean or date where a string is due."""
    is_due = problem.validator == "type" and problem.validator_value in ("string", ["string"])
    return ((MEND, (QUOTE,)),) if is_due and type(problem.instance) in _WHAT else ()


def _unknown_key(key: str, schema: dict[str, Any], is_guessed: bool, names: Iterator[str]) -> tuple[str, str]:
    """Return what is wrong with an unknown key, and what may be meant."""
    elsewhere = schema.get("x-elsewhere", {}).get(key)
    if elsewhere:
        return f"{key!r} does not belong here: {elsewhere}", ""
    known = schema.get("properties", ()) if is_guessed else ()
    return f"unknown field {key!r}", did_you_mean(key, known, quote="'") or next(names, "")


def _message(problem: Any) -> tuple[str, str]:
    """Return what is wrong with a value, and what to do about it; "" where the message says what must be."""
    value, rule = problem.instance, problem.validator_value
    if problem.validator == "type":
        message, remedy = _type_message(value, [rule] if isinstance(rule, str) else list(rule))
        return message, remedy or _as_list(value, problem.schema)
    if problem.validator in ("minItems", "minLength", "minProperties") and not value:
        return "must not be empty", "leave the field out if it is not needed"
    message, examples = _bound_message(problem, value, rule), problem.schema.get("examples", ())
    return message, did_you_mean(value, examples, quote="'") if problem.validator == "pattern" and examples else ""


def _bound_message(problem: Any, value: Any, rule: Any) -> str:
    match problem.validator:
        case "enum":
            return f"is {value!r}; must be {'one of ' if len(rule) > 1 else ''}{', '.join(map(repr, rule))}"
        case "pattern" | "maxLength" if "x-says" in problem.schema:
            says, longest = problem.schema["x-says"], problem.schema.get("maxLength")
            too_long = problem.validator == "maxLength" and str(longest) not in says
            return f"is {_excerpt(value)!r}; must be {says}{f', at most {longest:,} characters' if too_long else ''}"
        case "pattern" if len(value) > _LONG:
            return f"is {_excerpt(value)!r}; must match {_excerpt(rule)}"
        case "minLength" | "maxLength":
            bound = "most" if problem.validator == "maxLength" else "least"
            return f"has {counted(len(value), 'character')}; must be at {bound} {rule:,}"
        case "minItems" | "maxItems" | "minProperties" | "maxProperties":
            noun = "entry" if isinstance(value, list) else "field"
            bound = f"at {'most' if problem.validator.startswith('max') else 'least'} {rule}"
            return f"has {counted(len(value), noun)}; must be {problem.schema.get('x-says', bound)}"
        case "minimum" | "maximum":
            return f"is {value}; must be at {'least' if problem.validator == 'minimum' else 'most'} {rule}"
        case "not" if isinstance(value, (dict, list)):
            from json import dumps

            text = dumps(rule)
            return f"fits what `not` of the schema refuses: {text if len(text) <= _LONG else f'{text[:_LONG]}...'}"
    return str(problem.message)[:300]


def _excerpt(text: str) -> str:
    return text if len(text) <= _LONG else f"{text[:60]}... ({len(text):,} characters)"


def _type_message(value: Any, types: list[str]) -> tuple[str, str]:
    must = " or ".join(_NAMES[name] for name in types)
    if value is None:
        return f"is empty; must be {must}", ""
    if isinstance(value, (dict, list)) or (isinstance(value, str) and len(value) > _LONG):
        return f"is {_LARGE[type(value)]}; must be {must}", ""
    if type(value) is str:
        return f"is the string {value!r}; must be {must}", ""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    digits = ", with every digit: a YAML reader turns 1.10 into 1.1" if isinstance(value, float) else ""
    remedy = f'write it in quotes, "{text}"{digits}' if "string" in types else ""
    return f"is the {_WHAT[type(value)]} {text}; must be {must}", remedy


def _as_list(value: Any, schema: dict[str, Any]) -> str:
    """Return what to write in the place of a string where a list of strings may stand; "" for anything else."""
    is_due = "array" in schema["type"] and schema.get("items", {}).get("type") == "string"
    if not is_due or type(value) is not str or len(value) > _LONG or '"' in value or "\\" in value:
        return ""
    return f'write it as a list, ["{value}"]'


_LARGE = {dict: "a mapping", list: "a list", str: "a string", Timestamp: "a date"}
_WHAT = {bool: "boolean", int: "number", float: "number", Timestamp: "date"}


def _order(path: str) -> list[tuple[int, str]]:
    """Return a sort key for paths: their parts, list indexes as numbers."""
    return [(int(part), "") if is_index(part) else (-1, part) for part in re.split(r"[.\[\]]+", path) if part]
