"""The comments behind an item: they stand in its span, and belong to whatever follows."""

from __future__ import annotations

import re

__all__ = ["KEEPS", "trailer"]

KEEPS = rb"[|>][0-9]?\+"
"""What the header of a block scalar that keeps the line breaks behind it looks like (and a few other things)."""
_OTHER_BREAK = rb"\r(?!\n)|\xc2\x85|\xe2\x80[\xa8\xa9]"
"""What ends a comment in YAML 1.1, beside a newline: more than the comment may stand on its line."""


def trailer(text: bytes, indent: int) -> int:
    """Return where the blank and comment lines behind an item begin, its dash at column `indent` (-2: a document).

    What is indented deeper than the dash may belong to a block scalar, spaces included, and so may empty lines where
    one keeps them.
    """
    kept = re.search(KEEPS, text)
    scalar = b"|" in text or b">" in text
    end = len(text)
    while end:
        start = text.rfind(b"\n", 0, end - 1) + 1
        content = text[start:end].strip()
        column = text.find(b"#", start, end) - start
        blank = not content and not kept and not (scalar and text[start:end].strip(b"\r\n"))
        is_comment = 0 <= column <= max(indent, 0) and not re.search(_OTHER_BREAK, text[start:end])
        if not (is_comment if content[:1] == b"#" else blank):
            break
        end = start
    return end
