"""Functions that make JSON Schema nodes, one per type of field; its description always comes first.

Beside JSON Schema's keywords a node may have `x-cel`, rules between fields as (CEL expression, message), and
`x-key`, the field by which a list's entries differ. Both are for the CRDs alone; see schema_crds.py. `x-elsewhere`
says of fields that an object does not have where they are written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Node = dict[str, Any]

_LABEL_KEY = r"^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$"
_SUBDOMAIN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
# A text has one way only through these two, so that no text takes long: a name is in small letters, a variable not.
_VARIABLE = r"[$][{]?KRMFN_[A-Z_}]*[A-Z}]"
_NAME = rf"([a-z0-9]|{_VARIABLE})([a-z0-9._-]|{_VARIABLE})*"
_LABEL_VALUE = r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?"
_HOST = r"^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?"

# The patterns mean the same to Python, RE2 (the API server) and ECMA 262 (editors): no \s, \d, \w, no look-around,
# and `$` only at the end.
FORMS: dict[str, tuple[str, int, str]] = {
    "line": (r"^[^\x00-\x1f\x7f]+$", 4096, "one line of text"),
    "word": (r"^[^\x00-\x20\x7f]+$", 1024, "one word without spaces"),
    "path": (r"^/[^\x00-\x1f\x7f]*$", 4096, "an absolute path"),
    "directory": (r"^(/[^\x00-\x1f\x7f]*|[A-Za-z0-9_.][A-Za-z0-9_./-]*)$", 4096, "a directory such as /firmware"),
    "image": (
        r"^([A-Za-z0-9]|[$][{]?KRMFN_)[A-Za-z0-9._:/@${}+-]*$",
        1024,
        "an image reference such as registry.example.com/driver",
    ),
    "registry": (_HOST + r"(/[a-z0-9._-]+)*$", 255, "a registry such as mirror.example.com:5000/team"),
    "repository": (rf"^{_NAME}(/{_NAME})*$", 255, "a repository such as team/driver"),
    "tag": (r"^[A-Za-z0-9_$][A-Za-z0-9_.${}-]*$", 255, "a tag: letters, digits, -, _, . and KMM's $ variables"),
    "digest": (r"^sha(256:[0-9a-f]{64}|512:[0-9a-f]{128})$", 135, "a digest such as sha256: and 64 hexadecimal digits"),
    "version": (
        r"^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$",
        63,
        "at most 63 letters, digits, -, _ and ., since it becomes a tag and a label value",
    ),
    "KMM version": (
        r"^(main|openshift|(openshift-)?v?[0-9]{1,4}[.][0-9]{1,4}([.][0-9]{1,4})?)$",
        32,
        "a KMM version such as 2.6, openshift-2.6, main or openshift",
    ),
    "kernel module": (r"^[A-Za-z0-9_][A-Za-z0-9_-]*$", 63, "a kernel module's name: letters, digits, - and _"),
    "label": (r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", 63, "lower case letters, digits and -, at most 63"),
    "subdomain": (_SUBDOMAIN, 253, "lower case letters, digits, - and ."),
    "subdomain to fill in": (
        f"^({_SUBDOMAIN[1:-1]}|[a-z0-9.-]*({_VARIABLE}[a-z0-9.-]*)+)$",
        253,
        "lower case letters, digits, - and .; or with variables such as $KRMFN_NAME",
    ),
    "driver name": (_SUBDOMAIN, 63, "lower case letters, digits, - and ., at most 63"),
    "port name": (
        r"^([0-9]+-)*[0-9]*[a-z][a-z0-9]*(-[a-z0-9]+)*$",
        15,
        "at most 15 lower case letters, digits and single -, with a letter among them",
    ),
    "build argument": (r"^[A-Za-z_][A-Za-z0-9_]*$", 255, "a variable's name: letters, digits and _"),
    "variable": (r"^[^=\x00-\x1f\x7f]+$", 1024, "a variable's name, without ="),
    "label key": (_LABEL_KEY, 317, "a label key such as example.com/gpu"),
    "label key or *": (f"^([*]|{_LABEL_KEY[1:-1]})$", 317, "a label key such as example.com/gpu, or * for all"),
    "annotation key": (_LABEL_KEY, 317, "an annotation key such as example.com/contact"),
    "label value": (
        f"^{_LABEL_VALUE}$",
        63,
        "a label value: at most 63 letters, digits, -, _ and ., beginning and ending with a letter or digit",
    ),
    "label value to fill in": (
        f"^({_LABEL_VALUE}|[-A-Za-z0-9_.]*([$][{{]?KRMFN_[-A-Za-z0-9_.}}]*)+)$",
        253,
        "a label value: at most 63 letters, digits, -, _ and ., beginning and ending with a letter or digit; or one "
        "with variables such as $KRMFN_NAME",
    ),
    "date": (r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$", 10, 'a day in quotes, such as "2026-12-31"'),
    "quantity": (
        r"^[+-]?([0-9]+|[0-9]+\.[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+|[KMGTPE]i|[numkMGTPE])?$",
        64,
        "a quantity such as 100m, 2 or 64Mi",
    ),
    "percentage": (r"^(100|[1-9]?[0-9])%$", 4, "a whole number or a percentage such as 10%"),
    "rule": (r"^K(MM|RM)[0-9]{3}$", 6, "a rule's id such as KRM204"),
    "reason": (r"[^\x00-\x20\x7f]", 4096, "a sentence that says why"),
}
"""The forms of strings: pattern, greatest length, and a sentence about both."""


def form(name: str) -> Node:
    """Return the keywords of a form."""
    pattern, longest, says = FORMS[name]
    return {"pattern": pattern, "maxLength": longest, "x-says": says}


def text(description: str, like: str = "", **facts: Any) -> Node:
    """Return a string, of a form in FORMS when one is named."""
    return {"type": "string", "description": description, **(form(like) if like else {}), **facts}


def choice(description: str, *values: str) -> Node:
    """Return a string that is one of a few values."""
    return {"type": "string", "description": description, "enum": list(values)}


def flag(description: str) -> Node:
    """Return a boolean."""
    return {"type": "boolean", "description": description}


ENABLED = {"enabled": flag("false switches off what the profile or the defaults give here")}
"""A field of what a stronger layer can switch off."""


def number(description: str, least: int = 0, most: int = 2**31 - 1) -> Node:
    """Return a whole number within bounds."""
    return {"type": "integer", "description": description, "minimum": least, "maximum": most}


def number_or_text(description: str, like: str, **facts: Any) -> Node:
    """Return a whole number, or a string of a form."""
    return {"type": ["string", "integer"], "description": description, **form(like), **facts}


def listed(of: Node, description: str, least: int = 1, most: int = 256, key: str = "") -> Node:
    """Return a list; `key` is the field by which its entries differ."""
    node = {"type": "array", "description": description, "items": of, "minItems": least, "maxItems": most}
    return node | ({"x-key": key} if key else {})


def record(
    description: str, fields: Mapping[str, Node], needs: Iterable[str] = (), rules: Iterable[tuple[str, str]] = ()
) -> Node:
    """Return an object with these fields and no others."""
    return {**opened(description, fields, needs, rules), "additionalProperties": False}


def opened(
    description: str, fields: Mapping[str, Node] = {}, needs: Iterable[str] = (), rules: Iterable[tuple[str, str]] = ()
) -> Node:
    """Return an object that may have other fields, which Kubernetes checks."""
    node: Node = {"type": "object", "description": description}
    if fields:
        node["properties"] = dict(fields)
    if needs:
        node["required"] = list(needs)
    if rules:
        node["x-cel"] = [list(rule) for rule in rules]
    return node


def elsewhere(node: Node, **fields: str) -> Node:
    """Return the node with a sentence for each field that people look for in it, and that belongs somewhere else."""
    return {**node, "x-elsewhere": {**node.get("x-elsewhere", {}), **fields}}


def mapped(description: str, of: Node, keys: str = "", most: int = 64) -> Node:
    """Return a mapping with keys of a form and values of one kind."""
    named = {"propertyNames": form(keys)} if keys else {}
    return {"type": "object", "description": description, **named, "additionalProperties": of, "maxProperties": most}


def same(name: str, description: str = "") -> Node:
    """Return a reference to `name` in the definitions."""
    return {"$ref": f"#/$defs/{name}", **({"description": description} if description else {})}
