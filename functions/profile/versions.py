"""The schemas of a Profile: one for all versions of the vendor's kind, or one for each (`for.schemas`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from krmfn.resource import FieldPath
from krmfn.typed import Any

from .structural import Node

_NO_OPTIONS: Node = {"type": "object", "properties": {"spec": {"type": "object"}}}
_ANYTHING: Node = {"x-kubernetes-preserve-unknown-fields": True}


def schemas(spec: Mapping[str, Any]) -> dict[FieldPath, Node]:
    """Return the structural schemas of a Profile by their paths below its spec."""
    by_version = spec.get("for", {}).get("schemas", {})
    if by_version:
        return {("for", "schemas", version): node for version, node in by_version.items()}
    return {("schema",): spec.get("schema", _NO_OPTIONS)}


def of_version(spec: Mapping[str, Any], version: str) -> dict[str, Any]:
    """Return the spec of a Profile with several schemas as it is for one version."""
    target = {name: value for name, value in spec["for"].items() if name != "schemas"}
    return {**spec, "schema": spec["for"]["schemas"][version], "for": {**target, "versions": [version]}}


def union(nodes: Sequence[Node]) -> Node:
    """Return a schema with the fields of all, each as sure to be there as in every one of them."""
    first, *others = nodes
    if not others:
        return first
    if any(node.get("type") != first.get("type") for node in others):
        return _ANYTHING
    result = {name: value for name, value in first.items() if all(node.get(name) == value for node in others)}
    if any("enum" in node for node in nodes) and all("enum" in node for node in nodes):
        result["enum"] = [value for node in nodes for value in node["enum"]]
    if all("default" in node for node in nodes):
        result["default"] = first["default"]
    else:
        result.pop("default", None)
    if any(node.get("nullable") for node in nodes):
        result["nullable"] = True
    if any("properties" in node for node in nodes):
        result["properties"] = _fields(nodes)
        result["required"] = [name for name in result["properties"] if all(name in _required(node) for node in nodes)]
    for word in ("items", "additionalProperties"):
        if parts := [node[word] for node in nodes if isinstance(node.get(word), dict)]:
            result[word] = union(parts)
    return result


def _required(node: Node) -> Sequence[str]:
    required: Sequence[str] = node.get("required", ())
    return required


def _fields(nodes: Sequence[Node]) -> dict[str, Node]:
    fields: dict[str, Node] = {}
    for name in dict.fromkeys(name for node in nodes for name in node.get("properties", {})):
        having = [node["properties"][name] for node in nodes if name in node.get("properties", {})]
        child = union(having)
        is_everywhere = len(having) == len(nodes)
        fields[name] = child if is_everywhere else {key: value for key, value in child.items() if key != "default"}
    return fields
