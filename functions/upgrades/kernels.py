"""Which kernels get another result from the mappings of a changed Module, whatever nodes there are.

A kernel takes the first mapping that matches. The kernels of literals are tried. Any two regexps may match one kernel,
unless the characters that they begin with say otherwise; so no kernel is passed over, and some are named that no node
has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from krmfn import KrmfnError
from krmfn.typed import NamedTuple

from ..kmm.lookup import text
from ..kmm.module import EVERY_KERNEL, Module
from ..kmm.resolution import compared, first_mapping

_START = re.compile(r"\^((?:[\w-]|\\[.+d-]|\.)*)(?![*+?{])")
_ATOM = re.compile(r"\\?.")
_ANY = (".", "\\d")


class Served(NamedTuple):
    """Kernels of one mapping before, of one mapping (None: of none) after a change."""

    kernels: str
    """`literal 6.1.0-test`, `regexp ^6`."""
    old: int
    new: int | None
    whole: bool = True
    """Whether these are all kernels of the old mapping."""


def served(old: Module, new: Module) -> Iterator[Served]:
    """Yield the kernels that the old Module served, each with its mapping before and after."""
    entries = (*old.mappings, *new.mappings)
    for literal in dict.fromkeys(text(entry, "literal") for entry in entries):
        at = _first(old, literal) if literal else None
        if at is not None:
            yield Served(f"literal {literal}", at, _first(new, literal))
    before, after = _regexps(old), _regexps(new)
    order, later = list(before), list(after)
    for regexp, at in before.items():
        if regexp in after:
            yield Served(f"regexp {regexp}", at, after[regexp])
        elif not after.keys() & EVERY_KERNEL:
            yield Served(f"regexp {regexp}", at, None)
        ahead = later[: later.index(regexp)] if regexp in after else later
        for other_regexp in ahead:
            is_first = other_regexp not in before or order.index(regexp) < order.index(other_regexp)
            if is_first and not _are_apart(regexp, other_regexp):
                yield Served(f"regexp {other_regexp} (before: regexp {regexp})", at, after[other_regexp], whole=False)


def changed(old: Module, new: Module) -> tuple[list[Served], bool]:
    """Return the served kernels for which the result is another one, or none; and whether all get another one."""
    before, after = ([compared(module, entry) for entry in module.mappings] for module in (old, new))
    every = list(served(old, new))
    affected = {kernels: None for kernels in every if kernels.new is None or before[kernels.old] != after[kernels.new]}
    return list(affected), all(kernels in affected and kernels.new is not None for kernels in every if kernels.whole)


def _first(module: Module, kernel: str) -> int | None:
    try:
        return first_mapping(module, kernel)
    except KrmfnError:  # the webhook refuses such a Module
        return None


def _regexps(module: Module) -> dict[str, int]:
    """Return the regexps in order, with their mappings; not one that is repeated, or behind one for every kernel."""
    regexps: dict[str, int] = {}
    for index, entry in enumerate(module.mappings):
        if regexp := text(entry, "regexp"):
            regexps.setdefault(regexp, index)
            if regexp in EVERY_KERNEL:
                break
    return regexps


def _are_apart(regexp: str, other_regexp: str) -> bool:
    """Return True when no kernel matches both: they begin with other characters."""
    pairs = zip(_start(regexp), _start(other_regexp), strict=False)
    return any(left.lstrip("\\") != right.lstrip("\\") for left, right in pairs if not {left, right} & {*_ANY})


def _start(regexp: str) -> list[str]:
    """Return what every match of a regexp begins with, character by character; [] where that is not plain."""
    match = None if "|" in regexp else _START.match(regexp)
    return _ATOM.findall(match[1]) if match else []
