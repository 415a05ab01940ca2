"""How the fields of several layers merge: one table.

Where a row has a twin in Kubernetes it merges as server-side apply does, one manager per layer: k8s.io/api core/v1
v0.34, the list and map types of PodSpec and Container. The volumes are an exception: one that is named again is taken
whole, since two sources in one volume are never meant. And inherited entries keep their order: the server takes that of
the stronger layer where it names several of them. tests/e2e/test_merging.py proves the rest on a real API server.
"""

from collections.abc import Iterable

from krmfn.typed import Any

from ..kmm.lookup import MISSING, at
from .fields import OF_LOADER

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
_DEFAULTS = {"protocol": "TCP"}
WHOLE = frozenset({"volumes", "extraObjects"})
"""Lists among those in KEYS whose entries are replaced whole; nothing inside of an entry is switched off."""
ATOMIC = frozenset(
    {
        *("nodeSelector", "clusterSelector", "selector", "matchLabels", "labelSelector", "namespaceSelector"),
        "requiredDuringSchedulingIgnoredDuringExecution",
        *("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "parameters"),
    }
)
"""Mappings that are replaced whole. Lists without keys are, too; all other mappings merge."""
EITHER = (("driverImage", "driverImageParts"), ("image", "imageParts"), ("imagePullSecret", "imagePullSecrets"))
"""Two forms of one field: the one in a stronger layer takes the place of the other."""
_FOR_ALL = frozenset({"moduleName", "imagePullSecret", "imagePullSecrets"})
OF_LOADED = frozenset({"driverImage", "driverImageParts", "upgrade", *OF_LOADER} - {"modulesLoadingOrder", *_FOR_ALL})
"""Fields that are about a kernel module to load: `inTreeDriver: true` takes them from all weaker layers."""
OF_MODULE = frozenset({*OF_LOADER, "loaderTolerations", "devicePlugin", "dra"} - _FOR_ALL)
"""Fields that reach no DaemonSet, so that they count in the current version only."""
UNSET = "unset"
"""The field with the names of those that weaker layers give and that do not count, in a layer or in a pool."""
SWITCHES = ("devicePlugin", "dra", "serviceAccount", "service", "sign", "build")
"""Fields that `enabled: false` switches off, as it does each entry of a list in KEYS."""
OF_MAPPINGS = {"sign": ("keySecret", "certSecret"), "build": ("dockerfileConfigMap",)}
"""Fields that a kernel mapping has, too, and of them what a mapping takes from the config's where it has none."""


def merged(layers: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return the fields of all layers, the strongest given first, without what is switched off."""
    return _switched(stacked(layers))


def stacked(layers: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return the fields of all layers, the strongest given first, also those that are switched off."""
    fields: dict[str, Any] = {}
    for layer in reversed(list(layers)):
        fields = _over(fields, layer) if fields else layer
    return {name: value for name, value in fields.items() if name != UNSET} if UNSET in fields else fields


def _over(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    fields = {name: value for name, value in below.items() if not _gives_way(name, above)}
    for name, value in above.items():
        fields[name] = _field(name, fields[name], value) if name in fields else value
    return fields


def _gives_way(name: str, above: dict[str, Any]) -> bool:
    """Return True for a field that a stronger layer takes the place of: by its other form, or by `inTreeDriver`."""
    if above.get("inTreeDriver") is True and name in OF_LOADED:
        return True
    if UNSET in above and isinstance(above[UNSET], list) and name in above[UNSET]:  # labels may have a key like it
        return True
    return any(name in pair and name not in above and any(other in above for other in pair) for pair in EITHER)


def _field(name: str, below: Any, above: Any) -> Any:
    if name == UNSET and isinstance(below, list):
        return [*below, *above]  # of one pool in two layers
    if isinstance(below, dict) and isinstance(above, dict) and name not in ATOMIC:
        return _over(below, above)
    if not merges(name, below) or not merges(name, above):
        return above
    keys = [key_of(name, entry) for entry in below]
    entries, taken = list(below), list[Any]()
    for entry in above:
        key = key_of(name, entry)
        if key not in keys or key in taken:  # a second one of a key stays, for the rules about names
            entries.append(entry)
            continue
        place = keys.index(key)
        entries[place] = entry if name in WHOLE else _over(entries[place], entry)
        taken.append(key)
    return entries


def merges(name: str, value: Any) -> bool:
    """Return True for a list whose entries have keys; an unchecked one (in `livenessProbe`) may hold anything."""
    return name in KEYS and isinstance(value, list) and all(isinstance(entry, dict) for entry in value)


def key_of(name: str, entry: dict[str, Any]) -> tuple[Any, ...]:
    """Return what an entry of a list in KEYS is told apart by."""
    held = ((key, at(entry, key.split("."))) for key in KEYS[name])
    return tuple(_DEFAULTS.get(key) if value is None or value is MISSING else value for key, value in held)


def of_mapping(own: dict[str, Any] | None, shared: dict[str, Any] | None, name: str) -> dict[str, Any] | None:
    """Return the build or sign of a mapping, with what it needs from the config's own: so KMM merges them, too."""
    return {**{key: shared[key] for key in OF_MAPPINGS[name] if key in shared}, **own} if own and shared else own


def _switched(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields without those that `enabled: false` switches off, and without `enabled`."""
    result: dict[str, Any] = {}
    for name, value in fields.items():
        if merges(name, value):
            own = _plain if name in WHOLE else _entry
            value = [own(entry) for entry in value if entry.get("enabled", True)]
            if not value:
                continue
        elif name == "kernelMappings" and isinstance(value, list):  # not what locks it
            off = {one for one in OF_MAPPINGS if one in fields and not fields[one].get("enabled", True)}
            value = [{key: own for key, own in _switched(entry).items() if key not in off} for entry in value]
        elif isinstance(value, dict) and name not in ATOMIC:
            if name in SWITCHES and not value.get("enabled", True):
                continue
            value = _entry(value) if name in SWITCHES else _switched(value)
        result[name] = value
    return result


def _entry(fields: dict[str, Any]) -> dict[str, Any]:
    return _switched(_plain(fields))


def _plain(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name != "enabled"}
