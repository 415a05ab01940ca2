"""The layers of a config: which of them has a field of the merged config, and which switches change nothing."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from krmfn import Field, Item, Ref, Result
from krmfn.resource import FieldPath, is_index, join, split
from krmfn.typed import Any, NamedTuple

from ..kmm.lookup import MISSING, at
from ..rendering.function_config import FunctionConfig, Source
from .keyed import ATOMIC, key_of, merges, named, path_in
from .merging import OPAQUE, SWITCHES, UNSET, merged, stacked

OF_VENDOR = frozenset({"versions", "versionsComplete", "locked"})
"""The fields of a profile that are no fields of a config."""


class Layer(NamedTuple):
    """Fields written in one place: a pool, the config, `overrides`, a profile's version, the profile, the defaults."""

    fields: dict[str, Any]
    path: str
    """Where they are written: `spec`, `spec.nodePools[1]`, `spec.profiles.gaudi`, `spec.profiles.gaudi.versions[0]`."""
    source: Item | Source
    """The document with that path: the DeviceConfig, the functionConfig or a Profile."""
    filled: Any = None  # a FilledLayer; to import its type would load the compiler of expressions
    """The options and expressions that the layer of a Profile was made with."""

    @property
    def unset_fields(self) -> list[str]:
        """The fields of the spec that this takes from weaker layers, or parts of which."""
        return [split(name)[0] for name in self.fields.get(UNSET, ())]

    def unset_at(self, names: Sequence[str]) -> str:
        """Return where this takes a field, or one that holds it, from weaker layers; "" for nowhere."""
        for index, name in enumerate(self.fields.get(UNSET, ())):
            parts = split(name)
            if parts == tuple(names[: len(parts)]):
                return f"{self.path}.{UNSET}[{index}]"
        return ""

    @property
    def shared(self) -> bool:
        """Whether this is a layer of the functionConfig, which many configs share."""
        return isinstance(self.source, Source)


class Vendor(NamedTuple):
    """What a profile says beside the fields of a config."""

    versions: Mapping[str, Layer] = {}  # read only
    """The fields that change with a version of the driver."""
    complete: bool = False
    """Whether the profile lists all its versions (`versionsComplete`)."""
    locked: Mapping[str, str] = {}
    """The fields that no config may write, each with the reason."""
    unlocked: Mapping[str, str] = {}
    """The reasons in `locked` of `overrides`: `overrides` may write the fields whose reasons it repeats exactly."""
    title: str = ""
    """NAME@VERSION of a Profile."""


def with_vendor(
    name: str, above: list[Layer], profile: list[Layer], versions: Iterable[tuple[Any, Layer]], config: FunctionConfig
) -> tuple[list[Layer], Vendor]:
    """Return the layers `above` a profile, its own, and the defaults, the strongest first; and the `Vendor`.

    `versions` are the entries of the profile's `versions`, each with its layer. Of two for one version the first
    counts, and a rule refuses the second.
    """
    vendor_fields = stacked({key: layer.fields[key] for key in OF_VENDOR & layer.fields.keys()} for layer in profile)
    known: dict[str, Layer] = {}
    for entry, layer in versions:
        known.setdefault(entry["version"], layer)
    unlocked = config.overrides.get(name, {}).get("locked", {})
    vendor = Vendor(known, vendor_fields.get("versionsComplete", False), vendor_fields.get("locked", {}), unlocked)
    layers = [
        layer._replace(fields={key: value for key, value in layer.fields.items() if key not in OF_VENDOR})
        for layer in (*above, *profile)
    ]
    return [*layers, Layer(config.defaults, "spec.defaults", config.source)], vendor


def profile_layers(name: str, config: FunctionConfig) -> tuple[list[Layer], Vendor]:
    """Return the layers and the `Vendor` of a profile of the functionConfig; for the name "" the defaults alone."""
    profile, start = config.profiles.get(name, {}), ("spec", "profiles", name)
    versions: list[tuple[Any, Layer]] = []
    for index, entry in enumerate(profile.get("versions", ())):
        fields = {key: value for key, value in entry.items() if key != "version"}
        versions.append((entry, Layer(fields, join((*start, "versions", index)), config.source)))
    overrides = config.overrides.get(name)
    above = [Layer(overrides, join(("spec", "overrides", name)), config.source)] if overrides else []
    layers = [Layer(profile, join(start), config.source)] if name else []
    return with_vendor(name, above, layers, versions, config)


def place(layers: Sequence[Layer], fields: dict[str, Any], name: str) -> tuple[Layer | None, str]:
    """Return the strongest layer with the field `name` of the merged `fields`, or most of its path, and the path in it.

    For `daemonSets[0].image` this looks in each layer for the entry with the key of `daemonSets[0]`, at any position.
    """
    if name.isalnum():
        holder = next((layer for layer in layers if name in layer.fields or name in layer.fields.get(UNSET, ())), None)
        written = UNSET if holder and name not in holder.fields else name
        return holder, f"{holder.path if holder else 'spec'}.{written}"
    parts = split(name)
    best: Layer | None = None
    depth, path, names = 0, "", named(fields, parts)
    for layer in layers:
        start = _start(layer.fields, fields, parts)
        if len(start) > depth:
            best, depth = layer, len(start)
            path = join([*start, *(int(part) if is_index(part) else part for part in parts[depth:])])
        if unset_path := layer.unset_at(names):
            if best:
                break
            return layer, unset_path
    return best, f"{best.path if best else 'spec'}.{path or name}"


def _start(value: Any, fields: Any, parts: Sequence[str]) -> list[str | int]:
    """Return the first parts of a path of the merged `fields` that a layer has too, with its positions in lists."""
    start: list[str | int] = []
    name = ""
    for part in parts:
        key: Any = _position(value, fields, int(part), name) if isinstance(value, list) and is_index(part) else part
        value = at(value, (key,))
        if value is MISSING:
            break
        fields, name = at(fields, (part,)), part
        start.append(key)
    return start


def _position(entries: list[Any], fields: Any, index: int, name: str) -> int | None:
    """Return where a layer's list has the entry that stands at `index` of the merged list; None without one."""
    if not isinstance(fields, list) or index >= len(fields):
        return None
    if not merges(name, fields) or not merges(name, entries):
        return index if index < len(entries) else None
    keys = [key_of(name, entry) for entry in fields[: index + 1]]
    positions = [position for position, entry in enumerate(entries) if key_of(name, entry) == keys[-1]]
    offset = keys.count(keys[-1]) - 1  # several entries with one key are an error of their own
    return positions[min(offset, len(positions) - 1)] if positions else None


def options_of(item: Item) -> Any:
    """Return the options of a config: `spec.options` of a DeviceConfig of ours, the whole `spec` of a vendor's kind.

    None for a config of a vendor's kind without `spec`, to which the API server gives no default below it.
    """
    spec = item.content.manifest.get("spec")
    return (spec or {}).get("options") or {} if is_ours(item) else spec


def at_origin(item: Item, ref: Ref, layer: Layer, result: Result) -> Result:
    """Return a finding about a layer of a Profile with the field to correct: the option, where one gave the value."""
    from ..profile import expressions  # here: few layers come from a Profile
    from ..profile.structural import ABSENT

    filled = layer.filled
    path = result.field.path.removeprefix(layer.path).removeprefix(".") if result.field else ""
    parts: FieldPath = tuple(int(part) if is_index(part) else part for part in split(path))
    option = filled.option(parts) if filled else None
    if option and expressions.at({"spec": options_of(item)}, option.parts) is not ABSENT:
        name = join(("spec", *(("options",) if is_ours(item) else ()), *option.parts[1:]))
        return item.located(result._replace(ref=ref, field=Field(name)))
    if filled and result.field:
        written = join((*split(layer.path), *filled.origin(parts)))
        written = written.replace(".config.unset", ".unset") if "[" in layer.path else written
        result = result._replace(field=result.field._replace(path=written))
    return layer.source.located(result)


def is_ours(item: Item) -> bool:
    """Return True for a config of our own group; another one is of the kind that a Profile is for."""
    return item.group == "krmfn.dev"


def is_offer(value: Any) -> bool:
    """Return True for something that is described but switched off, so that a stronger layer can switch it on."""
    return isinstance(value, dict) and value.get("enabled") is False and not {"enabled", "name"}.issuperset(value)


def idle_switches(layers: Sequence[Layer]) -> Iterator[tuple[Layer, str, str]]:
    """Yield each switch that changes nothing: its layer, its path or that of what it switches off, and the reason."""
    for number, layer in enumerate(layers):
        for path, reason in _idle(layer.fields, stacked(other.fields for other in layers[number + 1 :]), ()):
            can_be_offer = len(path) < 2 or path[-2] not in OPAQUE  # those must be written anew to be switched on
            is_chosen = layer.filled and layer.filled.option((*path, "enabled"))  # an option decides each time
            if not (is_chosen or (layer.shared and can_be_offer and is_offer(at(layer.fields, path)))):
                yield layer, f"{layer.path}.{join(path)}", reason


def _idle(fields: dict[str, Any], base: dict[str, Any], path: FieldPath) -> Iterator[tuple[FieldPath, str]]:
    """Yield the path of each switch in `fields` that changes nothing in the fields `base` below it, and the reason."""
    for name, value in fields.items():
        parts: list[tuple[FieldPath, dict[str, Any], Any]] = []  # path, fields, and the value below them
        inherited = "nothing is inherited"
        if merges(name, value):
            entries = base[name] if merges(name, base.get(name)) else []
            others = [(key_of(name, entry), entry) for entry in entries]
            known = ", ".join(str(next(filter(None, key), "")) for key, _ in others)
            inherited = f"what is inherited is: {known or 'nothing'}"
            for index, entry in enumerate(value):
                key = key_of(name, entry)
                twin = next((other for other_key, other in others if other_key == key), None)
                parts.append(((*path, name, index), entry, twin))
        elif isinstance(value, dict) and name not in ATOMIC:
            parts.append(((*path, name), value, base.get(name)))
        for part, part_fields, twin in parts:
            twin_fields = twin if isinstance(twin, dict) else {}
            switch = part_fields.get("enabled") if name in SWITCHES or isinstance(value, list) else None
            if switch is False and twin is None:
                yield part, f"it switches off nothing; {inherited}"
            if switch is True and twin_fields.get("enabled", True):
                yield (*part, "enabled"), f"it switches on nothing; {inherited if twin is None else 'it is on already'}"
            if name not in OPAQUE:
                yield from _idle(part_fields, twin_fields, part)


def idle_unset(layers: Sequence[Layer]) -> Iterator[tuple[Layer, str, str]]:
    """Yield each name in `unset` that changes nothing: its layer, its path, and the reason."""
    fields = merged(layer.fields for layer in layers)
    for number, layer in enumerate(layers):
        names = layer.fields.get(UNSET, ())
        base = stacked(other.fields for other in layers[number + 1 :]) if names else {}
        for index, name in enumerate(names):
            rest = {**layer.fields, UNSET: [*names[:index], *names[index + 1 :]]}
            if merged(rest if other is layer else other.fields for other in layers) == fields:
                is_inherited = path_in(base, split(name))
                reason = f"{name} is the same without it" if is_inherited else f"nothing is inherited for {name}"
                yield layer, f"{layer.path}.{UNSET}[{index}]", reason
