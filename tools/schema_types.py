"""Write functions/deviceconfig/fields.py: the fields of a DeviceConfig as Python types, from their schema."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from schema_nodes import Node

TYPES = {
    "ImageParts": "imageParts",
    "KernelMapping": "kernelMapping",
    "InitContainer": "initContainers",
    "Sidecar": "containers",
    "Container": "initContainer",
    "DevicePlugin": "devicePlugin",
    "Dra": "dra",
    "DaemonSet": "daemonSet",
}
"""The types that are definitions of the schema, with the definition's name."""
EXTENDED = {
    "InitContainer": "Container",
    "Sidecar": "InitContainer",
    "DevicePlugin": "Container",
    "Dra": "DevicePlugin",
    "DaemonSet": "Sidecar",
}
"""The types that have all fields of another one, which they extend."""
_PASSED_ON = frozenset(
    {
        *("command", "args", "resources", "envFrom", "workingDir", "livenessProbe", "readinessProbe", "startupProbe"),
        *("lifecycle", "priorityClassName", "runtimeClassName", "hostNetwork", "hostPID", "hostIPC", "dnsPolicy"),
        *("terminationGracePeriodSeconds", "updateStrategy", "minReadySeconds", "revisionHistoryLimit"),
        *("imagePullPolicy", "internalTrafficPolicy", "automountServiceAccountToken", "driverName", "deviceClasses"),
    }
)
"""Fields that nobody reads by themselves: `model.written` passes them on."""
_ABOUT = {"Container": "what every container has, and all that the initContainer of a plugin has"}
FIELDS = {"Upgrade": "upgrade", "ServiceAccount": "serviceAccount", "Hub": "hub", "Service": "service"}
"""The types that stand in one field, with the field's name."""
_HEAD = '''"""The fields of a DeviceConfig as types. Generated from the schema: `python tools/schemas.py`; do not edit.

What is absent is the empty value of its type: "", () or None. What is only passed on stands here for a spec alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from krmfn.typed import Any

OF_LOADER = (
{of_loader})
"""The fields of the kernel module's loader."""


class Fields:
    """A value that `model.typed` fills and that is only read then. (It takes less time to define than a NamedTuple.)"""

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{{name}} is only read")
'''
_FOOT = '''

NESTED: dict[str, type[Fields]] = {{
{nested}}}
"""The fields that are themselves typed, or lists of such; a name has one type wherever it stands."""
'''
_ABSENT = {
    "string": 'str = ""',
    "boolean": "bool | None = None",
    "integer": "int | None = None",
    "array": "Sequence[Any] = ()",
    "object": "dict[str, Any] | None = None",
}
"""The Python type of each type of JSON Schema, and what stands for an absent field."""


def module(spec: Node, definitions: Mapping[str, Node], of_loader: list[str]) -> str:
    """Return the text of functions/deviceconfig/fields.py; `of_loader` are the fields that only the loader needs."""
    kinds = {name: definitions[key] for name, key in TYPES.items()} | {"Spec": spec}
    for name in ("InitContainer", "Sidecar"):
        kinds[name] = kinds[name]["items"]
    for name, field in FIELDS.items():
        kinds[name] = kinds["DaemonSet" if name == "Service" else "Spec"]["properties"][field]
    order = ("Container", *(name for name in kinds if name != "Container"))
    classes = (_class(name, kinds, definitions) for name in order)
    nested: dict[str, str] = {}
    for field, entry in (pair for node in kinds.values() for pair in node["properties"].items()):
        own_type = _own_type(field, entry)
        if nested.setdefault(field, own_type) != own_type:
            raise SystemExit(f"{field} has two types: {nested[field]} and {own_type}")
    return (
        _HEAD.format(of_loader="".join(_row(of_loader[at : at + 6]) for at in range(0, len(of_loader), 6)))
        + "".join(classes)
        + _FOOT.format(
            nested="".join(f'    "{field}": {own_type},\n' for field, own_type in nested.items() if own_type)
        )
    )


def _row(names: list[str]) -> str:
    row = ", ".join(map(json.dumps, names))
    return f"    *({row}),\n" if len(names) > 1 else f"    {row},\n"


def _class(name: str, kinds: Mapping[str, Node], definitions: Mapping[str, Node]) -> str:
    extended = EXTENDED.get(name, "")
    known = dict(_fields(kinds[extended], definitions)) if extended else {}
    fields = dict(_fields(kinds[name], definitions))
    if not known.items() <= fields.items():
        raise SystemExit(f"{name} lacks a field of {extended}, which it extends")
    left_out = known if name == "Spec" else {*known, *_PASSED_ON}
    lines = [f"    {field}: {fields[field]}\n" for field in fields if field not in left_out]
    about = str(_ABOUT.get(name, kinds[name]["description"]))
    head = f'class {name}({extended or "Fields"}):\n    """{about[0].upper()}{about[1:]}."""\n'
    return "\n\n" + "\n".join([head, "".join(lines)][: 1 + bool(lines)])


def _fields(node: Node, definitions: Mapping[str, Node]) -> Iterator[tuple[str, str]]:
    """Yield the name of each field, and its type with the value for "absent"."""
    for field, entry in node["properties"].items():
        if field == "enabled":
            continue  # layers are merged by it, and what is merged has none
        own_type, is_list = _own_type(field, entry), _plain(entry, definitions).get("type") == "array"
        if own_type:
            yield field, f"Sequence[{own_type}] = ()" if is_list else f"{own_type} | None = None"
        else:
            yield field, _ABSENT.get(str(_plain(entry, definitions).get("type")), "str | int | None = None")


def _plain(entry: Node, definitions: Mapping[str, Node]) -> Node:
    """Return the definition that a node refers to, or the node."""
    return definitions[_name(entry)] if "$ref" in entry else entry


def _name(entry: Node) -> str:
    return str(entry.get("$ref", "")).removeprefix("#/$defs/").removesuffix("WithRights")


def _own_type(field: str, entry: Node) -> str:
    """Return the name of the type of a field or of its entries; "" for one that has no type of its own."""
    named = {_name(entry), _name(entry.get("items", {}))}
    for types, key in ((TYPES, named), (FIELDS, {field})):
        for name, of in types.items():
            if of in key:
                return name
    return ""
