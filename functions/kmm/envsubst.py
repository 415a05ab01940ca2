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
        raise KrmfnError(f"invalid kernel version {version}: expected at least three components (major.minor.patch)")
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
    cut, parts, at = _Cutter(template).pieces, [], 0
    while cut[at][0] != "end":
        kind, text = cut[at]
        at += 1
        if kind == "error":
            raise KrmfnError(text)
        if kind == "open" and cut[at][0] == "variable":
            part, at = _expression(cut, at)
        else:
            part = Part(text.removeprefix("$")) if kind == "variable" else Part(None, text)
        parts.append(part)
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


class _Cutter:
    """The reader of a template: the current piece begins at `start`, the one before it at `last`.

    A state ends the pieces that end there, and returns the state that follows.
    """

    def __init__(self, template: str) -> None:
        self.template = template
        self.at = self.start = self.last = self.depth = 0
        self.pieces: list[Piece] = []
        """The last one is `end`, or `error` when a brace is not closed."""
        state = "text"
        while state not in ("end", "error"):
            state = self.inside(state) if state in ("operator", "default") else getattr(self, state)()
        self.pieces.append((state, UNCLOSED if state == "error" else ""))

    def text(self) -> str:
        """Read up to the next `$` that begins something."""
        dollar = self.template.find("$", self.at)
        self.at = dollar if dollar >= 0 else len(self.template)
        self.cut("text")
        if dollar < 0:
            return "end"
        self.at += 1
        after = self.template[self.at : self.at + 1]
        if after == "$":
            self.start, self.at = self.at, self.at + 1
            self.cut("text")
        elif after == "{":
            self.at += 1
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

    def inside(self, state: str) -> str:
        """Read on in `${...}`: the name or the operator, then character by character what the default is; the end."""
        char = self.template[self.at : self.at + 1]
        if char in ("", "\r", "\n"):
            return "error"
        self.at += 1
        if char == "}":
            self.depth -= 1
            self.cut("close")
            return "text"
        if (_is_word(char) and self.template.startswith("${", self.last)) or (char == "$" and state == "default"):
            return "variable"
        if state == "default":
            self.cut("text")
        elif char == ":":
            char += self.template[self.at : self.at + 1]
            self.at += len(char) - 1
        if state == "operator" and char.endswith(("+", "-", "=")):
            self.cut(char)
        return "default"

    def cut(self, kind: str) -> None:
        """End the current piece, unless it is empty."""
        if self.start < self.at:
            self.pieces.append((kind, self.template[self.start : self.at]))
            self.last, self.start = self.start, self.at


def _is_word(char: str) -> bool:
    """Return True for what Go calls a letter or a decimal digit, and for `_`."""
    return char == "_" or char.isalpha() or char.isdecimal()
