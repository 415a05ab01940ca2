"""Words that are written with escapes, so that a search for their bytes misses them."""

from __future__ import annotations

import re

__all__ = ["may_hold"]

# The escapes of double quotes behind which part of a word may hide; and tags that may hide all of it.
_ESCAPE = re.compile(rb"\\(?:/|\r?\n[ \t]*|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))")
_TAGS = (b"!!binary", b"!<")


def may_hold(text: bytes, word: bytes) -> bool:
    """Return False when `word` is surely in no scalar of `text`, however it is written there.

    True is no proof: comments count, and escapes are read wherever they stand, not only in double quotes.
    """
    if word in text or (b"!" in text and any(tag in text for tag in _TAGS)):
        return True
    return b"\\" in text and word in _ESCAPE.sub(_character, text)


def _character(escape: re.Match[bytes]) -> bytes:
    """Return what an escape stands for: a slash, nothing (a line end), a character."""
    code = escape[1] or escape[2] or escape[3]
    if code is None:
        return b"/" if escape[0] == b"\\/" else b""
    return chr(int(code, 16)).encode(errors="replace") if int(code, 16) < 0x110000 else b""
