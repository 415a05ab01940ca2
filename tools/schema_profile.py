"""The fields of a Profile."""

from __future__ import annotations

from schema_nodes import Node, choice, elsewhere, flag, listed, mapped, opened, record, text
from schema_specs import SPEC

_CONDITION: Node = {
    "type": "object",
    "description": "what must hold of the options, by their paths (spec.metrics.enable): a value, a list of values of "
    "which it is one, or {exists: true} and {exists: false}",
    "minProperties": 1,
}
_CONFIG = opened("fields of a DeviceConfig's spec, with expressions such as ${spec.driver.image}")
_UNSET = listed(text("a field, or a part of one by its path"), "what weaker layers set and is taken away")
_WHEN = record("fields for configs of which `if` holds", {"if": _CONDITION, "config": _CONFIG, "unset": _UNSET}, ["if"])
_MODULE = record(
    "one of several Modules of a config",
    {
        "config": opened("fields about its kernel modules, its plugins and its own DaemonSets"),
        "when": listed(_WHEN, "more of them, the later the stronger", most=1024),
    },
)
_RELEASE = opened("what changes with a version of the driver", {"version": text("the driver's version")}, ["version"])
_TEXT = record(
    "a text made of options",
    {
        "as": text("the text, with ${key} and ${value} where there is `each`"),
        "each": text("the path of a map or a list: `as` or `entry` is made for each entry of it"),
        "entry": {
            "type": ["string", "object"],
            "description": "makes a list, an entry like this for each one of `each`, with ${key}, ${value} and "
            "${value.FIELD}",
        },
        "onto": opened("makes a mapping, these keys and over them those of the map at `each`"),
        "separator": text("what stands between the entries (a space)"),
        "json": text("the path of an option: its value with its types, as JSON"),
        "yaml": text("the path of an option: its value with its types, as YAML"),
        "if": _CONDITION,
        "quote": choice("sh: keys and values are quoted for a shell", "sh"),
    },
)
_FIELDS = record(
    "a vendor's product",
    {
        "version": text("the version of this Profile, such as 1.4.1", "version"),
        "description": text("what it is for, in a line", "line"),
        "requires": record(
            "what it needs",
            {"krmfn": text("the version of krmfn, such as >=0.1"), "kmm": text("the version of KMM, such as >=2.4")},
        ),
        "for": record(
            "the vendor's own kind",
            {
                "group": text("its group", "subdomain"),
                "versions": listed(text("a version", "label"), "the versions that are read"),
                "schemas": mapped(
                    "the schema of each version, in place of `schema`",
                    opened("the openAPIV3Schema of the options in this version"),
                    "label",
                    most=16,
                ),
                "kind": text("its kind", "line"),
                "plural": text("its name in a URL", "label"),
                "scope": choice("Cluster: a config has no namespace (Namespaced)", "Cluster", "Namespaced"),
                "namespace": text("the namespace of what is made of a cluster-wide config", "label"),
                "keep": flag("print the config, too: its own operator may read it"),
            },
            ["group", "kind"],
        ),
        "schema": opened("the openAPIV3Schema of the options, as in a CustomResourceDefinition"),
        "texts": mapped("texts made of options, by their names", _TEXT, most=256),
        "ignored": mapped(
            "options that have no effect, by their paths, each with the reason", text("why", "reason"), most=1024
        ),
        "refuse": listed(
            record("configs that are an error", {"if": _CONDITION, "message": text("why", "line")}, ["if", "message"]),
            "configs that no cluster may have, as the vendor's operator refuses them",
            most=256,
        ),
        "deprecated": mapped(
            "options that still count, by their paths, each with what to write in its place",
            text("what", "line"),
            most=256,
        ),
        "config": _CONFIG,
        "when": listed(_WHEN, "more fields, the later the stronger", most=1024),
        "modules": mapped(
            "the Modules of a config, named <config>-<key>, each on top of `config`", _MODULE, "label", 16
        ),
        "versions": listed(_RELEASE, "what changes with a version of the driver"),
    },
    ["config"],
)
PROFILE = elsewhere(
    _FIELDS,
    extraKinds="the platform says it: write it in the spec of the functionConfig",
    **{name: f"write it as spec.config.{name}" for name in SPEC if name not in _FIELDS["properties"]},
)
