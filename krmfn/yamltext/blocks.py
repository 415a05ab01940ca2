"""The text of literal and folded blocks, by their lines."""

import re

__all__ = ["NotSimple", "read"]


class NotSimple(Exception):
    """A parser must read this text."""


def read(rows: list[str], at: int, column: int, mark: str) -> tuple[str, int]:
    """Return the text of a block whose lines begin at `at`, `column` columns in at least, and where it ends.

    `mark` stands behind its key or dash: `|`, `|-`, `|+`, `>` or `>-`. Raises NotSimple.
    """
    deeper, end = " " * column, at
    while end < len(rows) - 1 and (rows[end].startswith(deeper) or not rows[end].strip(" ")):
        end += 1
    if end == len(rows) - 1 and rows[end]:  # a last line without its line break, spaces included, may be text
        raise NotSimple
    block = rows[at:end]
    first = next((row for row in block if row.strip(" ")), "\t")
    indent = len(first) - len(first.lstrip(" "))
    if mark != "|+":
        while block and len(block[-1]) <= indent and not block[-1].strip(" "):  # longer ones are text
            block.pop()
    before = block[: block.index(first)] if first in block else []
    even = all(row.startswith(first[:indent]) or not row.strip(" ") for row in block)
    if not even or first[indent] == "\t" or any(len(row) > indent for row in before):
        raise NotSimple
    text = "".join(row[indent:] + "\n" for row in block)
    text = _folded(text) if mark[0] == ">" else text
    return text[:-1] if mark[1:] == "-" else text, at + len(block)


def _folded(text: str) -> str:
    """Return the text of a folded block: of breaks between two lines the first is a blank. Raises NotSimple."""
    if text[0] == "\n" or re.search(r"(?m)^[ \t]|[ \t]$", text):
        raise NotSimple
    return re.sub(r"\n(\n*)(?!\Z)", lambda match: match[1] or " ", text)
