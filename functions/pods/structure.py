"""Checks of a PodSpec against the API server's structure: types, unknown fields, required ones and allowed values.

Source: `structure.json`, which tools/derive_pod_structure.py makes from the OpenAPI document of kube-apiserver. The
API server's further checks of values, such as the form of an IP address, are left to it.
"""

import json
import os
import re
from collections.abc import Iterator
from functools import cache

from krmfn.printing import did_you_mean
from krmfn.resource import FieldPath
from krmfn.typed import Any

from ..mistake import FieldMistake, Mistake

_FOLDER = os.path.dirname(__file__)  # os.path: pathlib costs a tenth of the start-up time  # noqa: PTH120
_QUANTITY = re.compile(r"[+-]?([0-9]+|[0-9]+\.[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+|[KMGTPE]i|[numkMGTPE])?").fullmatch
_BITS = {"int32": 31, "int64": 63}
_WORDS = {
    "string": "a string",
    "boolean": "true or false",
    "int32": "a whole number of 32 bits",
    "int64": "a whole number",
    "quantity": "a quantity such as 500m or 1Gi",
    "number-or-string": "a whole number or a string",
}
_TYPES = {bool: "a boolean", int: "a number", float: "a number", str: "a string", dict: "a mapping", list: "a list"}


@cache
def facts() -> dict[str, Any]:
    """Return the table: `version` of the API server, and `types` by their names."""
    with open(os.path.join(_FOLDER, "structure.json"), "rb") as file:  # noqa: PTH118, PTH123
        table: dict[str, Any] = json.load(file)
    return table


def check(value: Any, node: Any = "PodSpec", path: FieldPath = ()) -> Iterator[FieldMistake]:
    """Yield what the API server refuses, or would drop, in a PodSpec or a part of it.

    `node` is the structure of the value, or the name of a type in `facts()["types"]`.
    """
    node = facts()["types"].get(node, node) if isinstance(node, str) else node
    if value is None:
        yield path, Mistake("is empty", "write a value, or leave the field out")
    elif isinstance(node, str):
        if not _fits(value, node):
            yield path, Mistake(f"is {_described(value)}; must be {_WORDS[node]}{_in_quotes(value, node)}")
    elif "$enum" in node:
        if value not in node["$enum"]:
            yield path, Mistake(f"is {_described(value)}; must be one of {', '.join(node['$enum'])}")
    elif not isinstance(value, list if "$list" in node else dict):
        yield path, Mistake(f"is {_described(value)}; must be a {'list' if '$list' in node else 'mapping'}")
    else:
        yield from _list(value, node, path) if "$list" in node else _object(value, node, path)


def _list(value: Any, node: Any, path: FieldPath) -> Iterator[FieldMistake]:
    """Yield what the API server refuses in a list: wrong entries, and two entries with the same keys."""
    keys, ids = node.get("$keys", ()), list[Any]()
    for index, entry in enumerate(value):
        yield from check(entry, node["$list"], (*path, index))
        entry_id = [entry.get(key) for key in keys] if isinstance(entry, dict) else []
        if entry_id and entry_id in ids:
            yield (
                (*path, index),
                Mistake(f"has the {' and '.join(keys)} of an earlier entry", "leave one of the two out"),
            )
        ids.append(entry_id)


def _object(value: Any, node: dict[str, Any], path: FieldPath) -> Iterator[FieldMistake]:
    """Yield what the API server refuses in a mapping: wrong values, unknown fields and missing ones."""
    known = {name.removesuffix("!"): fact for name, fact in node.items() if not name.startswith("$")}
    for key, entry in value.items():
        if fact := known.get(key, node.get("$map")):
            yield from check(entry, fact, (*path, key))
        else:
            hint = did_you_mean(str(key), list(known), f"known here: {', '.join(sorted(known))}", "'")
            message = f"is not a field of Kubernetes {facts()['version'].removeprefix('v')} here"
            yield (*path, key), Mistake(message, hint)
    for name in node:
        if name.endswith("!") and name[:-1] not in value:
            yield (*path, name[:-1]), Mistake("is missing, and Kubernetes requires it", "write it")


def _fits(value: Any, kind: str) -> bool:
    """Return True when a value has a scalar type."""
    if kind == "boolean":
        return isinstance(value, bool)
    if kind in _BITS:
        return _is_whole(value) and -(2 ** _BITS[kind]) <= value < 2 ** _BITS[kind]
    if type(value) is str:  # not a date, which readers of YAML disagree on
        return kind != "quantity" or _QUANTITY(value) is not None
    if kind == "quantity":
        return type(value) in (int, float)
    return kind == "number-or-string" and _is_whole(value)


def _is_whole(value: Any) -> bool:
    return type(value) is int or (type(value) is float and value.is_integer())


def _described(value: Any) -> str:
    """Return a value as a message names it; the words for its type where it is long or has parts."""
    if isinstance(value, (dict, list)) or len(str(value)) > 80:
        return next((words for kind, words in _TYPES.items() if isinstance(value, kind)), "something else")
    if isinstance(value, bool):
        return str(value).lower()
    return repr(str(value)) if isinstance(value, str) else str(value)


def _in_quotes(value: Any, kind: str) -> str:
    """Return how to write a string that YAML reads as something else."""
    if kind != "string" or isinstance(value, (dict, list)):
        return ""
    return f': write it in quotes, "{str(value).lower() if isinstance(value, bool) else value}"'
