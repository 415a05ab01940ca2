"""A kind's CRD from the same fields as its JSON Schema.

What structural schemas lack becomes a CEL rule (`propertyNames`) or text (`x-says`); rules between fields, which
JSON Schema leaves to the functions, are CEL rules here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import yaml
from schema_nodes import Node

OPEN = {"x-kubernetes-preserve-unknown-fields": True}
COPIED = (
    "enum",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "required",
)


def structural(node: Node, defs: Mapping[str, Node]) -> Node:
    """Return the node without references, in the keywords that a CRD's schema may have."""
    node = {key: value for key, value in resolved(node, defs).items() if key != "title"}
    schema: Node = {"description": _description(node)}
    if isinstance(node["type"], list) and node["type"] != ["string", "integer"]:
        return schema | OPEN  # a CRD knows no such choice; krmfn checks it
    if isinstance(node["type"], list):
        schema["x-kubernetes-int-or-string"] = True
    else:
        schema["type"] = node["type"]
    schema |= {key: node[key] for key in COPIED if key in node}
    if node["type"] == "object":
        schema |= _fields(node, defs)
    if node["type"] == "array":
        schema["items"] = structural(node["items"], defs)
        if "x-key" in node:
            schema |= {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [node["x-key"]]}
    rules = [{"rule": rule, "message": message} for rule, message in [*_keys(node), *node.get("x-cel", [])]]
    return schema | ({"x-kubernetes-validations": rules} if rules else {})


def resolved(node: Node, defs: Mapping[str, Node]) -> Node:
    """Return the node that a reference means; keywords beside the reference win."""
    if "$ref" not in node:
        return node
    return {**defs[node["$ref"].removeprefix("#/$defs/")], **{key: node[key] for key in node if key != "$ref"}}


def _description(node: Node) -> str:
    says = node.get("x-says")
    return f"{node['description']} ({says})" if says else str(node["description"])


def _fields(node: Node, defs: Mapping[str, Node]) -> Node:
    """Return the contents of an object: fields, values of one kind, or anything."""
    rest = node.get("additionalProperties", True)
    if isinstance(rest, dict):
        return {"additionalProperties": structural(rest, defs)}
    inside: Node = {name: structural(field, defs) for name, field in node.get("properties", {}).items()}
    return ({"properties": inside} if inside else {}) | (OPEN if rest else {})


def _keys(node: Node) -> list[tuple[str, str]]:
    """Return the rule about a mapping's keys; its length bounds what it costs the API server."""
    if "propertyNames" not in node:
        return []
    names = node["propertyNames"]
    pattern = names["pattern"].replace("\\", "\\\\")
    return [(f"self.all(key, key.matches('{pattern}'))", f"a key must be {names['x-says']}")]


def crd(group: str, kind: str, short: str, columns: Mapping[str, str], spec: Node, defs: Mapping[str, Node]) -> Node:
    """Return the CustomResourceDefinition; `columns` are what `kubectl get` prints, as name and path."""
    plural, singular = f"{kind.lower()}s", kind.lower()
    texts = {
        "apiVersion": {"description": "the group and version of this kind", "type": "string"},
        "kind": {"description": "the kind", "type": "string"},
    }
    status = {"description": "what a cluster says about it", "type": "object", **OPEN}
    schema = {
        "description": f"A {kind}, rendered by krmfn before it reaches a cluster: nothing here acts on it",
        "type": "object",
        "required": ["spec"],
        "properties": {**texts, "metadata": {"type": "object"}, "spec": structural(spec, defs), "status": status},
    }
    printed = [{"name": name, "type": "string", "jsonPath": path} for name, path in columns.items()]
    version = {
        "name": "v1alpha1",
        "served": True,
        "storage": True,
        "additionalPrinterColumns": [
            *printed,
            {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
        ],
        "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": schema},
    }
    names = {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": singular}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "names": {**names, "shortNames": [short], "categories": ["krmfn"]},
            "scope": "Namespaced",
            "versions": [version],
        },
    }


def text(document: Node) -> str:
    """Return a CRD as YAML, without aliases."""
    plain: Any = json.loads(json.dumps(document))
    return yaml.safe_dump(plain, sort_keys=False, allow_unicode=True, width=120)
