"""The layers that a config is made from, and one table of how their fields merge.

Where a row has a twin in Kubernetes it merges as server-side apply does, one manager per layer: k8s.io/api core/v1
v0.34, the list and map types of PodSpec and Container. The volumes are an exception: one that is named again is taken
whole, since two sources in one volume are never meant. And inherited entries keep their order: the server takes that of
the stronger layer where it names several of them. tests/e2e/test_merging.py proves the rest on a real API server.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from krmfn import Item
from krmfn.fieldpath import join, split

from ..rendering.function_config import Source
from .fields import OF_LOADER

KEYS = {
    **dict.fromkeys(("nodePools", "daemonSets", "initContainers", "containers"), ("name",)),
    **dict.fromkeys(("volumes", "env", "deviceClasses", "buildArgs", "secrets"), ("name",)),
    **dict.fromkeys(("resourceClaims", "schedulingGates", "claims"), ("name",)),
    "volumeMounts": ("mountPath",),
    "extraObjects": ("kind", "metadata.name"),
    "hostAliases": ("ip",),
    "topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"),
    "ports": ("containerPort", "port", "protocol"),
}
"""Lists that merge by the keys of their entries: inherited ones keep their place, new ones follow.

A container's port has a `containerPort`, a Service's a `port`.
"""
_DEFAULTS = {"protocol": "TCP"}
WHOLE = frozenset({"volumes", "extraObjects"})
"""Lists among them whose entries are replaced whole; nothing inside of an entry is switched off."""
ATOMIC = frozenset(
    {
        *("nodeSelector", "clusterSelector", "selector", "matchLabels", "labelSelector", "namespaceSelector"),
        "requiredDuringSchedulingIgnoredDuringExecution",
        *("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "parameters"),
    }
)
"""Mappings that are replaced whole. Lists without keys are, too; all other mappings merge."""
EITHER = (
    ("driverImage", "driverImageParts"),
    ("image", "imageParts"),
    ("imagePullSecret", "imagePullSecrets"),
)
"""Two forms of one field: the one in a stronger layer takes the place of the other."""
OF_LOADED = frozenset(
    {"driverImage", "driverImageParts", "upgrade", *OF_LOADER}
    - {"moduleName", "modulesLoadingOrder", "imagePullSecret", "imagePullSecrets"}
)
"""Fields that are about a kernel module to load: `inTreeDriver: true` takes them from all weaker layers."""
SWITCHES = ("devicePlugin", "dra", "serviceAccount", "service")
"""Fields that `enabled: false` switches off, as it does each entry of a list in KEYS."""


Path = tuple[str | int, ...]


class Layer(NamedTuple):
    """Fields that are written in one place: a pool, the config, a version of its profile, the profile, the defaults."""

    fields: dict[str, Any]
    path: str
    """Where they stand: `spec`, `spec.nodePools[1]`, `spec.profiles.gaudi`, `spec.profiles.gaudi.versions[0]`."""
    source: Item | Source
    """What that path is in: the DeviceConfig, or the functionConfig."""

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


def merged(layers: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return the fields of all layers, the strongest given first, without what is switched off."""
    return _switched(_stacked(layers))


def _stacked(layers: Iterable[dict[str, Any]]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for layer in reversed(list(layers)):
        fields = _over(fields, layer) if fields else layer
    return fields


def _over(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    fields = {name: value for name, value in below.items() if not _gives_way(name, above)}
    for name, value in above.items():
        fields[name] = _field(name, fields[name], value) if name in fields else value
    return fields


def _gives_way(name: str, above: dict[str, Any]) -> bool:
    """Return True for one form of a field when the other form stands above it, or what makes it pointless."""
    if above.get("inTreeDriver") is True and name in OF_LOADED:
        return True
    return any(name in pair and name not in above and any(other in above for other in pair) for pair in EITHER)


def _field(name: str, below: Any, above: Any) -> Any:
    if isinstance(below, dict) and isinstance(above, dict) and name not in ATOMIC:
        return _over(below, above)
    if not _merges(name, below) or not _merges(name, above):
        return above
    keys = [_key(name, entry) for entry in below]
    entries, taken = list(below), list[Any]()
    for entry in above:
        key = _key(name, entry)
        if key not in keys or key in taken:  # a second one of a key stays, for the rules about names
            entries.append(entry)
            continue
        at = keys.index(key)
        entries[at] = entry if name in WHOLE else _over(entries[at], entry)
        taken.append(key)
    return entries


def _merges(name: str, value: Any) -> bool:
    """Return True for a list with keys; one that nobody has checked yet may hold anything (`livenessProbe`)."""
    return name in KEYS and isinstance(value, list) and all(isinstance(entry, dict) for entry in value)


def _key(name: str, entry: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(_part(entry, key) for key in KEYS[name])


def _part(entry: Any, key: str) -> Any:
    """Return the value at a key such as `metadata.name`, or what stands for one that is not there."""
    for part in key.split("."):
        entry = entry.get(part) if isinstance(entry, dict) else None
    return _DEFAULTS.get(key) if entry is None else entry


def _switched(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields without those that `enabled: false` switches off, and without `enabled`."""
    result: dict[str, Any] = {}
    for name, value in fields.items():
        if _merges(name, value):
            own = _plain if name in WHOLE else _entry
            value = [own(entry) for entry in value if entry.get("enabled", True)]
            if not value:
                continue
        elif isinstance(value, dict) and name not in ATOMIC:
            if name in SWITCHES and not value.get("enabled", True):
                continue
            value = _entry(value) if name in SWITCHES else _switched(value)
        result[name] = value
    return result


def _entry(fields: dict[str, Any]) -> dict[str, Any]:
    return _switched(_plain(fields))


def _plain(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name != "enabled"}


def is_offer(value: Any) -> bool:
    """Return True for what is switched off where it is described, so that a stronger layer can switch it on."""
    return isinstance(value, dict) and value.get("enabled") is False and not {"enabled", "name"}.issuperset(value)


def idle_switches(layers: Sequence[Layer]) -> Iterator[tuple[Layer, str, str]]:
    """Yield each `enabled` that changes nothing: its layer, the path of what it stands in, and why."""
    for number, layer in enumerate(layers):
        below = _stacked(other.fields for other in layers[number + 1 :])
        for path, why in _idle(layer.fields, below, ()):
            if not (layer.shared and is_offer(_at(layer.fields, path))):
                yield layer, f"{layer.path}.{join(path)}", why


def _at(fields: Any, path: Path) -> Any:
    for part in path:
        fields = fields[part]
    return fields


def _idle(fields: dict[str, Any], below: dict[str, Any], path: Path) -> Iterator[tuple[Path, str]]:
    for name, value in fields.items():
        if _merges(name, value):
            inherited = below[name] if _merges(name, below.get(name)) else []
            others = [(_key(name, entry), entry) for entry in inherited]
            known = ", ".join(str(next(filter(None, key), "")) for key, _ in others)
            for at, entry in enumerate(value):
                own = _key(name, entry)
                other = next((one for key, one in others if key == own), None)
                here, why = (*path, name, at), f"what is inherited is: {known or 'nothing'}"
                yield from _idle_switch(entry, other, here, why)
                if name not in WHOLE:
                    yield from _idle(entry, other or {}, here)
        elif isinstance(value, dict) and name not in ATOMIC:
            other = below.get(name)
            if name in SWITCHES:
                yield from _idle_switch(value, other, (*path, name), "nothing is inherited")
            yield from _idle(value, other if isinstance(other, dict) else {}, (*path, name))


def _idle_switch(fields: dict[str, Any], below: Any, path: Path, inherited: str) -> Iterator[tuple[Path, str]]:
    if fields.get("enabled") is False and below is None:
        yield path, f"it switches off nothing; {inherited}"
    holder = below if isinstance(below, dict) else {}
    if fields.get("enabled") is True and holder.get("enabled", True):
        yield (*path, "enabled"), "nothing has switched this off"


def place(layers: Sequence[Layer], fields: dict[str, Any], name: str) -> tuple[Layer | None, str]:
    """Return the strongest layer that has the field `name` of the merged `fields`, or most of its path, and its path.

    `daemonSets[0].image` is found in a layer by the key of the first DaemonSet there is, wherever the layer has it.
    """
    if name.isalnum():
        holder = next((layer for layer in layers if name in layer.fields), None)
        return holder, f"{holder.path if holder else 'spec'}.{name}"
    parts = split(name)
    best: Layer | None = None
    depth, path = 0, ""
    for layer in layers:
        there = _there(layer.fields, fields, parts)
        if len(there) > depth:
            best, depth = layer, len(there)
            path = join([*there, *(int(part) if part.isdigit() else part for part in parts[depth:])])
    return best, f"{best.path if best else 'spec'}.{path or name}"


def _there(own: Any, fields: Any, parts: Sequence[str]) -> list[str | int]:
    """Return the first parts of a path that a layer has, with its own positions in lists."""
    there: list[str | int] = []
    name = ""
    for part in parts:
        if isinstance(own, dict) and part in own:
            own, fields, name = own[part], fields.get(part) if isinstance(fields, dict) else None, part
            there.append(part)
            continue
        at = _position(own, fields, int(part), name) if isinstance(own, list) and part.isdigit() else None
        if at is None:
            break
        own, fields = own[at], fields[int(part)] if isinstance(fields, list) else None
        there.append(at)
    return there


def _position(own: list[Any], fields: Any, index: int, name: str) -> int | None:
    """Return where a layer's list has the entry that stands at `index` of the merged list."""
    if not isinstance(fields, list) or index >= len(fields):
        return None
    if not _merges(name, fields) or not _merges(name, own):
        return index if index < len(own) else None
    keys = [_key(name, entry) for entry in fields[: index + 1]]
    positions = [at for at, entry in enumerate(own) if _key(name, entry) == keys[-1]]
    nth = keys.count(keys[-1]) - 1  # of several with one key, which is an error of its own
    return positions[min(nth, len(positions) - 1)] if positions else None
