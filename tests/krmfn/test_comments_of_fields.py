"""Comments of fields: read, written, and seen at once."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from krmfn import KrmfnError, ResourceList
from krmfn.resource import join, same
from krmfn.yamltext import documents, linetree, load, positions, remarks, simple, values
from tests.test_corpus import ACCEPTED

HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
WEB = """\
- # of the item
  apiVersion: apps/v1 # the version
  kind: Deployment
  metadata: # of metadata
    name: "web" # it's "web"
    empty: # nothing here
  # above spec
  #
  #   and more
  spec:
    text: &text | # of a text
      # no comment
      line # none
    folded: 'a
      # b' # of a folded one
    list: # of a list
    # above the first
    - a # of a
    - - b # of b
    -
      # above c
      c: d
    - # of nobody
      e: f # of f
    flow: [a, {b: c}] # of flow
    anchor: &x {a: b} # of an anchor
    alias: *x # of an alias
    copy: *text # of a copy
    ö: ä # ü
"""
LINES = {
    "apiVersion": "the version",
    "kind": "",
    "metadata": "of metadata",
    "metadata.name": 'it\'s "web"',
    "metadata.empty": "nothing here",
    "spec": "",
    "spec.text": "of a text",
    "spec.folded": "of a folded one",
    "spec.list": "of a list",
    "spec.list[0]": "of a",
    "spec.list[1][0]": "of b",
    "spec.list[2].c": "",
    "spec.list[3].e": "of f",
    "spec.flow": "of flow",
    "spec.flow[0]": "",
    "spec.flow[1].b": "",
    "spec.anchor": "of an anchor",
    "spec.alias": "of an alias",
    "spec.copy": "of a copy",
    "spec.ö": "ü",
}
HEADS = {
    "apiVersion": "of the item",
    "spec": "above spec\n\n  and more",
    "spec.text": "",
    "spec.list[0]": "above the first",
    "spec.list[2].c": "above c",
    "spec.list[3].e": "of nobody",
}
IN_BRACKETS = {"spec.flow[0]", "spec.flow[1].b"}


def parsed(text: str = WEB) -> ResourceList:
    return ResourceList.parse((HEAD + text).encode())


def body(resources: ResourceList) -> str:
    return resources.to_bytes().decode().removeprefix(HEAD)


def test_comments_are_read() -> None:
    item = parsed().items[0]
    assert {path: item.at(path).comment for path in LINES} == LINES
    assert {path: item.at(path).head_comment for path in HEADS} == HEADS
    assert item.at("spec.nothing").comment == item.at("spec.nothing").head_comment == ""


@pytest.mark.parametrize("path", sorted(LINES.keys() - IN_BRACKETS))
@pytest.mark.parametrize("words", ["kpt-set: ${x}", ""])
def test_a_comment_is_written_and_nothing_else(path: str, words: str) -> None:
    resources = parsed()
    field = resources.items[0].at(path)
    field.comment = words
    assert field.comment == words
    text = body(resources)
    again = parsed(text).items[0]
    assert again.at(path).comment == words
    assert {place: again.at(place).comment for place in LINES} == LINES | {path: words}
    assert again.manifest == parsed().items[0].manifest
    changed = [(old, new) for old, new in zip(WEB.split("\n"), text.split("\n"), strict=True) if old != new]
    assert len(changed) == (LINES[path] != words)


@pytest.mark.parametrize("path", sorted(LINES.keys() - IN_BRACKETS - {"spec.list[1][0]"}))
@pytest.mark.parametrize("words", ["one", "one\n\n two", ""])
def test_the_lines_above_are_written_and_nothing_else(path: str, words: str) -> None:
    resources = parsed()
    item = resources.items[0]
    before = {place: item.at(place).head_comment for place in LINES}
    item.at(path).head_comment = words
    assert item.at(path).head_comment == words
    again = parsed(body(resources)).items[0]
    assert {place: again.at(place).head_comment for place in LINES} == before | {path: words}
    assert {place: again.at(place).comment for place in LINES} == LINES
    assert again.manifest == parsed().items[0].manifest


@pytest.mark.parametrize("words", ["new", ""])
@pytest.mark.parametrize("path", ["apiVersion", "metadata.name", "list", "list[0]", "list[0].a", "list[1]"])
def test_the_lines_above_may_stand_in_another_column(path: str, words: str) -> None:
    """The text was no YAML any more, and the item could not be written."""
    text = "-    # 1\n  apiVersion: v1\n  kind: A\n  metadata:\n  # 2\n    name: a\n      # 3\n  list:\n"
    resources = parsed(f"{text}     # 4\n  - a: b\n # 5\n  - c\n")
    item = resources.items[0]
    data = copy.deepcopy(item.manifest)
    item.at(path).head_comment = words
    again = parsed(body(resources)).items[0]
    assert again.at(path).head_comment == words
    assert body(resources).count("#") == 4 + bool(words)
    assert again.manifest == data


WRONG: list[tuple[str, Any]] = [("spec.nothing", "x"), ("kind", "a\nb"), ("kind", "a\x07"), ("kind", "a\u2028b")]


@pytest.mark.parametrize(("path", "words"), [*WRONG, *((path, "x") for path in sorted(IN_BRACKETS))])
def test_what_can_be_no_comment_is_refused(path: str, words: str) -> None:
    resources = parsed()
    reason = ": it has no line of its own" if path in IN_BRACKETS else ""
    with pytest.raises(KrmfnError, match=rf"Deployment web: .* can have no comment{reason}"):
        resources.items[0].at(path).comment = words
    assert body(resources) == WEB


def test_a_comment_follows_what_was_edited_before_and_after() -> None:
    text = "- apiVersion: v1\n  kind: A\n  metadata:\n    name: a\n  list:\n  - name: x\n    image: x:1 # old\n"
    resources = parsed(text)
    item = resources.items[0]
    item["list"] = [{"name": "w", "image": "w:1"}, *item["list"]]
    assert item.at("list[1].image").comment == "old"
    assert item.at("list[0].image").comment == ""
    item.at("list[1].image").comment = "new"
    item.at("list[0].image").comment = "first"
    item["list"] = [*reversed(item["list"])]
    assert item.at("list[0].image").comment == "new"
    item["list[0].image"] = "x:2"
    assert body(resources).endswith("  list:\n  - name: x\n    image: x:2 # new\n  - name: w\n    image: w:1 # first\n")


def test_json_has_no_comments() -> None:
    text = b'{"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": [{"kind": "A", "a": "b"}]}'
    resources = ResourceList.parse(text)
    assert resources.items[0].at("a").comment == ""
    with pytest.raises(KrmfnError, match="a can have no comment"):
        resources.items[0].at("a").comment = "x"
    assert resources.to_bytes() == text


SETTERS = """\
- apiVersion: v1
  kind: A
  metadata:
    name: a # kpt-set: ${name}
  list:
  - name: x
    image: x:1 # kpt-set: ${image}
  - image: y:1 # other
  "yes": &a {b: c} # kpt-set: ${map}
"""


@pytest.mark.parametrize("text", [SETTERS, SETTERS.replace("&a {b: c}", "true")], ids=["any", "simple"])
def test_each_gives_the_fields_whose_comment_begins_so(text: str) -> None:
    item = parsed(text).items[0]
    assert [field.path for field in item.each("**", comment="kpt-set: ")] == ["metadata.name", "list[0].image", "yes"]
    assert [field.path for field in item.each("list[*].image", comment="kpt-set: ")] == ["list[0].image"]
    assert [field.path for field in item.each("list.*.image", comment="kpt-set: ")] == []
    unquoted = parsed(text.replace('"yes"', "yes")).items[0]  # the key is "true" to Kubernetes
    paths = [field.path for field in unquoted.each("**", comment="kpt-set: ")]
    assert paths == ["metadata.name", "list[0].image", "true"]
    item["list"] = [*reversed(item["list"])]
    item.at("list[0].image").comment = "kpt-set: ${new}"
    comments = [field.comment for field in item.each("list[*].*", comment="kpt-set: ")]
    assert comments == ["kpt-set: ${new}", "kpt-set: ${image}"]


def test_a_comment_stands_behind_the_last_line_of_a_plain_text() -> None:
    resources = parsed("- apiVersion: v1\n  kind: A\n  a: plain\n    text\n")
    resources.items[0].at("a").comment = "new"
    assert resources.to_bytes().endswith(b"  a: plain\n    text # new\n")


@pytest.mark.parametrize("path", [path for path in ACCEPTED if path.suffix == ".yaml"], ids=lambda path: path.stem)
def test_a_simple_text_has_its_nodes_where_the_parser_says(path: Path) -> None:
    for document in documents.documents(path.read_bytes()):
        text = document.text.decode()
        data = simple.read(text)
        if data is None:
            continue
        root, node = linetree.tree(text), load.compose(document.text)
        assert same(data, values.build(node))
        assert spans(root) == spans(node)
        for parts in paths(data):
            assert remarks.find(text, root, parts) == remarks.find(text, node, parts)
            assert positions.locate(root, join(parts)) == positions.locate(node, join(parts))


def paths(value: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The paths of all that a value holds."""
    for key, child in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*above, str(key))
        if isinstance(child, (dict, list)):
            yield from paths(child, (*above, str(key)))


def spans(node: Any) -> Any:
    """The places, styles and texts of a tree; of a collection in block style only where it begins."""
    if node.id == "scalar" or not node.value:
        text = node.value if node.id != "scalar" or node.style else ""  # a plain one is data in a tree by lines
        return node.id, getattr(node, "style", "") or "", text, node.start_mark.index, node.end_mark.index
    parts = [part for entry in node.value for part in (entry if isinstance(entry, tuple) else (entry,))]
    return node.id, node.start_mark.index, node.start_mark.column, [*map(spans, parts)]


@pytest.mark.parametrize("words", ["new", "one\ntwo", ""])
def test_a_comment_above_a_dash_and_behind_it_is_written_behind_it(words: str) -> None:
    head = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- kind: A\n  spec:\n"
    resources = ResourceList.parse(f"{head}  # above\n  - # behind\n    a: 1\n".encode())
    field = resources.items[0].at("spec[0].a")
    assert field.head_comment == "above\nbehind"
    field.head_comment = words
    assert field.head_comment == words
    lines = "".join(f"# {row}\n    " for row in words.split("\n") if row)
    assert resources.to_bytes().decode() == f"{head}  - {lines}a: 1\n"
