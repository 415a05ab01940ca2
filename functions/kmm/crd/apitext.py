"""The API server's text for types, paths, values and wrong types, and hints for a fix."""

import json
from collections.abc import Iterable, Iterator

from krmfn import Manifest, Result
from krmfn.printing import closest
from krmfn.resource import FieldPath, ref
from krmfn.typed import Any

from ..rule import quote, refusal
from ..versions import KNOWN_ON, TARGETS
from .facts import Fact, module_facts


def type_name(value: Any) -> str:
    """Return JSON's name of a value's type, as the API server prints it.

    A whole number too large for 64 bits is a number; 1e3, 08 and 1. are whole, for the YAML becomes JSON first.
    """
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer" if -(2**63) <= value < 2**63 else "number"
    if isinstance(value, float):
        return "integer" if value.is_integer() and abs(value) < 2**63 else "number"
    names = ((str, "string"), (dict, "object"), (list, "array"))
    return next((name for kind, name in names if isinstance(value, kind)), "null")


def as_json(value: Any) -> str:
    """Return the value as Go prints it in JSON: no spaces, `<`, `>` and `&` as escapes."""
    return json.dumps(_with_whole_numbers(value), separators=(",", ":"), ensure_ascii=False).translate(_ESCAPES)


_ESCAPES = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}


def _with_whole_numbers(value: Any) -> Any:
    """Return nested data with each whole float as an int, as Go prints it: 1 for 1.0."""
    if isinstance(value, dict):
        return {key: _with_whole_numbers(child) for key, child in value.items()}
    if isinstance(value, list):
        return [_with_whole_numbers(child) for child in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def type_error(where: str, actual: str, expected: str) -> str:
    """Return the API server's message for a wrong type."""
    return f'{where}: Invalid value: "{actual}": {where} in body must be of type {expected}: "{actual}"'


def scalar(value: Any) -> Any:
    """Return a scalar as it is, for a finding to show; None for a mapping or a list."""
    return None if isinstance(value, (dict, list)) else value


def refusals(
    rule: str, where: str, value: str, errors: Iterable[str], path: str = "", current: Any = None
) -> Iterator[Result]:
    """Yield the API server's refusals of a text at `where`, one per error; the findings are at `path`, if it is set."""
    for message in errors:
        yield refusal(f"{where}: Invalid value: {quote(value)}: {message}", path or where, current, rule=rule)


def api_path(path: FieldPath) -> str:
    """Return the path as the API server writes it, keys with dots in them included."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")


def merge_error(module: Manifest, text: str) -> str:
    """Return server-side apply's message for a Module that it cannot merge; a plain create accepts that Module."""
    subject = ref(module)
    identity = f"{subject.namespace}/{subject.name}; {subject.api_version}, Kind={subject.kind}"
    return f"failed to create typed patch object ({identity}): {text}"


def unknown_field(path: FieldPath) -> str:
    """Return the API server's message for a field that it does not know."""
    return f'strict decoding error: unknown field "{api_path(path)}"'


def unknown_field_hint(path: FieldPath, fields: Iterable[str], is_own: bool = False) -> str:
    """Return a hint for an unknown field: the KMM versions that have it, a similar field, or the known fields.

    `is_own` is True where the fields are those of a CRD that the user gives, and not of our tables.
    """
    other = "the CRD of your cluster" if is_own else "this version"
    way_out = "" if is_own else f"; facts of {KNOWN_ON}, --kmm-crd FILE takes those of your cluster"
    if versions := [name for name, known in TARGETS.items() if not known.is_fork and _is_known(path, known.table)]:
        return f"KMM {' and '.join(versions)} {'has' if len(versions) == 1 else 'have'} it, {other} does not{way_out}"
    known = sorted(fields)
    if similar := closest(str(path[-1]), known):
        return f"did you mean '{similar}'?"
    if not known:
        return "nothing is known here"
    return f"known here: {', '.join(known)}{way_out}"


def _is_known(path: FieldPath, structure: str) -> bool:
    node: Fact | None = module_facts(structure)
    for part in path:
        node = node and (node.item if isinstance(part, int) else (node.fields or {}).get(part, node.item))
    return node is not None


def quoting_hint(value: Any, types: Iterable[str]) -> str:
    """Return a hint when YAML takes a string for another type, such as `1.10`; "" when that is not the mistake."""
    if "string" not in types or isinstance(value, (dict, list, str)) or value is None:
        return ""
    if isinstance(value, bool):
        word = str(value).lower()
        return f'write the string in quotes, "{word}": YAML reads yes, no, on, off, y, n, true and false as booleans'
    if not isinstance(value, float):
        return f'write it in quotes, "{value}"'
    digits = f"{value:.15g}"
    if value.is_integer():
        return f"write it in quotes: a YAML reader turns it into {digits}"
    return f'write it in quotes, "{digits}"; a YAML reader turns 1.10 into 1.1'
