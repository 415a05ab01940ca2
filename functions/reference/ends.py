"""Where a field ends up: seen by rendering two values of it, and looking at what differs in the generated objects.

No rule is asked: a field is looked at by itself, where a config might need others beside it.
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
"""Configs into which a field is put: it may need another one to count."""
_BESIDE: dict[str, dict[str, Any]] = {
    "upgrade": {"ordered": True},
    "service": {"port": 9400},
    "serviceAccount": {"create": True},
}
"""What a field's neighbours must say for it to count."""
_SEVERAL = 4
"""So many fields of one object are shown by what holds all of them."""


class End(NamedTuple):
    """A field of a generated object that a field of a config decides; the path "" is the whole object."""

    kind: str
    path: str

    def __str__(self) -> str:
        return f"{self.kind} {self.path}" if self.path else self.kind


Leaves = dict[tuple[str, int, FieldPath], Any]


def ends(entry: Entry) -> list[End]:
    """Return the fields of generated objects that a field changes; [] when it changes none by itself."""
    found: dict[End, None] = {}
    for base in _BASES.get("deviceconfig" if _is_default(entry) else entry.kind, ()) if len(entry.path) > 1 else ():
        values = (specimen(entry.node, definitions(entry.kind), entry.path[-1], number) for number in (0, 1))
        one, other = (_rendered(entry, base, value) for value in values)
        changed = _changed(one, other)
        if not changed and not (entry.required and _is_default(entry)):
            changed = _changed(one, _rendered(entry, base, ABSENT))
        inner = leaves(specimen(entry.node, definitions(entry.kind), "", 0))
        tails = ["".join("[]" if isinstance(part, int) else f".{part}" for part in path) for path, _ in inner]
        found |= dict.fromkeys(_held(end, tails) for end in _collapsed(changed))
    whole = {end.kind for end in found if not end.path}
    return [end for end in found if not end.path or end.kind not in whole]


def _is_default(entry: Entry) -> bool:
    """Return True for a field inside the defaults of a functionConfig: a config takes it from there."""
    return entry.kind == "renderdeviceconfigs" and entry.path[1:2] == ("defaults",) and len(entry.path) > 2


def default(entry: Entry, found: Sequence[End]) -> Any:
    """Return what is generated where the field is left out, when that is one value; None otherwise."""
    if entry.kind not in _BASES or len(entry.path) != 2 or entry.path[1] in _FULL:
        return None
    without = _rendered(entry, _BASES[entry.kind][0], ABSENT)
    values = {str(value) for (kind, _, path), value in without.items() if End(kind, _plain(path)) in found}
    return values.pop() if len(values) == 1 else None


def since(found: Sequence[End]) -> str:
    """Return the first KMM whose Module has the fields; "" when none of them is a Module's, or every KMM has them."""
    paths = [end.path for end in found if end.kind == MODULE_KIND and end.path]
    versions = [name for name in TARGETS if name != "openshift"]
    for version in versions:
        if all(_is_known(module_facts(TARGETS[version].structure), path) for path in paths):
            return version if paths else ""
    return ""


def _is_known(fact: Fact, path: str) -> bool:
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
    whole = {**schema(entry.kind)["properties"]["spec"], "required": []}
    spec = _holding({"properties": {"spec": whole}}, definitions(entry.kind), entry.path, value)["spec"]
    others = {other for pair in EITHER for other in pair if entry.path[1] in pair}
    kind, spec = ("deviceconfig", spec["defaults"]) if _is_default(entry) else (entry.kind, spec)
    return _leaves(kind, json.dumps({**{name: one for name, one in base.items() if name not in others}, **spec}))


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
    found: Leaves = {}
    for manifest in (one.manifest for one in objects):
        kind = manifest["kind"]
        numbers[kind] += 1
        found |= {(kind, numbers[kind], path): value for path, value in (((), True), *leaves(unmarked(manifest)))}
    return found


def unmarked(manifest: Manifest) -> Manifest:
    """Return an object without annotations of ours."""
    notes = {key: value for key, value in annotations_of(manifest).items() if not key.startswith("krmfn.dev/")}
    return {**manifest, "metadata": {**manifest["metadata"], "annotations": notes}}


def _holding(node: Schema, shared: Schema, path: Sequence[str], value: Any, holder: str = "") -> dict[str, Any]:
    """Return an object with a value at a path, and with what the objects on the way to it require."""
    node = resolved(node, shared)
    part, *rest = path
    name = part.removesuffix("[]")
    needed = {one: specimen(node["properties"][one], shared, one) for one in node.get("required", ())}
    needed |= _BESIDE.get(holder, {})
    if not rest:
        without = {one: other for one, other in needed.items() if one != name}
        return without if value is ABSENT else {**without, name: value}
    child = resolved(node["properties"][name], shared)
    inner = _holding(child["items"] if part.endswith("[]") else child, shared, rest, value, name)
    return {**needed, name: [inner] if part.endswith("[]") else inner}


def _changed(one: Leaves, other: Leaves) -> list[tuple[str, FieldPath]]:
    return [(key[0], key[2]) for key in {**one, **other} if one.get(key, ABSENT) != other.get(key, ABSENT)]


def _collapsed(changed: Sequence[tuple[str, FieldPath]]) -> Iterator[End]:
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
    """Return where the object itself ends up that was looked at by one of its fields."""
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
