"""Manifests of our kinds: the samples, whatever the examples and cases hold, and all of them spoiled."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
from krmfn_functions.paths import manifests
from krmfn_functions.rendering.kinds import schema as json_schema

from krmfn import KrmfnError, Manifest
from tests.commands import ROOT

SAMPLES = ROOT / "tests" / "schema_samples"
KINDS = {
    ("krmfn.dev", "DeviceConfig"): "deviceconfig",
    ("example.com", "DeviceConfig"): "deviceconfig-example.com",
    ("pt.example.com", "Ptemplate"): "ptemplate",
    ("krmfn.dev", "RenderDeviceConfigs"): "renderdeviceconfigs",
    ("krmfn.dev", "NodeInventory"): "nodeinventory",
}
"""The schema of each kind."""
CRDS = {
    "deviceconfig": "deviceconfigs.krmfn.dev",
    "deviceconfig-example.com": "deviceconfigs.example.com",
    "ptemplate": "ptemplates.pt.example.com",
}
"""The CRD of each schema's kind."""


def schema_of(manifest: Manifest) -> str:
    """The name of the schema for a manifest, "" when it is not of our kinds."""
    group = str(manifest.get("apiVersion")).partition("/")[0]
    return KINDS.get((group, str(manifest.get("kind"))), "")


def read(path: Path) -> Iterator[Manifest]:
    """The manifests of our kinds in a file; none when it cannot be read, as some cases want it."""
    try:
        resources = manifests.read(str(path))
        candidates = [*(item.manifest for item in resources.items), resources.function_config or {}]
    except KrmfnError:
        return
    yield from (manifest for manifest in candidates if schema_of(manifest))


@cache
def samples() -> tuple[Manifest, ...]:
    """The samples: between them every field, and nothing wrong."""
    return tuple(manifest for path in sorted(SAMPLES.glob("*.yaml")) for manifest in read(path))


@cache
def corpus() -> tuple[Manifest, ...]:
    """Every manifest of our kinds in the samples, examples and cases, once."""
    folders = [SAMPLES, ROOT / "examples", ROOT / "tests" / "cases"]
    paths = [path for folder in folders for path in sorted(folder.rglob("*")) if path.suffix in manifests.SUFFIXES]
    by_text = {_text(manifest): manifest for path in paths for manifest in read(path)}
    alike = {_text(_unnamed(manifest)): manifest for manifest in by_text.values()}
    return tuple(alike.values())


def _text(manifest: Manifest) -> str:
    return json.dumps(manifest, sort_keys=True, default=str)


def _unnamed(manifest: Manifest) -> Manifest:
    """Without what differs among hundreds of configs of one case."""
    return {key: value for key, value in manifest.items() if key != "metadata"}


JUNK: list[Any] = [
    *(None, True, False, 0, -1, 1, 5.5, 70_000, 2**40),
    *("", " ", "a", "A b", "-", "/", "/a", "a:b", "a@b", "x\ny", "a\n"),
    *("1.10", "yes", "10%", "64Mi", "1" * 64, "a" * 5000, "é", "${A}", "$(A)", "{{ .a }}", "!!str a", '"', "a..b"),
    *([], [None], [""], ["a"], ["a", "b"], [{}], {}, {"a": "b"}, {"a": None}, {"a b": "c"}, {"name": "a"}),
]
"""What is put in a value's place."""


@st.composite
def spoiled(draw: st.DrawFn, of: Callable[[], tuple[Manifest, ...]]) -> Manifest:
    """A copy of one of these manifests, changed in one or two places, of its spec more often than elsewhere."""
    choices = of()
    manifest: Manifest = copy.deepcopy(choices[draw(st.integers(0, len(choices) - 1))])
    for _ in range(draw(st.integers(1, 2))):
        part = manifest.get("spec") if draw(st.integers(0, 9)) else manifest
        places = [*_places(part)] or [*_places(manifest)]
        _spoil(draw, *places[draw(st.integers(0, len(places) - 1))])
    return manifest


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every (container, key or index) of a value."""
    pairs = list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ())
    for key, child in pairs:
        yield value, key
        yield from _places(child)


def _spoil(draw: st.DrawFn, parent: Any, key: Any) -> None:
    value = parent[key]
    fitting: dict[type, list[str]] = {
        dict: ["junk", "drop", "add", "swell"],
        list: ["junk", "drop", "repeat", "swell"],
        str: ["junk", "text"],
    }
    how = draw(st.sampled_from(fitting.get(type(value), ["junk", "drop"])))
    if how == "junk":
        parent[key] = copy.deepcopy(draw(st.sampled_from(JUNK)))
    elif how == "drop":
        del parent[key]
    elif how == "add":
        value[draw(st.sampled_from(FIELDS))] = copy.deepcopy(draw(st.sampled_from(JUNK)))
    elif how == "repeat":
        value.extend(copy.deepcopy(value))
    elif how == "swell" and isinstance(value, list):
        value.extend(copy.deepcopy(value[:1]) * 256)
    elif how == "swell":
        value.update({f"key{number}": "" for number in range(80)})
    else:
        parent[key] = draw(st.sampled_from([*(value + end for end in ENDS), f" {value}", value.upper(), value * 40]))


ENDS = ["\n", "-", "1", ".a", "/a", ":1", "@", "${A}"]


def _names(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value.get("properties", {})
        for child in value.values():
            yield from _names(child)


FIELDS = ["unknown", "labels.a", *sorted({name for file in KINDS.values() for name in _names(json_schema(file))})]
"""Every field name there is, and some that are none."""
