"""What kustomize is given of a YAML text: its bytes where they are plain, else the same written again from its nodes.

Plain is about division and sameness, not about style: readers of YAML divide and read such a text in one way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from krmfn.errors import KrmfnError
from krmfn.item import LOCAL, Item
from krmfn.resource import annotations_of
from krmfn.results import Field, Result, error
from krmfn.yamltext import documents as divided
from krmfn.yamltext.load import events
from krmfn.yamltext.values import BINARY

from ..paths.contents import explained
from ..paths.disk import Disk, Target
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


class Texts:
    """The YAML files that kustomizations list, functions aside: each read and judged once."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._wrong: dict[str, list[Result]] = {}
        self.read: dict[str, bytes] = {}
        """What they hold, by their paths without links."""
        self.given: dict[str, bytes] = {}
        """What kustomize is given of them."""
        self.local: dict[str, int] = {}
        """How many of their resources have the annotation local-config."""

    def wrong_in(self, target: Target) -> list[Result]:
        """Read a file, and return what is wrong with it: it is no YAML, or readers would differ on it."""
        if target.real not in self._wrong:
            self._wrong[target.real] = self._read(target)
        return self._wrong[target.real]

    def _read(self, target: Target) -> list[Result]:
        try:
            text = self.read[target.real] = self._disk.read(target)
        except KrmfnError as failure:
            return [unreadable(failure, target.name, "KRM504")]
        items, findings = _read(target.name, text)
        self.given[target.real] = b"" if findings else given(text, items)
        self.local[target.real] = sum(LOCAL in annotations_of(item.manifest) for item in items)
        return findings


def inline(reference: Reference) -> tuple[str, list[Result]]:
    """Return a patch that is written out as kustomize is given it, "" for as it stands, and what is wrong with it."""
    text, place = reference.text.encode(errors="surrogatepass"), reference.place
    items, findings = _read(place.path if place else "", text, reference.first, reference.column)
    if findings and not reference.column:  # quoted or folded: its lines are not those of the file
        findings = [one._replace(field=Field(reference.field), place=place) for one in findings]
    is_same = bool(findings) or given(text, items) == text
    return "" if is_same else flow.written(items, on_lines=False).rstrip(), findings


def given(text: bytes, items: Sequence[Item], replaced: flow.Replaced = flow.NOTHING) -> bytes:
    """Return what kustomize is given of a text that holds these documents, some strings of which are `replaced`."""
    return text if not replaced and _is_plain(text, items) else flow.written(items, replaced).encode()


def _read(name: str, text: bytes, first: int = 1, column: int = 0) -> tuple[list[Item], list[Result]]:
    if problem := divided.misread(text.removeprefix(b"\xef\xbb\xbf"), first - 1):
        return [], [unreadable(KrmfnError(problem), name, ambiguity.RULE)]
    try:
        items = list(documents(name, text, first, column, is_composed=False))
        return items, [finding for item in items for finding in _differences(item)]
    except KrmfnError as failure:
        return [], [unreadable(explained(failure, text), name, "KRM523")]


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
