"""Options to try a Profile with where no config is: the least that its schema takes, and those of each condition."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from itertools import combinations

from krmfn.resource import FieldPath
from krmfn.typed import Any, NamedTuple

from ..kmm import lookup
from ..kmm.lookup import leaves
from . import structural
from .expansion import values_of
from .expressions import at, holds, path_of
from .product import Profile, whens
from .structural import Node

Pair = tuple[FieldPath, Mapping[str, Any], Mapping[str, Any]]
"""Where the first of two `when`s stands, and the conditions of both."""
_WRITTEN = {"exists": True}
_BY_TYPE: dict[str, Any] = {"string": "x", "integer": 1, "number": 1, "boolean": True}


def sample(node: Node) -> Any:
    """Return a value that a schema takes: the default, the first of an enum, else one made from type and bounds."""
    if "default" in node or node.get("enum"):
        return node["default"] if "default" in node else node["enum"][0]
    kind = node.get("type", "string")
    if kind == "object":
        inner = node.get("additionalProperties")
        return _required(node) or ({"x": sample(inner)} if isinstance(inner, dict) else {})
    if kind == "array":
        return [sample(node["items"])]
    value = _BY_TYPE[kind]
    if kind in ("integer", "number"):
        return max(value, node.get("minimum", value)) if node.get("maximum", value) >= value else node["maximum"]
    return value * max(1, node.get("minLength", 1)) if kind == "string" else value


def _required(node: Node) -> dict[str, Any]:
    """Return the fields that a schema requires, each with a value that it takes."""
    return {name: sample(node.get("properties", {}).get(name, {})) for name in node.get("required", ())}


def full(node: Node) -> Any:
    """Return a value that a schema takes with all of its fields, and an entry in each list."""
    if node.get("properties") and "default" not in node:
        return {name: full(child) for name, child in node["properties"].items()}
    return [full(node["items"])] if node.get("type") == "array" and "default" not in node else sample(node)


class Trial(NamedTuple):
    """Options to render a Profile with, and the conditions that they are made for."""

    options: Any
    conditions: tuple[Mapping[str, Any], ...] = ()

    def gives(self, node: Node, parts: Sequence[str]) -> bool:
        """Return True for an option whose value comes from the schema or a condition, and is not made up here."""
        own = structural.at(node, parts) or {}
        asked = (path_of(path) for one in self.conditions for path, wanted in one.items() if wanted != _WRITTEN)
        return "default" in own or bool(own.get("enum")) or tuple(parts) in asked

    def writes(self, parts: Sequence[str]) -> bool:
        """Return True for an option that is written."""
        return bool(parts) and at(self.options, parts) is not structural.ABSENT


def others(profile: Profile, trial: Trial, first: Collection[FieldPath]) -> Iterator[tuple[FieldPath, Trial]]:
    """Yield a trial with each text that is made up in it replaced in turn, by one that is an image with a tag.

    Those at the paths `first` are replaced first.
    """
    for path, value in sorted(leaves(trial.options), key=lambda leaf: leaf[0] not in first):
        if value == _BY_TYPE["string"] and not trial.gives(profile.options, ("spec", *map(str, path))):
            made = copy.deepcopy(trial.options)
            lookup.at(made, path[:-1])[path[-1]] = f"{value}:1"
            yield path, trial._replace(options=made)


def trials(profile: Profile) -> Iterator[Trial]:
    """Yield the least options that there must be, then the same with what each `when` asks for."""
    yield asked(profile)
    yield from (asked(profile, when["if"]) for _, when in whens(profile.spec))


def more_trials(profile: Profile, pairs: Iterable[Pair]) -> Iterator[Trial]:
    """Yield trials of each option alone, and of each of some pairs of `when`s that hold together."""
    for parts, _ in structural.leaves(_spec(profile)):
        yield asked(profile, {"".join(("spec", *(f"['{part}']" for part in parts))): _WRITTEN})
    for _, one, other in pairs:
        both = asked(profile, one, other)
        values, _ = values_of(profile, both.options, "x", "x")
        if holds(one, values) and holds(other, values):
            yield both


def pairs(profile: Profile, sets: Callable[[Mapping[str, Any]], Set[FieldPath]]) -> Iterator[Pair]:
    """Yield each two `when`s that set one field and that nothing in their conditions keeps apart.

    `sets` returns the paths of the fields that a `when` sets or unsets.
    """
    known = [(path, when["if"], sets(when)) for path, when in whens(profile.spec)]
    for (where, one, fields), (_, other, others) in combinations(known, 2):
        is_one_field = any(path[: len(own)] == own[: len(path)] for path in fields for own in others)  # or in it
        if is_one_field and one != other and not any(_differ(one[name], other[name]) for name in one if name in other):
            yield where, one, other


def _differ(one: Any, other: Any) -> bool:
    """Return True for what two conditions ask of one option when no value of it fits both."""
    ones, others = (wanted if isinstance(wanted, list) else [wanted] for wanted in (one, other))
    return isinstance(one, dict) == isinstance(other, dict) and not any(value in others for value in ones)


def asked(profile: Profile, *conditions: Mapping[str, Any]) -> Trial:
    """Return the options that there must be, and those for which some conditions hold, as far as the schema lets them.

    Beside these stands what the schema requires there.
    """
    node = _spec(profile)
    made = copy.deepcopy(sample({**node, "additionalProperties": False}))
    for path, wanted in (pair for condition in conditions for pair in condition.items()):
        root, *parts = path_of(path) or ("",)
        if root != "spec" or wanted == {"exists": False}:
            continue
        holder, own = made, node
        for part in parts[:-1]:
            own = structural.field(own, part) or {}
            holder = holder.setdefault(part, _required(own))
        leaf = structural.field(own, parts[-1]) or {}
        value = sample(leaf) if isinstance(wanted, dict) else wanted[0] if isinstance(wanted, list) else wanted
        holder[parts[-1]] = value
    return Trial(made, conditions)


def _spec(profile: Profile) -> Node:
    own: Node = profile.options.get("properties", {}).get("spec", {})
    return {name: value for name, value in own.items() if name not in ("default", "enum")} | {"type": "object"}
