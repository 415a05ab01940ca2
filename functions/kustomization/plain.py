"""What kustomize is given of a YAML text: its bytes where they are plain, else the same written again from its nodes.

Plain is about division and sameness, not about style: readers of YAML divide and read such a text in one way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial

from krmfn.errors import KrmfnError
from krmfn.item import LOCAL, Item
from krmfn.resource import Place, annotations_of
from krmfn.results import Field, Result, error
from krmfn.yamltext import documents as divided
from krmfn.yamltext.load import events
from krmfn.yamltext.values import BINARY

from ..paths import files
from ..paths.contents import explained
from . import ambiguity, flow
from .documents import documents, unreadable
from .references import Reference

_ODD = re.compile(
    rb"[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)|\xc2[\x80-\x9f]|\xe2\x80[\xa8\xa9]|\xef\xbb\xbf|\xef\xbf[\xbe\xbf]"
    rb"|^(?:%|\.\.\.)|[^\n]{1024}",
    re.MULTILINE,
)
"""Characters that some readers drop, refuse or take for a line break; directives; `...`; a line with a long key."""
_MARKED = re.compile(rb"[&*!]|<<")
"""What an anchor, an alias, a tag or a merge begins with."""

Judged = tuple[list[Item], list[Result]]
"""The documents of a text, and what is wrong with it."""
Judge = Callable[[bytes, Place, int], Judged]
"""Reads a text that begins at a place, each line at a column (see `documents`)."""


class Texts:
    """The texts that kustomizations list, and their own, as they were read."""

    def __init__(self) -> None:
        self._wrong: dict[str, list[Result]] = {}
        self.read: dict[str, bytes] = {}
        """What the files hold, by their paths without links."""
        self.given: dict[str, bytes] = {}
        """What kustomize is given of those that were judged."""
        self.local: dict[str, int] = {}
        """How many of their resources have the annotation local-config."""
        self.patch = lru_cache(maxsize=None)(_patch)

    def documents(self, real: str, name: str, rule: str, judge: Judge) -> Judged:
        """Return the documents of a file, and what is wrong with it; `rule` is about one that cannot be read."""
        try:
            text = self.read[real] = files.read_regular(real, name)
        except KrmfnError as failure:
            return [], [unreadable(failure, name, rule)]
        return judge(text, Place(name, line=1), 0)

    def wrong_in(self, references: Sequence[Reference]) -> Iterator[Result]:
        """Yield what is wrong with the texts that kustomize reads as YAML, functions aside.

        They are no YAML, or readers would differ on them. A file is judged once.
        """
        for one in references:
            if one.is_yaml and one.role != "function":
                if one.real not in self._wrong:
                    self._wrong[one.real] = self._judged(one)
                yield from self._wrong[one.real]
            elif one.role == "text":
                yield from self.patch(one)[1]

    def _judged(self, one: Reference) -> list[Result]:
        items, findings = self.documents(one.real, one.name, "KRM504", _judge)
        if one.real in self.read:
            self.given[one.real] = b"" if findings else given(self.read[one.real], items)
            self.local[one.real] = sum(LOCAL in annotations_of(item.manifest) for item in items)
        return findings


def written_out(reference: Reference, judge: Judge) -> Judged:
    """Return the documents of a text that is written out, and what is wrong with it, each at its place."""
    place = reference.place
    items, findings = judge(reference.data, place._replace(line=reference.first), reference.column)
    if not reference.has_lines:
        findings = [one._replace(field=Field(reference.field), place=place) for one in findings]
        for item in items:
            item.file = place._replace(finder=partial(_there, place))
    return items, findings


def _there(place: Place, result: Result) -> Result:
    return result._replace(place=place)


def _patch(reference: Reference) -> tuple[str, list[Result]]:
    """Return a patch that is written out as kustomize is given it, "" for as it stands, and what is wrong with it."""
    items, findings = written_out(reference, _judge)
    is_same = bool(findings) or given(reference.data, items) == reference.data
    return "" if is_same else flow.written(items, on_lines=False).rstrip(), findings


def given(text: bytes, items: Sequence[Item], replaced: flow.Replaced = flow.NOTHING) -> bytes:
    """Return what kustomize is given of a text that holds these documents, some strings of which are `replaced`."""
    return text if not replaced and _is_plain(text, items) else flow.written(items, replaced).encode()


def _judge(text: bytes, place: Place, column: int) -> Judged:
    if problem := divided.misread(text.removeprefix(b"\xef\xbb\xbf"), place.line - 1):
        return [], [unreadable(KrmfnError(problem), place.path, ambiguity.RULE)]
    try:
        items = list(documents(place.path, text, place.line, column, is_composed=False))
        return items, [finding for item in items for finding in _differences(item)]
    except KrmfnError as failure:
        return [], [unreadable(explained(failure, text), place.path, "KRM523")]


def _is_plain(text: bytes, items: Sequence[Item]) -> bool:
    return not (_ODD.search(text) or (_MARKED.search(text) and any(_is_marked(item.text) for item in items)))


def _is_marked(text: bytes) -> bool:
    """Return True for a document with an anchor, an alias, a tag or a merge."""
    for event in events(text) if _MARKED.search(text) else ():
        is_tagged = getattr(event, "tag", None) is not None
        is_merge = getattr(event, "value", "") == "<<" and event.implicit[0]
        if getattr(event, "anchor", None) or is_tagged or is_merge:
            return True
    return False


def _differences(item: Item) -> Iterator[Result]:
    """Yield an error for each key and tag that kustomize takes otherwise than other readers."""
    for path in item.content.duplicate_keys:
        message = "this key appears twice, and YAML readers differ on which one counts; remove one"
        yield item.located(error(message, rule=ambiguity.RULE, ref=item.ref, field=Field(path)))
    # kustomize decodes what has this tag
    for line, message in ambiguity.tagged(item.content.node, BINARY) if b"!" in item.text else ():
        place = item.place and item.place._replace(line=item.place.line + line)
        yield error(message, rule=ambiguity.RULE, ref=item.ref, place=place)
