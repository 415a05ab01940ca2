"""Variable substitution in image names as KMM does it: the forms and peculiarities of a8m/envsubst v1.4.3.

`$X`, `${X}`, `${X-d}`, `${X:-d}`, `${X=d}`, `${X:=d}`, `${X+d}`, `${X:+d}`; `$$` is `$`; a variable that is not set is
empty; an unclosed `${` is an error. The template's pieces come from `.templates`, and are grouped here into
texts, variables and `${...}` expressions.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from krmfn.errors import KrmfnError

from .templates import UNCLOSED, Piece, pieces


class Part(NamedTuple):
    """A text (without a name), or a variable with its default."""

    name: str | None
    text: str = ""
    operator: str = ""
    default: Part | None = None


def substitute(template: str, variables: Mapping[str, str]) -> str:
    """Return the template with its variables filled in; raise KrmfnError when a brace is not closed.

    Source: KMM v2.4.0 to main, internal/utils (ReplaceInTemplates), with no restriction set.
    """
    return "".join(_value(part, variables) for part in parse(template))


def names(template: str) -> list[str]:
    """Return the names of the variables that the template reads; raise KrmfnError as `substitute` does."""
    return [part.name for whole in parse(template) for part in (whole, whole.default) if part and part.name is not None]


def _value(part: Part, variables: Mapping[str, str]) -> str:
    if part.name is None:
        return part.text
    value, default = variables.get(part.name, ""), part.default
    if default is None or not part.operator:
        return value
    if part.operator in ("+", ":+"):
        return _value(default, variables) if part.name in variables else ""
    keep = value != "" if part.operator in (":-", ":=") else part.name in variables
    return value if keep else _value(default, variables)


@lru_cache(maxsize=1024)
def parse(template: str) -> tuple[Part, ...]:
    """Return the parts of a template; raise KrmfnError when a brace is not closed."""
    cut, parts, at = pieces(template), [], 0
    while cut[at].kind != "end":
        piece = cut[at]
        at += 1
        if piece.kind == "error":
            raise KrmfnError(piece.text)
        if piece.kind == "open" and cut[at].kind == "variable":
            part, at = _expression(cut, at)
            parts.append(part)
        elif piece.kind == "variable":
            parts.append(Part(piece.text.removeprefix("$")))
        else:
            parts.append(Part(None, piece.text))
    return tuple(parts)


def _expression(cut: list[Piece], at: int) -> tuple[Part, int]:
    """Return `${NAME...}` from its name on, and where it ends; the last operator and the last default count."""
    name, operator, default = cut[at].text, "", None
    at += 1
    while cut[at].kind != "close":
        piece = cut[at]
        at += 1
        if piece.kind in ("error", "end"):
            # At "end" (a lone `_` as a name hides the brace) the library itself never returns.
            raise KrmfnError(UNCLOSED)
        if piece.kind == "variable":
            default = Part(piece.text.removeprefix("$"))
        elif piece.kind == "text":
            text = piece.text
            while cut[at].kind not in ("close", "error", "end"):
                text += cut[at].text
                at += 1
            default = Part(None, text)
        else:
            operator = piece.kind
    return Part(name, operator=operator, default=default), at + 1
