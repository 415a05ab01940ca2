"""The layers that a config is made from: where a field of the merged config is written, which switches are idle."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from krmfn import Field, Item, Ref, Result
from krmfn.resource import FieldPath, is_index, join, split
from krmfn.typed import Any, NamedTuple

from ..kmm.lookup import MISSING, at
from ..rendering.function_config import FunctionConfig, Source
from .merging import ATOMIC, SWITCHES, UNSET, WHOLE, key_of, merged, merges, stacked

OF_VENDOR = frozenset({"versions", "versionsComplete", "locked"})
"""What a profile holds beside the fields of a config."""


class Layer(NamedTuple):
    """Fields written in one place: a pool, the config, `overrides`, a profile's version, the profile, the defaults."""

    fields: dict[str, Any]
    path: str
    """Where they stand: `spec`, `spec.nodePools[1]`, `spec.profiles.gaudi`, `spec.profiles.gaudi.versions[0]`."""
    source: Item | Source
    """What that path is in: the DeviceConfig, the functionConfig or a Profile."""
    filled: Any = None  # a Filled; with its type a compiler would start
    """What is known of the expressions in a layer of a Profile."""

    @property
    def shared(self) -> bool:
        """Whether this is a layer of the functionConfig, which many configs share."""
        return isinstance(self.source, Source)


class Vendor(NamedTuple):
    """What a profile holds beside the fields of a config."""

    versions: Mapping[str, Layer] = {}  # read only
    """The fields that change with a version of the driver."""
    complete: bool = False
    """Whether these are all versions that there are."""
    locked: Mapping[str, str] = {}
    """The fields that no config may write, each with the reason."""
    unlocked: Mapping[str, str] = {}
    """Locked fields that `overrides` of the functionConfig may write: those whose reasons it repeats."""
    title: str = ""
    """NAME@VERSION of a Profile."""


def driven(
    name: str, over: list[Layer], own: list[Layer], versions: Iterable[tuple[Any, Layer]], config: FunctionConfig
) -> tuple[list[Layer], Vendor]:
    """Return the layers of a profile, the strongest first, between what overrides it and the defaults, and the rest.

    `versions` are its entries of `versions`, each with its layer; of two for one version the first counts, and a rule
    refuses two.
    """
    beside = stacked({key: layer.fields[key] for key in OF_VENDOR & layer.fields.keys()} for layer in own)
    known: dict[str, Layer] = {}
    for entry, layer in versions:
        known.setdefault(entry["version"], layer)
    unlocked = config.overrides.get(name, {}).get("locked", {})
    vendor = Vendor(known, beside.get("versionsComplete", False), beside.get("locked", {}), unlocked)
    layers = [
        layer._replace(fields={key: value for key, value in layer.fields.items() if key not in OF_VENDOR})
        for layer in (*over, *own)
    ]
    return [*layers, Layer(config.defaults, "spec.defaults", config.source)], vendor


def of_profile(name: str, config: FunctionConfig) -> tuple[list[Layer], Vendor]:
    """Return the layers of a profile of the functionConfig, and the rest; "" is none, and has the defaults alone."""
    own, above, start = config.profiles.get(name, {}), config.overrides.get(name), ("spec", "profiles", name)
    over = [Layer(above, join(("spec", "overrides", name)), config.source)] if above else []
    entries = own.get("versions", ())
    fields = [{key: value for key, value in entry.items() if key != "version"} for entry in entries]
    versions = (Layer(one, join((*start, "versions", at)), config.source) for at, one in enumerate(fields))
    layers = [Layer(own, join(start), config.source)] if name else []
    return driven(name, over, layers, zip(entries, versions, strict=True), config)


def place(layers: Sequence[Layer], fields: dict[str, Any], name: str) -> tuple[Layer | None, str]:
    """Return the strongest layer that has `name` of the merged `fields`, or most of its path, and the path there.

    For `daemonSets[0].image` a layer is searched for an entry with the key of `daemonSets[0]`, at any position.
    """
    if name.isalnum():
        holder = next((layer for layer in layers if name in layer.fields or name in layer.fields.get(UNSET, ())), None)
        written = UNSET if holder and name not in holder.fields else name  # it stands there as what is taken away
        return holder, f"{holder.path if holder else 'spec'}.{written}"
    parts = split(name)
    best: Layer | None = None
    depth, path = 0, ""
    for layer in layers:
        there = _there(layer.fields, fields, parts)
        if len(there) > depth:
            best, depth = layer, len(there)
            path = join([*there, *(int(part) if is_index(part) else part for part in parts[depth:])])
        if parts[0] in layer.fields.get(UNSET, ()):
            break
    return best, f"{best.path if best else 'spec'}.{path or name}"


def _there(own: Any, fields: Any, parts: Sequence[str]) -> list[str | int]:
    """Return the first parts of a path that a layer has, with its own positions in lists."""
    there: list[str | int] = []
    name = ""
    for part in parts:
        here: Any = _position(own, fields, int(part), name) if isinstance(own, list) and is_index(part) else part
        own = at(own, (here,))
        if own is MISSING:
            break
        fields, name = at(fields, (part,)), part
        there.append(here)
    return there


def _position(own: list[Any], fields: Any, index: int, name: str) -> int | None:
    """Return where a layer's list has the entry that stands at `index` of the merged list."""
    if not isinstance(fields, list) or index >= len(fields):
        return None
    if not merges(name, fields) or not merges(name, own):
        return index if index < len(own) else None
    keys = [key_of(name, entry) for entry in fields[: index + 1]]
    positions = [at for at, entry in enumerate(own) if key_of(name, entry) == keys[-1]]
    nth = keys.count(keys[-1]) - 1  # of several with one key, which is an error of its own
    return positions[min(nth, len(positions) - 1)] if positions else None


def options_of(item: Item) -> Any:
    """Return the options of a config: `spec` of a vendor's kind, `options` in that of ours."""
    spec = item.content.manifest.get("spec") or {}
    return spec.get("options") or {} if is_ours(item) else spec


def at_origin(item: Item, ref: Ref, layer: Layer, result: Result) -> Result:
    """Return a finding about a layer of a Profile where it can be mended: at the option that was written, if any is."""
    from ..profile import expressions  # here: few layers come from a Profile
    from ..profile.structural import ABSENT

    filled = layer.filled
    path = result.field.path.removeprefix(layer.path).removeprefix(".") if result.field else ""
    own: FieldPath = tuple(int(part) if is_index(part) else part for part in split(path))
    option = filled.option(own) if filled else None
    if option and expressions.at({"spec": options_of(item)}, option.parts) is not ABSENT:
        name = join(("spec", *(("options",) if is_ours(item) else ()), *option.parts[1:]))
        return item.located(result._replace(ref=ref, field=Field(name)))
    if filled and result.field:
        written = join((*split(layer.path), *filled.origin(own)))
        written = written.replace(".config.unset", ".unset") if "[" in layer.path else written
        result = result._replace(field=result.field._replace(path=written))
    return layer.source.located(result)


def is_ours(item: Item) -> bool:
    """Return True for a config of our own group; another one is of the kind that a Profile is for."""
    return item.group == "krmfn.dev"


def is_offer(value: Any) -> bool:
    """Return True for what is described and switched off in one place: a stronger layer can switch it on."""
    return isinstance(value, dict) and value.get("enabled") is False and not {"enabled", "name"}.issuperset(value)


def idle_switches(layers: Sequence[Layer]) -> Iterator[tuple[Layer, str, str]]:
    """Yield each switch that changes nothing: its layer, its path or that of what it switches off, and why."""
    for number, layer in enumerate(layers):
        for path, why in _idle(layer.fields, stacked(other.fields for other in layers[number + 1 :]), ()):
            offered = len(path) < 2 or path[-2] not in WHOLE  # who would switch it on would have to write it all
            is_chosen = layer.filled and layer.filled.option((*path, "enabled"))  # an option decides each time
            if not (is_chosen or (layer.shared and offered and is_offer(at(layer.fields, path)))):
                yield layer, f"{layer.path}.{join(path)}", why


def _idle(fields: dict[str, Any], below: dict[str, Any], path: FieldPath) -> Iterator[tuple[FieldPath, str]]:
    """Yield the path of each switch in `fields` that changes nothing in what is `below`, and why."""
    for name, value in fields.items():
        held: list[tuple[FieldPath, dict[str, Any], Any]] = []  # path, fields, and what is below them
        inherited = "nothing is inherited"
        if merges(name, value):
            entries = below[name] if merges(name, below.get(name)) else []
            others = [(key_of(name, entry), entry) for entry in entries]
            known = ", ".join(str(next(filter(None, key), "")) for key, _ in others)
            inherited = f"what is inherited is: {known or 'nothing'}"
            for at, entry in enumerate(value):
                own = key_of(name, entry)
                held.append(((*path, name, at), entry, next((one for key, one in others if key == own), None)))
        elif isinstance(value, dict) and name not in ATOMIC:
            held.append(((*path, name), value, below.get(name)))
        for here, own_fields, other in held:
            holder = other if isinstance(other, dict) else {}
            switch = own_fields.get("enabled") if name in SWITCHES or isinstance(value, list) else None
            if switch is False and other is None:
                yield here, f"it switches off nothing; {inherited}"
            if switch is True and holder.get("enabled", True):
                reason = inherited if other is None else "it is on already"
                yield (*here, "enabled"), f"it switches on nothing; {reason}"
            if name not in WHOLE:
                yield from _idle(own_fields, holder, here)


def idle_unset(layers: Sequence[Layer]) -> Iterator[tuple[Layer, str, str]]:
    """Yield each name in `unset` that changes nothing: its layer, its path, and why."""
    whole = merged(layer.fields for layer in layers)
    for number, layer in enumerate(layers):
        names = layer.fields.get(UNSET, ())
        below = stacked(other.fields for other in layers[number + 1 :]) if names else {}
        for index, name in enumerate(names):
            rest = {**layer.fields, UNSET: [*names[:index], *names[index + 1 :]]}
            if merged(rest if other is layer else other.fields for other in layers) == whole:
                why = f"{name} is the same without it" if name in below else f"nothing is inherited for {name}"
                yield layer, f"{layer.path}.{UNSET}[{index}]", why
