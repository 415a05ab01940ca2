"""KMM's variables, and their substitution with the forms and peculiarities of a8m/envsubst v1.4.3.

`$X`, `${X}`, `${X-d}`, `${X:-d}`, `${X=d}`, `${X:=d}`, `${X+d}`, `${X:+d}`; `$$` is `$`; a variable that is not set is
empty; an unclosed `${` is an error. A template is cut into pieces with the library's states, since its odd results
(`${A:-${B}}` breaks, `$_` is text) come from them; the pieces are grouped into texts, variables and expressions.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from krmfn import KrmfnError
from krmfn.typed import Any, NamedTuple

from .module import KERNEL_VARIABLES

UNCLOSED = "closing brace expected"

Piece = tuple[str, str]
"""Its kind (`text`, `variable`, `open`, `close`, `end`, `error`, or an operator itself), and its text."""


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
        raise KrmfnError(
            f"invalid kernel version {version}: expected at least three components (major.minor.patch)",
        )
    values = (version, version, ".".join(parts[:3]), *parts[:3])
    return dict(zip(KERNEL_VARIABLES, values, strict=True))


def substitute(template: str, values: Mapping[str, str]) -> str:
    """Return the template with its variables filled in; raise KrmfnError when a brace is not closed.

    Source: KMM v2.4.0 to main, internal/utils (ReplaceInTemplates), with no restriction set.
    """
    return "".join(_value(part, values) for part in parse(template))


def _value(part: Part, values: Mapping[str, str]) -> str:
    if part.name is None:
        return part.text
    value, default = values.get(part.name, ""), part.default
    if default is None or not part.operator:
        return value
    if part.operator in ("+", ":+"):
        return _value(default, values) if part.name in values else ""
    keep = value != "" if part.operator in (":-", ":=") else part.name in values
    return value if keep else _value(default, values)


@lru_cache(maxsize=1024)
def parse(template: str) -> tuple[Part, ...]:
    """Return the parts of a template; raise KrmfnError when a brace is not closed."""
    cut, parts, at = pieces(template), [], 0
    while cut[at][0] != "end":
        kind, text = cut[at]
        at += 1
        if kind == "error":
            raise KrmfnError(text)
        if kind == "open" and cut[at][0] == "variable":
            part, at = _expression(cut, at)
            parts.append(part)
        elif kind == "variable":
            parts.append(Part(text.removeprefix("$")))
        else:
            parts.append(Part(None, text))
    return tuple(parts)


def _expression(cut: list[Piece], at: int) -> tuple[Part, int]:
    """Return `${NAME...}` from its name on, and where it ends; the last operator and the last default count."""
    name, operator, default = cut[at][1], "", None
    at += 1
    while cut[at][0] != "close":
        kind, text = cut[at]
        at += 1
        if kind in ("error", "end"):
            # At "end" (a lone `_` as a name hides the brace) the library itself never returns.
            raise KrmfnError(UNCLOSED)
        if kind == "variable":
            default = Part(text.removeprefix("$"))
        elif kind == "text":
            while cut[at][0] not in ("close", "error", "end"):
                text += cut[at][1]
                at += 1
            default = Part(None, text)
        else:
            operator = kind
    return Part(name, operator=operator, default=default), at + 1


def pieces(template: str) -> list[Piece]:
    """Return all pieces of a template; the last one is `end`, or `error` when a brace is not closed."""
    cutter, state = _Cutter(template), "text"
    while state not in ("end", "error"):
        state = _STATES[state](cutter)
    return [*cutter.pieces, (state, UNCLOSED if state == "error" else "")]


class _Cutter:
    """The position of the reader: the current piece begins at `start`, the one before it at `last`.

    A state looks at one character, ends the pieces that end there, and returns the state that follows.
    """

    def __init__(self, template: str) -> None:
        self.template = template
        self.at = self.start = self.last = self.depth = 0
        self.pieces: list[Piece] = []

    def text(self) -> str:
        """Read up to the next `$` that begins something."""
        at = self.template.find("$", self.at)
        if at < 0:
            self.at = len(self.template)
            if self.start < self.at:
                self.cut("text")
            return "end"
        self.at = at
        if at > self.start:
            self.cut("text")
        after = self.template[at + 1 : at + 2]
        self.at = at + 1
        if after == "$":
            self.start, self.at = at + 1, at + 2
            self.cut("text")
            return "text"
        if after == "{":
            self.at = at + 2
            self.depth += 1
            self.cut("open")
            return "operator"
        return "variable" if _is_word(after) else "text"

    def variable(self) -> str:
        """Read the rest of a name; a lone underscore is text."""
        while _is_word(self.template[self.at : self.at + 1]):
            self.at += 1
        if self.template[self.start : self.at] in ("_", "$_"):
            return "text"
        self.cut("variable")
        return "operator" if self.depth > 0 else "text"

    def operator(self) -> str:
        """Read after `${` or its name: the name, the end, or what to do when the variable is not set."""
        char = self.template[self.at : self.at + 1]
        if char in ("}", "", "\r", "\n"):
            return self.close(char)
        self.at += 1
        if _is_word(char) and self.template.startswith("${", self.last):
            return "variable"
        if char == ":":
            self.at = min(self.at + 1, len(self.template))
        operator = self.template[self.at - 1 : self.at] if char == ":" else char
        if operator in ("+", "-", "="):
            self.cut(char + operator if char == ":" else char)
        return "default"

    def default(self) -> str:
        """Read after an operator: text, character by character, or a variable, up to the end."""
        char = self.template[self.at : self.at + 1]
        if char in ("}", "", "\r", "\n"):
            return self.close(char)
        self.at += 1
        if char == "$" or (_is_word(char) and self.template.startswith("${", self.last)):
            return "variable"
        self.cut("text")
        return "default"

    def close(self, char: str) -> str:
        """Read the end of `${...}`."""
        if char != "}":
            return "error"
        self.at += 1
        self.depth -= 1
        self.cut("close")
        return "text"

    def cut(self, kind: str) -> None:
        """End the current piece."""
        self.pieces.append((kind, self.template[self.start : self.at]))
        self.last, self.start = self.start, self.at


_STATES: dict[str, Callable[[_Cutter], str]] = {
    "text": _Cutter.text,
    "variable": _Cutter.variable,
    "operator": _Cutter.operator,
    "default": _Cutter.default,
}


def _is_word(char: str) -> bool:
    """Return True for what Go calls a letter or a decimal digit, and for `_`."""
    return char == "_" or char.isalpha() or char.isdecimal()
