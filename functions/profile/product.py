"""A Profile as a value: read from its resource; which configs it is for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from krmfn import Item
from krmfn.schema import Schema
from krmfn.typed import Any, NamedTuple

from ..fleet.readings import previous_name
from . import structural
from .structural import Node

GROUP, KIND = "krmfn.dev", "Profile"
MARK = f"{GROUP}/profile"
"""Annotation: on a config the name of its Profile, on a generated object NAME@VERSION."""
NONE = "none"
"""What the annotation says on a config that its own operator acts on."""
_META: Node = {"type": "object"}


class Profile(NamedTuple):
    """A vendor's product: options and what is made of them."""

    name: str
    item: Item
    spec: Mapping[str, Any]
    options: Node
    """The structural schema of a whole config; `spec` in it are the options."""
    schema: Schema
    """The same as JSON Schema, for a config of the vendor's own kind."""
    config_schema: Schema
    """JSON Schema of the options alone, for `options` of a DeviceConfig."""
    is_sound: bool = True
    """False for one with errors: nothing is made of its configs."""
    has_names: bool = False
    """Whether what is made of a config depends on its name, so that two configs of equal options differ."""

    @property
    def version(self) -> str:
        """The version of the product; "" for one without."""
        return str(self.spec.get("version", ""))

    @property
    def title(self) -> str:
        """NAME@VERSION."""
        return f"{self.name}@{self.version}" if self.version else self.name

    @property
    def kind(self) -> tuple[str, str] | None:
        """The vendor's own (group, kind); None for a Profile without."""
        own = self.spec.get("for")
        return (own["group"], own["kind"]) if own else None

    @property
    def versions(self) -> Sequence[str]:
        """The versions of the vendor's own kind that it reads."""
        return tuple(self.spec.get("for", {}).get("versions", ()))

    def drives(self, item: Item) -> bool:
        """Return True for a config of the vendor's own kind, in one of the versions that it reads."""
        version = item.api_version.rpartition("/")[2]
        return self.kind == (item.group, item.kind) and version in self.versions


def product(item: Item) -> Profile:
    """Return a Profile that fits its schema."""
    spec = item.manifest["spec"]
    options = spec.get("schema") or {"type": "object", "properties": {"spec": {"type": "object"}}}
    own = structural.json_schema(options)
    head = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": _META, "status": {}}
    needed = [*own.get("required", ()), "metadata"]
    whole = Schema({**own, "properties": {**own.get("properties", {}), **head}, "required": needed})
    within = Schema({**own, "properties": {"spec": own.get("properties", {}).get("spec", {"type": "object"})}})
    return Profile(name_of(item), item, spec, options, whole, within, has_names="${metadata." in str(spec))


def name_of(item: Item) -> str:
    """Return the name of a Profile as it is written: what kustomize makes of it is nobody's word."""
    return previous_name(item)
