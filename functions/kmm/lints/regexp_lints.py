"""Lints about the regexp of one kernel mapping: it does not match what was meant."""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate

from krmfn import Field, Result, error, warning

from ... import oracles
from ...rule import Rule
from ..module import EVERY_KERNEL
from ..regexps import TOO_MANY, refusal, tokens
from ..rule import quote

_DEEPEST = 10
NOT_COMPARED = (
    "the mappings are not compared with each other: the regexps and kernels of this run are too many to be judged; "
    "check fewer Modules at once"
)
"""What is said of a Module whose mappings are past the bound on the work of a run (see `regexp_work`)."""
_CONTROL = re.compile(r"\\(?:[fntrva]|x[01][0-9a-fA-F]|x7f|x\{0*[01]?[0-9a-fA-F]\})")


def _is_anchored_at_both_ends(regexp: str, path: str) -> Iterator[Result]:
    branch = None if regexp in EVERY_KERNEL else _loose_branch(regexp)
    if branch is not None:
        message = f"matches anywhere in the kernel version, {quote(branch)} is found inside longer ones too"
        remedy = "anchor it with ^ and $, or write .* where anything may follow"
        yield warning(message, field=Field(path, regexp), remedy=remedy)


@lru_cache(maxsize=1024)
def _loose_branch(regexp: str) -> str | None:
    """Return the first alternative that is not anchored; None when all are."""
    return next((branch for branch in _branches(regexp) if not _is_anchored(branch)), None)


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

    Groups nested deeper than `_DEEPEST` count as anchored: nobody writes them, and each level is read again.
    """
    pieces = [token.text for token in tokens(branch)]
    depths = [*accumulate(piece.startswith("(") - (piece == ")") for piece in pieces)]
    if 0 in depths and depths.index(0) == len(pieces) - 1 > 0:
        inner = "".join(pieces[1:-1]).removeprefix(":")
        return depth > _DEEPEST or all(_is_anchored(part, depth + 1) for part in _branches(inner))
    if pieces[-1:] == ["?"]:
        pieces.pop()
    starts = pieces[:1] in (["^"], ["\\A"]) or pieces[:2] in ([".", "*"], [".", "+"])
    ends = pieces[-1:] in (["$"], ["\\z"]) or pieces[-2:] in ([".", "*"], [".", "+"])
    return starts and ends


KRM213 = Rule(
    "KRM213",
    "a regexp should be anchored at both ends (^ and $, or .* if intended): KMM searches for it anywhere in the kernel "
    "version",
    good="""\
spec:
  moduleLoader:
    container:
      kernelMappings: [{regexp: '^6\\.1\\..+$', containerImage: "registry.example.com/gpu:1.0-$KERNEL_FULL_VERSION"}]
""",
    bad="""\
spec:
  moduleLoader:
    container:
      kernelMappings: [{regexp: '6\\.1\\.', containerImage: "registry.example.com/gpu:1.0-$KERNEL_FULL_VERSION"}]
""",
    remedy="Write ^ before it and $ after it, and .* where anything may appear.",
    held=oracles.KERNEL_MAPPINGS,
    check=_is_anchored_at_both_ends,
    severities=("warning",),
    advice=True,
)


def _can_match(regexp: str, path: str) -> Iterator[Result]:
    if escape := _control_character(regexp):
        letter, remedy = escape[1:], "remove it"
        if len(letter) == 1:
            remedy = f"write {letter}, or \\.{letter} for a dot before it"
        message = f"{escape} is a control character and matches no kernel"
        yield warning(message, field=Field(path, regexp), remedy=remedy)


@lru_cache(maxsize=1024)
def _control_character(regexp: str) -> str | None:
    """Return the first escape that stands for a control character outside of [...]; None without one."""
    for token in tokens(regexp):
        if not token.in_class and token.text.startswith("\\") and (escape := _CONTROL.match(regexp, token.start)):
            return escape[0]
    return None


KRM214 = Rule(
    "KRM214",
    "a regexp should not match a control character: \\f is a form feed and not the letter f",
    good="""\
spec:
  moduleLoader:
    container:
      kernelMappings: [{regexp: '^.+\\.fc37\\.x86_64$', containerImage: "registry.example.com/gpu:1.0"}]
""",
    bad="""\
spec:
  moduleLoader:
    container:
      kernelMappings: [{regexp: '^.+\\fc37\\.x86_64$', containerImage: "registry.example.com/gpu:1.0"}]
""",
    remedy="Remove the backslash before the letter; only a dot needs one, as \\.",
    held=oracles.GO_REGEXPS,
    check=_can_match,
    severities=("warning",),
    advice=True,
)


_SHORTER = "write a shorter regexp; several mappings may have the same image"


def _is_small(regexp: str, path: str, is_after: bool = False) -> Iterator[Result]:
    if is_after:
        yield error(TOO_MANY, field=Field(path, regexp[:100]), remedy=_SHORTER)
    elif (reason := refusal(regexp)) and not reason.is_of_go:
        yield error(reason.message, field=Field(path, regexp[:100]), remedy=_SHORTER)


KRM216 = Rule(
    "KRM216",
    "a regexp must be small enough to be checked: 4,096 characters, 256 KiB when compiled, 50,000 instructions of "
    "RE2 in a Module, and as many as one run compares",
    good="""\
spec:
  moduleLoader:
    container:
      kernelMappings: [{regexp: '^.{1,100}$', containerImage: "registry.example.com/gpu:1.0"}]
""",
    bad="""\
spec:
  moduleLoader:
    container:
      kernelMappings: [{regexp: '^\\pL{1000}$', containerImage: "registry.example.com/gpu:1.0"}]
""",
    remedy="Write a shorter regexp: kernel versions are short, and several mappings may have the same image.",
    held=oracles.OUR_LIMITS,
    check=_is_small,
    severities=("error", "warning"),
    advice=True,
)

SHAPE, SIZE = (KRM213, KRM214), (KRM216,)
RULES = SHAPE + SIZE
