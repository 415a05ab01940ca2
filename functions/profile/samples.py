"""Options to try a Profile with where no config is: the least that its schema takes, and those of each condition."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from .expressions import path_of
from .judging import whens
from .product import Profile
from .structural import Node

_BY_TYPE: dict[str, Any] = {"string": "x", "integer": 1, "number": 1, "boolean": True}


def sample(node: Node) -> Any:
    """Return a value that a schema takes: the default, the first of an enum, else one made from type and bounds."""
    if "default" in node or node.get("enum"):
        return node["default"] if "default" in node else node["enum"][0]
    kind = node.get("type", "string")
    if kind == "object":
        known = node.get("properties", {})
        made = {name: sample(known.get(name, {})) for name in node.get("required", ())}
        return made or ({"x": sample(node["additionalProperties"])} if _is_map(node) else {})
    if kind == "array":
        return [sample(node["items"])]
    value = _BY_TYPE[kind]
    if kind in ("integer", "number"):
        return max(value, node.get("minimum", value)) if node.get("maximum", value) >= value else node["maximum"]
    return value * max(1, node.get("minLength", 1)) if kind == "string" else value


def _is_map(node: Node) -> bool:
    return isinstance(node.get("additionalProperties"), dict)


def trials(profile: Profile) -> Iterator[Any]:
    """Yield the options of each try: those that must be there, then the same with what each `when` asks for."""
    node = profile.options.get("properties", {}).get("spec", {})
    known = node.get("properties", {})
    least = {name: sample(known.get(name, {})) for name in node.get("required", ())}
    yield least
    for _, when in whens(profile.spec):
        yield _with(copy.deepcopy(least), node, when["if"])


def _with(options: dict[str, Any], node: Node, condition: Mapping[str, Any]) -> dict[str, Any]:
    """Return options for which a condition holds, as far as the schema lets them."""
    for path, wanted in condition.items():
        root, parts = path_of(path) or ("", ())
        if root != "spec" or wanted == {"exists": False}:
            continue
        holder, own = options, node
        for part in parts[:-1]:
            own = own.get("properties", {}).get(part, own.get("additionalProperties") or {})
            missing = {name: sample(own.get("properties", {}).get(name, {})) for name in own.get("required", ())}
            holder = holder.setdefault(part, missing)
        leaf = own.get("properties", {}).get(parts[-1], own.get("additionalProperties") or {})
        value = sample(leaf) if isinstance(wanted, dict) else wanted[0] if isinstance(wanted, list) else wanted
        holder[parts[-1]] = value
    return options
