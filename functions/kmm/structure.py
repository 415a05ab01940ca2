"""What the API server says to a Module before KMM sees it: the CRD's types, required fields, bounds and CEL rules.

Source: the Module CRD of KMM v2.4.0, v2.5.0, v2.6.0 and main (2026-07-29), as `facts` holds it; the words are those of
k8s.io/apiextensions-apiserver v0.34.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from krmfn.fieldpath import join
from krmfn.resource import Manifest, ref
from krmfn.results import Result

from .apitext import Path, dotted, is_whole, mistyped, type_name
from .facts import Node, module_facts
from .gotext import quote
from .hints import in_quotes, known_fields
from .lookup import table
from .metadata import RULES as METADATA_RULES
from .rules import Rule, Rules, apply, mark_first, refused
from .versions import DEFAULT, target

QUANTITY = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
NOT_CHECKED = (
    "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation"
)


def check(module: Manifest, version: str = DEFAULT) -> Iterator[Result]:
    """Everything the API server refuses in a Module; all of it is `first`, since the webhook is asked only afterwards.

    Nulls are findings: server-side apply refuses them, and a plain create drops them, which changes a selector.
    Raises KrmfnError for an unknown KMM version.
    """
    facts = module_facts(target(version).structure)
    found = [*apply(METADATA_RULES, module), *_walk(module, facts, ())]
    blocked = any(finding.rule in _BLOCKING for finding in found)
    found += apply(CEL_RULES, module, facts, blocked)
    about = ref(module)
    for finding in found:
        yield mark_first(finding._replace(ref=about))


def _walk(value: Any, node: Node, path: Path) -> Iterator[Result]:
    yield from apply(_RULES_OF[node.type], value, node, path)
    if isinstance(value, dict) and node.type == "object":
        for key, child in value.items():
            known = (node.fields or {}).get(key) or (node.item if node.fields is None else None)
            if known and child is None:
                yield from apply(NULL_RULES, known, node, (*path, key))
            elif known:
                yield from _walk(child, known, (*path, key))
    elif isinstance(value, list) and node.type == "array" and node.item:
        for index, child in enumerate(value):
            yield from _walk(child, node.item, (*path, index))


def unknown_field(value: Any, node: Node, path: Path) -> Iterator[Result]:
    """KMM051: every field is one that the Module CRD of this KMM version has; others would silently be dropped."""
    if not isinstance(value, dict) or (node.type == "object" and node.fields is None):
        return
    fields = node.fields or {}
    for key in value:
        if key not in fields and (path or key not in ("apiVersion", "kind", "metadata")):
            here = (*path, key)
            text = f'strict decoding error: unknown field "{dotted(here)}"'
            yield refused(text, join(here), hint=known_fields(here, fields) if node.type == "object" else "")


def wrong_type(value: Any, node: Node, path: Path) -> Iterator[Result]:
    """KMM052: every value has the CRD's type; a string that looks like a number or a boolean is quoted."""
    given = type_name(value)
    wanted = ("integer", "string") if node.type == "quantity" else (node.type,)
    if given in wanted or ("integer" in wanted and is_whole(value)):
        return
    where, hint = dotted(path), in_quotes(value, wanted)
    yield refused(mistyped(where, given, ",".join(wanted)), join(path), _shown(value), hint)
    if node.type == "quantity":
        text = f'<nil>: Invalid value: "": "{where}" must validate at least one schema (anyOf)'
        yield refused(text, join(path), _shown(value))
        yield refused(mistyped(where, given, "integer"), join(path), _shown(value))


def missing_field(value: Any, node: Node, path: Path) -> Iterator[Result]:
    """KMM053: every required field is there."""
    if isinstance(value, dict):
        for key in node.required:
            if value.get(key) is None:
                yield refused(f"{dotted((*path, key))}: Required value", join((*path, key)))


def too_few(value: Any, node: Node, path: Path) -> Iterator[Result]:
    """KMM054: a list that must have an entry has one; leave the field out instead of writing []."""
    if isinstance(value, list) and len(value) < node.low:
        where = dotted(path)
        text = f"{where}: Invalid value: {len(value)}: {where} in body should have at least {node.low} items"
        yield refused(text, join(path), value)


def too_many(value: Any, node: Node, path: Path) -> Iterator[Result]:
    """KMM055: a list with a limit keeps it (DRA selectors and config: 32). KMM main."""
    if isinstance(value, list) and node.high is not None and len(value) > node.high:
        text = f"{dotted(path)}: Too many: {len(value)}: must have at most {node.high} items"
        yield refused(text, join(path))


def wrong_pattern(value: Any, node: Node, path: Path) -> Iterator[Result]:
    """KMM056: a string has the CRD's pattern: quantities, names of DRA device classes."""
    pattern = QUANTITY if node.type == "quantity" else node.pattern
    if pattern and isinstance(value, str) and not re.fullmatch(pattern[1:-1], value):
        where = dotted(path)
        yield refused(
            f"{where}: Invalid value: {quote(value)}: {where} in body should match '{pattern}'", join(path), value
        )


def duplicate_entry(value: Any, node: Node, path: Path) -> Iterator[Result]:
    """KMM057: entries of a list that the API server treats as a map have different keys (resources.claims: name)."""
    if not isinstance(value, list) or not node.keys:
        return
    [key] = node.keys
    names = [entry.get(key) if isinstance(entry, dict) else None for entry in value]
    told: set[Any] = {None}
    for index, name in enumerate(names):
        if isinstance(name, str) and name in names[:index] and name not in told:
            told.add(name)
            text = f'{dotted((*path, index))}: Duplicate value: {{"{key}":{quote(name)}}}'
            yield refused(text, join((*path, index, key)), name)


def null_value(node: Node, parent: Node, path: Path) -> Iterator[Result]:
    """KMM059: no field is null: server-side apply refuses it, and a plain create drops the field."""
    if path[-1] not in parent.required and node.default is None:
        wanted = "integer,string" if node.type == "quantity" else node.type
        hint = "leave the field out: a plain create drops it, server-side apply refuses it"
        yield refused(mistyped(dotted(path), "null", wanted), join(path), hint=hint)


def dra_excludes_device_plugin(module: Manifest, facts: Node, blocked: bool) -> Iterator[Result]:
    """KMM058: a Module has dra or devicePlugin, not both. KMM main (a CEL rule of the CRD)."""
    spec = table(module, "spec")
    if not blocked and "dra" in spec and "devicePlugin" in spec:
        for _, message in _cel_rules(facts):
            yield refused(f'spec: Invalid value: "object": {message}', "spec.dra")


def cel_is_not_asked(module: Manifest, facts: Node, blocked: bool) -> Iterator[Result]:
    """KMM060: the CRD's CEL rules are asked only when no type is wrong and no field missing. KMM main."""
    if blocked and _cel_rules(facts):
        yield refused(NOT_CHECKED, "spec")


def _cel_rules(facts: Node) -> tuple[tuple[str, str], ...]:
    return (facts.fields or {})["spec"].rules


def _shown(value: Any) -> Any:
    return None if isinstance(value, (dict, list)) else value


def _only(*functions: Rule) -> Rules:
    return tuple((rule_id, rule) for rule_id, rule in VALUE_RULES if rule in functions)


VALUE_RULES: Rules = (
    ("KMM051", unknown_field),
    ("KMM052", wrong_type),
    ("KMM053", missing_field),
    ("KMM054", too_few),
    ("KMM055", too_many),
    ("KMM056", wrong_pattern),
    ("KMM057", duplicate_entry),
)
NULL_RULES: Rules = (("KMM059", null_value),)
CEL_RULES: Rules = (
    ("KMM058", dra_excludes_device_plugin),
    ("KMM060", cel_is_not_asked),
)
RULES: Rules = METADATA_RULES + VALUE_RULES + NULL_RULES + CEL_RULES

_RULES_OF = {
    "object": _only(unknown_field, wrong_type, missing_field),
    "array": _only(unknown_field, wrong_type, too_few, too_many, duplicate_entry),
    "quantity": _only(unknown_field, wrong_type, wrong_pattern),
    "string": _only(unknown_field, wrong_type, wrong_pattern),
    "boolean": _only(unknown_field, wrong_type),
    "integer": _only(unknown_field, wrong_type),
}
_BLOCKING = {"KMM052", "KMM053", "KMM055", "KMM059"}
"""After these the API server asks no CEL rule."""
