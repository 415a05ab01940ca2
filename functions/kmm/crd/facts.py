"""The Module CRD of a KMM version as a tree of facts, from tables by tools/derive_module_structure.py."""

from __future__ import annotations

import json
import os
from functools import cache, reduce

from krmfn.typed import Any, NamedTuple

_HERE = os.path.dirname(__file__)  # os.path: pathlib costs a tenth of the start-up time  # noqa: PTH120

_TYPES = {"int32": "integer", "int64": "integer"}


class Fact(NamedTuple):
    """The CRD's facts about one value."""

    type: str
    """`object`, `array`, `string`, `boolean`, `integer`; `intOrString`, `quantity`: a whole number or a string."""
    fields: dict[str, Fact] | None = None
    """The fields of an object; None: any are fine."""
    required: tuple[str, ...] = ()
    item: Fact | None = None
    """What each value of a map or a list is."""
    low: int = 0
    high: int | None = None
    keys: tuple[str, ...] = ()
    """The fields that make the entries of a list unique."""
    pattern: str = ""
    default: Any = None
    rules: tuple[tuple[str, str], ...] = ()
    """CEL rules with their messages."""
    is_own: bool = False
    """Whether it is from a CRD of the user's cluster, and not from a table."""


@cache
def module_facts(structure: str) -> Fact:
    """Return the facts about a Module's `spec` and `status`, by the `structure` of a Target."""
    facts = table(structure)
    fields = {name: _node(facts[name], facts) for name in ("spec", "status")}
    return Fact("object", fields)


@cache
def hub_facts(structure: str) -> Fact:
    """Return the facts about a ManagedClusterModule's `spec` and `status`, by the `structure` of a Target."""
    facts = table("hub")
    fields = {key: value for key, value in facts["spec"].items() if key.removesuffix("!") != "moduleSpec"}
    spec, module = _node(fields, facts), (module_facts(structure).fields or {})["spec"]
    fields_of_spec = {"moduleSpec": module, **(spec.fields or {})}
    return Fact("object", {"spec": spec._replace(fields=fields_of_spec), "status": _node(facts["status"], facts)})


def table(structure: str) -> dict[str, Any]:
    """Return the table of a structure, in the notation of the tool, laid over the table that it is based on."""
    with open(os.path.join(_HERE, f"structure-{structure}.json"), "rb") as file:  # noqa: PTH118, PTH123
        facts: dict[str, Any] = json.load(file)
    fields: dict[str, Any] = table(facts["base"]) if "base" in facts else facts["fields"]
    for path, value in (*dict.fromkeys(facts.get("drop", ())).items(), *facts.get("set", {}).items()):
        *parents, key = path.split("/")
        holder = reduce(dict[str, Any].__getitem__, parents, fields)
        if value is None:
            del holder[key]
        else:
            holder[key] = value
    return fields


def _node(notation: Any, table: dict[str, Any]) -> Fact:
    """Return the facts about a value from the notation of the tool; `table` is the whole, for `$same`."""
    if isinstance(notation, str):
        return Fact(_TYPES.get(notation, notation))
    if "$same" in notation:
        return _node(at(notation["$same"], table), table)
    if "$type" in notation:
        pattern, default = notation.get("$pattern", ""), notation.get("$default")
        return _node(notation["$type"], table)._replace(pattern=pattern, default=default)
    if "$map" in notation:
        return Fact("object", item=_node(notation["$map"], table))
    if "$list" in notation:
        item, keys = _node(notation["$list"], table), tuple(notation.get("$keys", ()))
        return Fact("array", item=item, low=notation.get("$min", 0), high=notation.get("$max"), keys=keys)
    names = [name for name in notation if not name.startswith("$")]
    fields = {name.removesuffix("!"): _node(notation[name], table) for name in names}
    required = tuple(name[:-1] for name in names if name.endswith("!"))
    return Fact("object", fields, required, rules=tuple(notation.get("$rules", {}).items()))


def at(path: str, table: dict[str, Any]) -> Any:
    """Return the part of the table at a path like `spec.devicePlugin.volumes[].csi`."""
    value: Any = table
    for part in path.replace("[]", ".$list").replace("{}", ".$map").split("."):
        value = value[part] if part in value else value[part + "!"]
    return value
