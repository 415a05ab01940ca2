"""Read a manifest that may be broken: a value of the wrong type reads as absent; rules about the schema report it."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from krmfn.resource import FieldPath, is_index
from krmfn.typed import Any

Table = dict[str, Any]
MISSING: Any = object()
"""Stands for a value that is not there."""

_TEMPLATE = ("spec", "template", "spec")
POD_KINDS = {
    ("", "Pod"): ("spec",),
    ("batch", "CronJob"): ("spec", "jobTemplate", *_TEMPLATE),
    **dict.fromkeys([("", "ReplicationController"), ("batch", "Job")], _TEMPLATE),
    **{("apps", kind): _TEMPLATE for kind in ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet")},
}
"""Where the kinds of Kubernetes hold the spec of their pods."""


def table(value: Any, *keys: str) -> Table:
    """Return the mapping under the keys, {} when there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def at(value: Any, parts: Sequence[str | int]) -> Any:
    """Return what stands at a path, an index of a list as a number or as its digits; MISSING when nothing does."""
    for part in parts:
        if isinstance(value, dict):
            value = value.get(part, MISSING)
        elif isinstance(value, list) and is_index(str(part)) and int(part) < len(value):
            value = value[int(part)]
        else:
            return MISSING
    return value


def has(value: Table, key: str) -> bool:
    """Return True when KMM's pointer is set: by a mapping, also an empty one, but not by null."""
    return isinstance(value.get(key), dict)


def text(value: Any, key: str) -> str:
    """Return the string under the key, "" when there is none."""
    entry = value.get(key) if isinstance(value, dict) else None
    return entry if isinstance(entry, str) else ""


def listing(value: Any, key: str) -> list[Any] | None:
    """Return the list under the key; None is nil, which KMM tells from an empty list."""
    entry = value.get(key) if isinstance(value, dict) else None
    return entry if isinstance(entry, list) else None


def tables(value: Any, key: str) -> Iterator[tuple[int, Table]]:
    """Return the mappings in the list under the key, with their positions; {} for other entries."""
    for index, entry in enumerate(listing(value, key) or []):
        yield index, entry if isinstance(entry, dict) else {}


def texts(value: Any, key: str) -> list[str]:
    """Return the strings in the list under the key; "" for other entries."""
    return [entry if isinstance(entry, str) else "" for entry in listing(value, key) or []]


def pod_images(pod: Table) -> Iterator[tuple[FieldPath, str]]:
    """Yield every image of a PodSpec as it is written, with its path: of containers, and of volumes."""
    for part in ("initContainers", "containers", "ephemeralContainers"):
        for index, container in tables(pod, part):
            if image := text(container, "image"):
                yield (part, index, "image"), image
    for index, volume in tables(pod, "volumes"):
        if image := text(table(volume, "image"), "reference"):
            yield ("volumes", index, "image", "reference"), image


def strings(value: Any, path: FieldPath = ()) -> Iterator[tuple[FieldPath, str, bool]]:
    """Yield the path of each text in nested data, the text, and whether it is a key."""
    if isinstance(value, str):
        yield path, value, False
    elif isinstance(value, (dict, list)):
        for key, child in members(value):
            if isinstance(value, dict):
                yield (*path, key), str(key), True
            yield from strings(child, (*path, key))


def members(value: Any) -> Iterable[tuple[Any, Any]]:
    """Return (key, value) pairs of a mapping, (position, value) pairs of a list; none for anything else."""
    return value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()


def leaves(value: Any, path: FieldPath = ()) -> Iterator[tuple[FieldPath, Any]]:
    """Yield every scalar, and every mapping and list that is empty, each with its path."""
    for key, child in members(value):
        yield from leaves(child, (*path, key))
    if not isinstance(value, (dict, list)) or not value:
        yield path, value


def map_texts(value: Any, change: Callable[[str], Any]) -> Any:
    """Return nested data with `change` applied to each text in it; keys stay as they are."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: map_texts(child, change) for key, child in value.items()}
    return [map_texts(child, change) for child in value] if isinstance(value, list) else value
