"""Write functions/deviceconfig/fields.py: the fields of a DeviceConfig as Python types, from their schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from schema_nodes import Node

TYPES = {
    "ImageParts": "imageParts",
    "KernelMapping": "kernelMapping",
    "InitContainer": "initContainers",
    "Sidecar": "containers",
    "PluginInit": "initContainer",
    "DevicePlugin": "devicePlugin",
    "Dra": "dra",
    "DaemonSet": "daemonSet",
}
"""The types that are definitions of the schema, with the definition's name."""
FIELDS = {"Upgrade": "upgrade", "ServiceAccount": "serviceAccount", "Hub": "hub", "Service": "service"}
"""The types that stand in one field, with the field's name."""
_HEAD = '''"""The fields of a DeviceConfig as types. Generated from the schema: `python tools/schemas.py`; do not edit.

What is absent is the empty value of its type: "", [] or None.
"""

from __future__ import annotations

from typing import Any

_NONE: list[Any] = []  # shared, and read only

OF_LOADER = (
{of_loader})
"""The fields of the kernel module's loader."""


class Fields:
    """A value that `model.spec` fills and that is only read then. (It takes less time to define than a NamedTuple.)"""

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{{name}} is only read")
'''
_FOOT = '''

NESTED: dict[type[Fields], dict[str, type[Fields]]] = {{
{nested}}}
"""The fields of each type that are themselves typed, or lists of such."""
'''
_ABSENT = {
    "string": ("str", '""'),
    "boolean": ("bool | None", "None"),
    "integer": ("int | None", "None"),
    "array": ("list[Any]", "_NONE"),
    "object": ("dict[str, Any] | None", "None"),
}
"""The Python type of each type of JSON Schema, and what stands for an absent field."""


def module(spec: Node, definitions: Mapping[str, Node], of_loader: list[str]) -> str:
    """Return the text of functions/deviceconfig/fields.py; `of_loader` are the fields that only the loader needs."""
    kinds = {name: definitions[key] for name, key in TYPES.items()} | {"Spec": spec}
    for name in ("InitContainer", "Sidecar"):
        kinds[name] = kinds[name]["items"]
    for name, field in FIELDS.items():
        kinds[name] = kinds["DaemonSet" if name == "Service" else "Spec"]["properties"][field]
    classes = (_class(name, node, definitions) for name, node in kinds.items())
    nested = (_nested(name, node, definitions) for name, node in kinds.items())
    return (
        _HEAD.format(of_loader="".join(f'    "{name}",\n' for name in of_loader))
        + "".join(classes)
        + _FOOT.format(nested="".join(nested))
    )


def _class(name: str, node: Node, definitions: Mapping[str, Node]) -> str:
    lines = [f"    {field}: {kind} = {default}\n" for field, kind, default in _fields(node, definitions)]
    description = node["description"]
    return f'\n\nclass {name}(Fields):\n    """{description[0].upper()}{description[1:]}."""\n\n' + "".join(lines)


def _fields(node: Node, definitions: Mapping[str, Node]) -> Iterator[tuple[str, str, str]]:
    """Yield the name, the type and the value for "absent" of each field."""
    for field, entry in node["properties"].items():
        own, is_list = _own_type(field, entry), _plain(entry, definitions).get("type") == "array"
        if own:
            yield (field, f"list[{own}]", "_NONE") if is_list else (field, f"{own} | None", "None")
        else:
            yield (field, *_ABSENT.get(str(_plain(entry, definitions).get("type")), ("str | int | None", "None")))


def _plain(entry: Node, definitions: Mapping[str, Node]) -> Node:
    """Return the definition that a node refers to, or the node."""
    return definitions[_name(entry)] if "$ref" in entry else entry


def _name(entry: Node) -> str:
    return str(entry.get("$ref", "")).removeprefix("#/$defs/")


def _own_type(field: str, entry: Node) -> str:
    """Return the name of the type of a field or of its entries; "" for one that has no type of its own."""
    named = {_name(entry), _name(entry.get("items", {}))}
    for types, key in ((TYPES, named), (FIELDS, {field})):
        for name, of in types.items():
            if of in key:
                return name
    return ""


def _nested(name: str, node: Node, definitions: Mapping[str, Node]) -> str:
    pairs = [(field, own) for field, entry in node["properties"].items() if (own := _own_type(field, entry))]
    inner = ", ".join(f'"{field}": {own}' for field, own in pairs)
    line = f"    {name}: {{{inner}}},\n"
    if len(line) > 120:
        line = f"    {name}: {{\n" + "".join(f'        "{field}": {own},\n' for field, own in pairs) + "    },\n"
    return line if pairs else ""
