"""The CRD's rules about one value: its fields, type, bounds, pattern and keys; `structure` applies them to each."""

import re
from collections import Counter
from collections.abc import Container, Iterator

from krmfn import Result
from krmfn.resource import FieldPath, join
from krmfn.typed import Any

from ... import oracles
from ...rule import Rule
from ..rule import quote, refusal
from .apitext import api_path, as_json, quoting_hint, scalar, type_error, type_name, unknown_field, unknown_field_hint
from .facts import Fact


def is_dropped(path: FieldPath) -> bool:
    """Return True for a status, which the API server drops before it validates an apply."""
    return path[:1] == ("status",)


def unknown_fields(value: Any, node: Fact, path: FieldPath) -> Iterator[Result]:
    """Yield an error for each field of a value that the CRD does not have."""
    is_map, is_list = node.type == "object" and node.fields is None, isinstance(value, list)
    if (is_list and node.type == "array") or (is_map and (not is_list or node.item is None)):
        return
    fields = node.fields or {}
    known = fields if path else {*fields, "apiVersion", "kind", "metadata"}
    for field_path in _unknown_paths(value, known, path):
        has_fields = node.type == "object" and not is_list
        hint = unknown_field_hint(field_path, fields, node.is_own) if has_fields else ""
        yield refusal(unknown_field(field_path), join(field_path), remedy=hint, rule="KMM051")


def _unknown_paths(value: Any, known: Container[str], path: FieldPath) -> Iterator[FieldPath]:
    """Yield the paths of unknown fields; in a list where none belongs, all fields of its entries."""
    if isinstance(value, dict):
        yield from ((*path, key) for key in value if key not in known)
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from _unknown_paths(entry, (), (*path, index))


KMM051 = Rule(
    "KMM051",
    "a field must exist in the Module CRD of this KMM version; unknown fields would be dropped silently",
    good='spec: {selector: {example.com/gpu: "true"}}\n',
    bad='spec: {nodeSelector: {example.com/gpu: "true"}}\n',
    remedy="Correct the field's name, remove the field, set the KMM version that has it (`kmm.version`), or pass your "
    "cluster's CRD with `--kmm-crd`.",
    held=oracles.APISERVER,
)


KMM053 = Rule(
    "KMM053",
    "a required field must be present",
    good='spec: {devicePlugin: {container: {image: "registry.example.com/plugin:1.0"}}}\n',
    bad="spec: {devicePlugin: {container: {}}}\n",
    remedy="Add the field that the finding names.",
    held=oracles.APISERVER,
)


def null_value(node: Fact, parent: Fact, path: FieldPath) -> Iterator[Result]:
    """Yield the error about a field that is null, unless the CRD has a default for it."""
    if path[-1] not in parent.required and node.default is None and not is_dropped(path):
        expected = "integer,string" if node.type in _EITHER else node.type
        hint = "leave the field out: a plain create drops it, server-side apply refuses it"
        yield refusal(type_error(api_path(path), "null", expected), join(path), remedy=hint, rule="KMM059")


KMM059 = Rule(
    "KMM059",
    "a field must not be null: server-side apply refuses it, and a plain create drops the field",
    good='spec: {selector: {example.com/gpu: ""}}\n',
    bad="spec: {selector: {example.com/gpu: null}}\n",
    remedy='Remove the field, or write its value; write an empty label value as "".',
    held=oracles.APISERVER,
)


QUANTITY = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
_EITHER = ("quantity", "intOrString")
"""The types that take a whole number or a string."""
INFINITE = float("inf")


def check(value: Any, node: Fact, path: FieldPath) -> Iterator[Result]:
    """Yield what the CRD refuses in one value, not in those below it."""
    yield from unknown_fields(value, node, path)
    yield from _check_type(value, node, path)
    pattern = QUANTITY if node.type == "quantity" else node.pattern
    if isinstance(value, dict):
        for key in (key for key in node.required if value.get(key) is None):
            yield refusal(f"{api_path((*path, key))}: Required value", join((*path, key)), rule="KMM053")
    elif isinstance(value, list):
        yield from _check_list(value, node, path)
    elif pattern and isinstance(value, str) and not re.fullmatch(pattern[1:-1], value):
        where = api_path(path)
        text = f"{where}: Invalid value: {quote(value)}: {where} in body should match '{pattern}'"
        yield refusal(text, join(path), value, rule="KMM056")


def _check_type(value: Any, node: Fact, path: FieldPath) -> Iterator[Result]:
    actual = type_name(value)
    expected = ("integer", "string") if node.type in _EITHER else (node.type,)
    is_dropped_number = actual == "number" and is_dropped(path) and abs(value) < INFINITE
    if actual in expected or (is_dropped_number and "integer" in expected):
        return
    where, hint = api_path(path), quoting_hint(value, expected)
    yield refusal(type_error(where, actual, ",".join(expected)), join(path), scalar(value), hint, "KMM052")
    if node.type in _EITHER:
        text = f'<nil>: Invalid value: "": "{where}" must validate at least one schema (anyOf)'
        yield refusal(text, join(path), scalar(value), rule="KMM052")
        yield refusal(type_error(where, actual, "integer"), join(path), scalar(value), rule="KMM052")


def _check_list(value: list[Any], node: Fact, path: FieldPath) -> Iterator[Result]:
    """Yield what the CRD refuses in a list: its length, and entries that are no objects or have equal keys."""
    where = api_path(path)
    if len(value) < node.low:
        text = f"{where}: Invalid value: {len(value)}: {where} in body should have at least {node.low} items"
        yield refusal(text, join(path), value, rule="KMM054")
    if node.high is not None and len(value) > node.high:
        text = f"{where}: Too many: {len(value)}: must have at most {node.high} items"
        yield refusal(text, join(path), rule="KMM055")
    if not node.keys:
        return
    for index, entry in enumerate(value):
        if entry is not None and not isinstance(entry, dict):
            entry_path, printed = (*path, index), quote(entry) if isinstance(entry, str) else as_json(entry)
            text = f"{api_path(entry_path)}: Invalid value: {printed}: must be an object for an array of list-type map"
            yield refusal(text, join(entry_path), scalar(entry), rule="KMM057")
            return
    seen = Counter[str]()  # an entry with the keys of an earlier one is an error once per key, as to the API server
    for index, entry in ((index, entry) for index, entry in enumerate(value) if entry is not None):
        text = as_json({key: entry[key] for key in node.keys if entry.get(key) is not None})
        seen[text] += 1
        if seen[text] == 2:
            entry_path, first = (*path, index), node.keys[0]
            text = f"{api_path(entry_path)}: Duplicate value: {text}"
            yield refusal(text, join((*entry_path, first)), scalar(entry.get(first)), rule="KMM057")


KMM052 = Rule(
    "KMM052",
    "a value must have the type that the CRD requires; a string that looks like a number or a boolean needs quotes",
    good='spec: {moduleLoader: {container: {version: "1.10"}}}\n',
    bad="spec: {moduleLoader: {container: {version: 1.10}}}\n",
    remedy="Write the value with the type that the finding names; put quotes around text that looks like a number or a "
    "boolean.",
    held=oracles.APISERVER,
)

KMM054 = Rule(
    "KMM054",
    "a list must have an entry where the CRD requires one; [] is refused",
    good="spec: {moduleLoader: {container: {modprobe: {args: {load: [-v]}}}}}\n",
    bad="spec: {moduleLoader: {container: {modprobe: {args: {load: []}}}}}\n",
    remedy="Add an entry, or remove the field.",
    held=oracles.APISERVER,
)

KMM055 = Rule(
    "KMM055",
    "a list must not be longer than its limit (DRA selectors and config: 32; after KMM 2.6)",
    good="""\
# kmm: main
spec:
  dra:
    driverName: gpu.example.com
    container: {image: "registry.example.com/dra:1.0"}
    deviceClasses: [{name: gpu.example.com, selectors: [{}, {}]}]
""",
    bad="""\
# kmm: main
spec:
  dra:
    driverName: gpu.example.com
    container: {image: "registry.example.com/dra:1.0"}
    deviceClasses:
    - name: gpu.example.com
      selectors: [{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
        {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}]
""",
    remedy="Combine several entries into one, or split the device class into two.",
    held=oracles.APISERVER,
)

KMM056 = Rule(
    "KMM056",
    "a string must match its pattern in the CRD: quantities, names of DRA device classes",
    good="""\
spec: {devicePlugin: {container: {image: "registry.example.com/plugin:1.0", resources: {limits: {memory: 1Gi}}}}}
""",
    bad="""\
spec: {devicePlugin: {container: {image: "registry.example.com/plugin:1.0", resources: {limits: {memory: 1GB}}}}}
""",
    remedy="Write quantities as Kubernetes does (500m, 1Gi, 2), and names in lowercase letters.",
    held=oracles.APISERVER,
)

KMM057 = Rule(
    "KMM057",
    "entries of a list that the API server treats as a map must have different keys (resources.claims: name)",
    good="""\
spec:
  devicePlugin:
    container: {image: "registry.example.com/plugin:1.0", resources: {claims: [{name: a}, {name: b}]}}
""",
    bad="""\
spec:
  devicePlugin:
    container: {image: "registry.example.com/plugin:1.0", resources: {claims: [{name: a}, {name: a}]}}
""",
    remedy="Rename the repeated entry, or remove it.",
    held=oracles.APISERVER,
)


RULES = (KMM051, KMM053, KMM059, KMM052, KMM054, KMM055, KMM056, KMM057)
