"""Words and single fields of an item's text, read without loading all of it."""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache, partial

from .errors import KrmfnError
from .resource import Manifest, Ref, same
from .typed import Any
from .yamltext import heads, oddlines, peek, simple, split

__all__ = [
    "Words",
    "check_aliases",
    "described",
    "document",
    "has_changed",
    "item_mentions",
    "lines_before",
    "mapping",
    "mentioning",
    "mentions",
    "note_look",
    "note_ref",
    "opened_word",
    "part",
]
__all__ += ["string", "strings"]

_ESCAPE = rb"\\(?:/|\r?\n[ \t]*|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))"
"""The escapes of double quotes behind which part of a word may hide."""
_HIDING = (b"!!binary", b"!<")
"""How the tags begin that may hide a whole word."""
_FEW = 4
"""So many items are searched one by one in less time than their text."""


def string(item: Any, *path: str) -> str:
    """Return the string at a path of keys; "" when there is none."""
    value: Any = peek.UNSURE if item.is_read else mapping(item, *path[:-1])
    if isinstance(value, peek.Mapping):
        value = value.scalar(path[-1].encode())
    value = _loaded_value(item, path) if value is peek.UNSURE else value
    return value if isinstance(value, str) else ""


def strings(item: Any, *path: str, words: tuple[bytes, ...] = ()) -> dict[str, str]:
    """Return the strings of the mapping at a path of keys, {} when there is none.

    With `words` fields may be missing that begin with none of them; none is a word that YAML reads as a value.
    """
    value: Any = peek.UNSURE if item.is_read else mapping(item, *path)
    if isinstance(value, peek.Mapping) and isinstance(texts := value.strings(words), dict):
        return texts
    value = _loaded_value(item, path) if value is not peek.MISSING else value
    return {k: v for k, v in value.items() if isinstance(v, str)} if isinstance(value, dict) else {}


def part(item: Any, *path: str) -> Any:
    """Return the mapping at a path of keys, {} when there is none; the rest is read only where it has to be."""
    value: Any = peek.UNSURE if item.is_read else mapping(item, *path)
    value = value.data() if isinstance(value, peek.Mapping) else value
    value = _loaded_value(item, path) if value is peek.UNSURE else value
    return value if isinstance(value, dict) else {}


def mapping(item: Any, *path: str) -> peek.Mapping | peek.Answer:
    """Return the mapping at a path of keys in the text, read without a parser."""
    if item.sure is False:
        return peek.UNSURE
    keys = tuple(map(str.encode, path))
    if item._metadata and path[:1] == ("metadata",):
        root, keys = _metadata(item), keys[1:]
    else:
        root = _root(item)
    return root.mapping(*keys) if isinstance(root, peek.Mapping) else root


def check_aliases(item: Any) -> None:
    """Raise KrmfnError unless every alias in the item's text has its anchor before it in the same text."""
    text = item.text.decode() if b"*" in item.text else ""
    if text and simple.read(text) is None and oddlines.read(text) is None:
        from .yamltext import load

        load.placed(partial(load.compose, item.text), partial(lines_before, item), *described(item))


def described(item: Any) -> tuple[str, str]:
    """Return the file of an item and "", or "" and its kind, name and kpt's path as far as its text shows them."""
    if item.file and item.file.path:
        return item.file.path, ""
    root = peek.root(item.data, item.start, item.end, item.indent)
    annotations = (b"metadata", b"annotations", b"internal.config.kubernetes.io/path")
    if not isinstance(root, peek.Mapping):
        return "", ""
    kind, name, path = (root.scalar(*keys) for keys in ((b"kind",), (b"metadata", b"name"), annotations))
    words = [word for word in (kind, name) if isinstance(word, str)] + ([f"({path})"] if isinstance(path, str) else [])
    return "", f"{' '.join(words)}, in the ResourceList: " if words else ""


@lru_cache(maxsize=16)
def _root(item: Any) -> peek.Mapping | peek.Answer:
    """Return the index of an item's text; those of few items are kept, since each takes a kilobyte."""
    root = peek.root(item.data, item.start, item.end, item.indent, item._keys)
    if isinstance(root, peek.Mapping) and item.sure is None:
        root.checked = item.start
    return root


@lru_cache(maxsize=16)
def _metadata(item: Any) -> peek.Mapping | peek.Answer:
    """Return the metadata of an item that begins in the usual way."""
    return heads.metadata(item.data, item._metadata, item.end, item.indent + 4)


def _loaded_value(item: Any, path: tuple[str, ...]) -> Any:
    """Return the value at a path of keys in all that the item holds; None when there is none."""
    value: Any = item.content.manifest
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def opened_word(manifest: Manifest, key: str) -> str:
    """Return the string at a key; "" where there is none."""
    value = manifest.get(key)
    return value if isinstance(value, str) else ""


def note_ref(item: Any, ref: Ref) -> None:
    """Note the reference of an item, which its caller has read; the item is not changed."""
    item._ref, item._api_version, item._kind = ref, ref.api_version, ref.kind


def note_look(item: Any, words: "Words", keys: Sequence[int] | None) -> None:
    """Note the search over the text that an item shares with others, and where lines begin in column 0, if known."""
    item._words, item._keys = words, keys


def has_changed(item: Any) -> bool:
    """Return True when an item's data or comments are not those of its text, however they were changed."""
    return bool(item.is_read and (item.content.is_edited or item.content.is_changed))


def item_mentions(item: Any, word: bytes) -> bool:
    """Return False when `word` is surely not in an item's data; what was searched for many items is not again."""
    known = item._words.known.get(word) if item._words is not None else None
    is_found = mentions(item.data, item.start, item.end, word) if known is None else item.start in known
    return is_found or has_changed(item)


def mentions(text: bytes, start: int, end: int, word: bytes) -> bool:
    """Return False when `word` is surely not in the data of the resource text[start:end], however it is written there.

    True is no proof: it may stand in a comment, and escapes are read everywhere, not only in double quotes.
    """
    if text.find(word, start, end) >= 0:
        return True
    if text.find(b"!", start, end) >= 0 and any(text.find(tag, start, end) >= 0 for tag in _HIDING):
        return True
    if text.find(b"\\", start, end) < 0:
        return False
    return word in re.sub(_ESCAPE, _character, text[start:end])


def _character(escape: re.Match[bytes]) -> bytes:
    """Return what an escape stands for: a slash, nothing (a line end), a character."""
    code = escape[1] or escape[2] or escape[3]
    if code is None:
        return b"/" if escape[0] == b"\\/" else b""
    return chr(int(code, 16)).encode(errors="replace") if int(code, 16) < 0x110000 else b""


def document(item: Any) -> bytes:
    """Return an item as a document of its own; its comment lines are in it, but for those behind it."""
    from .yamltext import edit, emit

    text = item.text
    text = text[: edit.trailer(text, item.indent)] if item.indent >= 0 else text
    text = edit.with_line_end(edit.undashed(text, item.indent), -2)
    if b"*" not in text and item.kind and not item.is_read and _has_lone_lines(item):  # its lines have the indent
        return text
    manifest = item.content.manifest
    try:
        is_same = same(edit.parse(text.decode()), manifest)
    except KrmfnError:  # lines that other breaks end have the indent still
        is_same = False
    return text if is_same else emit.dump(manifest).encode()


def _has_lone_lines(item: Any) -> bool:
    """Return True when no scalar or bracket of an item's text runs over lines."""
    return bool(item.sure or (item.sure is None and split.has_lone_lines(item.data, item.start, item.end)))


def lines_before(item: Any) -> int:
    """Return how many lines come before an item in its file or list."""
    file, start = item.file, item.start
    return int(file.line - 1 if file and file.line else item.data.count(b"\n", 0, start))


class Words:
    """The search over a text that holds many resources."""

    def __init__(self, text: bytes, spans: Sequence[tuple[int, int]]) -> None:
        """Take the text, and where its resources stand in it, in order."""
        self._text, self._spans = text, spans
        self._starts = [start for start, _ in spans]
        self.known: dict[bytes, frozenset[int]] = {}
        """The results of `starts_of` by word."""

    def starts_of(self, word: bytes) -> frozenset[int]:
        """Return where the resources begin that may hold `word` (see `mentions`)."""
        if word not in self.known:
            part = next((known for known in self.known if known and known in word), None)
            if part is not None:  # a resource that holds the word holds its part
                plain, candidates = frozenset[int](), self.known[part]
            else:
                if b"" not in self.known:  # where a word may be spelled in another way: with escapes, by a tag
                    self.known[b""] = frozenset((*self._occurrences(b"\\"), *self._occurrences(b"!")))
                plain = frozenset(self._occurrences(word))
                candidates = self.known[b""] - plain
            spans = (self._spans[bisect_right(self._starts, start) - 1] for start in candidates)
            self.known[word] = plain.union(start for start, end in spans if mentions(self._text, start, end, word))
        return self.known[word]

    def _occurrences(self, word: bytes) -> Iterator[int]:
        """Yield where each resource begins whose bytes hold `word`."""
        at = self._text.find(word, self._starts[0]) if self._starts else -1
        while at >= 0:
            start, end = self._spans[bisect_right(self._starts, at) - 1]
            if at < end:
                yield start
            at = self._text.find(word, max(at + 1, end))


def mentioning(items: Collection[Any], words: Collection[str]) -> list[Any]:
    """Return the items that may hold one of the words (see `Item.mentions`), by one search over each text."""
    if len(items) <= _FEW:
        return [item for item in items if any(map(item.mentions, words))]
    encoded = [word.encode() for word in words]
    texts = {item._words for item in items if item._words}
    starts = {text: frozenset[int]().union(*map(text.starts_of, encoded)) for text in texts}
    return [
        item
        for item in items
        if (item.start in starts[item._words] if item._words and not item._content else any(map(item.mentions, words)))
    ]
