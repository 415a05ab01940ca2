"""The layers that a config is made from, and where in them a field of the merged config is written."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from krmfn import Item
from krmfn.fieldpath import join, split

from ..rendering.function_config import Source
from .merging import UNSET, key_of, merges


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


def place(layers: Sequence[Layer], fields: dict[str, Any], name: str) -> tuple[Layer | None, str]:
    """Return the strongest layer that has `name` of the merged `fields`, or most of its path, and the path there.

    For `daemonSets[0].image` a layer is searched for an entry with the key of `daemonSets[0]`, at any position.
    """
    if name.isalnum():
        holder = next((layer for layer in layers if name in layer.fields or name in layer.fields.get(UNSET, ())), None)
        return holder, f"{holder.path if holder else 'spec'}.{name}"
    parts = split(name)
    best: Layer | None = None
    depth, path = 0, ""
    for layer in layers:
        there = _there(layer.fields, fields, parts)
        if len(there) > depth:
            best, depth = layer, len(there)
            path = join([*there, *(int(part) if part.isdigit() else part for part in parts[depth:])])
        if parts[0] in layer.fields.get(UNSET, ()):
            break
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
    if not merges(name, fields) or not merges(name, own):
        return index if index < len(own) else None
    keys = [key_of(name, entry) for entry in fields[: index + 1]]
    positions = [at for at, entry in enumerate(own) if key_of(name, entry) == keys[-1]]
    nth = keys.count(keys[-1]) - 1  # of several with one key, which is an error of its own
    return positions[min(nth, len(positions) - 1)] if positions else None
