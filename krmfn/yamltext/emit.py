"""Data to YAML text in the layout kyaml writes (two columns, lists at their key's column), with no alias ever.

The rules for quotes and block scalars are those of go-yaml v3's emitter as kyaml uses it (nothing is folded), so that
kpt does not reformat what we write; besides, every string that a YAML 1.1 reader would misread is quoted.
"""

import re
from functools import lru_cache

from ..typed import Any
from .simple import Timestamp, scalar

__all__ = ["dump", "dump_json", "is_ambiguous", "is_literal", "literal", "quoted", "rewritten"]

_LONGEST_KEY = 128
"""go-yaml writes longer ones behind a question mark; readers know no longer ones than 1024 without it."""
_SAFE = re.compile(r"[A-Za-z/_][A-Za-z0-9/_.+-]*")
_PLAIN_DATE = r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt ][0-9:.]+[Zz]?)?"
_SPECIAL = "[^\t\n\x20-\x7e\xa0-\u2027\u202f-\u2065\u206a-\ud7ff\ue000-\ufefe\uff00-\ufffd]"
_NOT_IN_FLOW = "[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]"
# What YAML 1.1 readers (PyYAML, libyaml bindings) take for something else than a string, beyond `simple.scalar`.
_OLD_WORDS = frozenset(("yes", "no", "on", "off", "true", "false", "null", "y", "n"))
_OLD = (
    r"(?:~|=|<<|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?"  # base 60: 1:30
    r"|[-+]?(?:0[bBxXoO])?[0-9a-fA-F]+_[0-9a-fA-F_]*"
    r"|[-+]?0[bBxXoO][0-9a-fA-F_]*|[-+][0-9_]*"
    r"|[-+]?[0-9.][0-9_]*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9_]+)?"
    r"|[-+]?\.(?:inf|nan))"
)
_ESCAPES = {"\0": "0", "\a": "a", "\b": "b", "\t": "t", "\n": "n", "\v": "v", "\f": "f", "\r": "r", "\x1b": "e"}
_ESCAPES |= {'"': '"', "\\": "\\", "\x85": "N", "\u2028": "L", "\u2029": "P"}


def dump(data: Any, indent: int = 0) -> str:
    """Return the block text of a mapping or list, its lines `indent` columns in, with a final newline."""
    lines: list[str] = []
    _write(data, " " * indent, " " * indent, lines)
    return "\n".join([*lines, ""])


def dump_json(data: Any) -> str:
    """Return JSON on one line that is YAML, too: what YAML refuses or takes for a line break is escaped."""
    import json  # here: most edits write strings, and loading it takes a tenth of an empty process

    text = json.dumps(data, ensure_ascii=False)
    if text.isascii() and "\x7f" not in text:
        return text
    return re.sub(_NOT_IN_FLOW, lambda match: f"\\u{ord(match[0]):04x}", text)


def _write(data: Any, lead: str, pad: str, lines: list[str]) -> None:
    """Add the lines of data: `lead` stands before the first, `pad` before all others."""
    if isinstance(data, dict) and data:
        for key, value in data.items():
            name = _key(key) or f"? {quoted(key)}\n{pad}"
            if type(value) is str and (text := _inline(value)):
                lines.append(f"{lead}{name}: {text}")
            elif value and isinstance(value, (dict, list)):
                lines.append(f"{lead}{name}:")
                below = pad if isinstance(value, list) else pad + "  "
                _write(value, below, below, lines)
            else:
                lines.append(f"{lead}{name}: {_scalar(value, pad)}")
            lead = pad
    elif isinstance(data, list) and data:
        for value in data:
            if value and isinstance(value, (dict, list)):
                _write(value, lead + "- ", pad + "  ", lines)
            else:
                lines.append(f"{lead}- {_scalar(value, pad)}")
            lead = pad
    else:
        lines.append(f"{lead}{_scalar(data, pad)}")


@lru_cache(maxsize=4096)
def _key(text: str) -> str:
    """Return a key as it stands before its colon; "" for one that is written behind a question mark."""
    name = quoted(text)
    return name if len(name) <= _LONGEST_KEY else ""


@lru_cache(maxsize=4096)
def _inline(text: str) -> str:
    """Return a string as a value on the line of its key; "" for one that is written as a literal block."""
    return "" if "\n" in text and is_literal(text) else quoted(text)


def _scalar(value: Any, pad: str) -> str:
    if type(value) is Timestamp and re.fullmatch(_PLAIN_DATE, value):
        return value  # in quotes it would be another value to kubectl
    if isinstance(value, str):
        return _inline(value) or literal(value, pad + "  ")
    if value is None:
        return "null"
    if isinstance(value, (dict, list)):
        return "[]" if isinstance(value, list) else "{}"
    return _number(value) if isinstance(value, float) else dump_json(value)


def _number(value: float) -> str:
    """Return a float as text, always with a dot: YAML 1.1 reads 1e+16 as a string."""
    text = repr(value)
    if text[-1] in "fn":
        return text.replace("inf", ".inf").replace("nan", ".nan")
    return text if "." in text or "e" not in text else text.replace("e", ".0e")


def quoted(text: str) -> str:
    """Return `text` as a one-line scalar: plain where all readers agree, else in the quotes that go-yaml chooses."""
    ambiguous = is_ambiguous(text)
    if not ambiguous and _SAFE.fullmatch(text):
        return text
    if ambiguous or "\n" in text or "\t" in text or _is_special(text):
        return '"' + "".join(_escaped(char) for char in text) + '"'
    first = text[0]  # kubectl skips any white space at the start of a stream, and looks for a brace behind it
    begins = first in "#,[]{}&*!|>'\"%@`" or text.startswith(("---", "...")) or (first in "?:-" and text[1:2] in " ")
    has_mark = begins or first.isspace() or text[-1] in " :" or ": " in text or " #" in text
    return "'" + text.replace("'", "''") + "'" if has_mark else text


def rewritten(value: Any, quote: str) -> str:
    """Return a scalar on one line, in the quotes of the old one."""
    text: str = quoted(value) if type(value) is str else dump(value).rstrip("\n")
    is_plain = text == value or (text == f'"{value}"' and "'" not in value)  # the other quotes would do, too
    if not is_plain or not quote:
        return text
    escaped = value.replace("'", "''") if quote == "'" else value.replace("\\", "\\\\").replace('"', '\\"')
    return f"{quote}{escaped}{quote}"


def is_ambiguous(text: str) -> bool:
    """Return True when some YAML reader from 1.1 to 1.2 would not get the string `text` back from the plain scalar."""
    if text[:1].isalpha() and "_" not in text:
        return text.lower() in _OLD_WORDS
    return type(scalar(text)) is not str or re.fullmatch(_OLD, text, re.IGNORECASE) is not None


def _is_special(text: str) -> bool:
    """Return True when a character must be escaped: unprintable, a line break to YAML 1.1, a change of direction."""
    if text.isascii():
        return not text.replace("\n", "").replace("\t", "").isprintable()
    return re.search(_SPECIAL, text) is not None


def _escaped(char: str) -> str:
    if char in _ESCAPES:
        return "\\" + _ESCAPES[char]
    if not _is_special(char):
        return char
    code = ord(char)
    return f"\\x{code:02X}" if code < 0x100 else f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"


def is_literal(text: str) -> bool:
    """Return True when a block scalar can hold `text`: no escapes, no space before a line end, no odd first line."""
    return not (text[0] in " \n\t" or " \n" in text or text[-1] in " \t" or _is_special(text) or "\t\n" in text)


def literal(text: str, pad: str) -> str:
    """Return `text` as a literal block, its mark first, its lines behind `pad`."""
    chomp = "-" if not text.endswith("\n") else "+" if text.endswith("\n\n") else ""
    body = text[:-1] if text.endswith("\n") else text
    return "|" + chomp + "".join(f"\n{pad}{line}" if line else "\n" for line in body.split("\n"))
