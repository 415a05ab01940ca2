"""Two values for a field that its schema accepts: to show one, and to see what changes with the other."""

from __future__ import annotations

import re

from krmfn.typed import Any

Schema = dict[str, Any]
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
