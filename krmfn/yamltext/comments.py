"""The comments behind an item: they stand in its span, and belong to whatever follows."""

from __future__ import annotations

import re

_KEEPS = re.compile(rb"[|>][0-9]?\+")


def trailer(text: bytes, indent: int) -> int:
    """Where the blank and comment lines behind an item begin, its dash at column `indent` (-2: a document).

    What is indented deeper than the dash may belong to a block scalar, and so may blank lines where one keeps them.
    """
    kept = _KEEPS.search(text)
    end = len(text)
    while end:
        start = text.rfind(b"\n", 0, end - 1) + 1
        words = text[start:end].strip()
        column = text.find(b"#", start, end) - start
        if not (0 <= column <= max(indent, 0) if words[:1] == b"#" else not words and not kept):
            break
        end = start
    return end
