"""Which lists merge by the keys of their entries, which mappings count as a whole, and how what is in them is named.

`unset` and `locked` name a field by its path, `devicePlugin.image`, where an entry of such a list has the name of its
key: `daemonSets.agent.args`. An extra object has two, its kind and its name: `extraObjects.ConfigMap.settings.data`.
"""

from collections.abc import Sequence

from krmfn.resource import FieldPath, is_index
from krmfn.typed import Any

from ..kmm.lookup import MISSING, at

KEYS = {
    **dict.fromkeys(("nodePools", "daemonSets", "initContainers", "containers"), ("name",)),
    **dict.fromkeys(("volumes", "env", "deviceClasses", "buildArgs", "secrets"), ("name",)),
    **dict.fromkeys(("resourceClaims", "schedulingGates", "claims"), ("name",)),
    "volumeMounts": ("mountPath",),
    "extraObjects": ("kind", "metadata.name"),
    "hostAliases": ("ip",),
    "topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"),
    "ports": ("containerPort", "port", "protocol"),
}
"""Lists that merge by the keys of their entries: inherited ones keep their place, new ones follow.

A container's port has a `containerPort`, a Service's a `port`.
"""
DEFAULTS = {"protocol": "TCP"}
WHOLE = frozenset({"volumes"})
"""Lists in KEYS whose entries are replaced as a whole."""
ATOMIC = frozenset(
    {
        *("nodeSelector", "clusterSelector", "selector", "matchLabels", "labelSelector", "namespaceSelector"),
        "requiredDuringSchedulingIgnoredDuringExecution",
        *("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "parameters"),
    }
)
"""Mappings that are replaced as a whole, as lists without keys are; all other mappings merge."""


def merges(name: str, value: Any) -> bool:
    """Return True for a list in KEYS, if its entries are mappings: no schema checks the lists in a `livenessProbe`."""
    return name in KEYS and isinstance(value, list) and all(isinstance(entry, dict) for entry in value)


def key_of(name: str, entry: dict[str, Any]) -> tuple[Any, ...]:
    """Return the values by which entries of a list in KEYS are the same entry."""
    values = ((key, at(entry, key.split("."))) for key in KEYS[name])
    return tuple(DEFAULTS.get(key) if value is None or value is MISSING else value for key, value in values)


def names_of(holder: str) -> int:
    """Return how many names an entry of a list in KEYS has in a path."""
    return 2 if holder == "extraObjects" else 1


def _names(holder: str, entry: Any) -> tuple[str, ...]:
    values = [at(entry, key.split(".")) for key in KEYS[holder]] if isinstance(entry, dict) else []
    return tuple(str(value) for value in values if value is not MISSING)[: names_of(holder)]


def path_in(fields: Any, names: Sequence[str]) -> FieldPath:
    """Return the path of the first field of that name, with indexes; () if `fields` does not have it."""
    path: FieldPath = ()
    holder, rest = "", tuple(names)
    while rest:
        number = names_of(holder) if isinstance(fields, list) else 1
        name, rest = rest[:number], rest[number:]
        key: str | int = name[0]
        if isinstance(fields, list):
            entries = fields if holder in KEYS else []
            key = next((index for index, entry in enumerate(entries) if _names(holder, entry) == name), -1)
        fields, path, holder = at(fields, (key,)), (*path, key), name[0]
        if fields is MISSING:
            return ()
    return path


def named(fields: Any, parts: Sequence[str]) -> tuple[str, ...]:
    """Return the names of a field for the path that it has in `fields`."""
    names, holder = tuple[str, ...](), ""
    for part in parts:
        is_entry = isinstance(fields, list) and is_index(part)
        fields = at(fields, (int(part) if is_entry else part,))
        names += _names(holder, fields) if is_entry and holder in KEYS else (part,)
        holder = part
    return names


def without(value: Any, names: Sequence[str], holder: str = "") -> Any:
    """Return fields without those of that name; a mapping or list of which nothing remains goes, too, if it merges.

    `holder` is the name of the field that has the value.
    """
    if isinstance(value, list) and holder in KEYS:
        number = names_of(holder)
        name, rest = tuple(names[:number]), names[number:]
        entries = ((entry, _names(holder, entry) == name) for entry in value)
        return [without(entry, rest) if is_it else entry for entry, is_it in entries if rest or not is_it]
    if not isinstance(value, dict) or names[0] not in value:
        return value
    first, *inner = names
    fields = dict(value)
    child = without(fields[first], inner, first) if inner else None
    is_kept = child or (first in ATOMIC and child is not None)  # a selector without labels is one of all nodes
    if is_kept:
        fields[first] = child
    else:
        del fields[first]
    return fields
