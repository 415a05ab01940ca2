"""An item: cheap looks and the manifest say the same, with the right place."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krmfn import itemtext
from krmfn.annotations import INDEX, PATH, place_of
from krmfn.errors import KrmfnError
from krmfn.item import Item
from krmfn.resource import Place, Ref
from krmfn.results import Field, error

LIST = b"""\
items:
- apiVersion: apps/v1
  kind: Deployment
  metadata:
    name: web
    namespace: shop
    labels: {a: b, c: 1}
    annotations:
      internal.config.kubernetes.io/path: web.yaml
      internal.config.kubernetes.io/index: '2'
  spec:
    template:
      image: "x"
- 2001-01-01: x
  kind: 2001-01-01
  metadata: [name]
- just text
"""


def cut(data: bytes = LIST, at: int = 0, sure: bool = True, file: Place | None = None) -> Item:
    starts = [n for n in range(len(data)) if data.startswith(b"\n- ", n - 1)] + [len(data)]
    return Item(data, starts[at], starts[at + 1], 0, sure, file)


@pytest.mark.parametrize("sure", [True, False])
@pytest.mark.parametrize("loaded", [True, False])
def test_looks(sure: bool, loaded: bool) -> None:
    item = cut(sure=sure)
    if loaded:
        assert item.manifest["metadata"]["labels"] == {"a": "b", "c": 1}
    assert item.ref == Ref("apps/v1", "Deployment", "shop", "web")
    assert (item.kind, item.group, item.name) == ("Deployment", "apps", "web")
    assert item.labels == {"a": "b"}
    assert item.annotations["internal.config.kubernetes.io/index"] == "2"
    assert itemtext.string(item, "spec", "template", "image") == "x"
    assert itemtext.string(item, "spec", "nothing", "image") == ""
    assert item.place == Place("web.yaml", 2)


@pytest.mark.parametrize("sure", [True, False])
def test_odd_items(sure: bool) -> None:
    assert cut(at=1, sure=sure).kind == "2001-01-01"
    assert cut(at=1, sure=sure).ref == Ref("", "2001-01-01")
    assert cut(at=2, sure=sure).manifest == {}
    assert cut(at=2, sure=sure).labels == {}


def test_kustomize_invents_paths() -> None:
    text = LIST.replace(b"    annotations:\n", b"    annotations:\n      kustomize.config.k8s.io/id: x\n")
    assert cut(text).place is None


def test_an_annotation_that_is_no_string_is_no_place_whatever_was_read_before() -> None:
    item = cut(LIST.replace(b"/path: web.yaml", b"/path: 5"))
    assert item.manifest["metadata"]["annotations"][PATH] == 5
    assert (item.place, item.path) == (None, "")


def test_places_in_a_file() -> None:
    item = cut(file=Place("f.yaml", 3, 12))
    assert item.place == Place("f.yaml", 3, 12)
    assert item.field_place("spec.template.image") == Place("f.yaml", 3, 23, 7)
    assert item.field_place("spec.nothing.image") == Place("f.yaml", 3, 21, 3)
    result = item.located(error("wrong", field=Field("spec.template.image")))
    assert (result.ref, result.place) == (item.ref, Place("f.yaml", 3, 23, 7))


def test_complaints_count_lines_from_the_start() -> None:
    text = b"items:\n- a: b\n- kind: X\n  c: d: e\n"
    with pytest.raises(KrmfnError, match=r"^X, in the ResourceList: line 4: mapping values"):
        _ = cut(text, 1).manifest
    with pytest.raises(KrmfnError, match=r"^f.yaml: line 13: mapping values"):
        _ = cut(text, 1, file=Place("f.yaml", 0, 12)).manifest


def test_duplicate_keys() -> None:
    assert cut(b"items:\n- a: 1\n  b: [{c: 1, c: 2}]\n  a: 2\n").content.duplicate_keys == ["b[0].c", "a"]
    assert cut(b"items:\n- a: 1\n  b: &x {c: 1}\n  d: *x\n  <<: *x\n").content.duplicate_keys == []
    assert cut().content.duplicate_keys == []


def test_mentions() -> None:
    assert cut().mentions("image")
    assert not cut().mentions("just text")


def test_many_findings_in_one_item_are_placed_in_time() -> None:
    """Each place was looked for from the start of its mapping: a quarter of an hour for these."""
    text = "a: 1\n" + "".join(f"x{number}: 1\n" for number in range(24_000)) * 2
    item = Item(text.encode(), 0, len(text), -2, False, Place("f.yaml", 0, 1))
    results = [item.located(error("twice", field=Field(path))) for path in item.content.duplicate_keys]
    assert len(results) == 24_000
    assert [finding.place.line for finding in results[:2] if finding.place] == [24_002, 24_003]


def test_in_a_text_that_was_edited_nothing_is_ambiguous_that_is_quoted() -> None:
    """The reader by lines has one tag for all scalars, and numbers for some texts."""
    item = cut(LIST.replace(b"{a: b, c: 1}", b"\n      a: 'yes'\n      c: 1"))
    item.at("kind").value = "Job"
    assert b"kind: Job" in item.text
    assert item.content.ambiguous == item.content.duplicate_keys == []


def test_an_index_of_thousands_of_digits_is_none() -> None:
    """Python's int refuses it."""
    assert place_of({PATH: "a.yaml", INDEX: "9" * 5000}) == Place("a.yaml")


SPELLINGS = ("{0}", "\\x{1:02x}", "\\u{1:04X}", "\\U{1:08x}", "\\\n    {0}", "\\/")


@given(st.lists(st.sampled_from(SPELLINGS), min_size=8, max_size=8))
def test_however_a_string_is_escaped_it_is_mentioned(spellings: list[str]) -> None:
    word = "a/b.dev/"
    pairs = zip(spellings, word, strict=True)
    spelled = "".join((form if form != "\\/" or char == "/" else "{0}").format(char, ord(char)) for form, char in pairs)
    text = f'a: 1\nb:\n  ? "x{spelled}y"\n  : 2\n'.encode()
    item = Item(text, 0, len(text), -2)
    assert list(item.manifest["b"]) == [f"x{word}y"]
    assert item.mentions(word)


def test_what_is_noted_of_many_items_takes_no_memory() -> None:
    """Attributes that `__init__` does not set would give each item a dict: two megabytes of a list of 28."""
    items, ref = [Item(b"", 0, 0, 0) for _ in range(2000)], Ref("v1", "A", "", "a")
    tracemalloc.start()
    try:
        for item in items:
            itemtext.note_ref(item, ref)
            itemtext.note_look(item, None, None)  # type: ignore[arg-type]  # what stands there does not matter
        assert tracemalloc.get_traced_memory()[0] < 16 * len(items)
    finally:
        tracemalloc.stop()
