"""Options to try a Profile with when it has no config: the least that its schema takes, and those of each condition."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from itertools import combinations, islice

from krmfn.printing import counted
from krmfn.resource import FieldPath, join
from krmfn.typed import Any, NamedTuple

from ..kmm import lookup
from ..kmm.lookup import leaves
from . import defaulting, judging, structural
from .expansion import values_of
from .expressions import Values, at, holds, path_of
from .product import Profile, whens
from .structural import Node

Pair = tuple[FieldPath, Mapping[str, Any], Mapping[str, Any]]
"""The path of the first of two `when`s, and the conditions of both."""
_WRITTEN = {"exists": True}
_BY_TYPE: dict[str, Any] = {"string": "x", "integer": 1, "number": 1, "boolean": True}


def sample(node: Node) -> Any:
    """Return a value that a schema takes: the default, the first of an enum, else one made from type and bounds."""
    if "default" in node or node.get("enum"):
        return node["default"] if "default" in node else node["enum"][0]
    kind = node.get("type", "string")
    if kind == "object":
        return _object(node)
    if kind == "array":
        return [sample(node["items"])] * max(1, node.get("minItems", 1))
    value = _BY_TYPE[kind]
    if kind in ("integer", "number"):
        return max(value, node.get("minimum", value)) if node.get("maximum", value) >= value else node["maximum"]
    return value * max(1, node.get("minLength", 1)) if kind == "string" else value


def _object(node: Node) -> dict[str, Any]:
    """Return an object with the fields that a schema requires, and as many as it asks for."""
    fields, least = _required(node), node.get("minProperties", 0)
    rest = node.get("additionalProperties")
    is_map = isinstance(rest, dict) or rest is True or bool(node.get(structural.OPEN))
    if not fields and isinstance(rest, dict):
        fields["x"] = sample(rest)
    for name, child in node.get("properties", {}).items():
        if name not in fields and len(fields) < least:
            fields[name] = sample(child)
    for number in range(least - len(fields) if is_map else 0):
        fields[f"x{number}"] = sample(rest) if isinstance(rest, dict) else _BY_TYPE["string"]
    return fields


def _required(node: Node) -> dict[str, Any]:
    """Return the fields that a schema requires, each with a value that it takes."""
    return {name: sample(node.get("properties", {}).get(name, {})) for name in node.get("required", ())}


def full_sample(node: Node) -> Any:
    """Return a value that a schema takes with all of its fields, and an entry in each list."""
    if node.get("properties"):
        default = node.get("default")
        fields = {name: full_sample(child) for name, child in node["properties"].items()}
        return {**fields, **default} if isinstance(default, dict) else fields
    return [full_sample(node["items"])] if node.get("type") == "array" and "default" not in node else sample(node)


def _switched_on(node: Node) -> Any:
    """Return a value with all fields as `full_sample` does, and every boolean true."""
    if node.get("properties"):
        return {name: _switched_on(child) for name, child in node["properties"].items()}
    return True if node.get("type") == "boolean" else full_sample(node)


class Trial(NamedTuple):
    """Options to render a Profile with, and the conditions that they are made for."""

    options: Any
    conditions: tuple[Mapping[str, Any], ...] = ()

    def is_given(self, node: Node, parts: Sequence[str]) -> bool:
        """Return True for an option whose value comes from the schema or a condition, and is not a sample."""
        option = structural.at(node, parts) or {}
        entries = (entry for condition in self.conditions for entry in condition.items())
        paths = [path_of(name) for name, value in entries if value != _WRITTEN]
        return "default" in option or bool(option.get("enum")) or tuple(parts) in paths

    def is_written(self, parts: Sequence[str]) -> bool:
        """Return True for an option that is written."""
        return bool(parts) and at(self.options, parts) is not structural.ABSENT


def other_trials(profile: Profile, trial: Trial, first: Collection[FieldPath]) -> Iterator[tuple[FieldPath, Trial]]:
    """Yield the trial once for each sample text in it, with an image with a tag in place of that text.

    Those at the paths `first` are replaced first.
    """
    for path, value in sorted(leaves(trial.options), key=lambda leaf: leaf[0] not in first):
        if value == _BY_TYPE["string"] and not trial.is_given(profile.options, ("spec", *map(str, path))):
            options = copy.deepcopy(trial.options)
            lookup.at(options, path[:-1])[path[-1]] = f"{value}:1"
            yield path, trial._replace(options=options)


def trials(profile: Profile) -> Iterator[Trial]:
    """Yield the least options that the schema takes, then those with which each `when` holds."""
    yield least_trial(profile)
    yield from (least_trial(profile, when["if"]) for _, when in whens(profile.spec))


def full_trials(profile: Profile) -> Iterator[Trial]:
    """Yield all options at once, and with them those with which each `when` holds.

    Some options may exclude others, so an error of these is none of the Profile; that something works is.
    """
    everything = _switched_on(_spec(profile))
    yield Trial(everything)
    yield from (_with_conditions(profile, copy.deepcopy(everything), (when["if"],)) for _, when in whens(profile.spec))


def option_trials(profile: Profile) -> Iterator[Trial]:
    """Yield trials of each option alone."""
    for parts in options(profile):
        yield least_trial(profile, {"".join(("spec", *(f"['{part}']" for part in parts))): _WRITTEN})


def options(profile: Profile) -> Iterator[Sequence[str]]:
    """Yield the path of each option, from `spec`."""
    return (parts for parts, _ in structural.leaves(_spec(profile)))


def pair_trials(profile: Profile, pairs: Iterable[Pair]) -> Iterator[Trial]:
    """Yield trials of each of some pairs of `when`s that hold together."""
    for _, condition, other in pairs:
        both = least_trial(profile, condition, other)
        values, _ = values_of(profile, both.options, "x", "x")
        if holds(condition, values) and holds(other, values):
            yield both


def pairs(profile: Profile, most: int, sets: Callable[[Mapping[str, Any]], Set[FieldPath]]) -> Iterator[Pair]:
    """Yield each two of the first `when`s, at most so many, that set one field and may hold together.

    `sets` returns the paths of the fields that a `when` sets or unsets.
    """
    entries = [(path, when["if"], *_with_parents(sets(when))) for path, when in islice(whens(profile.spec), most)]
    for (start, condition, fields, parents), (_, other, other_fields, other_parents) in combinations(entries, 2):
        # the same field, or one inside the other
        if fields.isdisjoint(other_parents) and parents.isdisjoint(other_fields):
            continue
        names = condition.keys() & other.keys()
        if condition != other and not any(_exclude(condition[name], other[name]) for name in names):
            yield start, condition, other


def _with_parents(fields: Set[FieldPath]) -> tuple[Set[FieldPath], Set[FieldPath]]:
    """Return the paths of fields, and these with the paths that lead to them."""
    return fields, {path[:length] for path in fields for length in range(1, len(path) + 1)}


def _exclude(value: Any, other: Any) -> bool:
    """Return True for the values in two conditions on one option when no value of the option fits both."""
    choices, other_choices = (entry if isinstance(entry, list) else [entry] for entry in (value, other))
    return isinstance(value, dict) == isinstance(other, dict) and not any(choice in other_choices for choice in choices)


def untried(profile: Profile) -> list[tuple[FieldPath, str]]:
    """Return the place of the first option without a schema that is read, and a message that counts them; [] for none.

    What such an option holds is not known, so no sample of it says anything.
    """
    paths: dict[Sequence[str], FieldPath] = {}
    for use in judging.uses(profile.spec):
        paths.setdefault(use.parts, use.path)
    for name, text in profile.spec.get("texts", {}).items():
        paths.setdefault(path_of(text.get("each", "")), ("texts", name, "each"))
    unknown = {parts: path for parts, path in paths.items() if structural.at(profile.options, parts) == {}}
    if not unknown:
        return []
    first, path = next(iter(unknown.items()))
    number = counted(len(unknown), "option")
    return [(path, f"{number} that the schema says nothing about cannot be tried (the first: {join(first)})")]


def least_trial(profile: Profile, *conditions: Mapping[str, Any]) -> Trial:
    """Return the least options that the schema takes, with those for which some conditions hold where it takes them.

    Parents of such options have the fields that the schema requires.
    """
    options = copy.deepcopy(sample({**_spec(profile), "additionalProperties": False}))
    return _with_conditions(profile, options, conditions)


def _with_conditions(profile: Profile, options: Any, conditions: tuple[Mapping[str, Any], ...]) -> Trial:
    """Return options with those for which some conditions hold, where the schema takes them."""
    node = _spec(profile)
    for path, value in (pair for condition in conditions for pair in condition.items()):
        root, *parts = path_of(path) or ("",)
        if root != "spec" or value == {"exists": False}:
            continue
        parent, child = options, node
        for part in parts[:-1]:
            child = structural.field(child, part) or {}
            parent = parent.setdefault(part, _required(child))
        leaf = structural.field(child, parts[-1]) or {}
        choices = value if isinstance(value, list) else [value]
        parent[parts[-1]] = sample(leaf) if isinstance(value, dict) else choices[0]
    return Trial(_with_asked(profile, options), conditions)


def _with_asked(profile: Profile, options: Any) -> Any:
    """Return options with those for whose absence the Profile refuses them."""
    for entry in profile.spec.get("refuse", ()):
        filled = defaulting.with_defaults(profile.options, {"spec": options})
        values = Values({"metadata": {}, **filled}, {"spec": options, "metadata": {}})
        absent = [path_of(name) for name, value in entry["if"].items() if value == {"exists": False}]
        if absent and holds(entry["if"], values):
            parent, child = options, _spec(profile)
            for part in absent[0][1:-1]:
                child = structural.field(child, part) or {}
                parent = parent.setdefault(part, _required(child))
            parent[absent[0][-1]] = sample(structural.field(child, absent[0][-1]) or {})
    return options


def _spec(profile: Profile) -> Node:
    """Return the schema of the options, without a default and an enum for all of them."""
    node: Node = profile.options.get("properties", {}).get("spec", {})
    return {name: value for name, value in node.items() if name not in ("default", "enum")} | {"type": "object"}
