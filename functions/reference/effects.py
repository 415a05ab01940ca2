"""The options of a Profile: as a table, and what each one sets, seen by rendering a config with and without it."""

import json
from collections.abc import Iterator, Mapping
from copy import deepcopy

from krmfn import Item, Manifest, Result
from krmfn.resource import join
from krmfn.typed import Any, NamedTuple

from ..deviceconfig import generate, reading, trying
from ..differences import ABSENT, differences
from ..profile import samples, structural
from ..profile.expressions import path_of
from ..profile.judging import uses
from ..profile.product import Profile, whens
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
    """What else must be written for it to count, such as `spec.metricsExporter.enable: true`; "" for nothing."""


def options(product: Profile) -> Iterator[Entry]:
    """Yield each option of a Profile, in the order of its schema."""
    for path, node in structural.leaves(product.options):
        kind = "number or text" if node.get("x-kubernetes-int-or-string") else in_words(node, {})
        yield Entry(product.name, path, node.get("description", ""), kind, node)


def effects(product: Profile, option: Entry) -> list[Effect]:
    """Return what an option decides: first with nothing else written, then with each switch of the Profile."""
    found: dict[tuple[str, str], str] = {}
    config = FunctionConfig(products={product.name: product})
    for spec, switch in _bases(product, option.path[1:]):
        plain = _objects(product, _with(spec, (option.path[1:], structural.ABSENT)), config)
        for value in _values(option.node):
            for place in _changed(plain, _objects(product, _with(spec, (option.path[1:], value)), config)):
                found.setdefault(place, switch)
    whole = {name for name, path in found if not path}
    return [Effect(*place, switch) for place, switch in found.items() if not place[1] or place[0] not in whole]


def _bases(product: Profile, own: tuple[str, ...]) -> Iterator[tuple[Any, str]]:
    """Yield options to render with, and in words what they switch; first the least that there must be."""
    node = product.options.get("properties", {}).get("spec", {})
    least = samples.asked(product).options
    yield least, ""
    asked = [_asked(node, when["if"], own) for _, when in whens(product.spec)]
    switched = (one.parts for one in uses(product.spec) if one.path[-1] == "enabled" and one.parts[0] == "spec")
    asked += [{join(parts): (parts[1:], True)} for parts in switched if parts[1:] != own]
    pairs = [(path, *own) for one in asked for path, own in one.items()]
    others = [(path, parts, value) for path, parts, _ in pairs for value in _values(structural.at(node, parts) or {})]
    switches = {f"{path}: {_word(value)}": (parts, value) for path, parts, value in (*pairs, *others)}
    yield from ((_with(least, switch), words) for words, switch in switches.items())
    every = _with(least, *(switch for switch in switches.values() if switch[1] is True))
    yield every, "all switches on"
    for base, beside in ((least, ""), (every, "all other switches on")):
        for one in asked:
            words = ", ".join(f"{path}: {_word(value)}" for path, (_, value) in one.items())
            yield _with(base, *one.values()), ", and ".join(filter(None, (words, beside)))


def _asked(node: structural.Node, condition: Mapping[str, Any], own: tuple[str, ...]) -> dict[str, Written]:
    """Return the options that a condition is about but for `own`, each with a value for which it holds."""
    found: dict[str, Written] = {}
    for path, value in condition.items():
        root, *rest = path_of(path) or ("",)
        parts = tuple(rest)
        option = structural.at(node, parts) if root == "spec" and parts != own else None
        if option is not None and value != {"exists": False}:
            wanted = samples.full(option) if isinstance(value, dict) else value[0] if isinstance(value, list) else value
            found[path] = parts, wanted
    return found


def _values(node: structural.Node) -> list[Any]:
    """Return values that a schema takes and that differ from each other and from the default."""
    if node.get("enum"):
        return list(node["enum"])
    if node.get("type") == "boolean":
        return [True, False]
    default = node.get("default")
    if isinstance(default, str) and default:
        return [f"{default}x"]  # of the same form: a path stays one
    first = samples.full({key: own for key, own in node.items() if key != "default"})
    if isinstance(first, int) and first == default and node.get("maximum", first + 1) > first:
        first += 1
    return [first, "/x"] if first == "x" else [first]


def _word(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _with(spec: Any, *written: Written) -> Any:
    """Return options with some values; ABSENT takes away what is there."""
    made = deepcopy(spec)
    for (*above, last), value in written:
        holder = made
        for part in above:
            holder = holder.setdefault(part, {}) if value is not structural.ABSENT else holder.get(part, {})
        if value is structural.ABSENT:
            holder.pop(last, None)
        else:
            holder[last] = value
    return made


def _objects(product: Profile, spec: Any, config: FunctionConfig) -> dict[str, Manifest]:
    """Return what is generated of a config with these options, without marks of ours; {} where nothing can be."""
    item = trying.stand_in(product, spec)
    problems: dict[Item, list[Result]] = {}  # of a made value, or without what must be there: nothing is made then
    groups = reading.from_items([item], config, problems)
    made = [one for group in groups for one in generate.objects(group, {})]
    manifests = [] if problems else [unmarked(one.manifest) for one in made]
    return {f"{manifest['kind']} {manifest['metadata']['name']}": manifest for manifest in manifests}


def _changed(one: Mapping[str, Manifest], other: Mapping[str, Manifest]) -> Iterator[tuple[str, str]]:
    for name in {**one, **other} if one and other else ():
        changes = differences(one.get(name, ABSENT), other.get(name, ABSENT))
        yield from ((name, change.path) for change in changes)
