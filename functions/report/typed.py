"""The fields of a JSON file, read with their types: whatever stands there, it is a value or a sentence."""

from __future__ import annotations

from krmfn import KrmfnError
from krmfn.typed import Any, TypeVar

T = TypeVar("T")
_NEEDED: Any = object()
"""In place of a default: the field has to be there."""


class Fields:
    """The fields of one file, read with their types."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, holder: Any, key: str, kind: type[T], default: Any = _NEEDED) -> T:
        """Return a field; the default where it is null or missing. Raises KrmfnError for another type."""
        value = holder.get(key) if isinstance(holder, dict) else None
        if value is None and default is not _NEEDED:
            return default  # type: ignore[no-any-return]
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise KrmfnError(f"{self.name}: the field {key!r} is {value!r:.60}, which krmfn does not print")
        return value

    def each(self, holder: Any, key: str) -> list[dict[str, Any]]:
        """Return a list of mappings."""
        values = self(holder, key, list)
        if not all(isinstance(value, dict) for value in values):
            raise KrmfnError(f"{self.name}: the field {key!r} holds something that krmfn does not print")
        return values

    def texts(self, holder: Any, key: str) -> list[str]:
        """Return a list of texts."""
        values = self(holder, key, list)
        if not all(isinstance(value, str) for value in values):
            raise KrmfnError(f"{self.name}: the field {key!r} holds something that is not a string")
        return values
