"""KMM's variables, and their substitution with the forms and peculiarities of a8m/envsubst v1.4.3.

`$X`, `${X}`, `${X-d}`, `${X:-d}`, `${X=d}`, `${X:=d}`, `${X+d}`, `${X:+d}`; `$$` is `$`; a variable that is not set is
empty; an unclosed `${` is an error. A template is cut into pieces with the library's states, since its odd results
(`${A:-${B}}` breaks, `$_` is text) come from them; the pieces are grouped into texts, variables and expressions.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

from krmfn import KrmfnError
from krmfn.typed import Any, NamedTuple

from .module import KERNEL_VARIABLES

UNCLOSED = "closing brace expected"

Piece = tuple[str, str]
"""Its kind (`text`, `variable`, `open`, `close`, or an operator itself), and its text."""


class UnfitKernel(KrmfnError):
    """A kernel version with fewer than three parts."""

    def __init__(self, version: str) -> None:
        """Take the version; the error has KMM's text, `problem` its beginning, which says what is wrong."""
        self.problem = f"invalid kernel version {version}"
        super().__init__(f"{self.problem}: expected at least three components (major.minor.patch)")


class Part(NamedTuple):
    """A text (without a name), or a variable with its default."""

    name: str | None
    text: str = ""
    operator: str = ""
    default: Any = None
    """Another part, or None."""


def variables(kernel: str) -> dict[str, str]:
    """Return KMM's variables for a kernel version without its trailing `+`; characters unfit for a tag are `_`.

    Raises KrmfnError, with KMM's text, for fewer than three parts. They are split after that replacement, so a comma
    splits nothing. Source: KMM v2.4.0 to main, internal/kernel.
    """
    version = re.sub(r"[^A-Za-z0-9_.-]", "_", kernel)
    parts = version.replace("-", ".").split(".")
    if len(parts) < 3:
        raise UnfitKernel(version)
    values = (version, version, ".".join(parts[:3]), *parts[:3])
    return dict(zip(KERNEL_VARIABLES, values, strict=True))


def substitute(template: str, values: Mapping[str, str]) -> str:
    """Return the template with its variables filled in; raise KrmfnError when a brace is not closed.

    Source: KMM v2.4.0 to main, internal/utils (ReplaceInTemplates), with no restriction set.
    """
    texts = []
    for name, plain, operator, default in parse(template):
        value = plain if name is None else values.get(name, "")
        if default is not None and operator:
            other = default.text if default.name is None else values.get(default.name, "")
            if operator in ("+", ":+"):
                value = other if name in values else ""
            elif not (value if operator in (":-", ":=") else name in values):
                value = other
        texts.append(value)
    return "".join(texts)


@lru_cache(maxsize=1024)
def parse(template: str) -> tuple[Part, ...]:
    """Return the parts of a template; raise KrmfnError when a brace is not closed."""
    rest, parts = _pieces(template)[::-1], list[Part]()
    while rest:
        kind, text = rest.pop()
        if kind == "open" and rest and rest[-1][0] == "variable":
            parts.append(_expression(rest))
        else:
            parts.append(Part(text.removeprefix("$")) if kind == "variable" else Part(None, text))
    return tuple(parts)


def _expression(rest: list[Piece]) -> Part:
    """Return `${NAME...}` from its name on, and take it off the rest; the last operator and the last default count."""
    name, operator, default = rest.pop()[1], "", None
    while rest:
        kind, text = rest.pop()
        if kind == "close":
            return Part(name, operator=operator, default=default)
        if kind == "variable":
            default = Part(text.removeprefix("$"))
        elif kind == "text":
            while rest and rest[-1][0] != "close":
                text += rest.pop()[1]
            default = Part(None, text)
        else:
            operator = kind
    raise KrmfnError(UNCLOSED)  # a lone `_` as a name hides the brace, and the library itself never returns


def _pieces(template: str) -> list[Piece]:
    """Return the pieces of a template; raise KrmfnError when a brace is not closed.

    The current piece begins at `start`, the one before it at `last`; a state ends it where it is of a kind. `operator`
    and `default` are in `${...}`: there the default is read character by character.
    """
    pieces, state = list[Piece](), "text"
    at = start = last = depth = 0
    while state != "end":
        kind = ""
        if state == "text":  # up to the next `$`
            dollar = template.find("$", at)
            at = dollar if dollar >= 0 else len(template)
            kind, state = "text", "dollar" if dollar >= 0 else "end"
        elif state == "dollar":
            after = template[at + 1 : at + 2]
            start, at = at + (after == "$"), at + 1 + (after in ("$", "{"))
            depth += after == "{"
            begins = {"$": ("text", "text"), "{": ("open", "operator")}
            kind, state = begins.get(after, ("", "variable" if _is_word(after) else "text"))
        elif state == "variable":  # the rest of a name; a lone underscore is text
            while _is_word(template[at : at + 1]):
                at += 1
            is_text = template[start:at] in ("_", "$_")
            kind, state = ("", "text") if is_text else ("variable", "operator" if depth else "text")
        else:
            kind, state, at = _inside(template, at, state, template.startswith("${", last))
            depth -= kind == "close"
        if kind and start < at:
            pieces.append((kind, template[start:at]))
            last, start = start, at
    return pieces


def _inside(template: str, at: int, state: str, is_opened: bool) -> tuple[str, str, int]:
    """Read one character of `${...}`; return the kind of the piece that it ends or "", the next state and position."""
    char = template[at : at + 1]
    if char in ("", "\r", "\n"):
        raise KrmfnError(UNCLOSED)
    if char == "}":
        return "close", "text", at + 1
    if (_is_word(char) and is_opened) or (char == "$" and state == "default"):
        return "", "variable", at + 1
    if state == "default":
        return "text", "default", at + 1
    if char == ":":
        char = template[at : at + 2]
    return char if char.endswith(("+", "-", "=")) else "", "default", at + len(char)


def _is_word(char: str) -> bool:
    """Return True for what Go calls a letter or a decimal digit, and for `_`."""
    return char == "_" or char.isalpha() or char.isdecimal()
