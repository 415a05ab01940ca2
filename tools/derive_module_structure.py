"""Derive the fact tables in functions/kmm/crd/structure-*.json from KMM's CRDs of Module and ManagedClusterModule.

    python tools/derive_module_structure.py FOLDER

reads FOLDER/v2.4.0/modules.yaml, FOLDER/v2.4.0/managedclustermodules.yaml, and the same for each other KMM version that
has a table (functions/kmm/versions.py); see functions/kmm/crd/README.md. Each table but the first holds what differs
from the first, and structure-hub.json is the same for all. A table has the paths below `spec` and `status` with their
types, required fields, bounds, patterns, defaults and CEL rules, and no descriptions:

    "string", "boolean", "integer", "int32", "int64", "quantity"    a scalar (quantity: a whole number or a string)
    "object"                                    an object with anything in it
    {"a": ..., "b!": ...}                       an object with these fields; `!` marks a required one
    {"$map": ...}, {"$list": ...}               with $min, $max, $keys (the keys that make entries unique)
    {"$type": "string", "$default": "/opt"}     a type with $default, $pattern
    {"$same": "spec.devicePlugin.container"}    as at that path
    {"$rules": {rule: message}}                 CEL rules of the object it stands in
    "Module.spec"                               as the spec of a Module (in structure-hub.json)
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from krmfn_functions.kmm.versions import TARGETS

OUT = Path(__file__).parent.parent / "functions" / "kmm" / "crd"
MODULE_FILE, HUB_FILE = "modules.yaml", "managedclustermodules.yaml"
FOLDERS: dict[str, str] = {}
"""The folder of each table's CRDs: those of the first KMM version that has the table."""
for known in TARGETS.values():
    FOLDERS.setdefault(known.structure, known.source)
HUB = "hub"
IGNORED = {"description", "x-kubernetes-map-type"}
QUANTITY = [{"type": "integer"}, {"type": "string"}]


def main(arguments: list[str]) -> None:
    """Write the tables that the CRDs in a folder give, and print the rows that this changes."""
    [source] = map(Path, arguments)
    for name, facts in derive(source).items():
        file = OUT / f"structure-{name}.json"
        before = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        for line in changed_rows(before, facts):
            sys.stdout.write(f"{file.name}: {line}\n")
        file.write_text(json.dumps(facts, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def changed_rows(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Return a line per row of a table that is new, gone or changed."""
    old, new = dict(rows(before)), dict(rows(after))
    lines = [f"{path}: is gone, was {json.dumps(old[path])}" for path in sorted(old.keys() - new.keys())]
    for path, value in sorted(new.items()):
        if path not in old:
            lines.append(f"{path}: is new: {json.dumps(value)}")
        elif old[path] != value:
            lines.append(f"{path}: is {json.dumps(value)}, was {json.dumps(old[path])}")
    return lines


def rows(table: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values in a table that are no table, each with its path."""
    if not isinstance(table, dict) or not table:
        yield path, table
        return
    for key, value in table.items():
        yield from rows(value, f"{path}/{key}".lstrip("/"))


def derive(source: Path) -> dict[str, dict[str, Any]]:
    """Return the tables by their names, from a folder with KMM's CRDs."""
    tables: dict[str, dict[str, Any]] = {}
    first = next(iter(FOLDERS))
    base: dict[str, Any] = {}
    for version, name in FOLDERS.items():
        properties = read(source / name / MODULE_FILE)
        table = without_repetition({key: short(properties[key]) for key in ("spec", "status")})
        tables[version] = {"base": first} | difference(base, table) if base else {"fields": table}
        hub = {"fields": hub_table(read(source / name / HUB_FILE), properties)}
        assert tables.setdefault(HUB, hub) == hub, f"ManagedClusterModule of {version} is another than the one before"
        base = base or table
    return tables


def read(path: Path) -> Any:
    """Return the schemas of the fields in a CRD's only version."""
    [version] = yaml.load(path.read_bytes(), yaml.CSafeLoader)["spec"]["versions"]
    return version["schema"]["openAPIV3Schema"]["properties"]


def hub_table(properties: dict[str, Any], module: dict[str, Any]) -> dict[str, Any]:
    """Return the table of ManagedClusterModule, in which the Module's spec is only named."""
    table = {name: short(properties[name]) for name in ("spec", "status")}
    assert table["spec"]["moduleSpec"] == short(module["spec"]), "take both files of one version"
    table["spec"]["moduleSpec"] = "Module.spec"
    return table


def without_repetition(table: dict[str, Any]) -> dict[str, Any]:
    """Return the table with its repeated parts written once."""
    shared: dict[str, str] = {}
    return {name: share(node, name, shared) for name, node in table.items()}


def short(schema: dict[str, Any]) -> Any:
    """Return a schema in the notation above; refuse what the notation does not know."""
    facts = {key: value for key, value in schema.items() if key not in IGNORED}
    kind = facts.pop("type", None)
    if facts.pop("x-kubernetes-int-or-string", False):
        assert kind is None and facts.pop("anyOf") == QUANTITY, schema
        # Every such pattern is the one of a quantity, which the reader of the table knows.
        facts.pop("pattern")
        node: Any = "quantity"
    elif kind == "array":
        node = _list(facts)
    elif kind == "object":
        node = _object(facts)
    else:
        node = facts.pop("format", kind)
    if facts.keys() & {"default", "pattern"}:
        node = {"$type": node} | {f"${key}": facts.pop(key) for key in ("default", "pattern") if key in facts}
    assert not facts, facts
    return node


def _list(facts: dict[str, Any]) -> Any:
    node: dict[str, Any] = {"$list": short(facts.pop("items"))}
    list_type, keys = facts.pop("x-kubernetes-list-type", "atomic"), facts.pop("x-kubernetes-list-map-keys", None)
    assert (list_type, keys is None) in (("atomic", True), ("map", False)), facts
    bounds = {"$min": facts.pop("minItems", None), "$max": facts.pop("maxItems", None), "$keys": keys}
    return node | {key: value for key, value in bounds.items() if value is not None}


def _object(facts: dict[str, Any]) -> Any:
    if facts.pop("x-kubernetes-preserve-unknown-fields", False):
        return "object"
    if "additionalProperties" in facts:
        return {"$map": short(facts.pop("additionalProperties"))}
    required = facts.pop("required", [])
    node = {
        name + "!" * (name in required): short(schema) for name, schema in sorted(facts.pop("properties", {}).items())
    }
    rules = {rule["rule"]: rule["message"] for rule in facts.pop("x-kubernetes-validations", [])}
    return node | ({"$rules": rules} if rules else {})


def share(node: Any, path: str, shared: dict[str, str]) -> Any:
    """Return the node, its large parts replaced by the path at which they stood first."""
    if not isinstance(node, dict):
        return node
    text = json.dumps(node, sort_keys=True)
    if len(text) > 60:
        if text in shared:
            return {"$same": shared[text]}
        shared[text] = path
    return {key: share(value, _below(path, key), shared) for key, value in node.items()}


def _below(path: str, key: str) -> str:
    if key in ("$list", "$map"):
        return path + ("[]" if key == "$list" else "{}")
    return f"{path}.{key.removesuffix('!')}"


def difference(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Return what to set and what to drop, by path, to come from one table to the other."""
    return {
        "set": {path: node for path, node in _changes(old, new) if node is not None},
        "drop": sorted(path for path, node in _changes(old, new) if node is None),
    }


def _changes(old: dict[str, Any], new: dict[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for key in sorted(old.keys() | new.keys()):
        field = f"{path}/{key}" if path else key
        before, after = old.get(key), new.get(key)
        if isinstance(before, dict) and isinstance(after, dict):
            yield from _changes(before, after, field)
        elif before != after:
            yield field, after


if __name__ == "__main__":
    main(sys.argv[1:])
