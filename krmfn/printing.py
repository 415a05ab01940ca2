"""Text for people: what is fit for a log, words that are alike, numbers with their nouns."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import islice

from .typed import Any

__all__ = ["SHOWN", "closest", "counted", "did_you_mean", "is_similar", "json_text", "listed", "only_similar", "plural"]
__all__ += ["joined", "printable", "some", "summary_of_changes", "visible"]

SHOWN = 5
"""How many names a sentence has before it counts the rest."""
_LONGEST, _MOST = 253, 1000
"""How long a word may be, and how many known ones there may be, for a likeness to be looked for."""
_BLANK = "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
"""Letters that print according to Unicode and show nothing: fillers, blanks, variation selectors."""


def visible(text: str, kept: str = "") -> str:
    """Return `text` with every character escaped that does not print or hides what follows; those in `kept` stay."""

    def escape(match: re.Match[str]) -> str:
        is_visible = match[0].isprintable() and not re.match(_BLANK, match[0])
        return match[0] if is_visible or match[0] in kept else ascii(match[0])[1:-1]

    return re.sub("[^ -~]", escape, text)


def printable(text: str) -> str:
    """Return `text` fit for one line of a terminal: what moves the cursor, breaks the line or hides is escaped.

    So is what a CI runner takes for a command to itself: `::` where a line begins, `##[...]` and `##vso[...]` anywhere.
    """
    if not (text.isascii() and text.isprintable()):
        text = visible(text)
    if "##" in text:
        text = re.sub(r"##(?=\w*\[)", r"#\\x23", text)
    return text.replace("::", r"\x3a:", 1) if text.lstrip().startswith("::") else text


def json_text(data: Any, indent: int | None = None) -> str:
    """Return data as JSON that is fit for a terminal and a CI runner's log, as `printable` is; its data is the same.

    Characters that do not print are escaped, and so is half a surrogate pair, which is not UTF-8.
    """
    import json

    text = json.dumps(data, indent=indent, ensure_ascii=False).replace("##", r"#\u0023")
    if text.isascii() and "\x7f" not in text:
        return text
    return re.sub(
        "[^\n -~]", lambda match: match[0] if visible(match[0]) == match[0] else json.dumps(match[0])[1:-1], text
    )


def closest(word: str, known: Iterable[str], alike: float = 0.6) -> str:
    """Return the known word that is most like this one, whatever its case; "" when none is `alike` (0 to 1).

    A long word, and one of very many, is like none: the work is that of each pair, and of each two of their letters.
    """
    from difflib import get_close_matches  # here, since hardly any word is unknown

    words = [*known]
    if len(word) > _LONGEST or len(words) > _MOST:
        return ""
    folded = {name.lower(): name for name in words if len(name) <= _LONGEST}
    return next((folded[name] for name in get_close_matches(word.lower(), folded, 1, alike)), "")


def is_similar(word: str, other: str) -> bool:
    """Return True when at most one letter is added, left out, changed or swapped with its neighbour, in any case."""
    word, other = word.lower(), other.lower()
    pairs = enumerate(zip(word, other, strict=False))
    start = next((index for index, (a, b) in pairs if a != b), min(len(word), len(other)))
    rest, other_rest = word[start:], other[start:]
    swapped = rest[1::-1] + rest[2:]
    return other_rest in (rest[1:], swapped) or rest in (other_rest[1:], rest[:1] + other_rest[1:])


def only_similar(word: str, known: Iterable[str]) -> str:
    """Return the known word that is similar to this one, where there is exactly one; else ""."""
    words = [*islice(known, _MOST + 1)]
    similar = [name for name in words if is_similar(word, name)] if len(words) <= _MOST >= len(word) else []
    return similar[0] if len(similar) == 1 else ""


def did_you_mean(word: str, known: Iterable[str], otherwise: str = "", quote: str = "") -> str:
    """Return `did you mean NAME?` with the known word that is most like this one; else what helps `otherwise`."""
    close = closest(word, known)
    return f"did you mean {quote}{close}{quote}?" if close else otherwise


def joined(message: str, remedy: str) -> str:
    """Return a message and, behind a semicolon, what to do about it, where something is known."""
    return f"{message}; {remedy}" if remedy else message


def counted(number: int, noun: str) -> str:
    """Return the number with its noun, in the singular or the plural."""
    return f"{number:,} {noun if number == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """Return the plural of an English noun; a kind that already is one (`Endpoints`) stays as it is."""
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    if noun.endswith(("ss", "x", "ch", "sh")):
        return f"{noun}es"
    return noun if noun.endswith("s") else f"{noun}s"


def some(names: Iterable[str], number: int, limit: int = SHOWN) -> str:
    """Return the names as `a, b, c, d, e and 7 more`; there are `number` in all."""
    first = list(islice(names, limit))
    return ", ".join(first) + (f" and {number - len(first):,} more" if number > len(first) else "")


def listed(numbers: Mapping[str, int]) -> str:
    """Return `2 DeviceConfigs, 1 Module`, in the order of the mapping; a count of zero is left out."""
    return ", ".join(counted(number, noun) for noun, number in numbers.items() if number)


def summary_of_changes(changes: Iterable[tuple[str, str]]) -> str:
    """Return `created 2 Modules; removed 1 DaemonSet` for (what, kind) pairs; "" for none."""
    kinds = {"created": Counter[str](), "updated": Counter[str](), "removed": Counter[str]()}
    for action, kind in changes:
        kinds.setdefault(action, Counter())[kind or "resource"] += 1
    return "; ".join(f"{action} {listed(numbers)}" for action, numbers in kinds.items() if numbers)
