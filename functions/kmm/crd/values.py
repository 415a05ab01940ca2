"""The CRD's rules about one value: its type, bounds, pattern and keys; `structure` applies them to each."""

from __future__ import annotations

import re
from collections.abc import Iterator

from krmfn import Result
from krmfn.fieldpath import FieldPath, join
from krmfn.rule import Rule
from krmfn.typed import Any

from ..gotext import quote
from ..rule import refused
from .apitext import as_json, dotted, mistyped, type_name
from .facts import Fact
from .fields import is_dropped, missing_fields, unknown_fields
from .hints import in_quotes

QUANTITY = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
INFINITE = float("inf")


def check(value: Any, node: Fact, path: FieldPath) -> Iterator[Result]:
    """Yield what the CRD refuses in one value, not in those below it."""
    yield from unknown_fields(value, node, path)
    yield from _wrong_type(value, node, path)
    pattern = QUANTITY if node.type == "quantity" else node.pattern
    if isinstance(value, dict):
        yield from missing_fields(value, node, path)
    elif isinstance(value, list):
        yield from _of_list(value, node, path)
    elif pattern and isinstance(value, str) and not re.fullmatch(pattern[1:-1], value):
        where = dotted(path)
        text = f"{where}: Invalid value: {quote(value)}: {where} in body should match '{pattern}'"
        yield refused(text, join(path), value, rule="KMM056")


def _wrong_type(value: Any, node: Fact, path: FieldPath) -> Iterator[Result]:
    actual = type_name(value)
    expected = ("integer", "string") if node.type == "quantity" else (node.type,)
    if actual in expected or (
        actual == "number" and "integer" in expected and is_dropped(path) and abs(value) < INFINITE
    ):
        return
    where, hint = dotted(path), in_quotes(value, expected)
    yield refused(mistyped(where, actual, ",".join(expected)), join(path), _shown(value), hint, "KMM052")
    if node.type == "quantity":
        text = f'<nil>: Invalid value: "": "{where}" must validate at least one schema (anyOf)'
        yield refused(text, join(path), _shown(value), rule="KMM052")
        yield refused(mistyped(where, actual, "integer"), join(path), _shown(value), rule="KMM052")


def _of_list(value: list[Any], node: Fact, path: FieldPath) -> Iterator[Result]:
    where = dotted(path)
    if len(value) < node.low:
        text = f"{where}: Invalid value: {len(value)}: {where} in body should have at least {node.low} items"
        yield refused(text, join(path), value, rule="KMM054")
    if node.high is not None and len(value) > node.high:
        text = f"{where}: Too many: {len(value)}: must have at most {node.high} items"
        yield refused(text, join(path), rule="KMM055")
    if not node.keys:
        return
    for index, entry in enumerate(value):
        if entry is not None and not isinstance(entry, dict):
            here, shown = (*path, index), quote(entry) if isinstance(entry, str) else as_json(entry)
            text = f"{dotted(here)}: Invalid value: {shown}: must be an object for an array of list-type map"
            yield refused(text, join(here), _shown(entry), rule="KMM057")
            return
    yield from _repeated(value, node.keys, path)


def _repeated(entries: list[Any], keys: tuple[str, ...], path: FieldPath) -> Iterator[Result]:
    """Yield an error for each entry with the keys of an earlier one, once per key, as the API server does."""
    seen: dict[str, int] = {}
    for index, entry in enumerate(entries):
        if entry is None:
            continue
        text = as_json({key: entry[key] for key in keys if entry.get(key) is not None})
        seen[text] = seen.get(text, 0) + 1
        if seen[text] == 2:
            here = (*path, index)
            where = join((*here, keys[0]))
            yield refused(f"{dotted(here)}: Duplicate value: {text}", where, _shown(entry.get(keys[0])), rule="KMM057")


KMM052 = Rule(
    "KMM052",
    "a value must have the type that the CRD requires; a string that looks like a number or a boolean needs quotes",
    good='spec: {moduleLoader: {container: {version: "1.10"}}}\n',
    bad="spec: {moduleLoader: {container: {version: 1.10}}}\n",
    remedy="Write the value with the type that the finding names; put quotes around text that looks like a number or a "
    "boolean.",
)

KMM054 = Rule(
    "KMM054",
    "a list must have an entry where the CRD requires one; [] is refused",
    good="spec: {moduleLoader: {container: {modprobe: {args: {load: [-v]}}}}}\n",
    bad="spec: {moduleLoader: {container: {modprobe: {args: {load: []}}}}}\n",
    remedy="Add an entry, or remove the field.",
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
)


def _shown(value: Any) -> Any:
    return None if isinstance(value, (dict, list)) else value


RULES = (KMM052, KMM054, KMM055, KMM056, KMM057)
