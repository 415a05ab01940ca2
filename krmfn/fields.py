"""A field of an item by its path: read, written and deleted, its comments, too."""

from . import fieldpaths
from .errors import KrmfnError, Refused
from .fieldpaths import MISSING, child, parts_of, read
from .resource import Place, copied, join, same
from .results import Field, Result
from .typed import Any, TypeVar
from .yamltext import lent

__all__ = ["ItemField", "get"]

T = TypeVar("T")

_GONE = "its entry is not in the list any more, or the list was replaced; look the field up again"
_MAPPINGS = {"annotations", "binaryData", "data", "labels", "matchLabels", "nodeSelector", "stringData"}
"""Where a number is a key, and no index."""
_NAMES: dict[type, str] = {str: "a string", int: "an integer", bool: "true or false", float: "a number"}
_NAMES |= {dict: "a mapping", list: "a list"}


class ItemField:
    """A field of an item, which may not exist. Every reader of the item sees a write at once."""

    __slots__ = ("_held", "_path", "item", "parts")
    _held: dict[int, tuple[list[Any], int, Any]] | None
    """Entries of lists by their indexes in `parts` (see `_hold`); None once the field's own entry was deleted."""

    def __init__(self, item: Any, path: str | tuple[str | int, ...]) -> None:
        """Take the field at `path`, as findings write it, or by its parts. Raises KrmfnError when that is no path.

        `[-1]` is the last entry of a list, `[name=web]` the one of that name.

        Where the path leads through entries of lists, these are held: the field moves along with them.
        """
        self.item = item
        parts = parts_of(item, path)
        self.parts = fieldpaths.named(item, parts)
        self._path = path if isinstance(path, str) and not any(map(fieldpaths.is_choice, parts)) else ""
        self._hold()

    @property
    def path(self) -> str:
        """Return where the field is, as findings write it: `spec.containers[0].image`."""
        self._follow()
        return self._path or join(self.parts)

    @property
    def exists(self) -> bool:
        """Return True when the item has the field, null included."""
        return self._read() is not MISSING

    @property
    def value(self) -> Any:
        """Return the field's value, None when there is none; a mapping or list is the item's own, only to be read."""
        value = self._read()
        if isinstance(value, (dict, list)):
            self.item.content.lend(self.parts)
        return None if value is MISSING else value

    @value.setter
    def value(self, value: Any) -> None:
        """Write a copy of the value; mappings above it are made, and an entry right behind a list's last is added.

        Raises KrmfnError, and changes nothing, when a scalar is above, an index is too large, the field is shared
        by an anchor and its aliases, its entry is not in the list any more, or `value` is nothing that JSON has.
        """
        if not self._follow():
            raise self.failure(f"cannot be written: {_GONE}")
        original = value
        try:
            value = copied(value)
        except KrmfnError as failure:
            raise self.failure(f"cannot be written: {failure}") from failure
        old, written = read(self.item.content.manifest, self.parts), value
        if old is not MISSING and same(old, value):
            return
        above, rest = self._above()
        if absent := next(filter(fieldpaths.is_choice, rest), ""):
            raise self.failure(f"cannot be written: there is no entry {absent}")
        for at in range(len(self.parts) - 1, len(self.parts) - len(rest), -1):
            part = self.parts[at]
            is_index = part.isdecimal() and self.parts[at - 1] not in _MAPPINGS
            if is_index and int(part):
                raise self.failure(f"cannot be written: there is no list for [{part}] yet; its first entry is [0]")
            value = [value] if is_index else {part: value}
        if isinstance(above, list) and not (rest[0].isdecimal() and int(rest[0]) <= len(above)):
            raise self.failure(f"cannot be written: [{rest[0]}] is no entry of a list of {len(above)}")
        if isinstance(above, dict) and not isinstance(value, (dict, list)) and not isinstance(old, (dict, list)):
            self.item.content.write(self.parts, above)
        else:
            self.item.content.touch(self.parts)
        lent.link(original, written)
        if isinstance(above, dict):
            above[rest[0]] = value
        else:
            above[int(rest[0]) : int(rest[0]) + 1] = [value]
        self._hold()

    def delete(self) -> None:
        """Remove the field. Raises KrmfnError when there is none, or it is shared by an anchor and its aliases."""
        if not self._follow():
            raise self.failure(f"cannot be deleted: {_GONE}")
        if read(self.item.content.manifest, self.parts) is MISSING:
            raise self.failure("cannot be deleted: there is no such field")
        above, rest = self._above()
        self.item.content.touch(self.parts)
        del above[int(rest[0]) if isinstance(above, list) else rest[0]]
        if isinstance(above, list):
            self._held = None

    def rename(self, name: str) -> None:
        """Give the field's key another name; the field keeps its place and its comments, and is the renamed one.

        Raises KrmfnError when there is no such field, it is an entry of a list, or the other name is there.
        """
        if not self._follow() or not self.exists:
            raise self.failure("cannot be renamed: there is no such field")
        above, rest = self._above()
        if not isinstance(above, dict):
            raise self.failure("cannot be renamed: it is an entry of a list")
        if name in above:
            raise self.failure(f"cannot be renamed: there is {join((*self.parts[:-1], name))} already")
        self.item.content.touch(self.parts)
        self.item.content.rename(above, rest[0], name)
        self.parts, self._path = (*self.parts[:-1], name), ""
        self._hold()

    @property
    def comment(self) -> str:
        """Return the comment on the field's line, of a mapping or list that of its key's, without `# `; "" for none."""
        return str(self.item.content.comments(self.item).get(self.parts, "")) if self._follow() else ""

    @comment.setter
    def comment(self, words: str) -> None:
        """Write it; "" removes it. Raises KrmfnError where there is no such field, or no line for a comment."""
        self._remark(words, head=False)

    @property
    def head_comment(self) -> str:
        """Return the comment lines right above the field, without `# `; "" for none. It can be written."""
        return str(self.item.content.head(self.item, self.parts)) if self._follow() else ""

    @head_comment.setter
    def head_comment(self, words: str) -> None:
        self._remark(words, head=True)

    def _remark(self, words: str, head: bool) -> None:
        if not self.exists:
            raise self.failure("can have no comment: there is no such field")
        if not all(row.isprintable() for row in words.split("\n")) or ("\n" in words and not head):
            raise self.failure(f"can have no comment {words!r}: it must be one line of characters that print")
        old = self.head_comment if head else self.comment
        if words != old and not self.item.content.remark(self.parts, words, head):
            raise self.failure("can have no comment: it has no line of its own")

    @property
    def place(self) -> Place | None:
        """Return where the field stands (see `Item.field_place`)."""
        return self.item.field_place(self.path)  # type: ignore[no-any-return]

    @property
    def named(self) -> Field:
        """Return the field as findings name it, with its value when that is a scalar."""
        value = self.value
        return Field(self.path, None if isinstance(value, (dict, list)) else value)

    def located(self, result: Result) -> Result:
        """Return the finding with the item's reference, and this field and its place where it names none."""
        return self.item.located(result if result.field else result._replace(field=self.named))  # type: ignore[no-any-return]

    def _hold(self) -> None:
        """Note the entries of lists on the way to the field, each with its list and the length of that."""
        held: dict[int, tuple[list[Any], int, Any]] = {}
        value: Any = self.item.content.manifest if any(map(str.isdecimal, self.parts)) else MISSING
        for at, part in enumerate(self.parts):
            below = child(value, part)
            if isinstance(value, list) and below is not MISSING:
                held[at] = value, len(value), below
            value = below
        self._held = held

    def _read(self) -> Any:
        return read(self.item.content.manifest, self.parts) if self._follow() else MISSING

    def _follow(self) -> bool:
        """Follow the held entries to their places now, of equal texts to the nearest; return False when one is gone."""
        if not self._held:
            return self._held is not None
        parts, has_moved = [*self.parts], False
        for at, (entries, size, entry) in self._held.items():
            index = int(parts[at])
            if read(self.item.content.manifest, tuple(parts[:at])) is not entries:
                return False
            is_text = not isinstance(entry, (dict, list))
            if (is_text and len(entries) == size) or (index < len(entries) and entries[index] is entry and not is_text):
                continue
            places = [at for at, other in enumerate(entries) if other is entry or (is_text and same(other, entry))]
            if not places or (len(places) > 1 and not is_text):
                return False
            parts[at], has_moved = str(max((place for place in places if place <= index), default=places[0])), True
        if has_moved:
            self.parts, self._path = tuple(parts), ""
            self._hold()
        return True

    def _above(self) -> tuple[Any, tuple[str, ...]]:
        """Return the last mapping or list on the way that exists, and the parts of the path below it."""
        value: Any = self.item.content.manifest
        shared = self.item.content.shared_above(self.parts)
        for at, part in enumerate(self.parts):
            if shared and self.parts[:at] in shared:
                problem = f"{join(self.parts[:at])} is shared by an anchor and its aliases"
                raise self.failure(f"cannot be changed: {problem}; write another value there first")
            below = child(value, part)
            if at == len(self.parts) - 1 or below is MISSING or below is None:
                return value, self.parts[at:]
            if not isinstance(below, (dict, list)):
                raise self.failure(f"cannot be written: {join(self.parts[: at + 1])} is no mapping and no list")
            value = below
        raise self.failure("is no path")

    def failure(self, message: str) -> Refused:
        """Return the error about this field, in the words of `message`."""
        return Refused(message, self, f"{self.item.ref}: {self.path or '(empty path)'} ")


def get(item: Any, path: str, kind: type[T] | None, default: T | None) -> T | None:
    """Return the value at `path` when it is of the type `kind` (None: any), `default` when there is none or null.

    Raises KrmfnError for a value of another type (True is no integer), with item and path.
    """
    if kind not in [None, *_NAMES]:  # to Python 3.10 list[str] is a type
        advice = f"take str, int, bool, float, dict or list: get({path!r}, str, default=...)"
        raise TypeError(f"{kind!r} is no type that can be checked; {advice}")
    field = ItemField(item, path)
    value: T | None = field.value
    if value is None or kind is None:
        return default if value is None else value
    if type(value) is not kind and not (kind is float and type(value) is int):
        raise field.failure(f"must be {_NAMES[kind]}, not {value!r}")
    return value
