"""YAML texts: whether all readers take them in one way, and what kustomize is given of them.

krmfn judges its own reading of these texts and kustomize reads the same bytes again. A text for which the two could
differ is refused. kustomize divides at each line that begins with `---`, reads the first document of each part only
(kyaml/kio/byteio_reader.go), takes the first of two equal keys and no notice of tags (kyaml/yaml/rnode.go), and ends
lines at every line break of YAML 1.1. So kustomizations, functions and patches without a file are judged strictly.

Of a resource or a patch kustomize is given the bytes where they are plain, else the same written again from its nodes.
Plain is about division and sameness, not about style: readers of YAML divide and read such a text in one way.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from krmfn.errors import KrmfnError
from krmfn.item import LOCAL, Item
from krmfn.resource import Place, annotations_of
from krmfn.results import Field, Result, error
from krmfn.yamltext import documents as divided
from krmfn.yamltext.load import events
from krmfn.yamltext.positions import nodes, parts
from krmfn.yamltext.simple import PLAIN, is_merge
from krmfn.yamltext.values import BINARY

from ..paths import files
from ..paths.contents import explain
from . import flow
from .documents import documents, unreadable
from .references import Reference

RULE = "KRM517"
_CORE = "tag:yaml.org,2002:"
_TAGS: dict[type[Node], frozenset[str]] = {
    ScalarNode: frozenset((PLAIN, *(_CORE + name for name in ("str", "int", "float", "bool", "null")))),
    SequenceNode: frozenset((f"{_CORE}seq",)),
    MappingNode: frozenset((f"{_CORE}map",)),
}
_ODD = {
    re.compile(rb"\r(?!\n)|\xc2\x85|\xe2\x80[\xa8\xa9]"): (
        "a carriage return alone, NEL, U+2028 or U+2029 ends a line for some readers only; write a newline"
    ),
    re.compile(rb"^%", re.MULTILINE): "kustomize reads no YAML directives; remove this line",
    # go-yaml takes it for one at the start of each line while its buffer begins with it (is_bom in yamlprivateh.go)
    re.compile(rb"\xef\xbb\xbf"): (
        "a byte order mark inside the text makes kustomize drop the first character of lines behind it; remove it"
    ),
}
"""What no reader is to meet, and what to do about it; the first of each is reported."""
_HEAD = ("apiVersion", "kind", "metadata", "name", "annotations")
_UNPLAIN = re.compile(
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
                    items, self._wrong[one.real] = self.documents(one.real, one.name, "KRM504", _judge)
                    if one.real in self.read:
                        self.given[one.real] = b"" if self._wrong[one.real] else given(self.read[one.real], items)
                        self.local[one.real] = sum(LOCAL in annotations_of(item.manifest) for item in items)
                yield from self._wrong[one.real]
            elif one.role == "text":
                yield from self.patch(one)[1]


def written_out(reference: Reference, judge: Judge) -> Judged:
    """Return the documents of a text that is written out, and what is wrong with it, each at its place."""
    place = reference.place
    items, findings = judge(reference.data, place._replace(line=reference.first), reference.column)
    if not reference.has_lines:
        findings = [one._replace(field=Field(reference.field), place=place) for one in findings]
        for item in items:
            item.file = place._replace(finder=lambda result: result._replace(place=place))
    return items, findings


def _patch(reference: Reference) -> tuple[str, list[Result]]:
    """Return a patch that is written out as kustomize is given it, "" for as it stands, and what is wrong with it."""
    items, findings = written_out(reference, _judge)
    is_same = bool(findings) or given(reference.data, items) == reference.data
    return "" if is_same else flow.written(items, on_lines=False).rstrip(), findings


def given(text: bytes, items: Sequence[Item], replaced: flow.Replaced = flow.NOTHING) -> bytes:
    """Return what kustomize is given of a text that holds these documents, some strings of which are `replaced`."""
    is_odd = _UNPLAIN.search(text) or (_MARKED.search(text) and any(map(_is_marked, items)))
    return flow.written(items, replaced).encode() if replaced or is_odd else text


def _judge(text: bytes, place: Place, column: int) -> Judged:
    if problem := divided.misread(text.removeprefix(b"\xef\xbb\xbf"), place.line - 1):
        return [], [unreadable(KrmfnError(problem), place.path, RULE)]
    try:
        items = list(documents(place.path, text, place.line, column, is_composed=False))
        return items, [finding for item in items for finding in _misread(item)]
    except KrmfnError as failure:
        return [], [unreadable(explain(failure, text), place.path, "KRM523")]


def _is_marked(item: Item) -> bool:
    """Return True for a document with an anchor, an alias, a tag or a merge."""
    for event in events(item.text) if _MARKED.search(item.text) else ():
        is_tagged = getattr(event, "tag", None) is not None
        is_merge = getattr(event, "value", "") == "<<" and event.implicit[0]
        if getattr(event, "anchor", None) or is_tagged or is_merge:
            return True
    return False


def _misread(item: Item) -> Iterator[Result]:
    """Yield an error for each key and tag of a resource or patch that kustomize takes otherwise than other readers."""
    for path in item.content.duplicate_keys:
        message = "this key appears twice, and YAML readers differ on which one counts; remove one"
        yield item.located(error(message, rule=RULE, ref=item.ref, field=Field(path)))
    # kustomize decodes what has this tag
    for line, message in _tagged(item.content.composed, BINARY) if b"!" in item.text else ():
        place = item.place and item.place._replace(line=item.place.line + line)
        yield error(message, rule=RULE, ref=item.ref, place=place)


def strictly(text: bytes, place: Place, column: int, *, rule: str, is_function: bool) -> Judged:
    """Return the documents of a text, none of one that is no YAML (a finding of `rule`), and what is wrong with it.

    It begins at `place`; `column`: see `documents`; `is_function`: it is the configuration of a function, whose equal
    keys and aliases are judged as well.
    """
    findings = [*_divisions(text, place)]
    try:
        items = list(documents(place.path, text, place.line, column))
    except KrmfnError as failure:
        return [], [unreadable(failure, place.path, rule), *findings]
    for item in items:
        node, start = item.content.composed, item.place or Place()
        for line, message in [*_tagged(node), *((*_names(node), *_shared(node)) if is_function else ())]:
            findings.append(error(message, rule=RULE, place=start._replace(line=start.line + line)))
        for path in item.content.duplicate_keys if is_function else ():
            message = "this key appears twice: kustomize takes the first one, other readers the last; remove one"
            findings.append(item.located(error(message, rule=RULE, ref=item.ref, field=Field(path))))
    return items, findings


def _divisions(text: bytes, place: Place) -> Iterator[Result]:
    """Yield an error for each way in which readers divide a text differently, which begins at `place`."""
    text = text.removeprefix(b"\xef\xbb\xbf")
    problem = divided.misread(text, place.line - 1)
    if problem:
        yield unreadable(KrmfnError(problem), place.path, RULE)
    for pattern, message in _ODD.items():
        if match := pattern.search(text):
            yield error(message, rule=RULE, place=place._replace(line=place.line + text.count(b"\n", 0, match.start())))


def _tagged(root: Node | None, allowed: str = "") -> Iterator[tuple[int, str]]:
    """Yield (line from 0, message) of each node with a tag that kustomize passes over, but for one that is allowed."""
    for node in nodes(root):
        if node.tag not in (*_TAGS[type(node)], allowed):
            tag = node.tag.replace(_CORE, "!!")
            yield node.start_mark.line, f"kustomize ignores the tag {tag}, but other readers do not; remove it"


def _names(root: Node | None) -> Iterator[tuple[int, str]]:
    """Yield the same of each key that is an alias: kyaml takes its anchor's name for the key until it looks it up."""
    used = Counter(id(part) for node in nodes(root) for part in parts(node))
    keys = {id(key): key for node in nodes(root) if isinstance(node, MappingNode) for key, _ in node.value}
    for identity, key in keys.items():
        if used[identity] > 1:
            yield key.start_mark.line, f"the key {key.value} is an alias, too, which kustomize misreads; write it out"


def _shared(root: Node | None) -> Iterator[tuple[int, str]]:
    """Yield the same of each alias and merge in the fields that say which function is called."""
    if isinstance(root, MappingNode):
        for key, value in root.value:
            is_alias = value.start_mark.index < key.start_mark.index
            if is_merge(key) or (key.value in _HEAD and is_alias):
                yield key.start_mark.line, "an alias here may be read differently by kustomize; write the value out"
            elif key.value in _HEAD:
                yield from _shared(value)
