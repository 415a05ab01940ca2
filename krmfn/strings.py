"""The labels and annotations of an item, as a mapping that writes to the item."""

from collections.abc import MutableMapping

from .typed import Any

__all__ = ["Strings", "text"]


class Strings(dict[str, str]):
    """The labels or annotations of an item, at `path`: what is written to them is written to the item."""

    popitem, clear, setdefault = MutableMapping.popitem, MutableMapping.clear, MutableMapping.setdefault

    def __init__(self, item: Any, path: str, texts: dict[str, str]) -> None:
        """Take the item, the path, and what is there."""
        super().__init__(texts)
        self.item, self.path = item, path

    def __setitem__(self, key: str, value: str) -> None:
        path = f"{self.path}[{key}]"
        self.item[path] = text(self.item, path, value)
        super().__setitem__(key, value)

    def update(self, *others: Any, **named: str) -> None:
        """Write several texts, or none where one of them is no text."""
        texts = dict(*others, **named)
        for key, value in texts.items():
            text(self.item, f"{self.path}[{key}]", value)
        for key, value in texts.items():
            self[key] = value

    def pop(self, key: str, *default: Any) -> Any:
        """Remove a text and return it; the default where there is none, or raise KeyError."""
        if key in self:
            del self.item[f"{self.path}[{key}]"]
        return super().pop(key, *default)

    def __delitem__(self, key: str) -> None:
        self.pop(key)

    def __ior__(self, other: Any) -> "Strings":  # type: ignore[override,misc]
        self.update(other)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)  # a copy is a plain dict: it changes no item


def text(item: Any, path: str, value: Any) -> str:
    """Return a value that must be a text. Raises TypeError, with item and path, for another one."""
    if not isinstance(value, str):
        raise TypeError(f"{item.ref}: {path} must be a string, not {value!r}")
    return value
