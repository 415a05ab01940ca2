"""What the quick ways say is what a real parser says, for documents of every layout and for damaged ones.

KRMFN_EXAMPLES sets the number of examples of each property. Texts are drawn character by character, since st.text also
draws constants of whatever modules are imported, and the examples would depend on the tests that ran before.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from krmfn import editing, itemtext
from krmfn.errors import KrmfnError, Refused
from krmfn.item import Item
from krmfn.resource import check_plain, ref, same
from krmfn.resourcelist import ResourceList
from krmfn.yamltext import load, simple, split, split_exact
from krmfn.yamltext.values import build

Draw = Callable[[st.SearchStrategy[Any]], Any]

HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n"
KINDS = (
    "kind: Pod", "kind: Node # why", 'kind: "Pod"', "kind: 'a''b'", "'kind': Q", '"kind": Q', "? kind\n: Z",
    "kind : W", "kind\t: W", "kind:\tW", "kind: Foo\n  bar", "kind: Foo\n\n  bar", "kind:\n  Foo", "kind: yes",
    "kind: 2001-01-01", "kind: !!str Foo", "kind: &k Foo", "kind: |\n  Foo", "kind: >-\n  Foo\n  kind: Bar",
    "kind: Foo\n# kind: Bar", "kind:", "kind: Foo#bar", "kind: [Foo]", 'kind: "F\\u006fo"', "<<: {kind: M}",
    "kind:Foo", "kind: a b", "kind: 'F\0- oo'",
)  # fmt: skip
NAMES = (
    "name: x", "namespace: n", "name: x\n  y", "name: 12", "'name': q", "name : w", "<<: {name: m}", "name: ~",
    "name: a:b", "labels:\n  a: b\n  c: 'd'", "labels: {a: b}", "labels:\n  a: b\n\n  c: d", "labels:\n  a: b\n    c",
    "labels:\n  a: b\n\0# far left\n  c: d", "labels:\n  a: b\n  a: c", "labels:\n  a: 1\n  c: yes", "labels:",
    'labels:\n  a: b\n  "c": d', "labels:\n  a: |\n    b\n  c: d", "labels: &l\n  a: b", "annotations: *l",
    "labels:\n- a: b", "annotations:\n  a/b.c: \"d e\"\n  e: 'f''g'", "labels:\n    # above\n  a: b # behind",
    "annotations:\n  <<: {a: z}\n  e: f",
)  # fmt: skip
ENTRIES = (
    "apiVersion: v1", "apiVersion: apps/v1", "spec:\n  replicas: 3", "a:\n- b\n- c: d\n  e: f", "a:\n  - b\n  -  c",
    "a: []", "text: |\n  - no item\n  kind: None\n\n  more", "text: |2\n    deep\n   less", "text: |+\n  a\n\n",
    "text: >-\n  a\n   b", 'q: "one\0- two"', 'q: "one\0items:\0- two"', "q: 'it''s\0- one'", "q: 'a''b\n  c'",
    "q: \"a\\\n  b\"", "q: 'a \"b'", "f: [a,\0b, {c: d}]", "f: {a: 'x\0- y'}", "f: [\"a]\", 'b'\n  ]", "f: {a: b}",
    "f: [ [a], {b: c} ]", "f: [a # ]\n  ]", "p: plain\n  over lines", "p: it's", 'p: a "b', "p: a [b", "p: -x",
    "# a \"comment", "", "  # deeper", "\0# left", "x: *k", "x: &k 1", "t: !!binary aGk=", "<<: *k", "? [a]\n: b",
    "é: ü", "n: \u2028", "n: '\x85'", "tab: a\tb", "x:   spaces   ", "? |\n  block key\n: v", "dash:\n- - a\n  - b",
    "dash:\n-\n  a: b", "\0---", "\0...", "e: {}", "u: \U0001f600", "%x: 1", "@x", "n: .inf", "d: 0x1F", "d: 1:30",
    "m: a: b", "text: |-\n  a\n   b\n\n  c\n", "text: |\n\n  a", "text: |\n   a\n  b", "text: |\n   \n  a",
    "text: |\n  \ta", "text: | # c\n  a \n  # b\n # c", "l:\n- |\n a\n- b c", "p: a b - c [d", "text: |+\n\n",
    "j: {\"a\":\"b\",\"c\":[1,2]}", "j: |\n  {\"a\": [\n  }", "d: 2001-01-01", "x: y:z",
)  # fmt: skip
ODD_ITEMS = (
    "-\n", "- null\n", "- plain\n", "- |\n   - x\n   kind: Y\n", '- "a\n- b"\n', "- {kind: Flow}\n", "- [a,\nb]\n",
    "- - kind: X\n", "- !!map\n", "- &k\n", "-  # why\n",
)  # fmt: skip
ALPHABET = "ab k:-#'\"[]{}|>&*!?%,~\\\t\n\r0é\x85\u2028\ufeff"


def texts(characters: st.SearchStrategy[str], size: int) -> st.SearchStrategy[str]:
    """Return texts of up to `size` characters."""
    return st.lists(characters, max_size=size).map("".join)


def indented(entries: list[str], column: int) -> str:
    """The entries' lines `column` columns in; what stands behind NUL is a line that stays at column 0."""
    lines = "\n".join(entries).replace("\n\0", "\0").replace("\0", "\n\0").strip("\n").split("\n")
    return "".join(f"{line}\n" if line.startswith("\0") else f"{' ' * column}{line}\n" for line in lines)


@st.composite
def resources(draw: st.DrawFn, column: int = 0) -> str:
    """The lines of a resource, its keys in any order."""
    metadata = draw(st.lists(st.sampled_from(NAMES), max_size=3))
    free = draw(st.sampled_from(("free: ", "free: '", 'free: "', "free: [", "free:\n  "))) + draw(
        texts(st.sampled_from(ALPHABET), 9)
    )
    entries = [draw(st.sampled_from((*KINDS, "kind: A", "kind: A", "kind: A")))]
    entries += draw(st.lists(st.sampled_from((*ENTRIES, free)), max_size=3))
    entries += ["metadata:\n" + indented(metadata, 2)[:-1]] if metadata else []
    return indented(draw(st.permutations(entries)), column).replace("\0", "")


@st.composite
def items(draw: st.DrawFn) -> str:
    """The lines of `items`, in any of the layouts people and tools write."""
    indent = draw(st.sampled_from((0, 0, 0, 2, 1, 4)))
    pad, width = " " * indent, draw(st.sampled_from((2, 2, 2, 4)))
    out = draw(
        st.sampled_from(("items:\n", "items:\n", "items: # why\n", 'items:\n# "first\n\n', "items:\n", "items: &all\n"))
    )
    for _ in range(draw(st.integers(1, 3))):
        text = draw(resources(indent + width))
        lead = pad + "-" + " " * (width - 1)
        odd = draw(st.sampled_from((None,) * 24 + ODD_ITEMS))
        if odd:
            out += pad + odd + (text if odd[2:3] in ("!", "&", " ") else "")
        else:
            out += lead + text[len(lead) :] if text.startswith(" " * len(lead)) else lead + "x: y\n" + text
        out += draw(st.sampled_from(("", "", "", "\n", pad + "# between\n", "# left\n", "  \n")))
    return out


@st.composite
def lists(draw: st.DrawFn) -> bytes:
    """A ResourceList, whole or damaged in a few places."""
    flow = ("items: []\n", "items:\n", "items: null\n", "items: [{kind: A},\n{kind: B}]\n", "items: [a, b] # why\n")
    some = draw(st.one_of(items(), items(), items(), st.sampled_from(flow)))
    config = (
        "functionConfig:\n  data:\n    a: |\n      items:\n      - x\n",
        'functionConfig: "a\nitems: b"\n',
        "x: [a,\nb]\n",
    )
    others = st.lists(st.sampled_from((*config, "results:\n- message: m\n", "# c\n", "\n")), max_size=1)
    body = "".join(draw(st.permutations([HEAD, some, *draw(others)])))
    tops = ("---\n", "# top\n\n---\n", "%YAML 1.1\n---\n", "--- # why\n", "\n")
    text: str = draw(st.sampled_from(("",) * 9 + tops)) + body
    text += draw(st.sampled_from(("",) * 9 + ("...\n", "# end\n", "\n", "---\n")))
    for _ in range(draw(st.sampled_from((0, 0, 0, 1, 1, 2)))):
        text = damaged(draw, text)
    return text.replace("\n", draw(st.sampled_from(("\n",) * 19 + ("\r\n",)))).encode()


def damaged(draw: Draw, text: str) -> str:
    """`text` with one character or line put in, taken out, doubled or moved sideways."""
    lines = text.splitlines(keepends=True) or [""]
    at, line = draw(st.integers(0, len(text))), draw(st.integers(0, len(lines) - 1))
    kind = draw(st.sampled_from(("insert", "cut", "drop", "double", "in", "out", "end")))
    if kind == "insert":
        return f"{text[:at]}{draw(st.sampled_from(ALPHABET))}{text[at:]}"
    if kind == "cut":
        return text[:at] + text[at + 1 :]
    if kind == "end":
        return text.rstrip("\n")
    changed = {"drop": "", "double": lines[line] * 2, "in": " " + lines[line], "out": lines[line].removeprefix(" ")}
    return "".join([*lines[:line], changed[kind], *lines[line + 1 :]])


def values(data: bytes) -> list[Any] | None:
    """The items as a parser reads the whole document; None when it is no mapping with items."""
    try:
        root = yaml.compose(data, Loader=load.Composer)  # type: ignore[arg-type]
        document = build(root)
    except (yaml.YAMLError, KrmfnError):
        return None
    listed = document.get("items") if isinstance(document, dict) else None
    return listed if isinstance(listed, list) else None


def alone(text: bytes) -> Any:
    """The value of an item's text by itself; Ellipsis where it needs what is elsewhere, or has a byte order mark."""
    try:
        return build(load.compose(text))
    except KrmfnError as failure:
        assert re.search("does not refer to an earlier anchor|undefined|a byte order mark", str(failure)), text
        return ...


@pytest.mark.parametrize("text", [b"- kind: Pod\n  x: *k\n", b"- kind: Pod\n  x: !t!u 1\n"])
def test_an_item_with_an_anchor_or_a_tag_from_elsewhere_is_not_read_alone(text: bytes) -> None:
    assert alone(text) is ...


@given(lists())
@example(b"items:\n- a: 'x''y\n- b'\n- c: d\n")
@example(b' "a\nkind: R\nitems: []\n')
def test_the_quick_cut_is_the_exact_cut(data: bytes) -> None:
    parsed = values(data)
    if parsed is None:
        return
    quick = split.quick(data)
    try:
        exact = split_exact.exact(data)
    except KrmfnError as failure:
        assert quick is None
        is_expected = re.search("start of a line|appears twice|must be a word", str(failure))
        assert is_expected or b"\xc2\x85" in data or b"\xe2" in data
        return
    if quick is not None:
        assert quick._replace(heads=(), is_quick=False) == exact
    assert len(parsed) == len(exact.items)
    for (start, end), value in zip(exact.items, parsed, strict=True):
        read = alone(data[start:end])
        assert read is ... or repr(read) == repr(value if exact.indent < 0 else [value])


def looks(item: Item) -> list[Any]:
    """Everything an item says of itself without its manifest."""
    named = [item.kind, item.name, item.group, item.ref]
    texts = [itemtext.string(item, "spec", "a"), itemtext.string(item, "kind")]
    return [*named, *texts, item.labels, item.annotations]


def expected_looks(value: Any) -> list[Any]:
    """The same from the item's value."""
    data = value if isinstance(value, dict) else {}
    part = data.get("metadata")
    metadata = part if isinstance(part, dict) else {}
    maps = [
        {key: text for key, text in pairs.items() if isinstance(text, str)} if isinstance(pairs, dict) else {}
        for pairs in (metadata.get("labels"), metadata.get("annotations"))
    ]
    spec = data.get("spec")
    text = spec.get("a") if isinstance(spec, dict) else ""
    about = ref(data)
    named = [about.kind, about.name, about.group, about, text if isinstance(text, str) else "", about.kind]
    return [*named, *maps]


def agree(fresh: list[Item], parsed: list[Any]) -> None:
    """Cheap looks, then the manifest, of every item that can be read alone."""
    assert len(fresh) == len(parsed)
    for item, value in zip(fresh, parsed, strict=True):
        if alone(item.text) is ...:
            continue
        assert looks(item) == expected_looks(value)
        assert repr(item.manifest) == repr(value if isinstance(value, dict) else {})


@given(lists())
def test_cheap_looks_say_what_the_parser_says(data: bytes) -> None:
    parsed = values(data)
    if parsed is None:
        return
    try:
        resources = ResourceList.parse(data)
    except KrmfnError:
        return
    agree(resources.items, parsed)


@given(resources(), st.integers(0, 2), st.data())
def test_cheap_looks_into_a_document_say_what_the_parser_says(text: str, damages: int, data: st.DataObject) -> None:
    for _ in range(damages):
        text = damaged(data.draw, text)
    raw = text.encode()
    try:
        value = build(load.compose(raw))
    except KrmfnError:
        return
    agree([Item(raw, 0, len(raw), -2, split.is_simple(raw))], [value])


@given(resources(), st.integers(0, 2), st.data())
def test_the_simple_reader_says_what_the_parser_says(text: str, damages: int, data: st.DataObject) -> None:
    for _ in range(damages):
        text = damaged(data.draw, text)
    plain = simple.read(text)
    if plain is None:
        return
    try:
        value = build(load.compose(text.encode()))
    except KrmfnError:
        return
    assert repr(plain) == repr(value)


LEAVES: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from((None, True, 0, 1, 1.5, [], {}, "yes", "1", "a b", "x\ny\n", [["z"]])), texts(st.characters(), 6)
)


def changed(draw: Draw, value: Any) -> Any:
    """A copy of `value` with one thing in it set, added or taken away."""
    if isinstance(value, dict):
        key = draw(st.sampled_from([*value, "added", "added"]))
        if key in value and draw(st.booleans()):
            return value | {key: changed(draw, value[key])}
        return value | {key: draw(LEAVES)} if draw(st.booleans()) else {k: v for k, v in value.items() if k != key}
    if isinstance(value, list) and value:
        at = draw(st.integers(0, len(value) - 1))
        now = draw(st.sampled_from(([changed(draw, value[at])], [], [value[at], draw(LEAVES)])))
        return [*value[:at], *now, *value[at + 1 :]]
    return draw(LEAVES)


@given(lists(), st.data())
def test_an_edit_means_the_change_and_nothing_else(data: bytes, choice: st.DataObject) -> None:
    parsed = values(data)
    if not parsed:
        return
    try:
        resources = ResourceList.parse(data)
    except KrmfnError:
        return
    if any(alone(item.text) is ... for item in resources.items):
        return
    at = choice.draw(st.integers(0, len(parsed) - 1))
    edit = changed(choice.draw, parsed[at] if isinstance(parsed[at], dict) else {})
    try:
        check_plain(edit)
    except KrmfnError:  # .inf is no JSON, and upsert says so
        return
    if not edit:  # an empty item is one without data
        return
    old = resources.items[at]
    text = old.text
    old.content.take(edit)
    try:
        new = editing.edited_item(resources.envelope, old)
    except Refused:  # a comment, an anchor, a merge or a tag would be lost
        assert re.search(rb"[#&*]|<<|!!", text)
        return
    resources.items[at] = new
    out = resources.to_bytes()
    expected = [*parsed[:at], edit, *parsed[at + 1 :]]
    assert same(values(out), expected)  # a key that Kubernetes reads as another word may move
    for index, item in enumerate(resources.items):
        assert index == at or (item.text in out and item.text in data)
    again = ResourceList.parse(out)
    assert same(again.items[at].manifest, resources.items[at].manifest)


@given(lists())
def test_what_was_not_changed_leaves_as_it_came(data: bytes) -> None:
    parsed = values(data)
    if parsed is None:
        return
    try:
        resources = ResourceList.parse(data)
    except KrmfnError:
        return
    assert resources.to_bytes() == data
    try:
        resources.upsert([{"apiVersion": "v1", "kind": "New", "metadata": {"name": "new"}}])
    except KrmfnError:  # an item that cannot be read alone may be the new one
        return
    out = resources.to_bytes()
    after = values(out)
    assert after is not None
    assert repr(after[: len(parsed)]) == repr(parsed)
    assert len(after) == len(parsed) + 1
    assert all(item.text in out for item in resources.items[:-2] + resources.items[-1:])
    again = ResourceList.parse(out)
    again.upsert([{"apiVersion": "v1", "kind": "New", "metadata": {"name": "new"}}])
    assert again.to_bytes() == out


def test_the_strategy_reaches_what_it_is_for() -> None:
    """Else the properties above would hold for want of documents."""
    seen = {"valid": 0, "quick": 0, "over lines": 0, "exact": 0}

    @settings(max_examples=300, database=None, derandomize=True)
    @given(lists())
    def count(data: bytes) -> None:
        if values(data) is not None:
            seen["valid"] += 1
            cut = split.quick(data)
            seen["quick" if cut else "exact"] += 1
            seen["over lines"] += bool(cut and not all(split.has_lone_lines(data, *span) for span in cut.items))

    count()
    assert min(seen.values()) >= 5, seen


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__]))
