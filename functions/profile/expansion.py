"""From a config's options to the fields of a DeviceConfig: each layer of a Profile with its expressions filled in."""

from __future__ import annotations

from collections.abc import Mapping

from krmfn import Ref
from krmfn.resource import FieldPath, join
from krmfn.typed import Any, NamedTuple

from ..kmm.lookup import map_texts
from . import expressions, texts
from .defaulting import with_defaults
from .expressions import Expression, Values
from .product import Profile
from .structural import ABSENT, Node
from .texts import TextMistake

_TEXTS = frozenset({"args", "command", "value", "data", "labels", "annotations", "matchLabels", "image", "name"})
"""Fields of objects without a schema: every scalar below them is a text."""
PROTECTED = "\ue000"
"""In place of the dollar of one of our variables in the value of an option, which must not be filled in."""


class FilledLayer(NamedTuple):
    """A layer of a Profile for one config."""

    fields: dict[str, Any]
    path: str
    """The path of the layer in the Profile."""
    moves: dict[FieldPath, FieldPath]
    """The paths in the Profile of list entries that have moved, since entries before them are left out."""
    options: dict[FieldPath, Expression]
    """The expression that each value comes from."""

    def origin(self, path: FieldPath) -> FieldPath:
        """Return the path of a field of `fields` in the layer as it is written."""
        written: FieldPath = ()
        for length in range(1, len(path) + 1):
            written = self.moves.get(path[:length]) or (*written, path[length - 1])
        return written

    def option(self, path: FieldPath) -> Expression | None:
        """Return the expression that gives the field at a path, or the one above it."""
        lengths = range(len(path), 0, -1)
        return next((self.options[path[:length]] for length in lengths if path[:length] in self.options), None)


class Expansion(NamedTuple):
    """The layers of a Profile for the options of one config."""

    layers: tuple[FilledLayer, ...] = ()
    """The strongest first: the `when`s that hold, `config`."""
    versions: tuple[FilledLayer, ...] = ()
    """One for each entry of `versions`."""
    modules: Mapping[str, tuple[FilledLayer, ...]] = {}  # read only
    """For each of several Modules its layers, the strongest first."""
    overrides: tuple[FilledLayer, ...] = ()
    """The layer of the functionConfig's overrides."""
    mistakes: tuple[TextMistake, ...] = ()


def values_of(profile: Profile, written: Any, name: str, namespace: str) -> tuple[Values, list[TextMistake]]:
    """Return the values that expressions of a Profile refer to, for a config with this name, namespace and options.

    `written` are the options as they are written: `spec` of the vendor's own kind; None for a config without.
    """
    options = with_defaults(profile.options, {} if written is None else {"spec": written}).get("spec")
    metadata = {key: text for key, text in (("name", name), ("namespace", namespace)) if text}
    data = {"spec": options or {}, "metadata": metadata}
    values = Values(data, {"spec": written or {}, "metadata": metadata})
    mistakes: list[TextMistake] = []
    entries = profile.spec.get("texts", {})
    filled = {key: texts.text_of(key, entry, values, mistakes) for key, entry in entries.items()}
    filled = {key: text for key, text in filled.items() if text is not ABSENT}
    values = values._replace(sources={("texts", key): (*expressions.sources(entry),) for key, entry in entries.items()})
    return values._replace(data={**data, "texts": filled}), mistakes


def expand(profile: Profile, written: Any, ref: Ref, overrides: Any, root: Node, is_protected: bool) -> Expansion:
    """Return the layers of a Profile for a config with these options (see `values_of`).

    `root` is the JSON Schema whose $defs has the fields of a layer, `overrides` the fields that override the Profile's.
    """
    values, mistakes = values_of(profile, written, ref.name, ref.namespace)
    filler = _Filler(values, root, mistakes, is_protected, profile.fixed)
    layers = filler.layers(profile.spec, ("spec",))
    entries = profile.spec.get("versions", ())
    fields = [{name: value for name, value in entry.items() if name != "version"} for entry in entries]
    versions = tuple(filler.layer(entry, ("spec", "versions", index)) for index, entry in enumerate(fields))
    parts = profile.spec.get("modules", {})
    modules = {key: filler.layers(parts[key], ("spec", "modules", key)) for key in sorted(parts)}
    override = (filler.layer(overrides, ("spec", "overrides", profile.name)),) if overrides else ()
    return Expansion(layers, versions, modules, override, tuple(mistakes))


class _Filler(NamedTuple):
    """Fills in the expressions of the layers of one Profile for one config."""

    values: Values
    root: Node
    mistakes: list[TextMistake]
    is_protected: bool
    fixed: Mapping[int, Any]

    def layers(self, spec: Mapping[str, Any], path: FieldPath) -> tuple[FilledLayer, ...]:
        """Return the layers of a Profile or of one of its Modules: the `when`s that hold, the last first, `config`."""
        layers = [self.layer(spec.get("config", {}), (*path, "config"))]
        for index, entry in enumerate(spec.get("when", ())):
            if expressions.holds(entry["if"], self.values):
                unset = {"unset": entry["unset"]} if "unset" in entry else {}
                layers.append(self.layer({**entry.get("config", {}), **unset}, (*path, "when", index, "config")))
        return tuple(reversed(layers))

    def layer(self, fields: Mapping[str, Any], path: FieldPath) -> FilledLayer:
        """Return the layer with these fields, which are as they are written, with the expressions filled in."""
        layer = FilledLayer({}, join(path), {}, {})
        value = self.value(layer, fields, self.root["$defs"]["profile"], (), ())
        return layer._replace(fields={} if value is ABSENT else value)

    def value(self, layer: FilledLayer, value: Any, node: Node, new: FieldPath, old: FieldPath) -> Any:
        """Return a value of a layer with its expressions filled in; `new`, `old`: its paths afterwards and before."""
        if "$ref" in node:
            node = self.root["$defs"][node["$ref"].rpartition("/")[2]]
        if isinstance(value, str):
            return self.text(layer, value, node, new, old) if "${" in value else value
        if self.fixed.get(id(value)) is value:  # also True for None, which is as it is
            return value
        if isinstance(value, dict):
            known, rest = node.get("properties", {}), node.get("additionalProperties")
            default = rest if isinstance(rest, dict) else {}
            default = default if default or node.get("type") != "string" else node
            mapping: dict[str, Any] = {}
            for key, child in value.items():
                child_node = known.get(key) or default or _untyped(key, old)
                child = self.value(layer, child, child_node, (*new, key), (*old, key))
                if child is not ABSENT:
                    mapping[key] = child
            return mapping if mapping or not value else ABSENT  # nothing remains of its fields
        if isinstance(value, list):
            entries = self.entries(layer, value, node.get("items") or _untyped(old[-1], old), new, old)
            return ABSENT if not entries and node.get("minItems") else entries  # else [] may unset a weaker layer's
        return value

    def entries(self, layer: FilledLayer, values: list[Any], node: Node, new: FieldPath, old: FieldPath) -> list[Any]:
        """Return a list without the entries of which nothing remains, and without variables that have no value."""
        entries: list[Any] = []
        for index, entry in enumerate(values):
            path, old_path = (*new, len(entries)), (*old, index)
            value = self.value(layer, entry, node, path, old_path)
            is_variable = old[-1] in ("env", "buildArgs") and isinstance(entry, dict) and "value" in entry
            if value is ABSENT or (is_variable and "value" not in value):
                for inner in [inner for inner in layer.options if inner[: len(path)] == path]:
                    del layer.options[inner]
            elif isinstance(value, list) and isinstance(entry, str):  # no list of ours holds lists: these are entries
                option = layer.options.pop(path)
                for child in value:
                    path = (*new, len(entries))
                    layer.moves[path] = old_path
                    layer.options[path] = option
                    entries.append(child)
            else:
                if path != old_path:
                    layer.moves[path] = old_path
                entries.append(value)
        return entries

    def text(self, layer: FilledLayer, value: str, node: Node, new: FieldPath, old: FieldPath) -> Any:
        """Return a text with its expressions filled in, or the value of the expression that it is."""
        option, expression = self.values.option_in(value), expressions.single_expression(value)
        if option:
            layer.options[new] = option
        if expression is None:
            text, mistake = expressions.replace_in(value, self.values, self.protected)
            if mistake:
                self.mistakes.append((f"{layer.path}.{join(old)}", mistake))
            return text if option else value
        data = expressions.at(self.values.data, expression.parts)
        if data in ([], {}) and (node.get("minItems") or node.get("minProperties")):
            return ABSENT  # the empty value would only be an error
        return self.protected(_printed(data, node))

    def protected(self, value: Any) -> Any:
        """Return an option's value in which no variable of ours is filled in."""
        return map_texts(value, _protected) if self.is_protected else value


def _printed(value: Any, node: Node) -> Any:
    """Return the value of an option; where the schema has texts, scalars become texts as Kubernetes prints them.

    So do those in a list or a map that is in place of a text.
    """
    inner = node.get("items") or node.get("additionalProperties")
    inner = inner if isinstance(inner, dict) else node
    if isinstance(value, list):
        return [_printed(entry, inner) for entry in value]
    if isinstance(value, dict):
        is_open = inner is not node or node.get("type") == "string"
        return {key: _printed(child, inner) for key, child in value.items()} if is_open else value
    is_text = value is ABSENT or value is None or isinstance(value, str)
    return value if is_text or node.get("type") != "string" else expressions.format_scalar(value)


def _protected(text: str) -> str:
    """Return a text in which no variable of ours is filled in."""
    return text.replace("$", PROTECTED) if "KRMFN_" in text.upper() else text


def _untyped(key: Any, path: FieldPath) -> Node:
    """Return a schema for a field without one: a text below some fields, else {}."""
    return {"type": "string"} if key in _TEXTS or not _TEXTS.isdisjoint(path[1:]) else {}
