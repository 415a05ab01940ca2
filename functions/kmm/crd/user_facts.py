"""The facts about a Module that a CRD of the user's own cluster holds, in place of the built-in tables.

KMM's API moves between releases and within one: the CRD that a cluster has decides which fields there are.
"""

from collections.abc import Iterable, Iterator

from krmfn import Manifest
from krmfn.typed import Any, NamedTuple

from ..lookup import listing, table, tables, text
from ..module import HUB_GROUP, MODULE_GROUP, MODULE_VERSION
from .facts import Fact

CRD = ("apiextensions.k8s.io", "CustomResourceDefinition")
_MODULES, _OF_HUB = f"modules.{MODULE_GROUP}", f"managedclustermodules.{HUB_GROUP}"
NAMES = frozenset({_MODULES, _OF_HUB})
"""The names of the CRDs of Module and of ManagedClusterModule."""
_DEPTH = 30
"""Schemas are not read deeper than this: those of CRDs have no references, so they end."""


class UserFacts(NamedTuple):
    """What the CRDs of a cluster say; None where there is none for the kind."""

    module: Fact | None = None
    hub: Fact | None = None


def is_crd(manifest: Manifest) -> bool:
    """Return True for the CRD of Module, or of ManagedClusterModule."""
    group, kind = text(manifest, "apiVersion").rpartition("/")[0], text(manifest, "kind")
    return (group, kind) == CRD and text(table(manifest, "metadata"), "name") in NAMES


def read(crds: Iterable[Manifest]) -> UserFacts:
    """Return the facts of some CRDs; of two for one kind the first counts.

    One without a schema for the version of KMM's API says nothing.
    """
    facts: dict[str, Fact] = {}
    for crd in crds:
        name = text(table(crd, "metadata"), "name")
        if fact := _of_crd(crd, name):
            facts.setdefault(name, fact)
    return UserFacts(facts.get(_MODULES), facts.get(_OF_HUB))


def _of_crd(crd: Manifest, name: str) -> Fact | None:
    versions = (entry for _, entry in tables(table(crd, "spec"), "versions"))
    version = next((entry for entry in versions if text(entry, "name") == MODULE_VERSION), {})
    properties = table(version, "schema", "openAPIV3Schema", "properties")
    base = ("spec",) if name == _MODULES else ("spec", "properties", "moduleSpec")
    if not table(properties, *base):
        return None
    fields = {key: _fact(properties.get(key), _DEPTH) for key in ("spec", "status")}
    return Fact("object", fields, is_own=True)


def _fact(schema: Any, depth: int) -> Fact:
    """Return the facts of a schema, as `facts` has them; what is too deep, or no schema, takes anything."""
    if not isinstance(schema, dict) or not depth:
        return Fact("object", is_own=True)
    default, pattern = schema.get("default"), text(schema, "pattern")
    if schema.get("x-kubernetes-int-or-string"):
        return Fact("quantity" if pattern else "intOrString", default=default, is_own=True)
    kind = text(schema, "type") or "object"
    if kind == "array":
        return _list(schema, depth)
    if kind == "object":
        return _object(schema, depth)._replace(default=default)
    return Fact(kind, pattern=pattern, default=default, is_own=True)


def _list(schema: Manifest, depth: int) -> Fact:
    keys = tuple(map(str, listing(schema, "x-kubernetes-list-map-keys") or ()))
    low, high = schema.get("minItems"), schema.get("maxItems")
    return Fact(
        "array",
        item=_fact(schema.get("items"), depth - 1),
        low=low if isinstance(low, int) else 0,
        high=high if isinstance(high, int) else None,
        keys=keys,
        default=schema.get("default"),
        is_own=True,
    )


def _object(schema: Manifest, depth: int) -> Fact:
    of_entries = schema.get("additionalProperties")
    if isinstance(of_entries, dict):
        return Fact("object", item=_fact(of_entries, depth - 1), is_own=True)
    if of_entries or schema.get("x-kubernetes-preserve-unknown-fields"):
        return Fact("object", is_own=True)
    properties = table(schema, "properties")
    fields = {key: _fact(child, depth - 1) for key, child in properties.items()}
    required = tuple(map(str, listing(schema, "required") or ()))
    return Fact("object", fields, required, rules=tuple(_rules(schema)), is_own=True)


def _rules(schema: Manifest) -> Iterator[tuple[str, str]]:
    """Yield the CEL rule that the checks know, with its message; others are not evaluated."""
    for _, entry in tables(schema, "x-kubernetes-validations"):
        if {"dra", "devicePlugin"} <= {word.strip("().!&|") for word in text(entry, "rule").replace(".", " ").split()}:
            yield text(entry, "rule"), text(entry, "message")
