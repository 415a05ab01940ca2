"""Text of an input as Markdown that shows it as it is: none of it is markup, and it mentions nobody."""

import html
import re

from krmfn.printing import printable

_REFERENCE = re.compile(
    r"(?<!\w)@(?=\w)|@(?=[\w.-]*\.[A-Za-z])|[#!$&](?=\d)|\bGH(?=-\d)|:(?=//|[A-Za-z+][\w+-]*:)|www(?=\.)",
    re.IGNORECASE,
)
"""What begins a mention of a person, a reference to an issue or the like, a link, or a picture by its name."""
_PLAIN = re.compile(r"[\w.,:;?/()=+'-]*")
_CODE = re.compile(r"(?<!`)`([^`]+)`(?!`)")
"""What a message has between backticks."""


def inline(text: str, in_table: bool = False) -> str:
    """Return one line of text: what Markdown could take for markup stands in code spans.

    A bar ends a cell of a table even in a code span, so a word with one is escaped there instead.
    """
    text = printable(text)
    if in_table and "|" in text:
        return _escaped(text)
    parts, end = [], 0
    for code in _CODE.finditer(text):
        parts += [_words(text[end : code.start()]), _span(code[1])]
        end = code.end()
    line = ""
    for part in (*parts, _words(text[end:])):
        is_joined = line.endswith("`") and part.startswith("`")  # their fences would be one
        line += f" {part}" if is_joined else part
    return line


def _escaped(text: str) -> str:
    """Return text whose markup is written as entities."""
    return re.sub(r"[^\w\s.,:;/()=+'-]|_", lambda match: f"&#{ord(match[0])};", _without_mentions(text))


def _without_mentions(text: str) -> str:
    """Return text that mentions nobody.

    GitHub and GitLab look for mentions in the text that they show, so escapes do not help: a zero width space does.
    """
    return _REFERENCE.sub("\\g<0>\u200b", text)


def in_tags(text: str) -> str:
    """Return one line of text for the inside of an HTML element."""
    return html.escape(_without_mentions(printable(text)))


def _words(text: str) -> str:
    return "".join(piece if piece.isspace() else _word(piece) for piece in re.split(r"(\s+)", text))


def _word(word: str) -> str:
    """Return a word as it is, or in a code span without the brackets around it and the punctuation behind it."""
    if _PLAIN.fullmatch(word) and "_" not in word and not _REFERENCE.search(word):
        return word
    opened = word.lstrip("(")
    middle = opened.rstrip(".,:;)")
    before, after = word[: len(word) - len(opened)], opened[len(middle) :]
    return f"{before}{_span(middle)}{after}" if middle else _span(word)


def _span(text: str) -> str:
    """Return a code span, whose fence is longer than any run of backticks in it."""
    fence = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    pad = " " if text[:1] in ("`", " ") or text[-1:] in ("`", " ") else ""
    return f"{fence}{pad}{text}{pad}{fence}"
