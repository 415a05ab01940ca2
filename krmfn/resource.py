"""The reference of a manifest, and the place it was read from."""

from typing import Any, NamedTuple

Manifest = dict[str, Any]
"""A resource as plain data: mappings, lists, strings, numbers, booleans and None."""


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
        return (self.group, self.kind, self.namespace, self.name)

    def __str__(self) -> str:
        """Return the name for people: `DeviceConfig kmm/gaudi`."""
        return f"{self.kind or 'resource'} {self.namespace + '/' if self.namespace else ''}{self.name or '(no name)'}"


class Place(NamedTuple):
    """Where a manifest stands: a file, its position among that file's resources (from 0), its first line (from 1).

    `line` and `column` are 0 when not known (function mode: kpt sends path and index, kustomize neither).
    """

    path: str = ""
    position: int = 0
    line: int = 0
    column: int = 0


def ref(manifest: Manifest) -> Ref:
    """Return the reference of a manifest; what is missing or of the wrong type becomes ""."""
    metadata = manifest.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    return Ref(
        _text(manifest.get("apiVersion")),
        _text(manifest.get("kind")),
        _text(metadata.get("namespace")),
        _text(metadata.get("name")),
    )


def same(one: Any, other: Any) -> bool:
    """Return True when two values mean the same in YAML; for Python, True, 1 and 1.0 are equal."""
    return bool(one == other) and _alike(one, other)


def _alike(one: Any, other: Any) -> bool:
    kind = type(one)
    if kind is not type(other):
        return False
    if kind is dict:
        return all(type(value) is str is type(other[key]) or _alike(value, other[key]) for key, value in one.items())
    return all(map(_alike, one, other)) if kind is list else True


def annotations_of(manifest: Manifest) -> dict[str, Any]:
    """Return the annotations of a manifest, {} when there are none (never None)."""
    metadata = manifest.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    return annotations if isinstance(annotations, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
