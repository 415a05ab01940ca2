"""Where a field ends up: seen by rendering two values of it, and looking at what differs in the generated objects.

No rule is checked: the field is rendered by itself, where a real config might need others.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache

from krmfn import Manifest
from krmfn.resource import FieldPath, annotations_of, join
from krmfn.typed import Any, NamedTuple

from ..deviceconfig import generate, profiles, reading
from ..deviceconfig.merging import EITHER
from ..differences import ABSENT
from ..grouping import grouped
from ..kmm.crd.facts import Fact, module_facts
from ..kmm.lookup import leaves
from ..kmm.module import MODULE_KIND
from ..kmm.versions import TARGETS
from ..ptemplate import render as ptemplate
from ..rendering.function_config import FunctionConfig
from ..rendering.kinds import schema
from .fields import Entry, Schema, definitions, resolved, specimen

_FULL: dict[str, Any] = {
    "driverImage": "registry.example.com/driver",
    "driverVersion": "1.0",
    "moduleName": "gpu",
    "serviceAccountName": "driver",
    "nodeSelector": {"example.com/gpu": "true"},
    "devicePlugin": {"image": "registry.example.com/plugin:1.0"},
    "daemonSets": [{"name": "agent", "image": "registry.example.com/agent:1.0"}],
}
_BASES: dict[str, tuple[dict[str, Any], ...]] = {
    "deviceconfig": (_FULL, _FULL | {"upgrade": {"ordered": True}}),
    "ptemplate": ({"selector": {"example.com/pt": "true"}, "deviceplugin": "plugin:1.0", "consumer": "consumer:1.0"},),
}
"""Configs into which a field is put, which may have no effect by itself."""
_NEIGHBOURS: dict[str, dict[str, Any]] = {
    "upgrade": {"ordered": True},
    "service": {"port": 9400},
    "serviceAccount": {"create": True},
}
"""Values of neighbours without which a field has no effect, by the field that holds both."""
_SEVERAL = 4
"""From so many fields of one object on, the field that holds them all is named instead."""


class End(NamedTuple):
    """A field of a generated object that a field of a config decides; the path "" is the whole object."""

    kind: str
    path: str

    def __str__(self) -> str:
        return f"{self.kind} {self.path}" if self.path else self.kind


Leaves = dict[tuple[str, int, FieldPath], Any]


def ends(entry: Entry) -> list[End]:
    """Return the fields of generated objects that a field changes by itself; [] when it changes none."""
    targets: dict[End, None] = {}
    for base in _BASES.get("deviceconfig" if _is_default(entry) else entry.kind, ()) if len(entry.path) > 1 else ():
        values = (specimen(entry.node, definitions(entry.kind), entry.path[-1], number) for number in (0, 1))
        first, second = (_rendered(entry, base, value) for value in values)
        changed = _changed(first, second)
        if not changed and not (entry.required and _is_default(entry)):
            changed = _changed(first, _rendered(entry, base, ABSENT))
        inner = leaves(specimen(entry.node, definitions(entry.kind), "", 0))
        tails = ["".join("[]" if isinstance(part, int) else f".{part}" for part in path) for path, _ in inner]
        targets |= dict.fromkeys(_held(end, tails) for end in _collapsed(changed))
    kinds = {end.kind for end in targets if not end.path}
    return [end for end in targets if not end.path or end.kind not in kinds]


def _is_default(entry: Entry) -> bool:
    """Return True for a field inside the defaults of a functionConfig: a config takes it from there."""
    return entry.kind == "renderdeviceconfigs" and entry.path[1:2] == ("defaults",) and len(entry.path) > 2


def default(entry: Entry, targets: Sequence[End]) -> Any:
    """Return the value that is generated when the field is left out; None for none, or several."""
    if entry.kind not in _BASES or len(entry.path) != 2 or entry.path[1] in _FULL:
        return None
    without = _rendered(entry, _BASES[entry.kind][0], ABSENT)
    values = {str(value) for (kind, _, path), value in without.items() if End(kind, _plain(path)) in targets}
    return values.pop() if len(values) == 1 else None


def since(targets: Sequence[End]) -> str:
    """Return the first KMM whose Module has the fields; "" when none of them is a Module's, or every KMM has them."""
    paths = [end.path for end in targets if end.kind == MODULE_KIND and end.path]
    versions = [name for name, known in TARGETS.items() if not known.is_fork]
    for version in versions:
        if all(_is_known(module_facts(TARGETS[version].table), path) for path in paths):
            return version if paths else ""
    return ""


def _is_known(fact: Fact, path: str) -> bool:
    """Return True when a Module has a field of this path; below `metadata`, and where no fields are known, always."""
    for part in path.replace("[]", ".[]").split("."):
        if part == "[]":
            fact = fact.item or fact
        elif part == "metadata" or fact.fields is None:
            return True
        elif part not in fact.fields:
            return False
        else:
            fact = fact.fields[part]
    return True


def _rendered(entry: Entry, base: dict[str, Any], value: Any) -> Leaves:
    """Return the scalars of the objects of a config: `base` with the value in the field of `entry`."""
    fields = {**schema(entry.kind)["properties"]["spec"], "required": []}
    spec = _object_with({"properties": {"spec": fields}}, definitions(entry.kind), entry.path, value)["spec"]
    others = {other for pair in EITHER for other in pair if entry.path[1] in pair}
    kind, spec = ("deviceconfig", spec["defaults"]) if _is_default(entry) else (entry.kind, spec)
    kept = {name: default for name, default in base.items() if name not in others}
    return _leaves(kind, json.dumps({**kept, **spec}))


@cache
def _leaves(kind: str, spec: str) -> Leaves:
    """Return every scalar of the objects that a config with this spec gives, by kind, number and path."""
    if kind == "deviceconfig":
        item = profiles.stand_in(json.loads(spec))
        objects = generate.objects(reading.from_item(item, FunctionConfig()), {})
    else:
        item = profiles.stand_in(json.loads(spec), "pt.example.com/v1alpha1", "Ptemplate")
        objects = ptemplate.generate(ptemplate.as_config(item, "", {}))
    numbers = Counter[str]()
    scalars: Leaves = {}
    for manifest in (generated.manifest for generated in objects):
        name = manifest["kind"]
        numbers[name] += 1
        scalars |= {(name, numbers[name], path): value for path, value in (((), True), *leaves(unmarked(manifest)))}
    return scalars


def unmarked(manifest: Manifest) -> Manifest:
    """Return an object without annotations of ours."""
    notes = {key: value for key, value in annotations_of(manifest).items() if not key.startswith("krmfn.dev/")}
    return {**manifest, "metadata": {**manifest["metadata"], "annotations": notes}}


def _object_with(node: Schema, shared: Schema, path: Sequence[str], value: Any, holder: str = "") -> dict[str, Any]:
    """Return an object with a value at a path, and with what the objects on the way to it require."""
    node = resolved(node, shared)
    part, *rest = path
    name = part.removesuffix("[]")
    needed = {key: specimen(node["properties"][key], shared, key) for key in node.get("required", ())}
    needed |= _NEIGHBOURS.get(holder, {})
    if not rest:
        without = {key: other for key, other in needed.items() if key != name}
        return without if value is ABSENT else {**without, name: value}
    child = resolved(node["properties"][name], shared)
    inner = _object_with(child["items"] if part.endswith("[]") else child, shared, rest, value, name)
    return {**needed, name: [inner] if part.endswith("[]") else inner}


def _changed(old: Leaves, new: Leaves) -> list[tuple[str, FieldPath]]:
    return [(key[0], key[2]) for key in {**old, **new} if old.get(key, ABSENT) != new.get(key, ABSENT)]


def _collapsed(changed: Sequence[tuple[str, FieldPath]]) -> Iterator[End]:
    """Yield the changed fields, many of one object as the field that holds them all."""
    for kind, paths in grouped(changed).items():
        plain = list(dict.fromkeys(map(_plain, paths)))
        if () in paths:
            yield End(kind, "")
        elif len(plain) < _SEVERAL:
            yield from (End(kind, path) for path in plain)
        else:
            first, last = min(paths, key=str), max(paths, key=str)
            same = [a for a, b in zip(first, last, strict=False) if a == b]
            yield End(kind, _plain(tuple(same)))


def _held(end: End, tails: Sequence[str]) -> End:
    """Return the place of an object that was found by one of its fields, whose paths are `tails`."""
    tail = next((tail for tail in tails if tail and tail[-1] != "]" and end.path.endswith(tail)), "")
    return end._replace(path=end.path.removesuffix(tail))


def _plain(path: FieldPath) -> str:
    """Return a path without positions, up to the key of a mapping: `spec.volumes[].name`, `metadata.labels`."""
    text = ""
    for part in path:
        if isinstance(part, str) and join((part,)) != part:
            break
        text += "[]" if isinstance(part, int) else f".{part}" if text else part
    return text
