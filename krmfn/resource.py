"""A resource as plain data: reference, place, paths of fields; whether two mean the same; what a manifest may hold."""

import marshal
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from .errors import KrmfnError
from .typed import Any, NamedTuple

__all__ = ["Built", "FieldPath", "GroupKind", "Manifest", "Place", "Ref", "annotations_of", "check_plain", "checked"]
__all__ += ["copied", "fingerprint", "is_index", "join", "mapping", "moved", "ref", "same", "split", "starts"]

Manifest = dict[str, Any]
"""A resource as plain data: mappings, lists, strings, numbers, booleans and None."""

GroupKind = tuple[str, str]
"""An API group, "" for core/v1, and a kind."""

FieldPath = tuple[str | int, ...]
"""The keys and list indexes that lead to a field."""
_PLAIN = r"[A-Za-z_$][A-Za-z0-9_$-]*"
_PART = r"([^.\[\]]+)|\[([^\]]*)\]?"
_DEEPEST = 200
"""Levels of nesting that our readers take (`yamltext.values.MAX_DEPTH`); a value that holds itself has more."""
_INTEGERS = range(-(1 << 63), 1 << 64)
"""Those that Kubernetes reads as integers."""


class Ref(NamedTuple):
    """A resource's name in full; `namespace` is "" for cluster-scoped or unset."""

    api_version: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""

    @property
    def group(self) -> str:
        """Return the API group: "" for core/v1."""
        return self.api_version.rpartition("/")[0]

    @property
    def id(self) -> tuple[str, str, str, str]:
        """Return what makes an object unique on an API server: group, kind, namespace, name (no version)."""
        return (self.api_version.rpartition("/")[0], self.kind, self.namespace, self.name)

    def __str__(self) -> str:
        """Return the name for people: `DeviceConfig kmm/gaudi`."""
        return f"{self.kind or 'resource'} {self.namespace + '/' if self.namespace else ''}{self.name or '(no name)'}"


class Built(NamedTuple):
    """Where a resource stands that no file holds as it is: in a build. What is looked for there is plain data."""

    build: str
    """The name of the build among those of the run."""
    number: int = -1
    """The position of the resource in what was built; -1 for one that a function has named during the build."""
    ref: Ref | None = None
    """The resource to look for; None: the one that the finding is about, and its field."""
    field: str = ""
    """The path of its field."""


class Place(NamedTuple):
    """Where a manifest stands: a file, its position among that file's resources (from 0), its first line (from 1).

    `line` and `column` are 0 when not known (function mode: kpt sends path and index, kustomize neither).
    """

    path: str = ""
    position: int = 0
    line: int = 0
    column: int = 0
    built: Built | None = None
    """For an item that no file holds as it is: where to look for its place, when a finding is told (see `placed`)."""
    is_fixed: bool = False
    """Whether this is the place of each field of the item, too: it is a text in quotes, or stands in a dump."""

    @property
    def has_lines(self) -> bool:
        """Return True where the lines of the item's text are lines of the file."""
        return not (self.built or self.is_fixed)


def ref(manifest: Manifest, known: Ref | None = None) -> Ref:
    """Return the reference of a manifest, `known` where it still is that; what is missing or no string becomes ""."""
    metadata = mapping(manifest.get("metadata"))
    parts = manifest.get("apiVersion"), manifest.get("kind"), metadata.get("namespace"), metadata.get("name")
    if parts == known:
        return known  # type: ignore[return-value]  # equal to a tuple, it is a Ref
    return Ref(*[part if isinstance(part, str) else "" for part in parts])


def annotations_of(manifest: Manifest) -> dict[str, Any]:
    """Return the annotations of a manifest, {} when there are none (never None)."""
    return mapping(mapping(manifest.get("metadata")).get("annotations"))


def mapping(value: Any) -> dict[str, Any]:
    """Return a mapping as it is, {} for anything else."""
    return value if isinstance(value, dict) else {}


def fingerprint(value: Any) -> bytes | None:
    """Return bytes that differ when the data does; None for data that `marshal` does not take (a plain date)."""
    try:
        return marshal.dumps(value, 2)  # version 2: equal data is equal bytes, wherever it was read
    except ValueError:
        return None


def same(value: Any, other: Any) -> bool:
    """Return True when two values mean the same in YAML; for Python, True, 1 and 1.0 are equal."""
    if type(value) is dict and value == other and (mark := fingerprint(value)) and mark == fingerprint(other):
        return True  # as nearly all are that are equal
    return bool(value == other) and _same_types(value, other)


def _same_types(value: Any, other: Any) -> bool:
    """Return True when two equal values, and what they hold, have the same types."""
    kind = type(value)
    if kind is not type(other):
        return False
    if kind is dict:
        return all(type(old) is str is type(other[key]) or _same_types(old, other[key]) for key, old in value.items())
    return all(map(_same_types, value, other)) if kind is list else True


def copied(value: Any) -> Any:
    """Return a copy of what JSON has. Raises KrmfnError, with the field path, for anything else."""
    check_plain(value)
    try:
        return marshal.loads(marshal.dumps(value, 2))
    except ValueError:  # a plain date
        from copy import deepcopy

        return deepcopy(value)


def checked(manifest: Manifest, is_named: bool = True) -> Ref:
    """Return the reference of a manifest. Raises KrmfnError unless it is a resource, with a name, and plain data."""
    if not isinstance(manifest, dict):
        raise KrmfnError(f"a {type(manifest).__name__} cannot be put into the list; a manifest is a dict")
    new = ref(manifest)
    for path, value in (("apiVersion", new.api_version), ("kind", new.kind), ("metadata.name", new.name)):
        if not value.strip() and (is_named or path != "metadata.name"):
            raise KrmfnError(f"{new} cannot be put into the list: it has no {path}, or one that is blank or no string")
    if not _is_plain(manifest, _DEEPEST) and (problem := _problem(manifest, ())):
        raise KrmfnError(f"{new} cannot be put into the list: {problem}")
    return new


def check_plain(value: Any) -> None:
    """Raise KrmfnError, with the field path, for what JSON does not have."""
    if not _is_plain(value, _DEEPEST) and (problem := _problem(value, ())):
        raise KrmfnError(problem)


def _is_plain(value: Any, levels: int) -> bool:
    """Return True for data of ASCII texts, integers and booleans, at most `levels` deep; False is no proof."""
    kind = type(value)
    if kind is dict:
        for key, child in value.items():
            if type(key) is not str or not key.isascii():
                return False
            if not (type(child) is str and child.isascii()) and not (levels and _is_plain(child, levels - 1)):
                return False
        return True
    if kind is list:
        return levels > 0 and all(_is_plain(child, levels - 1) for child in value)
    return value.isascii() if kind is str else value is None or kind is bool or (kind is int and value in _INTEGERS)


def _problem(value: Any, path: tuple[str | int, ...]) -> str:
    """Return what is wrong with the first thing in `value` that JSON does not have; "" when JSON has all of it."""
    if len(path) >= _DEEPEST:
        return f"{join(path[:3])} is nested deeper than {_DEEPEST} levels, or contains itself"
    if isinstance(value, (dict, list)):
        for key, child in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(value, dict) and not isinstance(key, str):
                inside = f"{join(path)} has the key {key!r}, which is not a string"
                return inside if path else f"the key {key!r} is not a string"
            if problem := _problem(child, (*path, key)) or _problem(key, (*path, key)):
                return problem
        return ""
    if isinstance(value, str):
        is_whole = not any("\ud800" <= char <= "\udfff" for char in value)
        return "" if is_whole else f"{join(path)} contains half a surrogate pair, which UTF-8 text cannot contain"
    if type(value) is int and value not in _INTEGERS:
        return f"{join(path) or 'it'} is an integer of more than 64 bits; Kubernetes has none"
    if value is None or isinstance(value, int) or (isinstance(value, float) and abs(value) < float("inf")):
        return ""
    description = repr(value) if isinstance(value, float) else f"a Python {type(value).__name__}"
    return f"{join(path) or 'it'} is {description}; a manifest may contain only what JSON has"


def join(parts: Iterable[str | int]) -> str:
    """Return the path of `parts`: list indexes and keys that are not plain words go into brackets."""
    path = ""
    for part in parts:
        if isinstance(part, str) and re.fullmatch(_PLAIN, part):
            path += f".{part}" if path else part
        else:  # `[name=web]` may choose nothing
            path += part if isinstance(part, str) and part[:1] == "[" else f"[{part}]"
    return path


@lru_cache(maxsize=4096)
def split(path: str) -> tuple[str, ...]:
    """Return the parts of a path; an index comes back as its digits."""
    return tuple(plain or bracketed for plain, bracketed in re.findall(_PART, path))


def is_index(part: str) -> bool:
    """Return True for a part of a path that may be the index of a list: none has a billion entries."""
    return part.isdecimal() and len(part) < 10


def starts(path: str, parent: str) -> bool:
    """Return True when `path` is `parent` or a field below it."""
    return path == parent or path.startswith((f"{parent}.", f"{parent}["))


def moved(path: str, table: Mapping[str, str]) -> str | None:
    """Return the path with its longest parent in `table` replaced by the entry there; None when it has none."""
    known = max((parent for parent in table if starts(path, parent)), key=len, default=None)
    return None if known is None else table[known] + path[len(known) :]
