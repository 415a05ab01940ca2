"""Lints about kernel mappings: those that no kernel reaches, and regexps that do not match what was meant."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from krmfn.resource import Manifest
from krmfn.results import Field, Result, error, warning

from ..gotext import quote
from ..lookup import table, tables, text
from ..regexps import TOO_LARGE, compile_error, matches, tokens
from ..rule import Rules, apply

Mappings = Sequence[tuple[str, str]]
"""The (literal, regexp) of each mapping; "" is none."""

WHERE = "spec.moduleLoader.container.kernelMappings"
_DEEPEST = 10
_EARLIER = 1000
"""How many earlier mappings a later one is compared with: more would take minutes."""
CATCH_ALL = re.compile(r"(\^|\\A)?(\.[*+]|\(\.[*+]\))(\$|\\z)?")
_CONTROL = re.compile(r"\\(?:[fntrva]|x[01][0-9a-fA-F]|x7f|x\{0*[01]?[0-9a-fA-F]\})")


def check(module: Manifest, kernels: Sequence[str] = ()) -> Iterator[Result]:
    """Yield the lints about all mappings, in their order; those that KMM refuses anyway are left out."""
    entries = tables(table(module, "spec", "moduleLoader", "container"), "kernelMappings")
    mappings = [(text(entry, "literal"), text(entry, "regexp")) for _, entry in entries]
    known = sorted({kernel.removesuffix("+") for kernel in kernels})
    for index, (literal, regexp) in enumerate(mappings):
        yield from apply(_SIZE, mappings, index, known)
        if bool(literal) != bool(regexp) and not (regexp and compile_error(regexp)):
            yield from apply(_LINTS, mappings, index, known)


def literal_is_reached(mappings: Mappings, index: int, kernels: Sequence[str]) -> Iterator[Result]:
    """KRM211: a literal is not taken by an earlier mapping: the first one that matches wins."""
    literal = mappings[index][0]
    if literal and not literal.endswith("+"):
        for at, (earlier, regexp) in enumerate(mappings[: min(index, _EARLIER)]):
            if earlier == literal or (regexp and not compile_error(regexp) and matches(regexp, literal)):
                message = f"never reached: kernelMappings[{at}] ({quote(earlier or regexp)}) takes this kernel first"
                yield warning(message, field=Field(f"{WHERE}[{index}].literal", literal))
                return


def regexp_is_reached(mappings: Mappings, index: int, kernels: Sequence[str]) -> Iterator[Result]:
    """KRM212: a regexp is not shadowed by an earlier one: by the same, by a catch-all, or on every kernel at hand."""
    regexp = mappings[index][1]
    if not regexp:
        return
    for at, (_, earlier) in enumerate(mappings[: min(index, _EARLIER)]):
        if earlier and (earlier == regexp or CATCH_ALL.fullmatch(earlier)):
            message = f"never reached: kernelMappings[{at}] ({quote(earlier)}) takes every kernel first"
            yield warning(message, field=Field(f"{WHERE}[{index}].regexp", regexp))
            return
    mine = [kernel for kernel in kernels if matches(regexp, kernel)]
    takers = {_taker(mappings[: min(index, _EARLIER)], kernel) for kernel in mine}
    if mine and None not in takers:
        named = ", ".join(f"kernelMappings[{at}]" for at in sorted(at for at in takers if at is not None))
        count = f"all {len(mine)} that it matches, such as {mine[0]}, are taken by {named}"
        message = f"takes no kernel of the given nodes: {count}"
        yield warning(message, field=Field(f"{WHERE}[{index}].regexp", regexp))


def regexp_is_anchored(mappings: Mappings, index: int, kernels: Sequence[str]) -> Iterator[Result]:
    """KRM213: a regexp is anchored at both ends (^ and $, or .* to say so): KMM searches it anywhere in the kernel."""
    regexp = mappings[index][1]
    loose = [branch for branch in _branches(regexp) if not _is_anchored(branch)] if regexp else []
    if loose:
        hint = f"matches anywhere in the kernel version, {quote(loose[0])} is found inside longer ones too; "
        yield warning(hint + "anchor it with ^ and $, or say .* where anything may follow", field=_field(index, regexp))


def regexp_can_match(mappings: Mappings, index: int, kernels: Sequence[str]) -> Iterator[Result]:
    r"""KRM214: a regexp asks for no control character: \f is a form feed and not the letter f."""
    regexp = mappings[index][1]
    for token in tokens(regexp):
        escape = _CONTROL.match(regexp, token.start) if token.text.startswith("\\") and not token.in_class else None
        if escape:
            letter = escape[0][1:]
            meant = (
                f"write {letter}, or \\.{letter} for a dot before it"
                if len(letter) == 1
                else "no kernel version has one"
            )
            message = f"{escape[0]} is a control character and matches no kernel; {meant}"
            yield warning(message, field=_field(index, regexp))
            return


def literal_has_no_plus(mappings: Mappings, index: int, kernels: Sequence[str]) -> Iterator[Result]:
    """KRM215: a literal does not end in +: KMM takes one + off the node's kernel before it compares."""
    literal = mappings[index][0]
    if literal.endswith("+"):
        message = "never matches: KMM takes a trailing + off the node's kernel version before it compares"
        field = Field(f"{WHERE}[{index}].literal", literal, literal.removesuffix("+"))
        yield warning(message, field=field)


def regexp_is_small(mappings: Mappings, index: int, kernels: Sequence[str]) -> Iterator[Result]:
    """KRM216: a regexp is small enough to be judged: 4,096 characters, and 256 KiB when it is compiled."""
    regexp = mappings[index][1]
    if regexp and compile_error(regexp) == TOO_LARGE:
        yield error(TOO_LARGE, field=_field(index, regexp[:100]))


def _field(index: int, regexp: str) -> Field:
    return Field(f"{WHERE}[{index}].regexp", regexp)


def _taker(mappings: Mappings, kernel: str) -> int | None:
    for at, (literal, regexp) in enumerate(mappings):
        if (literal and literal == kernel) or (regexp and matches(regexp, kernel)):
            return at
    return None


def _branches(regexp: str) -> list[str]:
    """Return the alternatives of a regexp at its top level."""
    body = re.sub(r"^\(\?[imsU]+\)", "", regexp)
    depth, cuts = 0, [-1]
    for token in tokens(body):
        if not token.in_class:
            depth += token.text.startswith("(") - (token.text == ")")
            cuts += [token.start] if token.text == "|" and depth == 0 else []
    ends = [*cuts[1:], len(body)]
    return [body[start + 1 : end] for start, end in zip(cuts, ends, strict=True)]


def _is_anchored(branch: str, depth: int = 0) -> bool:
    """Return True when nothing can precede or follow the match, or the branch itself allows anything there.

    So many groups in one another are taken for anchored: nobody writes them, and each would be read again.
    """
    cut = [token.text for token in tokens(branch)]
    if _is_one_group(cut):
        inner = "".join(cut[1:-1]).removeprefix(":")
        return depth > _DEEPEST or all(_is_anchored(part, depth + 1) for part in _branches(inner))
    if cut and cut[-1] == "?" and len(cut) > 2:
        cut.pop()
    starts = cut[:1] in (["^"], ["\\A"]) or cut[:2] in ([".", "*"], [".", "+"])
    ends = cut[-1:] in (["$"], ["\\z"]) or cut[-2:] in ([".", "*"], [".", "+"])
    return starts and ends


def _is_one_group(cut: list[str]) -> bool:
    depth = 0
    for at, piece in enumerate(cut):
        depth += piece.startswith("(") - (piece == ")")
        if depth == 0:
            return at == len(cut) - 1 > 0
    return False


_SIZE: Rules = (("KRM216", regexp_is_small),)
_LINTS: Rules = (
    ("KRM211", literal_is_reached),
    ("KRM212", regexp_is_reached),
    ("KRM213", regexp_is_anchored),
    ("KRM214", regexp_can_match),
    ("KRM215", literal_has_no_plus),
)
RULES: Rules = _LINTS + _SIZE
