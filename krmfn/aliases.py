"""Aliases whose anchor stands in another item: once an item is changed or gone, they may mean nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from .item import Item
from .yamltext.split import Cut

_ANCHOR, _ALIAS = re.compile(rb"&([0-9A-Za-z_-]+)"), re.compile(rb"\*([0-9A-Za-z_-]+)")


def refuse_cut(text: bytes, cut: Cut, items: Sequence[Item]) -> None:
    """Raise KrmfnError, with the line, for an alias that needs an anchor of another item of the list in `text`.

    `items` are those that will be written. For nearly every list two searches for bytes show that there is none.
    """
    shared = {*_ANCHOR.findall(text)} & {*_ALIAS.findall(text)} if b"&" in text else None
    if not shared:
        return
    for item in items:
        if not shared.isdisjoint(_ALIAS.findall(item.text)):
            item.check_aliases()
    for section in cut.sections:
        if section.key != "items" and not shared.isdisjoint(_ALIAS.findall(text, section.start, section.end)):
            from .yamltext import load

            lines = partial(text.count, b"\n", 0, section.start)
            load.placed(partial(load.compose, text[section.start : section.end]), lines)
