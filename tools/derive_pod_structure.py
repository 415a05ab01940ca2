"""Derive functions/pods/structure.json from the OpenAPI document of a kube-apiserver.

    kubectl get --raw /version > FOLDER/version.json
    kubectl get --raw /openapi/v3/api/v1 > FOLDER/core-v1.json
    python tools/derive_pod_structure.py FOLDER

The table has the types that a PodSpec is made of, by their names, but for those that only the containers and volumes
need, which a DeviceConfig has fields of its own for. It has types, required fields, allowed values and how lists and
maps merge, and no descriptions:

    "string", "boolean", "int32", "int64", "quantity", "number-or-string"      a scalar
    "Affinity"                          as the type of that name
    {"a": ..., "b!": ...}               an object with these fields; `!` marks a required one
    {"$list": ..., "$keys": [...]}      a list; with keys that make its entries unique it merges by them
    {"$map": ...}
    {"$enum": [...]}                    a string of these
    {"$atomic": true, ...}              an object that one writer owns as a whole
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

OUT = Path(__file__).parent.parent / "functions" / "pods" / "structure.json"
ROOT = "PodSpec"
LEFT_OUT = frozenset({"containers", "ephemeralContainers", "initContainers", "volumes"})
"""Fields of a PodSpec that take most of the types, and that a DeviceConfig has names of its own for."""
SCALARS = {"Quantity": "quantity", "IntOrString": "number-or-string"}
KNOWN = {"default", "description", "format", "type", "x-kubernetes-patch-merge-key", "x-kubernetes-patch-strategy"}


def main(arguments: list[str]) -> None:
    """Write the table from the two files in a folder."""
    [folder] = map(Path, arguments)
    version = json.loads((folder / "version.json").read_bytes())["gitVersion"]
    table = derive(json.loads((folder / "core-v1.json").read_bytes())["components"]["schemas"])
    OUT.write_text(json.dumps({"version": version, "types": table}, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def derive(schemas: dict[str, Any]) -> dict[str, Any]:
    """Return the types that a PodSpec needs, by their names."""
    by_name = {name.rpartition(".")[2]: schema for name, schema in schemas.items() if _is_of_pods(name)}
    types: dict[str, Any] = {}
    pending = [ROOT]
    while pending:
        name = pending.pop()
        if name not in types:
            types[name] = _object(by_name[name], LEFT_OUT if name == ROOT else frozenset())
            pending += [used for used in _names(types[name]) if used in by_name and used not in SCALARS]
    return types


def _is_of_pods(name: str) -> bool:
    return name.startswith(("io.k8s.api.core.v1.", "io.k8s.apimachinery.pkg.apis.meta.v1.", "io.k8s.apimachinery.pkg."))


def _object(schema: dict[str, Any], left_out: frozenset[str]) -> dict[str, Any]:
    rest = schema.keys() - {"properties", "required", "x-kubernetes-map-type", "x-kubernetes-unions"} - KNOWN
    assert not rest and schema["type"] == "object", schema
    required = schema.get("required", ())
    fields = {
        name + "!" * (name in required): _short(field)
        for name, field in schema["properties"].items()
        if name not in left_out
    }
    return fields | ({"$atomic": True} if schema.get("x-kubernetes-map-type") == "atomic" else {})


def _short(schema: dict[str, Any]) -> Any:
    """Return a schema in the notation above; refuse what the notation does not know."""
    facts = {key: value for key, value in schema.items() if key not in KNOWN}
    [reference] = facts.pop("allOf", [{"$ref": facts.pop("$ref", "")}])
    if reference["$ref"]:
        name = reference["$ref"].rpartition(".")[2]
        node: Any = SCALARS.get(name, name)
    elif schema["type"] == "array":
        keys, kind = facts.pop("x-kubernetes-list-map-keys", None), facts.pop("x-kubernetes-list-type", "atomic")
        assert (kind, keys is None) in (("atomic", True), ("set", True), ("map", False)), schema
        node = {"$list": _short(facts.pop("items"))} | ({"$keys": keys} if keys else {})
    elif "additionalProperties" in facts:
        node = {"$map": _short(facts.pop("additionalProperties"))}
        node |= {"$atomic": True} if facts.pop("x-kubernetes-map-type", "") == "atomic" else {}
    elif "enum" in facts:
        node = {"$enum": facts.pop("enum")}
    else:
        node = schema.get("format", schema["type"])
    assert not facts, facts
    return node


def _names(node: Any) -> list[str]:
    if isinstance(node, str):
        return [node]
    return [name for key, value in node.items() if key not in ("$enum", "$keys", "$atomic") for name in _names(value)]


if __name__ == "__main__":
    main(sys.argv[1:])
