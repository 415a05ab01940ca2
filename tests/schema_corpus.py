"""Manifests of our kinds: the samples, whatever the examples and cases hold, and all of them spoiled."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
from krmfn_functions.published import schema as published

from krmfn import KrmfnError, Manifest, manifests

REPO = Path(__file__).resolve().parents[1]
SAMPLES = REPO / "tests" / "schema_samples"
KINDS = {
    ("krmfn.dev", "DeviceConfig"): "deviceconfig",
    ("example.com", "DeviceConfig"): "deviceconfig-example.com",
    ("pt.example.com", "Ptemplate"): "ptemplate",
    ("krmfn.dev", "RenderDeviceConfigs"): "renderdeviceconfigs",
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
        found = [*(item.manifest for item in resources.items), resources.function_config or {}]
    except KrmfnError:
        return
    yield from (manifest for manifest in found if schema_of(manifest))


@cache
def samples() -> tuple[Manifest, ...]:
    """The samples: between them every field, and nothing wrong."""
    return tuple(manifest for path in sorted(SAMPLES.glob("*.yaml")) for manifest in read(path))


@cache
def corpus() -> tuple[Manifest, ...]:
    """Every manifest of our kinds in the samples, examples and cases, once."""
    folders = [SAMPLES, REPO / "examples", REPO / "tests" / "cases"]
    paths = [path for folder in folders for path in sorted(folder.rglob("*")) if path.suffix in manifests.SUFFIXES]
    found = {_text(manifest): manifest for path in paths for manifest in read(path)}
    alike = {_text(_unnamed(manifest)): manifest for manifest in found.values()}
    return tuple(alike.values())


def _text(manifest: Manifest) -> str:
    return json.dumps(manifest, sort_keys=True, default=str)


def _unnamed(manifest: Manifest) -> Manifest:
    """Without what differs among hundreds of configs of one case."""
    return {key: value for key, value in manifest.items() if key != "metadata"}


JUNK: list[Any] = [
    *(
        None,
        True,
        False,
        0,
        -1,
        1,
        5.5,
        70_000,
        2**40,
        "",
        " ",
        "a",
        "A b",
        "-",
        "/",
        "/a",
        "a:b",
        "a@b",
        "x\ny",
        "a\n",
    ),
    *("1.10", "yes", "10%", "64Mi", "1" * 64, "a" * 5000, "é", "${A}", "$(A)", "{{ .a }}", "!!str a", '"', "a..b"),
    *([], [None], [""], ["a"], ["a", "b"], [{}], {}, {"a": "b"}, {"a": None}, {"a b": "c"}, {"name": "a"}),
]
"""What is put in a value's place."""


@st.composite
def spoiled(draw: st.DrawFn, of: tuple[Manifest, ...]) -> Manifest:
    """A copy of one of these manifests, changed in up to three places."""
    manifest: Manifest = copy.deepcopy(draw(st.sampled_from(of)))
    for _ in range(draw(st.integers(0, 3))):
        parent, key = draw(st.sampled_from([*_places(manifest)]))
        _spoil(draw, parent, key)
    return manifest


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every (container, key or index) of a value."""
    pairs = list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ())
    for key, child in pairs:
        yield value, key
        yield from _places(child)


def _spoil(draw: st.DrawFn, parent: Any, key: Any) -> None:
    value, how = parent[key], draw(st.sampled_from(["junk", "drop", "add", "repeat", "swell", "text"]))
    if how == "junk":
        parent[key] = copy.deepcopy(draw(st.sampled_from(JUNK)))
    elif how == "drop":
        del parent[key]
    elif how == "add" and isinstance(value, dict):
        known = [name for name in FIELDS if name not in value]
        value[draw(st.sampled_from(known))] = copy.deepcopy(draw(st.sampled_from(JUNK)))
    elif how == "repeat" and isinstance(value, list):
        value.extend(copy.deepcopy(value))
    elif how == "swell" and isinstance(value, list):
        value.extend(copy.deepcopy(value[:1]) * 256)
    elif isinstance(value, str):
        parent[key] = draw(
            st.sampled_from([f"{value}\n", f" {value}", value.upper(), f"{value}-", value * 40, value[1:]])
        )


def _names(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value.get("properties", {})
        for child in value.values():
            yield from _names(child)


FIELDS = ["unknown", "labels.a", *sorted({name for file in KINDS.values() for name in _names(published(file))})]
"""Every field name there is, and some that are none."""
