"""Make CRDs of Module and ManagedClusterModule from the facts in functions/kmm/crd/structure-*.json, for tests.

    python tools/module_crds.py FOLDER

writes FOLDER/VERSION/modules.yaml and managedclustermodules.yaml for every KMM version that we hold facts about, as
tools/derive_module_structure.py reads them. An API server judges objects by them as by KMM's own: they have the same
fields, types, bounds, defaults, patterns and CEL rules, and no descriptions.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from derive_module_structure import HUB, HUB_FILE, MODULE_FILE, OUT, QUANTITY
from krmfn_functions.kmm.crd.facts import at, table
from krmfn_functions.kmm.crd.values import QUANTITY as QUANTITY_PATTERN
from krmfn_functions.kmm.versions import TARGETS

FOLDERS = {name: known.source for name, known in TARGETS.items() if not known.is_fork}
"""The folder of each KMM version; the fork has the CRDs of what it is made from."""

Table = dict[str, Any]


def main(arguments: list[str]) -> None:
    """Write the CRDs into a folder."""
    [out] = map(Path, arguments)
    write(out)


def write(out: Path) -> None:
    """Write the CRDs of every version below a folder."""
    for version, name in FOLDERS.items():
        crds = {MODULE_FILE: module_crd(version), HUB_FILE: hub_crd(version)}
        (out / name).mkdir(parents=True, exist_ok=True)
        for file, crd in crds.items():
            (out / name / file).write_text(json.dumps(crd, indent=1) + "\n", encoding="utf-8")  # JSON is YAML


def module_crd(version: str) -> dict[str, Any]:
    """Return the CRD of Module in a KMM version."""
    return _crd("Module", "modules", "kmm.sigs.x-k8s.io", "Namespaced", table(TARGETS[version].structure))


def hub_crd(version: str) -> dict[str, Any]:
    """Return the CRD of ManagedClusterModule, whose moduleSpec is the Module's spec of that version."""
    hub: Table = json.loads((OUT / f"structure-{HUB}.json").read_text(encoding="utf-8"))["fields"]
    del hub["spec"]["moduleSpec"]
    crd = _crd("ManagedClusterModule", "managedclustermodules", "hub.kmm.sigs.x-k8s.io", "Cluster", hub)
    _properties(crd)["spec"]["properties"]["moduleSpec"] = _properties(module_crd(version))["spec"]
    return crd


def _properties(crd: dict[str, Any]) -> Any:
    return crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]


def _crd(kind: str, plural: str, group: str, scope: str, fields: Table) -> dict[str, Any]:
    string = {"type": "string"}
    head = {"apiVersion": string, "kind": string, "metadata": {"type": "object"}}
    root = {"type": "object", "properties": head | {name: schema(node, fields) for name, node in fields.items()}}
    served = {"name": "v1beta1", "served": True, "storage": True, "subresources": {"status": {}}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "names": {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower()},
            "scope": scope,
            "versions": [served | {"schema": {"openAPIV3Schema": root}}],
        },
    }


def schema(node: Any, fields: Table) -> dict[str, Any]:
    """Return the OpenAPI schema of a node in the notation of derive_module_structure.py."""
    if isinstance(node, str):
        return _scalar(node)
    if "$same" in node:
        return schema(at(node["$same"], fields), fields)
    if "$type" in node:
        keywords = {key[1:]: node[key] for key in ("$default", "$pattern") if key in node}
        return schema(node["$type"], fields) | keywords
    if "$map" in node:
        return {"type": "object", "additionalProperties": schema(node["$map"], fields)}
    if "$list" in node:
        return {"type": "array", "items": schema(node["$list"], fields)} | _bounds(node)
    return _object(node, fields)


def _scalar(name: str) -> dict[str, Any]:
    if name == "quantity":
        return {"anyOf": QUANTITY, "pattern": QUANTITY_PATTERN, "x-kubernetes-int-or-string": True}
    if name == "object":
        return {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {"type": "integer", "format": name} if name in ("int32", "int64") else {"type": name}


def _bounds(node: dict[str, Any]) -> dict[str, Any]:
    names = {"$min": "minItems", "$max": "maxItems", "$keys": "x-kubernetes-list-map-keys"}
    schema_part = {names[key]: node[key] for key in names if key in node}
    return schema_part | ({"x-kubernetes-list-type": "map"} if "$keys" in node else {})


def _object(node: dict[str, Any], fields: Table) -> dict[str, Any]:
    children = {key: child for key, child in node.items() if not key.startswith("$")}
    schema_part: dict[str, Any] = {"type": "object"}
    if children:
        schema_part["properties"] = {key.removesuffix("!"): schema(child, fields) for key, child in children.items()}
    required = [key[:-1] for key in children if key.endswith("!")]
    rules = [{"rule": rule, "message": message} for rule, message in node.get("$rules", {}).items()]
    return (
        schema_part
        | ({"required": required} if required else {})
        | ({"x-kubernetes-validations": rules} if rules else {})
    )


if __name__ == "__main__":
    main(sys.argv[1:])
