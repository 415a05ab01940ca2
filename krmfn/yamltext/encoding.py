"""Bytes that are UTF-8 text, or the line where they are not."""

from __future__ import annotations

import codecs

from ..errors import KrmfnError

_STEP = 1 << 20


def check_encoding(text: bytes) -> None:
    """Raise KrmfnError, with the line, for bytes that are not UTF-8 text and for NUL."""
    at = text.find(b"\0")
    problem = "a NUL byte, so this is not text (perhaps UTF-16: save it as UTF-8)" if at >= 0 else ""
    if at < 0 and not text.isascii():
        decoder = codecs.getincrementaldecoder("utf-8")()
        for start in range(0, len(text), _STEP):
            part = text[start : start + _STEP]
            try:
                decoder.decode(part, final=start + _STEP >= len(text))
            except UnicodeDecodeError as failure:
                at = start + len(part) - len(failure.object) + failure.start  # what was left of the step before counts
                problem = f"not UTF-8 ({failure.reason}); save it as UTF-8"
                break
    if problem:
        raise KrmfnError(f"line {text.count(bytes([10]), 0, at) + 1}: {problem}")
