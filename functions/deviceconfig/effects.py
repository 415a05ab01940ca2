"""Fields that are written and have no effect: a finding for each, with the reason."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby

from krmfn import Field, Ref, Result, warning
from krmfn.fieldpath import join
from krmfn.rule import Rule

from .layers import Layer
from .merging import stacked
from .model import DeviceConfig, value
from .reading import PROFILE
from .unused import keys_of_ours, unused


def fields_have_an_effect(configs: Sequence[DeviceConfig]) -> Iterator[tuple[Ref, Result]]:
    """Yield a warning per field that is written and changes nothing.

    A field that several configs or pools share counts as used when one of them uses it.
    """
    idle: dict[tuple[int, str], list[tuple[DeviceConfig, str]]] = defaultdict(list)
    vain: dict[tuple[int, str, str], list[tuple[DeviceConfig, str]]] = defaultdict(list)  # of a layer as a whole
    useful = set[bytes]()  # the likenesses of configs whose fields all have an effect
    for config in configs:
        if config.likeness in useful:
            continue
        found = [(name, why) for name, why in unused(config) if value(config.spec, name) is not None]
        for name, why in found:
            holder = config.layer(name)
            if holder:
                idle[id(holder.source), config.at(name)].append((config, why))
        for layer, path, why in _in_vain(config) if config.has_switches else ():
            vain[id(layer.source), layer.path, path].append((config, why))
        if config.likeness and not found and not keys_of_ours(config):
            useful.add(config.likeness)
    users = _users(configs) if idle or any(config.pool for config in configs) else Counter()
    for (source, path), idle_here in idle.items():
        if len(idle_here) == users[source, _top(idle_here[0][0], path)]:
            yield from (_finding(config, path, why) for config, why in idle_here)
    holders = _holders(configs) if vain else {}
    for (source, above, path), vain_here in vain.items():
        if len(vain_here) == holders[source, above]:
            yield from (_finding(config, path, why) for config, why in vain_here)
    for _, group in groupby(configs, key=lambda config: id(config.item)):
        yield from _beside(list(group), users)


def _in_vain(config: DeviceConfig) -> Iterator[tuple[Layer, str, str]]:
    """Yield the switches and the names in `unset` that change nothing in a config: the layer, the path, and why."""
    from .switches import idle_switches, idle_unset  # here, since most configs have none

    yield from idle_switches(config.layers)
    yield from idle_unset(config.layers)


def _holders(configs: Sequence[DeviceConfig]) -> Counter[tuple[int, str]]:
    """Return how many configs and pools have each layer, by what it is written in and its path there."""
    return Counter((id(layer.source), layer.path) for config in configs for layer in config.layers)


def _users(configs: Sequence[DeviceConfig]) -> Counter[tuple[int, str]]:
    """Return how many configs and pools take each field, by what it is written in and its path there."""
    return Counter((id(layer.source), f"{layer.path}.{name}") for config in configs for layer, name in _fields(config))


def _fields(config: DeviceConfig) -> Iterator[tuple[Layer, str]]:
    """Yield the fields of the config, each with the layer that it comes from."""
    for name in {name: None for layer in config.layers for name in layer.fields}:
        for layer in config.givers(name):
            yield layer, name


def _top(config: DeviceConfig, path: str) -> str:
    """Return the path of the field of a spec, pool or profile that holds the one at `path`."""
    paths = (f"{layer.path}.{name}" for layer, name in _fields(config))
    return max((top for top in paths if path == top or path.startswith((f"{top}.", f"{top}["))), key=len)


def _finding(config: DeviceConfig, path: str, why: str) -> tuple[Ref, Result]:
    return config.ref, config.located(warning(f"has no effect: {why}", rule="KRM142", field=Field(path)))


def _beside(pools: list[DeviceConfig], users: Counter[tuple[int, str]]) -> Iterator[tuple[Ref, Result]]:
    """Yield findings about fields of a config that every pool replaces, and about a profile that is named twice."""
    config = pools[0]
    own = next((layer for layer in config.layers if layer.path == "spec"), None)
    own = own if config.pool and not config.modules else None
    for name in own.fields if own else ():
        if own and name != "nodeSelector" and not users[id(own.source), f"spec.{name}"]:
            yield _finding(config, f"spec.{name}", "every pool has its own")
    if own and "nodeSelector" in own.fields and "nodePools" not in own.fields:
        known = [pool["nodeSelector"] for pool in stacked(layer.fields for layer in config.layers[1:])["nodePools"]]
        if all(selector.items() >= own.fields["nodeSelector"].items() for selector in known):
            yield _finding(config, "spec.nodeSelector", "every pool has these labels already")
    annotated = config.item.annotations.get(PROFILE, config.profile)
    if annotated != config.profile:
        why = f"spec.profile is {config.profile!r} and takes precedence"
        yield _finding(config, join(("metadata", "annotations", PROFILE)), why)


RULES = (
    Rule(
        "KRM142",
        "a field should have an effect where it is written",
        good="""\
spec:
  driverImage: null
  driverVersion: null
  kernelMappings: [{regexp: ^.+$, image: "registry.example.com/gpu:1.0-${KERNEL_FULL_VERSION}"}]
""",
        bad="""\
spec:
  driverImage: registry.example.com/gpu:1.1
  driverVersion: null
  kernelMappings: [{regexp: ^.+$, image: "registry.example.com/gpu:1.0-${KERNEL_FULL_VERSION}"}]
""",
        remedy="Remove the field, or move it to where it has an effect; the finding says why it has none here.",
        severities=("warning", "info"),
        advice=True,
    ),
)
"""The rule about fields without effect; `rendering.object_checks` and `ptemplate.render` report it, too."""
