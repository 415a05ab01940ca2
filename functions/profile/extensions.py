"""The x-kubernetes- keywords of a schema: their values, and what goes with what.

Source: pkg/apis/apiextensions/validation/validation.go and pkg/apiserver/schema/validation.go of
k8s.io/apiextensions-apiserver v0.34.2.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..kmm.lookup import listing, table
from ..mistake import FieldMistake, Mistake
from .structural import EMBEDDED, INT_OR_STRING, OPEN, Node, Path

LIST_TYPE, KEYS = "x-kubernetes-list-type", "x-kubernetes-list-map-keys"
_MAP_TYPE, _RULES = "x-kubernetes-map-type", "x-kubernetes-validations"
WORDS = frozenset({OPEN, INT_OR_STRING, EMBEDDED, LIST_TYPE, KEYS, _MAP_TYPE, _RULES})
SHAPES = tuple(sorted(WORDS))
"""Those that say something of the shape of a value; CEL rules count as such."""
_REASONS = ("FieldValueRequired", "FieldValueForbidden", "FieldValueInvalid", "FieldValueDuplicate")
_TEXT: Node = {"type": "string"}
_RULE: Node = {
    "type": "object",
    "required": ["rule"],
    "additionalProperties": False,
    "properties": {
        "rule": {"type": "string", "pattern": r"\S"},
        "message": {"type": "string", "pattern": r"^(\s*\S[^\r\n]*\s*)?$"},
        "messageExpression": {"type": "string", "pattern": r"^$|\S"},
        "reason": {"type": "string", "enum": list(_REASONS)},
        "fieldPath": {"type": "string", "pattern": r"^([^\r\n]*\S[^\r\n]*)?$"},
        "optionalOldSelf": {"type": "boolean"},
    },
}
VALUES: dict[str, Node] = {
    OPEN: {"type": "boolean", "enum": [True]},
    **{word: {"type": "boolean"} for word in (INT_OR_STRING, EMBEDDED)},
    LIST_TYPE: {"type": "string", "enum": ["atomic", "set", "map"]},
    KEYS: {"type": "array", "items": _TEXT},
    _MAP_TYPE: {"type": "string", "enum": ["atomic", "granular"]},
    _RULES: {"type": "array", "items": _RULE},
}
"""What the values of these keywords must be. The CEL in a rule is not judged."""
_HEAD = {"apiVersion": "string", "kind": "string", "metadata": "object"}
_NAMES = {"name", "generateName"}


def mistakes(node: Node, path: Path) -> Iterator[FieldMistake]:
    """Yield which of these keywords do not go with what else the schema says."""
    if node.get(INT_OR_STRING):
        for word in (OPEN, EMBEDDED):
            if node.get(word):
                yield (*path, word), Mistake(f"{word} and {INT_OR_STRING} exclude each other", "remove one")
    if node.get(_MAP_TYPE) and node.get("type") != "object":
        yield (*path, "type"), Mistake(f"must be object, since the schema has {_MAP_TYPE}")
    if node.get(_RULES) and not _has_cel_type(node):
        yield (*path, _RULES), Mistake("the rules need a value with a type, down to its entries", "write its `type`")
    yield from _of_list(node, path)
    if node.get(EMBEDDED):
        yield from _of_embedded(node, path)
    if node.get(EMBEDDED) or not path:
        yield from _of_head(node, path)


def _has_cel_type(node: Node) -> bool:
    """Return False for a schema that no CEL rule can be about: it, its entries, or its values by name have no type.

    Source: pkg/apiserver/schema/cel/model (SchemaDeclType).
    """
    if node.get("type") == "array":
        return _has_cel_type(table(node, "items"))
    if node.get("type") == "object" and isinstance(node.get("additionalProperties"), dict):
        return _has_cel_type(node["additionalProperties"])
    return bool(node.get("type") or node.get(INT_OR_STRING))


def _of_list(node: Node, path: Path) -> Iterator[FieldMistake]:
    """Yield what is wrong with the kind of a list, and with its keys."""
    kind, items = node.get(LIST_TYPE), node.get("items", {})
    if kind and node.get("type") != "array":
        yield (*path, "type"), Mistake(f"must be array, since the schema has {LIST_TYPE}")
    if node.get(KEYS) and kind != "map":
        yield (*path, LIST_TYPE), Mistake(f"must be map, since the schema has {KEYS}")
    if not isinstance(items, dict):
        return
    if kind in ("set", "map") and items.get("nullable"):
        yield (*path, "items", "nullable"), Mistake(f"no entry of a list of the type {kind} may be null", "remove it")
    if kind == "set":
        yield from _of_set(items, (*path, "items"))
    if kind == "map":
        yield from _of_map(node, items, path)


def _of_set(items: Node, path: Path) -> Iterator[FieldMistake]:
    """Yield why the entries of a set cannot be told apart."""
    needs = "an entry of a set counts as a whole, so it needs `{}: atomic`"
    if items.get("type") == "array" and items.get(LIST_TYPE, "atomic") != "atomic":
        yield (*path, LIST_TYPE), Mistake(needs.format(LIST_TYPE))
    if items.get("type") == "object" and items.get(_MAP_TYPE) != "atomic":
        yield (*path, _MAP_TYPE), Mistake(needs.format(_MAP_TYPE))


def _of_map(node: Node, items: Node, path: Path) -> Iterator[FieldMistake]:
    """Yield why the entries of a map cannot be told apart by its keys."""
    keys, fields = node.get(KEYS, []), table(items, "properties")
    if not keys:
        yield (*path, KEYS), Mistake(f"`{LIST_TYPE}: map` needs the fields that tell entries apart", "write them here")
    if items.get("type") != "object":
        yield (*path, "items", "type"), Mistake(f"must be object, since the list has `{LIST_TYPE}: map`")
        return
    if len({*keys}) < len(keys):
        yield (*path, KEYS), Mistake("names a field twice", "remove one")
    for key in keys:
        child, place = fields.get(key), (*path, "items", "properties", key)
        if not isinstance(child, dict):
            yield (*path, KEYS), Mistake(f"{key} is no field of the entries", "write it in their `properties`")
            continue
        if child.get("type") in ("array", "object"):
            yield (*place, "type"), Mistake(f"{key} tells entries apart, so it must be a text, a number or a boolean")
        if child.get("nullable"):
            yield (*place, "nullable"), Mistake(f"{key} tells entries apart, so it may not be null", "remove it")
        if key not in (listing(items, "required") or ()) and child.get("default") is None:
            yield place, Mistake(f"{key} tells entries apart, so it must be in their `required`, or have a default")


def _of_embedded(node: Node, path: Path) -> Iterator[FieldMistake]:
    """Yield what is wrong with the schema of a resource within a resource."""
    if node.get("type") != "object":
        yield (*path, "type"), Mistake(f"must be object, since the schema has {EMBEDDED}")
    if "additionalProperties" in node:
        yield (*path, "additionalProperties"), Mistake(f"{EMBEDDED} goes with `properties` or {OPEN}", "remove it")
    if not node.get(OPEN) and not node.get("properties"):
        yield path, Mistake(f"{EMBEDDED} needs `properties`, or `{OPEN}: true`")


def _of_head(node: Node, path: Path) -> Iterator[FieldMistake]:
    """Yield what is wrong with the schemas of apiVersion, kind and metadata of a resource."""
    known = node.get("properties", {})
    for name, kind in _HEAD.items():
        child = known.get(name)
        if not isinstance(child, dict):
            continue
        place = (*path, "properties", name)
        if child.get("type") != kind:
            yield (*place, "type"), Mistake(f"must be {kind}, as in every resource")
        if not path and child.get("default") is not None:
            yield (*place, "default"), Mistake(f"no CRD may give {name} a default", "remove it")
    metadata = known.get("metadata")
    if isinstance(metadata, dict) and not path:
        words = set(metadata) - {
            "type",
            "properties",
            "default",
            *(word for word, value in metadata.items() if not value),
        }
        if words or not table(metadata, "properties").keys() <= _NAMES:
            mistake = Mistake("may restrict nothing but name and generateName: the API server knows metadata")
            yield (*path, "properties", "metadata"), mistake
