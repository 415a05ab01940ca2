"""Check that all readers read a YAML text alike, and make the text that kustomize gets for it (its build text).

krmfn judges its own reading of a text, and kustomize reads it again, so texts that the two may read differently are
refused. kustomize divides at each line that begins with `---`, reads only the first document of each part
(kyaml/kio/byteio_reader.go), takes the first of two equal keys, ignores tags (kyaml/yaml/rnode.go), and ends lines at
every line break of YAML 1.1. So kustomizations, functions and inline patches are judged strictly.

The build text of a resource or patch is its own text if that is plain, else it is written from its nodes. A plain text
is one that all readers of YAML divide and read alike.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from krmfn.errors import KrmfnError
from krmfn.item import LOCAL, Item
from krmfn.resource import Place, annotations_of
from krmfn.results import Field, Result, error
from krmfn.typed import NamedTuple
from krmfn.yamltext import documents as yaml_documents
from krmfn.yamltext.load import events
from krmfn.yamltext.positions import nodes, parts
from krmfn.yamltext.simple import PLAIN, is_merge
from krmfn.yamltext.values import BINARY

from ..mistake import Mistake
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
    re.compile(rb"\r(?!\n)|\xc2\x85|\xe2\x80[\xa8\xa9]"): Mistake(
        "a carriage return alone, NEL, U+2028 or U+2029 ends a line for some readers only", "write a newline"
    ),
    re.compile(rb"^%", re.MULTILINE): Mistake("kustomize reads no YAML directives", "remove this line"),
    # go-yaml skips three bytes at each start of a line while its buffer begins with one (is_bom in yamlprivateh.go)
    re.compile(rb"\xef\xbb\xbf"): Mistake(
        "a byte order mark inside the text makes kustomize drop the first character of lines behind it", "remove it"
    ),
}
"""What must not be in a text, with a message; the first match of each is reported."""
_HEAD = ("apiVersion", "kind", "metadata", "name", "annotations")
_UNPLAIN = re.compile(
    rb"[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)|\xc2[\x80-\x9f]|\xe2\x80[\xa8\xa9]|\xef\xbb\xbf|\xef\xbf[\xbe\xbf]"
    rb"|^(?:%|\.\.\.)|[^\n]{1024}",
    re.MULTILINE,
)
"""Characters that some readers drop, refuse or take for a line break; directives; `...`; a line with a long key."""
_MARKED = re.compile(rb"[&*!]|<<")
"""The beginning of an anchor, an alias, a tag or a merge."""

Judgement = tuple[list[Item], list[Result]]
"""The documents of a text, and the findings about it."""
Judge = Callable[[bytes, Place, int], Judgement]
"""Judges a text that begins at a place, each line at a column (see `documents`)."""


class Edit(NamedTuple):
    """A text that stands for that of a file."""

    text: bytes
    name: str = ""
    """How messages name it, where there is no such file."""


NOT_EDITED: Mapping[str, Edit] = MappingProxyType({})
"""No text stands for that of a file."""


class Texts:
    """The texts of kustomizations, and of the files that they list."""

    def __init__(self, edited: Mapping[str, Edit] = NOT_EDITED) -> None:
        """Take the texts that stand for those of files, by the files' paths without links."""
        self._edited = edited
        self._findings: dict[str, list[Result]] = {}
        self.sources: dict[str, bytes] = {}
        """The contents of the files, by their paths without links."""
        self.build_texts: dict[str, bytes] = {}
        """The build texts of the files that were judged."""
        self.local: dict[str, int] = {}
        """The number of their resources that have the annotation local-config."""
        self.patch = lru_cache(maxsize=None)(_patch)

    def documents(self, real: str, name: str, rule: str, judge: Judge) -> Judgement:
        """Return the documents of a file, and the findings about it, one of `rule` if it cannot be read."""
        try:
            text = self.sources[real] = (
                self._edited[real].text if real in self._edited else files.read_regular(real, name)
            )
        except KrmfnError as failure:
            return [], [unreadable(failure, name, rule)]
        return judge(text, Place(name, line=1), 0)

    def findings(self, references: Sequence[Reference]) -> Iterator[Result]:
        """Yield the findings about the texts that kustomize reads as YAML, functions aside.

        They are not YAML, or readers would differ on them. A file is judged once.
        """
        for reference in references:
            real = reference.real
            if reference.is_yaml and reference.role != "function":
                if real not in self._findings:
                    items, self._findings[real] = self.documents(real, reference.name, "KRM504", _judge)
                    if (source := self.sources.get(real)) is not None:
                        self.build_texts[real] = b"" if self._findings[real] else build_text(source, items)
                        self.local[real] = sum(LOCAL in annotations_of(item.manifest) for item in items)
                yield from self._findings[real]
            elif reference.role == "text":
                yield from self.patch(reference)[1]


def inline_documents(reference: Reference, judge: Judge) -> Judgement:
    """Return the documents of an inline text, and the findings about it, all with their places."""
    place = reference.place
    items, findings = judge(reference.data, place._replace(line=reference.first), reference.column)
    if not reference.has_lines:
        findings = [finding._replace(field=Field(reference.field), place=place) for finding in findings]
        file = place._replace(is_fixed=True)
        items = [Item(item.data, item.start, item.end, item.indent, item.sure, file) for item in items]
    return items, findings


def _patch(reference: Reference) -> tuple[str, list[Result]]:
    """Return the build text of an inline patch, "" if it is the patch itself, and the findings about it."""
    items, findings = inline_documents(reference, _judge)
    is_same = bool(findings) or build_text(reference.data, items) == reference.data
    return "" if is_same else flow.dump(items, on_lines=False).rstrip(), findings


def build_text(text: bytes, items: Sequence[Item], substitutes: flow.Substitutes = flow.NOTHING) -> bytes:
    """Return the build text of a text that holds these documents, with `substitutes` for some of its strings."""
    is_odd = _UNPLAIN.search(text) or (_MARKED.search(text) and any(map(_is_marked, items)))
    return flow.dump(items, substitutes).encode() if substitutes or is_odd else text


def _judge(text: bytes, place: Place, column: int) -> Judgement:
    if problem := yaml_documents.misread(text.removeprefix(b"\xef\xbb\xbf"), place.line - 1):
        return [], [unreadable(problem, place.path, RULE)]
    try:
        items = list(documents(place.path, text, place.line, column, is_composed=False))
        return items, [finding for item in items for finding in _ambiguities(item)]
    except KrmfnError as failure:
        return [], [unreadable(explain(failure, text), place.path, "KRM523")]


def _is_marked(item: Item) -> bool:
    """Return True for a document with an anchor, an alias, a tag or a merge."""
    for event in events(item.text) if _MARKED.search(item.text) else ():
        is_merge = getattr(event, "value", "") == "<<" and event.implicit[0]
        if getattr(event, "anchor", None) or getattr(event, "tag", None) is not None or is_merge:
            return True
    return False


def _ambiguities(item: Item) -> Iterator[Result]:
    """Yield an error for each key and tag of a resource or patch that kustomize reads otherwise than other readers."""
    for path in item.content.duplicate_keys:
        message = "this key appears twice, and YAML readers differ on which one counts"
        yield item.located(error(message, rule=RULE, ref=item.ref, field=Field(path), remedy="remove one"))
    # kustomize decodes scalars with this tag
    for line, mistake in _tags(item.content.composed, BINARY) if b"!" in item.text else ():
        place = item.place and item.place._replace(line=item.place.line + line)
        yield error(mistake.message, rule=RULE, ref=item.ref, place=place, remedy=mistake.remedy)


def judge_strictly(text: bytes, place: Place, column: int, *, rule: str, is_function: bool) -> Judgement:
    """Return the documents of a text, and the findings about it; if it is not YAML, none and a finding of `rule`.

    It begins at `place`; `column`: see `documents`. With `is_function` it is the configuration of a function, in which
    equal keys and aliases are findings, too.
    """
    findings = [*_divisions(text, place)]
    try:
        items = list(documents(place.path, text, place.line, column))
    except KrmfnError as failure:
        return [], [unreadable(failure, place.path, rule), *findings]
    for item in items:
        node, start = item.content.composed, item.place or Place()
        for line, (message, remedy) in [*_tags(node), *((*_alias_keys(node), *_aliases(node)) if is_function else ())]:
            place = start._replace(line=start.line + line)
            findings.append(error(message, rule=RULE, place=place, remedy=remedy))
        for path in item.content.duplicate_keys if is_function else ():
            message = "this key appears twice: kustomize takes the first one, other readers the last"
            findings.append(
                item.located(error(message, rule=RULE, ref=item.ref, field=Field(path), remedy="remove one"))
            )
    return items, findings


def _divisions(text: bytes, place: Place) -> Iterator[Result]:
    """Yield an error for each reason why readers may divide a text, which begins at `place`, differently."""
    text = text.removeprefix(b"\xef\xbb\xbf")
    if problem := yaml_documents.misread(text, place.line - 1):
        yield unreadable(problem, place.path, RULE)
    for pattern, (message, remedy) in _ODD.items():
        if match := pattern.search(text):
            at = place._replace(line=place.line + text.count(b"\n", 0, match.start()))
            yield error(message, rule=RULE, place=at, remedy=remedy)


def _tags(root: Node | None, allowed: str = "") -> Iterator[tuple[int, Mistake]]:
    """Yield the line, from 0, and the mistake for each node with a tag that kustomize ignores, unless it is allowed."""
    for node in nodes(root):
        if node.tag not in (*_TAGS[type(node)], allowed):
            tag = node.tag.replace(_CORE, "!!")
            yield (
                node.start_mark.line,
                Mistake(f"kustomize ignores the tag {tag}, but other readers do not", "remove it"),
            )


def _alias_keys(root: Node | None) -> Iterator[tuple[int, Mistake]]:
    """Yield the same for each key that is also an alias: kyaml may take the name of its anchor for the key."""
    counts = Counter(id(part) for node in nodes(root) for part in parts(node))
    keys = {id(key): key for node in nodes(root) if isinstance(node, MappingNode) for key, _ in node.value}
    for identity, key in keys.items():
        if counts[identity] > 1:
            mistake = Mistake(f"the key {key.value} is an alias, too, which kustomize misreads", "write it out")
            yield key.start_mark.line, mistake


def _aliases(root: Node | None) -> Iterator[tuple[int, Mistake]]:
    """Yield the same for each alias and merge in the fields that say which function is called."""
    if isinstance(root, MappingNode):
        for key, value in root.value:
            is_alias = value.start_mark.index < key.start_mark.index
            if is_merge(key) or (key.value in _HEAD and is_alias):
                mistake = Mistake("an alias here may be read differently by kustomize", "write the value out")
                yield key.start_mark.line, mistake
            elif key.value in _HEAD:
                yield from _aliases(value)
