"""How the fields of several layers merge: one table.

A field that Kubernetes has, too, merges as in a server-side apply with one manager per layer (k8s.io/api core/v1 v0.34,
the list and map types of PodSpec and Container), with two exceptions. A volume that is named again is replaced as a
whole, since nobody wants two sources in one volume. And inherited entries keep their order; the server takes the order
of the stronger layer where it names several entries. tests/e2e/test_merging.py proves the rest on a real API server.
"""

from collections.abc import Iterable, Mapping

from krmfn.resource import split
from krmfn.typed import Any

from .fields import OF_LOADER
from .keyed import ATOMIC, DEFAULTS, WHOLE, key_of, merges, without

OPAQUE = WHOLE | {"extraObjects"}
"""Lists in KEYS inside of whose entries nothing is switched off; extra objects merge as they are applied."""
_LISTS: dict[str, dict[str, tuple[str, ...]]] = {
    "Service": {"ports": ("port", "protocol")},
    "ServiceAccount": {"secrets": ("name",), "imagePullSecrets": ("name",)},
}
"""The lists of extra objects that an apply merges, with their keys, by kind; it replaces all others."""
EITHER = (("driverImage", "driverImageParts"), ("image", "imageParts"), ("imagePullSecret", "imagePullSecrets"))
"""Two forms of one field: the form in a stronger layer replaces the other one."""
_FOR_ALL = frozenset({"moduleName", "imagePullSecret", "imagePullSecrets"})
OF_LOADED = frozenset({"driverImage", "driverImageParts", "upgrade", *OF_LOADER} - {"modulesLoadingOrder", *_FOR_ALL})
"""Fields about a kernel module to load: `inTreeDriver: true` removes them from all weaker layers."""
OF_MODULE = frozenset({*OF_LOADER, "loaderTolerations", "devicePlugin", "dra"} - _FOR_ALL)
"""Fields that reach no DaemonSet, so that they count for the current version only."""
UNSET = "unset"
"""The field of a layer or a pool that names the fields of weaker layers to ignore."""
SWITCHES = ("devicePlugin", "dra", "serviceAccount", "service", "sign", "build")
"""Fields that `enabled: false` switches off, as it does each entry of a list in KEYS."""
OF_MAPPINGS = {"sign": ("keySecret", "certSecret"), "build": ("dockerfileConfigMap",)}
"""Fields that a kernel mapping has, too, each with the keys that a mapping inherits from the field of the config."""


def merged(layers: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return the fields of all layers, the strongest given first, without what is switched off."""
    return _switched(stacked(layers))


def stacked(layers: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return the fields of all layers, the strongest given first, also those that are switched off."""
    fields: dict[str, Any] = {}
    for layer in reversed(list(layers)):
        fields = _overlaid(fields, layer) if fields else layer
    return {name: value for name, value in fields.items() if name != UNSET} if UNSET in fields else fields


def _overlaid(base: dict[str, Any], overlay: dict[str, Any]) -> dict[str, Any]:
    if isinstance(names := overlay.get(UNSET), list):  # labels may have that key
        for name in names:
            base = _without(base, name)
    fields = {name: value for name, value in base.items() if not _is_removed(name, overlay)}
    for name, value in overlay.items():
        fields[name] = _merged_value(name, fields[name], value) if name in fields else value
    return fields


def _without(fields: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the fields without one, or without one inside of them (devicePlugin.env)."""
    if name in fields or name.isalnum():
        return {key: value for key, value in fields.items() if key != name}
    from . import named_fields  # here: few layers take away parts of fields

    is_right = not named_fields.mistake(name, named_fields.UNSET)  # else KRM195 refuses it
    return dict(without(fields, split(name))) if is_right else fields


def _is_removed(name: str, overlay: dict[str, Any]) -> bool:
    """Return True for a field that a stronger layer removes: by its other form, or by `inTreeDriver`."""
    if overlay.get("inTreeDriver") is True and name in OF_LOADED:
        return True
    return any(name in pair and name not in overlay and any(other in overlay for other in pair) for pair in EITHER)


def _merged_value(name: str, base: Any, overlay: Any) -> Any:
    if name == UNSET and isinstance(base, list):
        return [*base, *overlay]  # of one pool in two layers
    if isinstance(base, dict) and isinstance(overlay, dict) and name not in ATOMIC:
        return _overlaid(base, overlay)
    if not merges(name, base) or not merges(name, overlay):
        return overlay
    keys = [key_of(name, entry) for entry in base]
    entries, replaced = list(base), list[Any]()
    for entry in overlay:
        key = key_of(name, entry)
        if key not in keys or key in replaced:  # a second entry with a key stays, for the rules about names
            entries.append(entry)
            continue
        index = keys.index(key)
        entries[index] = _merged_entry(name, entries[index], entry)
        replaced.append(key)
    return entries


def _merged_entry(name: str, base: dict[str, Any], overlay: dict[str, Any]) -> dict[str, Any]:
    if name == "extraObjects":
        return applied(base, overlay, _LISTS.get(str(base.get("kind")), {}))
    return overlay if name in WHOLE else _overlaid(base, overlay)


def applied(base: dict[str, Any], overlay: dict[str, Any], lists: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    """Return an object with the fields of a stronger one over it, as a server-side apply merges the two.

    Mappings merge but for those that are ATOMIC, lists are replaced but for `lists`, the keys of the others' entries.
    """
    result = dict(base)
    for name, value in overlay.items():
        old = base.get(name)
        if isinstance(old, dict) and isinstance(value, dict) and name not in ATOMIC:
            result[name] = applied(old, value, lists)
        elif isinstance(old, list) and isinstance(value, list) and name in lists:
            result[name] = _by_keys(old, value, lists[name])
        else:
            result[name] = value
    return result


def _by_keys(base: list[Any], overlay: list[Any], keys: tuple[str, ...]) -> list[Any]:
    """Return the entries of two lists: those of the stronger one over those with the same keys, else behind them."""

    def key(entry: Any) -> tuple[Any, ...]:
        fields = entry if isinstance(entry, dict) else {}
        return tuple(fields.get(name, DEFAULTS.get(name)) for name in keys)

    stronger, known = {key(entry): entry for entry in overlay}, [key(entry) for entry in base]
    pairs = ((entry, stronger.get(key(entry))) for entry in base)
    entries = [applied(entry, new, {}) if isinstance(new, dict) else entry for entry, new in pairs]
    return [*entries, *(entry for entry in overlay if key(entry) not in known)]


def with_shared_keys(fields: dict[str, Any] | None, shared: dict[str, Any] | None, name: str) -> dict[str, Any] | None:
    """Return the `fields` of a mapping's `build` or `sign`, completed from the config's, as KMM does, too."""
    if not fields or not shared:
        return fields
    return {**{key: shared[key] for key in OF_MAPPINGS[name] if key in shared}, **fields}


def _switched(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields without those that `enabled: false` switches off, and without `enabled`."""
    result: dict[str, Any] = {}
    for name, value in fields.items():
        if merges(name, value):
            entries = [_without_switch(entry) for entry in value if entry.get("enabled", True)]
            if not entries:
                continue
            value = entries if name in OPAQUE else [_switched(entry) for entry in entries]
        elif name == "kernelMappings" and isinstance(value, list):  # in `locked` it is the reason, a text
            off_keys = {key for key in OF_MAPPINGS if key in fields and not fields[key].get("enabled", True)}
            value = [{key: item for key, item in _switched(entry).items() if key not in off_keys} for entry in value]
        elif isinstance(value, dict) and name not in ATOMIC:
            if name in SWITCHES and not value.get("enabled", True):
                continue
            value = _switched(_without_switch(value) if name in SWITCHES else value)
        result[name] = value
    return result


def _without_switch(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name != "enabled"}
