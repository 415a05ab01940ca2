"""The fields of a kind, as its schema has them, and two values for each that the schema accepts."""

import re
from collections.abc import Collection, Iterator

from krmfn.typed import Any, NamedTuple

from ..deviceconfig.keyed import ATOMIC, KEYS, WHOLE
from ..deviceconfig.merging import EITHER, SWITCHES, UNSET
from ..rendering.kinds import schema

Schema = dict[str, Any]
KINDS = ("deviceconfig", "ptemplate", "renderdeviceconfigs", "nodeinventory")
"""Our kinds as `explain` takes them: the names of their schemas."""
_LAYERED = ("deviceconfig", "renderdeviceconfigs")


class Entry(NamedTuple):
    """A field of a kind, ours or a Profile's."""

    kind: str
    path: tuple[str, ...]
    """Its names, `daemonSets[]` for the entries of a list."""
    about: str
    type: str
    node: Schema
    required: bool = False
    merge: str = ""
    """How the values of two layers are merged; "" for kinds without layers."""
    definition: str = ""
    """The schema's definition that it shares with other fields, such as `volumes`; "" for none."""

    @property
    def name(self) -> str:
        """Return its path below the kind: `spec.devicePlugin.env[].value`."""
        return ".".join(self.path)


def definitions(kind: str) -> Schema:
    """Return the definitions of a kind's schema."""
    return dict(schema(kind).get("$defs", {}))


def entries(kind: str) -> Iterator[Entry]:
    """Yield every field of a kind's spec, each before the fields in it."""
    root = schema(kind)
    spec = {"spec": root["properties"]["spec"]}
    yield from _entries(kind, {**root, "properties": spec}, (), definitions(kind))


def by_name(kind: str) -> dict[str, Entry]:
    """Return every field of a kind's spec by its path without the marks of lists: `spec.devicePlugin.env.value`."""
    return {entry.name.replace("[]", ""): entry for entry in entries(kind)}


def _entries(kind: str, holder: Schema, above: tuple[str, ...], shared: Schema) -> Iterator[Entry]:
    """Yield the fields of an object, each before the fields in it."""
    siblings = holder.get("properties", {})
    for name, raw in siblings.items():
        node, path = resolved(raw, shared), (*above, name)
        merge = _merge(name, node, siblings) if kind in _LAYERED and above else ""
        about, type_, required = node.get("description", ""), in_words(node, shared), name in holder.get("required", ())
        yield Entry(kind, path, about, type_, node, required, merge, raw.get("$ref", "").rpartition("/")[2])
        if name == "defaults":  # a DeviceConfig's fields, which were yielded, and some of its own
            known = {entry.path[1:] for entry in entries("deviceconfig")}
            yield from (entry for entry in _entries(kind, node, path, shared) if entry.path[2:] not in known)
        elif "items" in node:
            yield from _entries(kind, resolved(node["items"], shared), (*above, f"{name}[]"), shared)
        elif name != "profiles":  # each is like the defaults
            yield from _entries(kind, node, path, shared)


def in_words(node: Schema, shared: Schema) -> str:
    """Return a type in words: `a string, one of A, B`, `a list of strings`, `a number from 1 to 65535`."""
    if "enum" in node:
        choices = ((str(value).lower() if isinstance(value, bool) else str(value)) or '""' for value in node["enum"])
        return "one of " + ", ".join(f"`{word}`" for word in choices)
    kinds = node["type"] if isinstance(node.get("type"), list) else [node.get("type", "object")]
    if kinds == ["array"]:
        return f"list of {_plural(in_words(resolved(node['items'], shared), shared))}"
    if isinstance(node.get("additionalProperties"), dict):
        return f"mapping to {_plural(in_words(resolved(node['additionalProperties'], shared), shared))}"
    low, high = node.get("minimum"), node.get("maximum")
    bounds = f" from {low} to {high}" if "integer" in kinds and high is not None and high < 2**31 - 1 else ""
    words = {"string": "text", "integer": f"number{bounds}", "boolean": "true or false", "object": "object"}
    return " or ".join(words[kind] for kind in kinds)


def _plural(kind: str) -> str:
    return {"text": "texts", "object": "objects"}.get(kind, kind)


def _merge(name: str, node: Schema, siblings: Collection[str]) -> str:
    """Return in words how two layers merge a field, by the table of `deviceconfig.merging`."""
    pairs = (other for pair in EITHER if name in pair for other in pair if other != name and other in siblings)
    if either := next(pairs, ""):
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
    "image": ("registry.example.com/tool:1.0", "registry.example.com/tool:2.0"),
    "driverImage": ("registry.example.com/driver", "registry.example.com/other"),
    "expression": ('device.driver == "gpu.example.com"', 'device.driver == "nic.example.com"'),
    "driverName": ("gpu.example.com", "nic.example.com"),
    "imageRegistry": ("mirror.example.com", "mirror.example.com:5000"),
    "registry": ("registry.example.com", "mirror.example.com"),
    "repository": ("team/driver", "team/other"),
    **dict.fromkeys(("tag", "driverVersion"), ("1.0", "2.0")),
    "unsignedImage": ("registry.example.com/unsigned:1.0", "registry.example.com/unsigned:2.0"),
    "firmwarePath": ("/firmware", "/lib/firmware"),
    "modprobedDir": ("/etc/modprobe.d", "/modprobe.d"),
    "filesToSign": (["/opt/lib/modules/gpu.ko"], ["/opt/lib/modules/other.ko"]),
    "parameters": (["mode=1"], ["mode=2"]),
    "modulesLoadingOrder": (["gpu", "gpu_core"], ["gpu", "other"]),
    **dict.fromkeys(("args", "loadArgs", "unloadArgs"), (["-v"], ["-q"])),
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
"""Values that tell more than the first text that fits, by the names of their fields."""


def specimen(node: Schema, definitions: Schema, name: str, number: int = 0) -> Any:
    """Return a value that fits a node of a schema, the first or the second (`number` 0 or 1), with what it requires."""
    node = resolved(node, definitions)
    if name in _BY_NAME and (node.get("type") != "object" or name == "podSpec"):
        return _BY_NAME[name][number]
    if choices := node.get("enum") or node.get("examples"):
        return choices[min(number, len(choices) - 1)]
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
    fields = node.get("properties", {})
    names = node.get("required") or list(fields)[:1]
    if not fields:
        return {"example": ("a", "b")[number]}  # Kubernetes knows what may stand here
    return {name: specimen(fields[name], definitions, name, number) for name in names}


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
