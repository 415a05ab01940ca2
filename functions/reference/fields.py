"""The fields of a kind, as its schema has them, and two values for each that the schema accepts."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from krmfn.typed import Any, NamedTuple

from ..deviceconfig.merging import ATOMIC, EITHER, KEYS, SWITCHES, UNSET, WHOLE
from ..rendering.kinds import schema

Schema = dict[str, Any]
KINDS = ("deviceconfig", "ptemplate", "renderdeviceconfigs", "nodeinventory")
"""Our kinds as `explain` takes them: the names of their schemas."""
_LAYERED = ("deviceconfig", "renderdeviceconfigs")


class Entry(NamedTuple):
    """A field of a kind."""

    kind: str
    path: tuple[str, ...]
    """Its names, `daemonSets[]` for the entries of a list."""
    about: str
    type: str
    required: bool
    merge: str
    """What becomes of it where two layers have it; "" for kinds without layers."""
    node: Schema
    definition: str
    """The definition that it shares with other fields, such as `volumes`; "" for none."""

    @property
    def name(self) -> str:
        """Return its path below the kind: `spec.devicePlugin.env[].value`."""
        return ".".join(self.path)


def definitions(kind: str) -> Schema:
    """Return the definitions of a kind's schema."""
    found: Schema = schema(kind).get("$defs", {})
    return found


def entries(kind: str) -> Iterator[Entry]:
    """Yield every field of a kind's spec, each before the fields in it."""
    whole = schema(kind)
    yield from _entries(
        kind, whole["properties"]["spec"], ("spec",), "spec" in whole.get("required", ()), definitions(kind)
    )


def _entries(
    kind: str, raw: Schema, path: tuple[str, ...], required: bool, shared: Schema, siblings: Collection[str] = ()
) -> Iterator[Entry]:
    node = resolved(raw, shared)
    name = path[-1]
    merge = _merge(name, node, siblings) if kind in _LAYERED and len(path) > 1 else ""
    definition = raw.get("$ref", "").rpartition("/")[2]
    yield Entry(kind, path, node.get("description", ""), in_words(node, shared), required, merge, node, definition)
    if name == "defaults":  # the fields of a DeviceConfig, again, and some that it has not
        yield from _further(kind, node, path, shared)
    if name in ("defaults", "profiles"):
        return
    inner, at = node, path
    if "items" in node:
        inner, at = resolved(node["items"], shared), (*path[:-1], f"{name}[]")
    for field, child in inner.get("properties", {}).items():
        yield from _entries(
            kind, child, (*at, field), field in inner.get("required", ()), shared, inner["properties"].keys()
        )


def _further(kind: str, node: Schema, path: tuple[str, ...], shared: Schema) -> Iterator[Entry]:
    """Yield the fields of the defaults, and so of profiles, that no DeviceConfig has."""
    known = {entry.path[1:] for entry in entries("deviceconfig")}
    for field, child in node["properties"].items():
        for entry in _entries(kind, child, (*path, field), False, shared, node["properties"].keys()):
            if entry.path[2:] not in known:
                yield entry


def in_words(node: Schema, shared: Schema) -> str:
    """Return a type in words: `a string, one of A, B`, `a list of strings`, `a number from 1 to 65535`."""
    if "enum" in node:
        return "one of " + ", ".join(
            f"`{value}`" if value != "" else '`""' + "`" for value in map(_plain, node["enum"])
        )
    kinds = node["type"] if isinstance(node.get("type"), list) else [node.get("type", "object")]
    if kinds == ["array"]:
        return f"list of {_plural(in_words(resolved(node['items'], shared), shared))}"
    if isinstance(node.get("additionalProperties"), dict):
        return f"mapping to {_plural(in_words(resolved(node['additionalProperties'], shared), shared))}"
    low, high = node.get("minimum"), node.get("maximum")
    bounds = f" from {low} to {high}" if "integer" in kinds and high is not None and high < 2**31 - 1 else ""
    words = {"string": "text", "integer": f"number{bounds}", "boolean": "true or false", "object": "object"}
    return " or ".join(words[kind] for kind in kinds)


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _plural(kind: str) -> str:
    return {"text": "texts", "object": "objects"}.get(kind, kind)


def _merge(name: str, node: Schema, siblings: Collection[str]) -> str:
    """Return what becomes of a field that two layers have: the table of `deviceconfig.merging` in words."""
    either = next(
        (other for pair in EITHER for other in pair if name in pair and other != name and other in siblings), ""
    )
    if either:
        return f"the stronger one's, also over {either}"
    if name == UNSET:
        return "each one's, for what is weaker"
    if name in KEYS and node.get("type") == "array":
        keys = " and ".join(KEYS[name])
        return f"entry by entry, by {keys}" + (", each whole" if name in WHOLE else "")
    if node.get("type") == "object" and name not in ATOMIC:
        return "key by key" + (", `enabled: false` switches it off" if name in SWITCHES else "")
    return "the stronger one's"


SPECIMENS = (
    ("example.com/gpu", "example.com/other"),
    ("gpu", "other"),
    ("1.0", "2.0"),
    ("/opt", "/srv"),
    ("10%", "20%"),
    ("1", "2"),
    ("GPU_MODE", "GPU_OTHER"),
    ("a=1", "b=2"),
    ("v1.0-$KERNEL_FULL_VERSION", "v2.0"),
    ("2026-12-31", "2027-12-31"),
    ("KRM204", "KRM205"),
    (f"sha256:{'a' * 64}", f"sha256:{'b' * 64}"),
)
"""Texts of every form that our schemas have; the first pair that fits is taken."""
_BY_NAME: dict[str, tuple[Any, Any]] = {
    "regexp": ("^.+$", r"^.+\.el9\..+$"),
    "literal": ("6.1.0-test", "6.2.0-test"),
    "fieldPath": ("spec.nodeName", "metadata.name"),
    "resource": ("limits.memory", "limits.cpu"),
    "tag": ("1.0", "2.0"),
    "image": ("registry.example.com/tool:1.0", "registry.example.com/tool:2.0"),
    "driverImage": ("registry.example.com/driver", "registry.example.com/other"),
    "moduleName": ("gpu", "other"),
    "expression": ('device.driver == "gpu.example.com"', 'device.driver == "nic.example.com"'),
    "driverName": ("gpu.example.com", "nic.example.com"),
    "imageRegistry": ("mirror.example.com", "mirror.example.com:5000"),
    "registry": ("registry.example.com", "mirror.example.com"),
    "repository": ("team/driver", "team/other"),
    "driverVersion": ("1.0", "2.0"),
    "unsignedImage": ("registry.example.com/unsigned:1.0", "registry.example.com/unsigned:2.0"),
    "firmwarePath": ("/firmware", "/lib/firmware"),
    "filesToSign": (["/opt/lib/modules/gpu.ko"], ["/opt/lib/modules/other.ko"]),
    "parameters": (["mode=1"], ["mode=2"]),
    "modulesLoadingOrder": (["gpu", "gpu_core"], ["gpu", "other"]),
    "args": (["-v"], ["-q"]),
    "loadArgs": (["-v"], ["-q"]),
    "unloadArgs": (["-v"], ["-q"]),
    "rawLoadArgs": (["gpu"], ["other"]),
    "rawUnloadArgs": (["-r", "gpu"], ["-r", "other"]),
    "mountPath": ("/data", "/other"),
    "hostDevices": (["/dev/vfio"], ["/dev/kfd"]),
    "retain": (["0.9"], ["0.8"]),
    "podSpec": ({"shareProcessNamespace": True}, {"shareProcessNamespace": False}),
    "apiVersion": ("v1", "v2"),
    "kind": ("ConfigMap", "Service"),
    "apiGroups": ([""], ["apps"]),
    "resources": (["nodes"], ["pods"]),
    "resourceNames": (["gpu"], ["other"]),
    "verbs": (["get"], ["list"]),
    "nonResourceURLs": (["/metrics"], ["/healthz"]),
}
"""Values that say more than what merely fits."""


def specimen(node: Schema, definitions: Schema, name: str, number: int = 0) -> Any:
    """Return a value that fits a node of a schema, the first or the second (`number` 0 or 1), with what it requires."""
    node = resolved(node, definitions)
    if name in _BY_NAME and (node.get("type") != "object" or name == "podSpec"):
        return _BY_NAME[name][number]
    if "enum" in node:
        return node["enum"][min(number, len(node["enum"]) - 1)]
    kinds = node["type"] if isinstance(node.get("type"), list) else [node.get("type")]
    if "string" in kinds:
        return _text(node.get("pattern", ""), number)
    if "boolean" in kinds:
        return number == 0
    if "integer" in kinds:
        return max(int(node.get("minimum", 0)), 0) + 1 + number
    if "array" in kinds:
        return [specimen(node["items"], definitions, "", number)]
    if isinstance(node.get("additionalProperties"), dict):
        key = _text(node.get("propertyNames", {}).get("pattern", ""), 0)
        return {key: specimen(node["additionalProperties"], definitions, "", number)}
    return _object(node, definitions, number)


def _object(node: Schema, definitions: Schema, number: int) -> Any:
    fields = node.get("properties", {})
    wanted = list(node.get("required", ()))
    wanted += [] if wanted else list(fields)[:1]
    if not fields:
        return {"example": ("a", "b")[number]}  # Kubernetes knows what may stand here
    return {name: specimen(fields[name], definitions, name, number) for name in wanted}


def resolved(node: Schema, definitions: Schema) -> Schema:
    """Return a node with what its reference says, its own description first."""
    if "$ref" not in node:
        return node
    rest = {key: value for key, value in node.items() if key != "$ref"}
    return {**resolved(definitions[node["$ref"].rpartition("/")[2]], definitions), **rest}


def _text(pattern: str, number: int) -> str:
    if not pattern:
        return ("a", "b")[number]
    return next(pair[number] for pair in SPECIMENS if all(re.search(pattern, text) for text in pair))
