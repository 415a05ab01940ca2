"""Whether the name of a field in `locked` or `unset` is that of a field."""

from functools import cache

from krmfn.printing import closest
from krmfn.resource import split
from krmfn.typed import Any

from ..mistake import Mistake
from ..rendering.kinds import schema
from .keyed import ATOMIC, KEYS, names_of

LOCK, UNSET = "lock", "unset"
Names = tuple[str, ...]


@cache
def mistake(name: str, verb: str) -> Mistake | None:
    """Return what is wrong with the name of a field to LOCK or to UNSET; None for a field, or what is inside one."""
    definitions = schema("renderdeviceconfigs")["$defs"]
    node, holder = definitions["vendor"], ""
    above, rest = Names(), split(name) or ("",)
    while rest:
        node = definitions[node["$ref"].removeprefix("#/$defs/")] if "$ref" in node else node
        is_list = node.get("type") == "array"
        wrong = _of_list(holder, above, rest, verb) if is_list else _of_mapping(node, holder, above, rest, verb)
        if wrong:
            return wrong
        number = names_of(holder) if is_list else 1
        node, holder = (node["items"], "") if is_list else (_inner(node, rest[0]), rest[0])
        above, rest = (*above, *rest[:number]), rest[number:]
    return None


def _inner(node: Any, name: str) -> Any:
    """Return the schema of a field of a mapping; {} where the mapping is open."""
    default = node.get("additionalProperties")
    return node.get("properties", {}).get(name) or (default if isinstance(default, dict) else {})


def _of_list(holder: str, above: Names, rest: Names, verb: str) -> Mistake | None:
    parent, number = ".".join(above), names_of(holder)
    if holder not in KEYS:
        return Mistake(f"{parent} is replaced as a whole", f"{verb} {parent}")
    return (
        Mistake(f"an entry of {parent} has {number} names", f"write {parent}.KIND.NAME") if len(rest) < number else None
    )


def _of_mapping(node: Any, holder: str, above: Names, rest: Names, verb: str) -> Mistake | None:
    """Return what is wrong with the first of the names in `rest`, below those `above`."""
    parent, name, known = ".".join(above), rest[0], node.get("properties", {})
    if holder in ATOMIC and verb == LOCK:
        return Mistake(f"{parent} is replaced as a whole", f"{verb} {parent}")
    if node.get("type", "object") != "object" or (name not in known and node.get("additionalProperties") is False):
        hint = f"known {f'in {parent}' if parent else 'here'}: {', '.join(sorted(known)) or 'none'}"
        if suggestion := closest(name, known):
            hint = f"did you mean {'.'.join([*above, suggestion, *rest[1:]])!r}?"
        return Mistake(f"unknown field {'.'.join((*above, *rest))!r}", hint)
    if verb == UNSET and len(rest) == 1 and name in node.get("required", ()):
        return Mistake(f"{parent} needs its {name}", f"{verb} {parent}")
    return None
