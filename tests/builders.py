"""Manifests and ResourceLists as tests need them, copies of them with other values, and functions run on them."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path as FilePath
from typing import Any, TypeVar

import yaml
from krmfn_functions.run import note
from krmfn_functions.settings import Settings

from krmfn import Function, Manifest, ResourceList, Result
from krmfn.resource import split

Path = tuple[str | int, ...]
Value = TypeVar("Value")

SPEC: dict[str, Any] = {
    "driverImage": "registry.example.com/driver",
    "driverVersion": "1.0",
    "moduleName": "drv",
    "nodeSelector": {"gpu": "a"},
}
"""The spec of a DeviceConfig that has no finding."""
AGENT = {"name": "agent", "image": "registry.example.com/agent:1"}
"""An entry of daemonSets."""
PLUGIN = {"image": "registry.example.com/plugin:1"}
"""A devicePlugin."""
CONFIG = """\
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {name: drv, namespace: kmm}
spec: {driverImage: r.example.com/drv, driverVersion: "1", moduleName: drv, nodeSelector: {a: b}}
"""
"""A file with a DeviceConfig that has no finding."""
EVERY_KERNEL = {"regexp": "^.+$"}
NO_SETTINGS = Settings()


# Manifests.


def manifest(api_version: str, kind: str, name: str = "a", namespace: str = "kmm", **metadata: Any) -> Manifest:
    """Return a manifest of any kind; a namespace of "" is left out."""
    named = {"name": name, **({"namespace": namespace} if namespace else {}), **metadata}
    return {"apiVersion": api_version, "kind": kind, "metadata": named}


def device_config(spec: Any = SPEC, name: str = "dc", namespace: str = "kmm", **metadata: Any) -> Manifest:
    """Return a DeviceConfig with this spec; a field that is None is left out."""
    return {
        **manifest("krmfn.dev/v1alpha1", "DeviceConfig", name, namespace, **metadata),
        "spec": {field: value for field, value in spec.items() if value is not None},
    }


def function_config(**spec: Any) -> Manifest:
    """Return a RenderDeviceConfigs."""
    return {**manifest("krmfn.dev/v1alpha1", "RenderDeviceConfigs", "render", ""), "spec": spec}


def node(name: str, **labels: str) -> Manifest:
    """Return a Node with labels."""
    return manifest("v1", "Node", name, "", labels=labels)


def module(
    *mappings: Manifest, name: str = "simple", namespace: str = "kmm", selector: Any = None, **container: Any
) -> Manifest:
    """Return a Module that no rule has a finding about, with fields of its container set or, with None, left out.

    Without `mappings` it has one that takes every kernel; those without an image get one.
    """
    images = [
        {"containerImage": "example.com/simple:$KERNEL_FULL_VERSION", **mapping}
        for mapping in mappings or [EVERY_KERNEL]
    ]
    fields = {"modprobe": {"moduleName": "simple"}, "kernelMappings": images, **container}
    loader = {"container": {field: value for field, value in fields.items() if value is not None}}
    return {
        **manifest("kmm.sigs.x-k8s.io/v1beta1", "Module", name, namespace),
        "spec": {"selector": {"a": "b"} if selector is None else selector, "moduleLoader": loader},
    }


def by_name(manifests: Iterable[Manifest]) -> dict[str, Manifest]:
    """Return manifests by `Kind name`."""
    return {f"{item['kind']} {item['metadata']['name']}": item for item in manifests}


# Copies with other values.

DROP: Any = object()
"""The value that takes a field away."""


def edited(value: Value, *edits: tuple[str | Path, Any]) -> Value:
    """Return a copy with other values at paths such as `spec.a[0].b`; what holds them is made where it is missing."""
    changed = copy.deepcopy(value)
    for path, part in edits:
        *parents, last = split(path) if isinstance(path, str) else path
        holder: Any = changed
        for step in parents:
            holder = holder[int(step)] if isinstance(holder, list) else holder.setdefault(step, {})
        key = int(last) if isinstance(holder, list) else last
        if part is DROP:
            del holder[key]
        else:
            holder[key] = copy.deepcopy(part)
    return changed


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield every scalar and every empty list and mapping of a value, with its path."""
    inner = [*value.items()] if isinstance(value, dict) else [*enumerate(value)] if isinstance(value, list) else []
    if not inner:
        yield path, value
    for key, child in inner:
        yield from leaves(child, (*path, key))


# Lists, and functions run on them.


def list_text(*items: Manifest, function_config: Manifest | None = None) -> bytes:
    """Return a ResourceList as a pipeline sends it."""
    head: Manifest = {"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList"}
    config = {"functionConfig": function_config} if function_config else {}
    return block_text({**head, **config, "items": items}).encode()


_PLAIN = re.compile(r"[A-Za-z](?::?[A-Za-z0-9/._-])*")
_OTHER_WORDS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))


def block_text(data: Any, pad: str = "") -> str:
    """Return a mapping or list as block YAML, as engines send it: it is read in half of the time of JSON on a line."""
    if not data or not isinstance(data, (dict, list, tuple)):
        return f"{pad}{_scalar(data)}\n"
    entries = data.items() if isinstance(data, dict) else [("-", child) for child in data]
    lines = []
    for key, child in entries:
        name = key if isinstance(key, str) else json.dumps(key)
        head = f"{pad}{_scalar(name)}:" if isinstance(data, dict) else f"{pad}-"
        if not child or not isinstance(child, (dict, list, tuple)):
            lines.append(f"{head} {_scalar(child)}\n")
        elif isinstance(data, dict):
            lines.append(f"{head}\n{block_text(child, f'{pad}  ' if isinstance(child, dict) else pad)}")
        else:
            lines.append(f"{head} {block_text(child, f'{pad}  ')[len(pad) + 2 :]}")
    return "".join(lines)


def _scalar(value: Any) -> str:
    """Return a word as it is, and other data as JSON."""
    is_word = isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _OTHER_WORDS
    return value if is_word else json.dumps(value)


def document_text(*documents: str) -> bytes:
    """Return YAML documents as the items of a ResourceList, in the layout in which they stand."""
    items = ("- " + "".join(f"  {line}\n" for line in document.splitlines())[2:] for document in documents)
    return f"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n{''.join(items)}".encode()


def folder_text(folder: FilePath) -> bytes:
    """Return the manifests of a folder as the ResourceList that a pipeline sends; a DeviceConfig gets a namespace."""
    files = sorted(path for path in folder.rglob("*.yaml") if not path.name.startswith("expected"))
    items = [document for path in files for document in yaml.load_all(path.read_text(), yaml.CSafeLoader) if document]
    configs = [item for item in items if item.get("kind") == "RenderDeviceConfigs"]
    others = [item for item in items if item not in configs]
    for item in others:
        if item.get("kind") == "DeviceConfig":
            item["metadata"].setdefault("namespace", "kmm")
    head: Manifest = {"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList"}
    config = {"functionConfig": configs[0]} if configs else {}
    return yaml.safe_dump({**head, **config, "items": others}, sort_keys=False).encode()


def resource_list(
    *items: Manifest, function_config: Manifest | None = None, settings: Settings = NO_SETTINGS
) -> ResourceList:
    """Return a ResourceList as a pipeline or a command reads it."""
    resources = ResourceList.parse(list_text(*items, function_config=function_config))
    note(resources, settings=settings)
    return resources


def applied(
    function: Function, *items: Manifest, function_config: Manifest | None = None, settings: Settings = NO_SETTINGS
) -> ResourceList:
    """Return a list of these items after a function."""
    resources = resource_list(*items, function_config=function_config, settings=settings)
    function(resources)
    return resources


def generated(resources: ResourceList) -> list[Manifest]:
    """Return what a run without an error has created."""
    assert not resources.failed, [str(result) for result in resources.results]
    created = {ref for change, ref in resources.changes if change == "created"}
    return [item.manifest for item in resources.items if item.ref in created]


def places(results: Iterable[Result], *severities: str) -> list[tuple[str, str]]:
    """Return the rule and the field of each finding; with severities, of the findings that have one of them."""
    counted = [result for result in results if not severities or result.severity in severities]
    return [(result.rule, result.field.path if result.field else "") for result in counted]
