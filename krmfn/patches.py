"""Patches of an item's data: Kubernetes' merge patches and JSON patches. Comments stay with what stays.

A merge patch is a strategic one for Kubernetes' own kinds and a JSON merge patch (RFC 7386) for others, as `kubectl
patch` and kustomize take it. A JSON patch is that of RFC 6902.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from .errors import KrmfnError, Refused
from .resource import Manifest, check_plain, copied, join, same
from .typed import Any

__all__ = ["apply_json", "merge"]

_GROUPS = frozenset(("", "apps", "autoscaling", "batch", "extensions", "policy"))
"""The API groups of Kubernetes without a dot; its others end in .k8s.io."""
_KEYS = {
    "conditions": "type",
    "containers": "name",
    "env": "name",
    "ephemeralContainers": "name",
    "hostAliases": "ip",
    "imagePullSecrets": "name",
    "initContainers": "name",
    "matchConditions": "name",
    "ownerReferences": "uid",
    "resourceClaims": "name",
    "secrets": "name",
    "topologySpreadConstraints": "topologyKey",
    "volumeDevices": "devicePath",
    "volumeMounts": "mountPath",
    "volumes": "name",
    "webhooks": "name",
}
"""The lists that are merged, and the key by which (x-kubernetes-patch-merge-key in Kubernetes' OpenAPI document)."""
_PORTS = {
    "containers": "containerPort",
    "initContainers": "containerPort",
    "ephemeralContainers": "containerPort",
    "spec": "port",
}
"""The key of a list `ports`, by what holds it: a container, or the spec of a Service."""
_SETS = frozenset(("finalizers",))
"""The lists of words to which those of a patch are added."""
_Change = Callable[[Manifest], None]


def merge(item: Any, patch: Manifest) -> None:
    """Merge a patch into an item's data; null removes a field, and `$patch: delete` or `replace` a part.

    Raises Refused, with the path, for a directive that is none of these, and for an entry of a merged list without its
    key; nothing is changed then.
    """
    if "$patch" in patch:
        raise Refused("a patch of the whole resource is no patch: remove or replace the item", item, f"{item.ref}: ")
    is_keyed = item.group in _GROUPS or item.group.endswith(".k8s.io")
    _change(item, patch, lambda data: _merge(data, copied(patch), (), is_keyed))


def apply_json(item: Any, operations: Iterable[Mapping[str, Any]]) -> None:
    """Apply the operations of a JSON patch to an item's data.

    Raises Refused, with the operation's path, for a test that fails, a path that is not there, and what is no
    operation; nothing is changed then.
    """
    steps = [dict(operation) for operation in operations]
    _change(item, steps, lambda data: _apply(data, copied(steps)))


def _change(item: Any, patch: Any, change: _Change) -> None:
    """Change an item's data, in place: on a copy first, so that what fails changes nothing."""
    try:
        check_plain(patch)
        trial = copied(item.content.manifest)
        change(trial)
    except KrmfnError as failure:
        raise Refused(str(failure), item, f"{item.ref}: ") from failure
    if not same(trial, item.content.manifest):
        item.content.touch(())
        change(item.content.manifest)


def _merge(data: Manifest, patch: Manifest, parts: tuple[str, ...], is_keyed: bool) -> None:
    for key, value in patch.items():
        path = (*parts, key)
        old = data.get(key)
        if key.startswith("$"):
            raise KrmfnError(f"{join(path)}: this directive is not read here; take $patch: delete, or $patch: replace")
        directive = value.get("$patch") if isinstance(value, dict) else None
        if value is None or directive == "delete":
            data.pop(key, None)
        elif isinstance(value, dict) and isinstance(old, dict) and directive is None:
            _merge(old, value, path, is_keyed)
        elif isinstance(value, list) and isinstance(old, list) and is_keyed and _is_merged(path, value):
            _merge_list(old, value, path)
        else:
            data[key] = _plain(value, path, is_keyed)


def _key(parts: tuple[str, ...]) -> str:
    """Return the key by which the entries of a list are merged; "" for a list that is replaced."""
    name = parts[-1]
    if name == "ports":
        holders = [part for part in parts[:-1] if not part.isdecimal()]
        return _PORTS.get(holders[-1], "") if holders else ""
    return _KEYS.get(name, "")


def _is_merged(parts: tuple[str, ...], patch: list[Any]) -> bool:
    if parts[-1] in _SETS:
        return True
    is_replaced = any(isinstance(entry, dict) and entry.get("$patch") == "replace" for entry in patch)
    return bool(_key(parts)) and not is_replaced


def _merge_list(entries: list[Any], patch: list[Any], parts: tuple[str, ...]) -> None:
    """Merge the entries of a patch, each into that with its key; new ones come last."""
    if parts[-1] in _SETS:
        entries.extend(word for word in patch if word not in entries)
        return
    key = _key(parts)
    for at, entry in enumerate(patch):
        if not isinstance(entry, dict) or entry.get(key) is None:
            raise KrmfnError(f"{join((*parts, str(at)))}: this entry needs its {key}, by which it is merged")
        matching = [n for n, old in enumerate(entries) if isinstance(old, dict) and old.get(key) == entry[key]]
        if entry.get("$patch") == "delete":
            for n in reversed(matching):
                del entries[n]
        elif matching:
            _merge(entries[matching[0]], entry, (*parts, str(matching[0])), is_keyed=True)
        else:
            entries.append(_plain(entry, (*parts, str(at)), is_keyed=True))


def _plain(value: Any, parts: tuple[str, ...], is_keyed: bool) -> Any:
    """Return a value of a patch where nothing is to be merged with: without nulls of mappings and directives.

    A list stays as it is in a JSON merge patch (RFC 7386, section 2).
    """
    if isinstance(value, list) and is_keyed:
        rows = [row for row in value if row != {"$patch": "replace"}]
        return [_plain(row, (*parts, str(at)), is_keyed) for at, row in enumerate(rows)]
    if not isinstance(value, dict):
        return value
    rest = {key: child for key, child in value.items() if (key, child) != ("$patch", "replace")}
    odd = next((key for key in rest if key.startswith("$")), None)
    if odd is not None:
        raise KrmfnError(f"{join((*parts, odd))}: this directive is not read here; take $patch: delete, or replace")
    return {key: _plain(child, (*parts, key), is_keyed) for key, child in rest.items() if child is not None}


def _apply(data: Manifest, steps: list[Manifest]) -> None:
    known: dict[Any, Callable[[Any, Manifest], None]] = {
        "add": _add,
        "remove": _remove,
        "replace": _replace,
        "test": _test,
        "move": partial(_bring, is_moved=True),
        "copy": partial(_bring, is_moved=False),
    }
    for step in steps:
        name = step.get("op")
        if name not in known:
            raise KrmfnError(f"{name!r} is no operation of a JSON patch; take one of {', '.join(known)}")
        needed = {"move": ["from"], "copy": ["from"], "remove": []}.get(str(name), ["value"])
        missing = next((key for key in ("path", *needed) if key not in step), None)
        if missing is not None:
            raise KrmfnError(f"the operation {name} at {step.get('path', '?')} needs `{missing}`")
        known[name](data, step)


def _pointer(text: Any) -> list[str]:
    """Return the parts of a JSON pointer (RFC 6901). Raises KrmfnError for the whole document and for what is none."""
    if not isinstance(text, str) or not text.startswith("/"):
        raise KrmfnError(f"{text!r} is no path of a JSON patch; write one like /spec/containers/0/image")
    return [part.replace("~1", "/").replace("~0", "~") for part in text[1:].split("/")]


def _holder(data: Any, text: Any, is_new: bool = False) -> tuple[Any, Any]:
    """Return what holds the value at a pointer, and its key there. Raises KrmfnError where there is none."""
    *above, last = _pointer(text)
    for part in above:
        data = data[_entry(data, part, text)]
    return data, _entry(data, last, text, is_new)


def _entry(data: Any, part: str, text: str, is_new: bool = False) -> Any:
    """Return the key or index for a part of a pointer."""
    if isinstance(data, list):
        if part == "-" and is_new:
            return len(data)
        is_index = part.isascii() and part.isdecimal() and (part == "0" or part[0] != "0") and len(part) < 10
        if is_index and int(part) < len(data) + is_new:
            return int(part)
    elif isinstance(data, dict) and (part in data or is_new):
        return part
    raise KrmfnError(f"the patch's path {text} is not there: nothing stands at {part!r}")


def _add(data: Any, step: Manifest) -> None:
    holder, key = _holder(data, step["path"], is_new=True)
    if isinstance(holder, list):
        holder.insert(key, step["value"])
    else:
        holder[key] = step["value"]


def _remove(data: Any, step: Manifest) -> None:
    holder, key = _holder(data, step["path"])
    del holder[key]


def _replace(data: Any, step: Manifest) -> None:
    holder, key = _holder(data, step["path"])
    holder[key] = step["value"]


def _test(data: Any, step: Manifest) -> None:
    holder, key = _holder(data, step["path"])
    if not same(holder[key], step["value"]):
        raise KrmfnError(f"the patch's test of {step['path']} fails: the value there is another one")


def _bring(data: Any, step: Manifest, is_moved: bool) -> None:
    """Move or copy a value: its comments go along."""
    source = step["from"]
    if is_moved and f"{step['path']}/".startswith(f"{source}/") and step["path"] != source:
        raise KrmfnError(f"the patch moves {source} into itself, to {step['path']}")
    holder, key = _holder(data, source)
    value = holder[key]
    if is_moved:
        del holder[key]
    _add(data, {"path": step["path"], "value": value if is_moved else copied(value)})
