"""The options of a Profile: as a table, and what each one sets, seen by rendering a config with and without it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any, NamedTuple

from krmfn import Item, Manifest, Result

from ..deviceconfig import generate, reading, trying
from ..differences import differences
from ..profile import samples, structural
from ..profile.expressions import path_of
from ..profile.judging import whens
from ..profile.product import Profile
from ..rendering.function_config import FunctionConfig
from .ends import unmarked
from .fields import in_words


class Option(NamedTuple):
    """A field of the vendor's own config."""

    path: tuple[str, ...]
    """Its names below the whole config, `spec` first."""
    type: str
    default: Any
    about: str
    node: structural.Node

    @property
    def name(self) -> str:
        """Return its path: `spec.metricsExporter.port`."""
        return ".".join(self.path)


class Effect(NamedTuple):
    """A field of a generated object that an option decides; the path "" is the whole object."""

    object: str
    path: str
    switch: str
    """What else must be written for it to count, such as `spec.metricsExporter.enable: true`; "" for nothing."""


def options(product: Profile) -> Iterator[Option]:
    """Yield each option of a Profile, in the order of its schema."""
    for path, node in structural.leaves(product.options):
        yield Option(path, _type(node), node.get("default", structural.ABSENT), node.get("description", ""), node)


def effects(product: Profile, option: Option) -> list[Effect]:
    """Return what an option decides: first with nothing else written, then with each switch of the Profile."""
    found: dict[tuple[str, str], str] = {}
    config = FunctionConfig(products={product.name: product})
    for spec, switch in _bases(product, option.path[1:]):
        plain = _objects(product, _with(spec, option.path[1:], structural.ABSENT), config)
        for value in _values(option.node):
            for place in _changed(plain, _objects(product, _with(spec, option.path[1:], value), config)):
                found.setdefault(place, switch)
    whole = {name for name, path in found if not path}
    return [Effect(*place, switch) for place, switch in found.items() if not place[1] or place[0] not in whole]


def _type(node: structural.Node) -> str:
    return "number or text" if node.get("x-kubernetes-int-or-string") else in_words(node, {})


def _bases(product: Profile, own: tuple[str, ...]) -> Iterator[tuple[Any, str]]:
    """Yield options to render with, and in words what they switch; first the least that there must be."""
    node = product.options.get("properties", {}).get("spec", {})
    least = samples.least_of(product).options
    yield least, ""
    switches: dict[str, tuple[tuple[str, ...], Any]] = {}
    for _, when in whens(product.spec):
        for path in when["if"]:
            root, parts = path_of(path) or ("", ())
            at = structural.at(node, parts) if root == "spec" and parts != own else None
            switches |= {f"{path}: {_word(value)}": (parts, value) for value in (_values(at) if at else ())}
    yield from ((_with(least, *switch), words) for words, switch in switches.items())
    every = least
    for parts, value in switches.values():
        every = _with(every, parts, value) if value is True else every
    for _, when in whens(product.spec):
        spec, words = every, list[str]()
        for path, value in when["if"].items():
            option = _wanted(node, path, value) if value != {"exists": False} else None
            if option and option[0] != own:
                spec = _with(spec, *option)
                words.append(f"{path}: {_word(option[1])}")
        yield spec, f"{', '.join(words)}, and all other switches on" if words else "all switches on"


def _wanted(node: structural.Node, path: str, value: Any) -> tuple[tuple[str, ...], Any] | None:
    """Return the option that a condition is about, and a value for which it holds; None for one of no option."""
    root, parts = path_of(path) or ("", ())
    own = structural.at(node, parts) if root == "spec" else None
    if own is None:
        return None
    return parts, samples.sample(own) if isinstance(value, dict) else value[0] if isinstance(value, list) else value


def _values(node: structural.Node) -> list[Any]:
    """Return values that a schema takes and that differ from each other."""
    if node.get("enum"):
        return list(node["enum"])
    if node.get("type") == "boolean":
        return [True, False]
    first = samples.sample({key: own for key, own in node.items() if key != "default"})
    if isinstance(first, int) and first == node.get("default") and node.get("maximum", first + 1) > first:
        first += 1
    return [first]


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _with(spec: Any, path: tuple[str, ...], value: Any) -> Any:
    """Return options with a value at a path; ABSENT takes away what is there."""
    made = deepcopy(spec)
    holder = made
    for part in path[:-1]:
        holder = holder.setdefault(part, {}) if value is not structural.ABSENT else holder.get(part, {})
    if value is structural.ABSENT:
        holder.pop(path[-1], None)
    else:
        holder[path[-1]] = value
    return made


def _objects(product: Profile, spec: Any, config: FunctionConfig) -> dict[str, Manifest]:
    """Return what is generated of a config with these options, without marks of ours; {} where nothing can be."""
    item = trying.stand_in(product, spec)
    problems: dict[Item, list[Result]] = {}  # of a made value, or without what must be there: nothing is made then
    groups = reading.from_items([item], config, problems)
    made = [one for group in groups for one in generate.objects(group, {})]
    return {} if problems else {_name(one.manifest): unmarked(one.manifest) for one in made}


def _name(manifest: Manifest) -> str:
    return f"{manifest['kind']} {manifest['metadata']['name']}"


def _changed(one: Mapping[str, Manifest], other: Mapping[str, Manifest]) -> Iterator[tuple[str, str]]:
    for name in {**one, **other} if one and other else ():
        if name not in one or name not in other:
            yield name, ""
        else:
            yield from ((name, change.path) for change in differences(one[name], other[name]))
