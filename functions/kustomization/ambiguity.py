"""Texts that readers of YAML divide or read differently: kustomizations, and what they list as functions and patches.

krmfn judges its own reading of these texts and kustomize reads the same bytes again. A text for which the two could
differ is refused. kustomize divides at each line that begins with `---`, reads the first document of each part only
(kyaml/kio/byteio_reader.go), takes the first of two equal keys and no notice of tags (kyaml/yaml/rnode.go), and ends
lines at every line break of YAML 1.1.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from krmfn.errors import KrmfnError
from krmfn.item import Item
from krmfn.resource import Place
from krmfn.results import Field, Result, error
from krmfn.yamltext import documents as divided
from krmfn.yamltext.positions import nodes, parts
from krmfn.yamltext.simple import PLAIN, is_merge

from .documents import documents, unreadable

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


def read(text: bytes, place: Place, column: int, *, rule: str, is_function: bool) -> tuple[list[Item], list[Result]]:
    """Return the documents of a text, none of one that is no YAML (a finding of `rule`), and what is wrong with it.

    It begins at `place`; `column`: see `documents`; `is_function`: see `_differences`.
    """
    try:
        items = list(documents(place.path, text, place.line, column))
    except KrmfnError as failure:
        return [], [unreadable(failure, place.path, rule), *_divisions(text, place)]
    return items, [*_divisions(text, place), *(one for item in items for one in _differences(item, is_function))]


def _divisions(text: bytes, place: Place) -> Iterator[Result]:
    """Yield an error for each way in which readers divide a text differently, which begins at `place`."""
    text = text.removeprefix(b"\xef\xbb\xbf")
    problem = divided.misread(text, place.line - 1)
    if problem:
        yield unreadable(KrmfnError(problem), place.path, RULE)
    for pattern, message in _ODD.items():
        if match := pattern.search(text):
            yield error(message, rule=RULE, place=place._replace(line=place.line + text.count(b"\n", 0, match.start())))


def _differences(item: Item, is_function: bool) -> Iterator[Result]:
    """Yield an error for each way in which readers differ on a document.

    `is_function`: it is a function's configuration, whose equal keys and aliases are judged as well.
    """
    node, place = item.content.node, item.place or Place()
    for line, message in [*tagged(node), *((*_names(node), *_shared(node)) if is_function else ())]:
        yield error(message, rule=RULE, place=place._replace(line=place.line + line))
    for path in item.content.duplicate_keys if is_function else ():
        message = "this key appears twice: kustomize takes the first one, other readers the last; remove one"
        yield item.located(error(message, rule=RULE, ref=item.ref, field=Field(path)))


def tagged(root: Node | None, allowed: str = "") -> Iterator[tuple[int, str]]:
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
