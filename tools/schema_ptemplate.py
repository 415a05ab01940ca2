"""The `spec` of a Ptemplate, field by field."""

from __future__ import annotations

from schema_nodes import Node, number, record, same, text

_MESSAGE: Node = {
    "pattern": r"^[^\x00-\x20\x7f]*$",
    "maxLength": 1024,
    "x-says": "one word without spaces: module parameters are separated by spaces",
}
PTEMPLATE = record(
    "what is wanted",
    {
        "imagePullSecret": record(
            "a Secret in the same namespace that pulls the images",
            {"name": text("the Secret's name", "subdomain")},
            ["name"],
        ),
        "defaultmsg": text("the module's default_msg, one word", **_MESSAGE),
        "maxdev": number("how many devices; 0 means 5"),
        "deviceplugin": text("the device plugin's image", "image"),
        "selector": same("selector"),
        "consumer": text("the consumer's image", "image"),
        "requiredDevices": number("devices per consumer; 0 means 1"),
    },
    ["selector"],
)
