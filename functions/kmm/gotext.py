"""Go's printing and cleaning of text, as KMM's messages need it."""

from __future__ import annotations

import posixpath

_SHORT = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v"}
_QUOTED = _SHORT | {"\\": "\\\\", '"': '\\"'}


def quote(text: str) -> str:
    """Return the text as Go's `%q` prints it (strconv.Quote)."""
    return '"' + "".join(_QUOTED.get(char) or _printed(char) for char in text) + '"'


def _printed(char: str) -> str:
    if char.isprintable():
        return char
    code = ord(char)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def clean(path: str) -> str:
    """Return the shortest equal path (filepath.Clean): `/dev/../etc` is `/etc`; "" is `.`."""
    short = posixpath.normpath(path)
    return short[1:] if short.startswith("//") else short


def size(text: str) -> int:
    """Return the length that Go's `len` gives: bytes, not characters."""
    return len(text.encode("utf-8", "surrogatepass"))
