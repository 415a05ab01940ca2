"""A Profile, read from its resource: the configs that it is for, and the versions of krmfn and KMM that it needs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from operator import eq, ge, gt, le, lt
from types import MappingProxyType

from krmfn import Item
from krmfn.resource import FieldPath
from krmfn.schema import Schema
from krmfn.typed import Any, NamedTuple

from .. import VERSION
from ..fleet.readings import previous_name
from ..mistake import FieldMistake, Mistake
from . import expressions, structural, versions
from .structural import Node

SERIALISED = frozenset({"json", "yaml"})
"""Keys of an entry of `texts` that prints the value of an option."""
MADE = frozenset({"as", "entry", "onto", *SERIALISED})
"""Keys of an entry of `texts`: it makes a text, a list, a mapping."""


class Profile(NamedTuple):
    """A vendor's product: options, and the fields that are made of them."""

    name: str
    item: Item
    spec: Mapping[str, Any]
    options: Node
    """The structural schema of a whole config; `spec` in it are the options."""
    schema: Schema
    """The same as JSON Schema, for a config of the vendor's own kind; its metadata are judged like those of ours."""
    config_schema: Schema
    """JSON Schema of the options alone, for `options` of a DeviceConfig."""
    is_sound: bool = True
    """False for a Profile with errors: nothing is generated from its configs."""
    has_names: bool = False
    """Whether the result depends on the name of a config, so that two configs with equal options differ."""
    schema_path: FieldPath = ("schema",)
    """Where the schema stands below the spec."""
    fixed: Mapping[int, Any] = MappingProxyType({})
    """What of the spec is the same for each config (see `expressions.fixed_parts`)."""
    by_version: Mapping[str, Profile] = MappingProxyType({})
    """The same Profile for each version, where each has a schema of its own; `options` have the fields of all then."""

    @property
    def variants(self) -> tuple[Profile, ...]:
        """The Profile for each version that has a schema of its own; where there is one for all, itself."""
        return tuple(self.by_version.values()) or (self,)

    def of(self, item: Item) -> Profile:
        """Return the Profile for the version of a config."""
        return self.by_version.get(item.api_version.rpartition("/")[2], self)

    @property
    def words(self) -> str:
        """How a sentence about its configs names it."""
        return "this Profile" if self.schema_path == ("schema",) else f"this Profile in {self.versions[0]}"

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
        target = self.spec.get("for")
        return (target["group"], target["kind"]) if target else None

    @property
    def namespace(self) -> str:
        """The namespace of all that is made of a config without one, which is cluster-wide; "" for other kinds."""
        target = self.spec.get("for", {})
        return str(target.get("namespace", "")) if target.get("scope") == "Cluster" else ""

    @property
    def versions(self) -> Sequence[str]:
        """The versions of the vendor's own kind that it reads."""
        target = self.spec.get("for", {})
        return tuple(target.get("versions") or target.get("schemas", ()))

    def drives(self, item: Item) -> bool:
        """Return True for a config of the vendor's own kind, in one of the versions that the Profile reads.

        A Profile with errors drives all versions: it is not known which it reads.
        """
        is_read = not self.is_sound or item.api_version.rpartition("/")[2] in self.versions
        return is_read and self.kind == (item.group, item.kind)


def product(item: Item) -> Profile:
    """Return the Profile of a resource, which fits its schema."""
    spec = item.manifest["spec"]
    by_path = versions.schemas(spec)
    profile = _with_schema(item, {**spec, "schema": versions.union([*by_path.values()])})
    if ("schema",) in by_path:
        return profile
    names = profile.versions
    pairs = ((name, _with_schema(item, versions.of_version(spec, name))) for name in names)
    parts = {name: part._replace(schema_path=("for", "schemas", name)) for name, part in pairs}
    return profile._replace(by_version=parts)


def _with_schema(item: Item, spec: Mapping[str, Any]) -> Profile:
    options = spec["schema"]
    schema = structural.shape(options)
    head: Node = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {}, "status": {}}
    properties, required = schema.get("properties", {}), [*schema.get("required", ()), "metadata"]
    full_schema = Schema({**schema, "properties": {**properties, **head}, "required": required})
    config_schema = Schema({**schema, "properties": {"spec": properties.get("spec", {"type": "object"})}})
    profile = Profile(name_of(item), item, spec, options, full_schema, config_schema)
    layers = {name: part for name, part in spec.items() if name != "schema"}
    return profile._replace(has_names="${metadata." in str(spec), fixed=expressions.fixed_parts(layers))


def name_of(item: Item) -> str:
    """Return the name of a Profile as it is written, before kustomize changes it: configs refer to that."""
    return previous_name(item)


_REQUIREMENT = re.compile(r"(>=|<=|==|=|<|>)?\s*v?([0-9]+(?:\.[0-9]+)*)")
_SIGNS = {">=": ge, "<=": le, ">": gt, "<": lt, "=": eq, "==": eq}


def unmet_requirements(requires: Mapping[str, str], kmm: str) -> Iterator[FieldMistake]:
    """Yield the requirements that do not hold, each with what to do."""
    for name, text in requires.items():
        parts = [_REQUIREMENT.fullmatch(part.strip()) for part in text.split(",")]
        if not all(parts):
            yield (name,), Mistake(f"is {text!r}", "write a version such as '>=2.4', or several divided by commas")
            continue
        version = VERSION if name == "krmfn" else kmm
        if not all(_SIGNS[part[1] or ">="](_parts(version), _parts(part[2])) for part in parts if part):
            remedy = "set --kmm-version, or `kmm: {version: ...}`"
            remedy = "install that version of krmfn" if name == "krmfn" else remedy
            mistake = Mistake(
                f"this Profile needs {name} {text}, and this is {version}", f"{remedy}, or use another Profile"
            )
            yield (name,), mistake


def _parts(version: str) -> tuple[int, ...]:
    """Return the numbers of a version without trailing zeros, since 2.4 is 2.4.0."""
    version = version.removeprefix("openshift-").removeprefix("v")
    if not version[:1].isdigit():  # main is above every version, and so is openshift, which is built from it
        return (10**6,)
    first, *_ = re.findall(r"[0-9]+(?:\.[0-9]+)*", version)
    numbers = list(map(int, first.split(".")))
    while numbers[-1:] == [0]:
        numbers.pop()
    return tuple(numbers)


def layers(spec: Mapping[str, Any]) -> Iterator[tuple[FieldPath, Any, tuple[Mapping[str, Any], ...]]]:
    """Yield the parts of a Profile that may hold expressions: the path of each, its data, and its conditions."""
    yield ("config",), spec.get("config", {}), ()
    for key, module in spec.get("modules", {}).items():
        yield ("modules", key, "config"), module.get("config", {}), ()
    for path, when in whens(spec):
        yield (*path, "config"), when.get("config", {}), (when["if"],)
    for index, entry in enumerate(spec.get("versions", ())):
        yield ("versions", index), entry, ()
    for name, text in spec.get("texts", {}).items():
        for word in sorted(MADE):
            if word in text:
                yield ("texts", name, word), text[word], (text["if"],) if "if" in text else ()


def whens(spec: Mapping[str, Any]) -> Iterator[tuple[FieldPath, Mapping[str, Any]]]:
    """Yield the path and the entry of every `when`, those of `modules` among them."""
    modules = ((("modules", key), module) for key, module in spec.get("modules", {}).items())
    for path, part in (((), spec), *modules):
        for index, when in enumerate(part.get("when", ())):
            yield (*path, "when", index), when
