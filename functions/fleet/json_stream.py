"""The objects in a stream of JSON, one at a time: a List of any size takes the memory of its largest item.

The standard library's scanner does the work: `raw_decode` reads one value from the middle of a text and says where it
ends. That is faster than ijson with its C backend, which makes events first, and takes less than twice the time in
which orjson parses items that are already cut out.
"""

import json
import re
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator
from io import BufferedReader

from krmfn import KrmfnError
from krmfn.printing import counted
from krmfn.typed import Any, NoReturn

CHUNK = 1 << 16
LARGEST = 8 << 20
"""Characters of one item. By default etcd refuses objects of more than 1.5 MB."""
_TAIL = 16
"""Characters before the end of a chunk in which a word, a number or an escape may just be cut off."""
_HEAD = 200
"""Characters at the beginning of a List in which its `items` begin."""
_SPACE = re.compile(r"[ \t\r\n]*")
_BOM = b"\xef\xbb\xbf"


def begins(source: BufferedReader) -> bool:
    """Return True for a file that begins as JSON does; nothing of it is read."""
    return source.peek(1).removeprefix(_BOM).lstrip()[:1] in (b"{", b"[")


def objects(read: Callable[[int], bytes], limit: int | None = None) -> Iterator[dict[str, Any]]:
    """Yield the objects of a stream: those in Lists and arrays one by one, others as they are (NDJSON, one object).

    `read(n)` returns at most n bytes, b"" at the end. A List's `items` may come before its kind, as kubectl sorts them.
    Raises KrmfnError, with the number of objects before it, for text that is not JSON, is cut off or not UTF-8, for a
    value that is no object, for an object that no API server stores, and for more than `limit` bytes.
    """
    source = _Source(read, limit)
    while char := source.peek():
        if char == "[":
            yield from _array(source)
        elif char == "{" and source.single and not source.may_begin_list():
            value = source.value()
            yield from _members(value)
            source.count += 1
        elif char == "{":
            yield from _object(source)
        else:
            source.fail("expected an object or a list of objects")


class _Source:
    """The text that is read and not used yet."""

    def __init__(self, read: Callable[[int], bytes], limit: int | None) -> None:
        self.read, self.limit, self.total = read, limit, 0
        self.decoder = getincrementaldecoder("utf-8-sig")()
        self.scan = json.JSONDecoder(parse_constant=_refuse_constant).raw_decode
        self.text, self.at, self.ended = "", 0, False
        self.count = 0
        """The objects so far."""
        self.single = False
        """Whether an object was no List: then the following ones are read as a whole, which is faster."""

    @property
    def position(self) -> str:
        """How far the text was understood, in words."""
        return f"after {counted(self.count, 'complete object')}" if self.count else "before the end of the first object"

    def peek(self) -> str:
        """Return the next character behind white space; "" at the end of the stream."""
        while True:
            self.at = _SPACE.match(self.text, self.at).end()  # type: ignore[union-attr]  # matches the empty string too
            if self.at < len(self.text) or not self.fill():
                return self.text[self.at : self.at + 1]

    def may_begin_list(self) -> bool:
        """Return False for an object whose beginning has no `items`; kubectl writes them among the first keys."""
        beginning = self.text[self.at : self.at + _HEAD]
        return len(beginning) < _HEAD or '"items"' in beginning

    def take(self, *expected: str) -> str:
        """Return the next character, which must be one of those expected, and step over it."""
        char = self.peek()
        if char not in expected:
            self.fail(f"expected {' or '.join(expected)}")
        self.at += 1
        return char

    def value(self) -> Any:
        """Return the next value, however many chunks it takes."""
        self.peek()
        while True:
            try:
                value, end = self.scan(self.text, self.at)
            except json.JSONDecodeError as failure:
                is_cut = failure.msg.startswith("Unterminated") or failure.pos >= len(self.text) - _TAIL
                if not is_cut or not self.fill():
                    self.fail(failure.msg, is_cut)
            except (RecursionError, ValueError) as failure:
                self.fail("nested too deeply" if isinstance(failure, RecursionError) else str(failure))
            else:
                # a number or a word may go on in the next chunk
                ends = isinstance(value, (dict, list, str)) or self.text[end : end + 1] not in ("", ".", "e", "E")
                if ends or not self.fill():
                    self._check_size(end - self.at)
                    self.at = end
                    return value

    def fill(self) -> bool:
        """Read a chunk behind the text not used yet, and return False at the end of the stream.

        A chunk is at least as long as that text, so that a long value is not scanned too often.
        """
        rest = self.text[self.at :]
        self._check_size(len(rest))
        data = b"" if self.ended else self.read(max(CHUNK, len(rest)))
        self.ended = not data
        self.total += len(data)
        if self.limit is not None and self.total > self.limit:
            size = f"it has more than {counted(self.limit, 'byte')}"
            raise KrmfnError(f"{size}; raise KRMFN_MAX_BYTES, or dump fewer kinds")
        try:
            self.text, self.at = rest + self.decoder.decode(data, self.ended), 0
        except UnicodeDecodeError as failure:
            raise KrmfnError(f"the text {self.position} is not UTF-8") from failure
        return bool(data)

    def _check_size(self, size: int) -> None:
        """Raise KrmfnError when one object takes more than LARGEST."""
        if size > LARGEST:
            problem = f"object {self.count + 1:,} is larger than {LARGEST >> 20} MiB"
            reason = "no API server stores an object of this size (etcd's limit is 1.5 MB)"
            raise KrmfnError(f"{problem}; {reason}, so this is not a dump of a cluster")

    def fail(self, problem: str, is_cut: bool = False) -> NoReturn:
        """Raise KrmfnError with the problem and its position; `is_cut` when the end of the text may be the cause."""
        context = " ".join(self.text[self.at : self.at + 40].split())
        if is_cut or not self.peek():
            raise KrmfnError(f"the text ends {self.position}: it was cut off there, or is not JSON ({problem})")
        raise KrmfnError(f"the text {self.position} is not JSON: {problem} (near {context!r})")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number in JSON")


def _array(source: _Source) -> Iterator[dict[str, Any]]:
    """Yield the objects of an array."""
    source.take("[")
    char = source.take("]") if source.peek() == "]" else ","
    while char == ",":
        value = source.value()
        if not isinstance(value, dict):
            source.fail(f"item {source.count + 1:,} is {json.dumps(value)[:40]}, not an object")
        source.count += 1
        yield value
        char = source.take(",", "]")


def _object(source: _Source) -> Iterator[dict[str, Any]]:
    """Yield an object or, where it has a list of `items`, these; the kind of a List may stand before or behind them.

    Items that have neither apiVersion nor kind get those of the list (NodeList), after it where they stand behind.
    """
    head: dict[str, Any] = {}
    bare: list[dict[str, Any]] = []
    is_list = False
    source.take("{")
    char = source.take("}") if source.peek() == "}" else ","
    while char == ",":
        key = source.value() if source.peek() == '"' else source.fail("expected a key in quotes")
        source.take(":")
        if key == "items" and source.peek() == "[":
            if is_list:
                source.fail("`items` appears twice")
            is_list = True
            for item in _array(source):
                if _is_bare(item) and not head.keys() >= {"apiVersion", "kind"}:
                    bare.append(item)
                else:
                    yield _headed(item, head)
        else:
            head[key] = source.value()
        char = source.take(",", "}")
    if not is_list:
        source.count += 1
        source.single = True
        yield head
    elif not str(head.get("kind", "")).endswith("List"):
        raise KrmfnError(
            f"an object with `items` is of kind {head.get('kind')!r}; expected a List, as kubectl prints it"
        )
    yield from (_headed(item, head) for item in bare)
    _refuse_part(head)


def _refuse_part(head: dict[str, Any]) -> None:
    """Raise KrmfnError for a list that says that the server has more of it, as the API does for `limit`."""
    metadata = head.get("metadata")
    if isinstance(metadata, dict) and metadata.get("continue"):
        rest = metadata.get("remainingItemCount")
        number = f" ({rest:,} more)" if isinstance(rest, int) else ""
        name = f"a {head.get('kind')}"
        raise KrmfnError(f"{name} is not whole: the server has more of it{number}; ask for all, without a limit")


def _members(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield an object that was read as a whole: the items of a List behind single objects, any other as it is."""
    items = value.get("items")
    if not (isinstance(items, list) and str(value.get("kind", "")).endswith("List")):
        yield value
        return
    for item in items:
        if not isinstance(item, dict):
            raise KrmfnError(f"an item of a list is {json.dumps(item)[:40]}, not an object")
        yield _headed(item, value)
    _refuse_part(value)


def _is_bare(item: dict[str, Any]) -> bool:
    """Return True for a named object without apiVersion and kind."""
    metadata = item.get("metadata")
    return not (item.get("apiVersion") or item.get("kind")) and isinstance(metadata, dict) and "name" in metadata


def _headed(item: dict[str, Any], head: dict[str, Any]) -> dict[str, Any]:
    """Return an item with the apiVersion and kind that it has from its list, as kubectl reads it."""
    kind = str(head.get("kind", "")).removesuffix("List")
    return {"apiVersion": head.get("apiVersion"), "kind": kind, **item} if kind and _is_bare(item) else item
