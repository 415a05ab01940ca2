"""The options of a Profile: as a table, and what each one sets, seen by rendering a config with and without it."""

import json
from collections.abc import Iterator, Mapping
from copy import deepcopy

from krmfn import Manifest
from krmfn.resource import join
from krmfn.typed import Any, NamedTuple

from ..deviceconfig import generate, outcomes, reading
from ..differences import ABSENT, differences
from ..profile import samples, structural
from ..profile.expressions import path_of
from ..profile.judging import uses
from ..profile.product import Profile, whens
from ..profile.structural import Node
from ..rendering import products
from ..rendering.function_config import FunctionConfig
from .ends import unmarked
from .fields import Entry, in_words

Written = tuple[tuple[str, ...], Any]
"""The path of an option, and its value."""


class Effect(NamedTuple):
    """A field of a generated object that an option decides; the path "" is the whole object."""

    object: str
    path: str
    switch: str
    """The option that must be written, too, such as `spec.metricsExporter.enable: true`; "" for none."""


def options(product: Profile) -> Iterator[Entry]:
    """Yield each option of a Profile, in the order of its schema."""
    for path, node in structural.leaves(product.options):
        kind = "number or text" if node.get("x-kubernetes-int-or-string") else in_words(node, {})
        yield Entry(product.name, path, node.get("description", ""), kind, node)


def effects(product: Profile, option: Entry) -> list[Effect]:
    """Return the fields that an option decides, with nothing else written or with a switch of the Profile."""
    switches: dict[tuple[str, str], str] = {}
    config = products.added({product.name: product}, FunctionConfig())
    tried: set[str] = set()
    for with_option, switch in _bases(product, option.path[1:]):
        spec = _with(with_option, (option.path[1:], structural.ABSENT))
        if (written := json.dumps(spec)) in tried:
            continue
        tried.add(written)
        plain = _objects(product, spec, config)
        for value in _values(option.node):
            for place in _changed(plain, _objects(product, _with(spec, (option.path[1:], value)), config)):
                switches.setdefault(place, switch)
    objects = {name for name, path in switches if not path}
    return [Effect(*place, switch) for place, switch in switches.items() if not place[1] or place[0] not in objects]


def _bases(product: Profile, excluded: tuple[str, ...]) -> Iterator[tuple[Any, str]]:
    """Yield options to render with, the least first, and in words what they switch; no switch is `excluded`."""
    node = product.options.get("properties", {}).get("spec", {})
    least = samples.least_trial(product).options
    yield least, ""
    groups = [_condition_options(node, when["if"], excluded) for _, when in whens(product.spec)]
    switched = (use.parts for use in uses(product.spec) if use.path[-1] == "enabled" and use.parts[0] == "spec")
    groups += [{join(parts): (parts[1:], True)} for parts in switched if parts[1:] != excluded]
    pairs = [(path, *option) for group in groups for path, option in group.items()]
    others = [(path, parts, value) for path, parts, _ in pairs for value in _values(structural.at(node, parts) or {})]
    switches = {f"{path}: {_word(value)}": (parts, value) for path, parts, value in (*pairs, *others)}
    yield from ((_with(least, switch), words) for words, switch in switches.items())
    most = _with(least, *(switch for switch in switches.values() if switch[1] is True))
    yield most, "all switches on"
    for base, remainder in ((least, ""), (most, "all other switches on")):
        for group in groups:
            words = ", ".join(f"{path}: {_word(value)}" for path, (_, value) in group.items())
            yield _with(base, *group.values()), ", and ".join(filter(None, (words, remainder)))


def _condition_options(node: Node, condition: Mapping[str, Any], excluded: tuple[str, ...]) -> dict[str, Written]:
    """Return the options in a condition but for `excluded`, each with a value for which it holds."""
    settings: dict[str, Written] = {}
    for path, value in condition.items():
        root, *rest = path_of(path) or ("",)
        parts = tuple(rest)
        option = structural.at(node, parts) if root == "spec" and parts != excluded else None
        if option is not None and value != {"exists": False}:
            choices = value if isinstance(value, list) else [value]
            sample = samples.full_sample(option) if isinstance(value, dict) else choices[0]
            settings[path] = parts, sample
    return settings


def _values(node: Node) -> list[Any]:
    """Return values that a schema takes and that differ from each other and from the default."""
    if node.get("enum"):
        return list(node["enum"])
    if node.get("type") == "boolean":
        return [True, False]
    default = node.get("default")
    if isinstance(default, str) and default:
        return [f"{default}x"]  # of the same form: a path stays one
    first = samples.full_sample({key: child for key, child in node.items() if key != "default"})
    if isinstance(first, int) and first == default and node.get("maximum", first + 1) > first:
        first += 1
    return [first, "/x"] if first == "x" else [first]


def _word(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _with(spec: Any, *written: Written) -> Any:
    """Return options with some values; ABSENT removes the option."""
    result = deepcopy(spec)
    for (*above, last), value in written:
        holder = result
        for part in above:
            holder = holder.setdefault(part, {}) if value is not structural.ABSENT else holder.get(part, {})
        if value is structural.ABSENT:
            holder.pop(last, None)
        else:
            holder[last] = value
    return result


def _objects(product: Profile, spec: Any, config: FunctionConfig) -> dict[str, Manifest]:
    """Return the objects of a config with these options, by kind and name, without our marks; {} with a problem."""
    item = outcomes.stand_in(product, spec)
    groups, problems = reading.from_items([item], config)  # a sample value or a missing field may be a problem
    objects = [generated.manifest for group in groups for generated in generate.objects(group, {})]
    manifests = [] if problems else map(unmarked, objects)
    return {f"{manifest['kind']} {manifest['metadata']['name']}": manifest for manifest in manifests}


def _changed(old: Mapping[str, Manifest], new: Mapping[str, Manifest]) -> Iterator[tuple[str, str]]:
    """Yield the object and the path of each field that differs; none where one side has no objects."""
    for name in {**old, **new} if old and new else ():
        changes = differences(old.get(name, ABSENT), new.get(name, ABSENT))
        yield from ((name, change.path) for change in changes)
