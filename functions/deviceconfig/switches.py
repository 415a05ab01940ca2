"""Switches (`enabled`) and names in `unset` that change nothing: each is compared with the layers below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from krmfn.resource import FieldPath, join
from krmfn.typed import Any

from .layers import Layer
from .merging import ATOMIC, SWITCHES, UNSET, WHOLE, key_of, merged, merges, stacked


def is_offer(value: Any) -> bool:
    """Return True for what is described and switched off in one place: a stronger layer can switch it on."""
    return isinstance(value, dict) and value.get("enabled") is False and not {"enabled", "name"}.issuperset(value)


def idle_switches(layers: Sequence[Layer]) -> Iterator[tuple[Layer, str, str]]:
    """Yield each switch that changes nothing: its layer, its path or that of what it switches off, and why."""
    for number, layer in enumerate(layers):
        below = stacked(other.fields for other in layers[number + 1 :])
        for path, why in _idle(layer.fields, below, ()):
            offered = len(path) < 2 or path[-2] not in WHOLE  # who would switch it on would have to write it all
            if not (layer.shared and offered and is_offer(_at(layer.fields, path))):
                yield layer, f"{layer.path}.{join(path)}", why


def _at(fields: Any, path: FieldPath) -> Any:
    for part in path:
        fields = fields[part]
    return fields


def _idle(fields: dict[str, Any], below: dict[str, Any], path: FieldPath) -> Iterator[tuple[FieldPath, str]]:
    """Yield the path of each switch in `fields` that changes nothing in what is `below`, and why."""
    for name, value in fields.items():
        if merges(name, value):
            inherited = below[name] if merges(name, below.get(name)) else []
            others = [(key_of(name, entry), entry) for entry in inherited]
            known = ", ".join(str(next(filter(None, key), "")) for key, _ in others)
            for at, entry in enumerate(value):
                own = key_of(name, entry)
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


def _idle_switch(
    fields: dict[str, Any], below: Any, path: FieldPath, inherited: str
) -> Iterator[tuple[FieldPath, str]]:
    if fields.get("enabled") is False and below is None:
        yield path, f"it switches off nothing; {inherited}"
    holder = below if isinstance(below, dict) else {}
    if fields.get("enabled") is True and holder.get("enabled", True):
        yield (*path, "enabled"), f"it switches on nothing; {inherited if below is None else 'it is on already'}"


def idle_unset(layers: Sequence[Layer]) -> Iterator[tuple[Layer, str, str]]:
    """Yield each name in `unset` that changes nothing: its layer, its path, and why."""
    whole = merged(layer.fields for layer in layers)
    for number, layer in enumerate(layers):
        names = layer.fields.get(UNSET, ())
        below = stacked(other.fields for other in layers[number + 1 :]) if names else {}
        for at, name in enumerate(names):
            rest = {**layer.fields, UNSET: [*names[:at], *names[at + 1 :]]}
            if merged(rest if other is layer else other.fields for other in layers) == whole:
                why = f"{name} is the same without it" if name in below else f"nothing is inherited for {name}"
                yield layer, f"{layer.path}.{UNSET}[{at}]", why
