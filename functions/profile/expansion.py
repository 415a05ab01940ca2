"""From a config's options to the fields of a DeviceConfig: each layer of a Profile with its expressions filled in."""

from __future__ import annotations

from collections.abc import Mapping

from krmfn import Ref
from krmfn.resource import FieldPath, join
from krmfn.typed import Any, NamedTuple

from ..kmm.lookup import map_texts, members
from . import expressions
from .expressions import Expression, Values
from .product import Profile
from .structural import ABSENT, Node, at, with_defaults

_TEXTS = frozenset({"args", "command", "value", "data", "labels", "annotations", "matchLabels", "image", "name"})
"""Fields of objects without a schema here below which every scalar is a text."""
PROTECTED = "\ue000"
"""What stands for the dollar of a variable of ours in an option's value, which is not read again."""


Problem = tuple[str, str]
"""A field of a Profile, and what is wrong with it for some config."""


class Filled(NamedTuple):
    """A layer of a Profile for one config."""

    fields: dict[str, Any]
    path: str
    """Where it stands in the Profile."""
    moves: dict[FieldPath, FieldPath]
    """Entries of lists that stand elsewhere in the Profile, since entries before them are left out."""
    options: dict[FieldPath, Expression]
    """The expression that each value comes from."""

    def origin(self, path: FieldPath) -> FieldPath:
        """Return where a field of `fields` stands in the layer as it is written."""
        written: FieldPath = ()
        for length in range(1, len(path) + 1):
            written = self.moves.get(path[:length]) or (*written, path[length - 1])
        return written

    def option(self, path: FieldPath) -> Expression | None:
        """Return the expression that gives the field at a path, or the one above it."""
        lengths = range(len(path), 0, -1)
        return next((self.options[path[:length]] for length in lengths if path[:length] in self.options), None)


class Expansion(NamedTuple):
    """What a Profile makes of one config's options."""

    layers: tuple[Filled, ...] = ()
    """The strongest first: the `when`s that hold, `config`."""
    versions: tuple[Filled, ...] = ()
    """One for each entry of `versions`."""
    modules: Mapping[str, tuple[Filled, ...]] = {}  # read only
    """For each of several Modules its layers, the strongest first."""
    overrides: tuple[Filled, ...] = ()
    """The fields of the functionConfig over those of the Profile."""
    problems: tuple[Problem, ...] = ()


def values_of(profile: Profile, written: Any, name: str, namespace: str) -> tuple[Values, list[Problem]]:
    """Return what the expressions of a Profile see of a config with these options, `spec` of the vendor's own kind."""
    options = with_defaults(at(profile.options, ("spec",)) or {}, ABSENT if written is None else written)
    metadata = {key: text for key, text in (("name", name), ("namespace", namespace)) if text}
    seen = {"spec": {} if options is ABSENT else options, "metadata": metadata}
    bare = Values(seen, {"spec": written or {}, "metadata": metadata})
    problems: list[Problem] = []
    own = profile.spec.get("texts", {})
    texts = {key: _text(key, entry, bare, problems) for key, entry in own.items()}
    sources: dict[tuple[str, ...], tuple[Expression, ...]]
    sources = {("texts", key): tuple(expressions.sources(entry)) for key, entry in own.items()}
    there = {key: text for key, text in texts.items() if text is not ABSENT}
    return bare._replace(seen={**seen, "texts": there}, sources=sources), problems


def _text(name: str, entry: Mapping[str, Any], values: Values, problems: list[Problem]) -> Any:
    """Return an entry of `texts` for one config; ABSENT where its condition does not hold."""
    if not expressions.holds(entry.get("if", {}), values):
        return ABSENT
    as_, path = entry.get("as", ""), join(("spec", "texts", name, "as"))
    show = expressions.quoted if entry.get("quote") == "sh" else str
    if "each" not in entry:
        text, problem = expressions.replaced(as_, values, show)
        problems += [(path, problem)] if problem else []
        return text
    held = expressions.at(values.seen, expressions.path_of(entry["each"]))
    if "onto" in entry:
        return {**entry["onto"], **(held if isinstance(held, dict) else {})}
    pairs = sorted(held.items()) if isinstance(held, dict) else members(held)
    if "entry" in entry:
        made = [expressions.filled(entry["entry"], {"key": key, "value": own}) for key, own in pairs]
        return [one for one in made if one is not ABSENT] or ABSENT
    lines: list[str] = []
    for key, own in pairs:
        if isinstance(own, (dict, list)):
            problems.append((path, f"an entry of {entry['each']} is no text and no number; name what to print"))
            continue
        shown = [show(expressions.printed(one)) for one in (key, "" if own is None else own)]
        around, problem = expressions.replaced(as_.replace("${key}", "\0").replace("${value}", "\1"), values, show)
        problems += [(path, problem)] if problem else []
        lines.append("".join(shown["\0\1".index(char)] if char in "\0\1" else char for char in around))
    return str(entry.get("separator", " ")).join(lines)


def expand(profile: Profile, written: Any, ref: Ref, overrides: Any, root: Node, is_protected: bool) -> Expansion:
    """Return the layers of a Profile for a config with these options (see `values_of`).

    `root` is the JSON Schema whose $defs has their fields, `overrides` the fields over those of the Profile.
    """
    values, problems = values_of(profile, written, ref.name, ref.namespace)
    filler = _Filler(values, root, problems, is_protected)
    layers = filler.layers(profile.spec, ("spec",))
    entries = profile.spec.get("versions", ())
    bare = [{name: own for name, own in entry.items() if name != "version"} for entry in entries]
    versions = tuple(filler.layer(one, ("spec", "versions", index)) for index, one in enumerate(bare))
    parts = profile.spec.get("modules", {})
    modules = {key: filler.layers(parts[key], ("spec", "modules", key)) for key in sorted(parts)}
    over = (filler.layer(overrides, ("spec", "overrides", profile.name)),) if overrides else ()
    return Expansion(layers, versions, modules, over, tuple(problems))


class _Filler(NamedTuple):
    """Fills in the expressions of the layers of one Profile for one config."""

    values: Values
    root: Node
    problems: list[Problem]
    is_protected: bool

    def layers(self, spec: Mapping[str, Any], path: FieldPath) -> tuple[Filled, ...]:
        """Return the layers of a Profile or of one of its Modules: the `when`s that hold, the last first, `config`."""
        made = [self.layer(spec.get("config", {}), (*path, "config"))]
        for index, entry in enumerate(spec.get("when", ())):
            if expressions.holds(entry["if"], self.values):
                unset = {"unset": entry["unset"]} if "unset" in entry else {}
                made.append(self.layer({**entry.get("config", {}), **unset}, (*path, "when", index, "config")))
        return tuple(reversed(made))

    def layer(self, fields: Mapping[str, Any], path: FieldPath) -> Filled:
        """Return a layer, `fields` as it is written, with its expressions filled in."""
        made = Filled({}, join(path), {}, {})
        whole = self.value(made, fields, self.root["$defs"]["profile"], (), ())
        return made._replace(fields={} if whole is ABSENT else whole)

    def value(self, made: Filled, own: Any, node: Node, new: FieldPath, old: FieldPath) -> Any:
        """Return a value with its expressions filled in; `new`, `old`: its paths in the layer made and as written."""
        if "$ref" in node:
            node = self.root["$defs"][node["$ref"].rpartition("/")[2]]
        if isinstance(own, str):
            return self.text(made, own, node, new, old) if "${" in own else own
        if isinstance(own, dict):
            known, rest = node.get("properties", {}), node.get("additionalProperties")
            inner = rest if isinstance(rest, dict) else {}
            mapping: dict[str, Any] = {}
            for key, child in own.items():
                below = known.get(key) or (inner if inner or node.get("type") != "string" else node)
                value = self.value(made, child, below or _untyped(key, old), (*new, key), (*old, key))
                if value is not ABSENT:
                    mapping[key] = value
            return mapping if mapping or not own else ABSENT  # all that it held came to nothing
        if isinstance(own, list):
            entries = self.entries(made, own, node.get("items") or _untyped(old[-1], old), new, old)
            return ABSENT if not entries and node.get("minItems") else entries  # else [] may take something back
        return own

    def entries(self, made: Filled, own: list[Any], node: Node, new: FieldPath, old: FieldPath) -> list[Any]:
        """Return a list without the entries that come to nothing, among them variables without a value."""
        entries: list[Any] = []
        for index, entry in enumerate(own):
            here, there = (*new, len(entries)), (*old, index)
            value = self.value(made, entry, node, here, there)
            is_variable = old[-1] in ("env", "buildArgs") and isinstance(entry, dict) and "value" in entry
            if value is ABSENT or (is_variable and "value" not in value):
                for path in [path for path in made.options if path[: len(here)] == here]:
                    del made.options[path]
                continue
            if isinstance(value, list) and isinstance(entry, str):  # no list of ours holds lists: these are its entries
                option = made.options.pop(here)
                for one in value:
                    at_ = (*new, len(entries))
                    made.moves[at_] = there
                    made.options[at_] = option
                    entries.append(one)
                continue
            if here != there:
                made.moves[here] = there
            entries.append(value)
        return entries

    def text(self, made: Filled, own: str, node: Node, new: FieldPath, old: FieldPath) -> Any:
        """Return a text with its expressions filled in, or the value that it stands for."""
        first, expression = self.values.written_in(own), expressions.whole(own)
        if first:
            made.options[new] = first
        if expression is None:
            text, problem = expressions.replaced(own, self.values, self.protected)
            if problem:
                self.problems.append((f"{made.path}.{join(old)}", problem))
            return text if first else own
        value = expressions.at(self.values.seen, expression.parts)
        if value in ([], {}) and (node.get("minItems") or node.get("minProperties")):
            return ABSENT  # nothing is written where nothing but an error would come of it
        return self.protected(_printed(value, node))

    def protected(self, value: Any) -> Any:
        """Return an option's value in which no variable of ours is filled in."""
        return map_texts(value, _protected) if self.is_protected else value


def _printed(value: Any, node: Node) -> Any:
    """Return an option's value, with scalars as Kubernetes prints them where there are texts, in lists and maps too.

    What is in a list or a map that stands where a text does is a text, too.
    """
    inner = node.get("items") or node.get("additionalProperties")
    inner = inner if isinstance(inner, dict) else node
    if isinstance(value, list):
        return [_printed(one, inner) for one in value]
    if isinstance(value, dict):
        is_open = inner is not node or node.get("type") == "string"
        return {key: _printed(one, inner) for key, one in value.items()} if is_open else value
    is_text = value is ABSENT or value is None or isinstance(value, str)
    return value if is_text or node.get("type") != "string" else expressions.printed(value)


def _protected(text: str) -> str:
    """Return a text in which no variable of ours is filled in."""
    return text.replace("$", PROTECTED) if "KRMFN_" in text.upper() else text


def _untyped(key: Any, path: FieldPath) -> Node:
    """Return the schema of what has none here: a text below some fields."""
    return {"type": "string"} if key in _TEXTS or not _TEXTS.isdisjoint(path[1:]) else {}
