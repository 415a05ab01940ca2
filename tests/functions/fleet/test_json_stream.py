"""A stream of JSON, read object by object: the same ones that a whole read gives, in the memory of one."""

from __future__ import annotations

import io
import json
import tracemalloc
from collections.abc import Callable, Iterator
from itertools import permutations
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given
from krmfn_functions.fleet import json_stream
from krmfn_functions.fleet.json_stream import objects

from krmfn import KrmfnError

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.lists(
    st.dictionaries(st.text(max_size=4).filter(lambda key: key != "items"), VALUES, max_size=4), max_size=4
)
LAYOUTS: dict[str, Callable[[list[Any]], str]] = {
    "kubectl": lambda items: json.dumps({"apiVersion": "v1", "items": items, "kind": "List", "metadata": {}}, indent=4),
    "API server": lambda items: json.dumps({"kind": "NodeList", "items": items}, separators=(",", ":")),
    "array": lambda items: json.dumps(items, ensure_ascii=False),
    "NDJSON": lambda items: "".join(json.dumps(item) + "\n" for item in items),
    "one behind the other": lambda items: "\r\n\t".join(json.dumps(item, indent=1) for item in items),
}


def read_of(text: bytes, size: int = 1 << 20) -> Callable[[int], bytes]:
    """A pipe that gives at most `size` bytes at once."""
    source = io.BytesIO(text)
    return lambda most: source.read(min(size, most))


@pytest.mark.parametrize("layout", LAYOUTS)
@given(items=OBJECTS, size=st.integers(1, 64))
def test_the_objects_are_those_of_the_text_whatever_the_chunks(layout: str, items: list[Any], size: int) -> None:
    assert list(objects(read_of(LAYOUTS[layout](items).encode(), size))) == items


@pytest.mark.parametrize("layout", ["kubectl", "API server", "array"])
@given(items=OBJECTS, data=st.data(), size=st.integers(1, 64))
def test_a_list_that_is_cut_off_is_never_taken_for_a_shorter_one(
    layout: str, items: list[Any], data: st.DataObject, size: int
) -> None:
    text = LAYOUTS[layout](items).encode()
    end = data.draw(st.integers(1, len(text) - 1))
    with pytest.raises(KrmfnError, match=r"cut off|UTF-8"):
        list(objects(read_of(text[:end], size)))


@given(items=OBJECTS, data=st.data(), size=st.integers(1, 64))
def test_a_spoiled_text_is_refused_or_read_as_the_whole_is(items: list[Any], data: st.DataObject, size: int) -> None:
    text = LAYOUTS["API server"](items)
    at = data.draw(st.integers(0, len(text) - 1))
    char = data.draw(st.sampled_from(['"', "{", "}", "[", "]", ",", ":", "\\", "0", "-", "x", " ", "\n", "\x00"]))
    spoiled = text[:at] + char + text[at + data.draw(st.integers(0, 1)) :]
    try:
        read = list(objects(read_of(spoiled.encode(), size)))
    except KrmfnError:
        return
    parsed = json.loads(spoiled)
    assert read == (parsed if isinstance(parsed, list) else parsed.get("items", [parsed]))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"kind": "List", "items": [{"a": 1}, {"a"', "the text ends after 1 complete object: it was cut off there"),
        ('{"items": [{"a": 1}, {"a": 2}]', "the text ends after 2 complete objects: it was cut off there"),
        ('{"a": 1}\n{"a": 2}\n{"a"', "the text ends after 2 complete objects: it was cut off there"),
        ('{"kind": "List", "items": [{"a": nope}]}' + " " * 99, "is not JSON: Expecting value"),
        ('{"a": NaN}', "NaN is not a number in JSON"),
        ("[" * 100_000, "nested too deeply"),
        ('[{"a": ' + "1" * 5_000 + "}]", "is not JSON"),
        ("[1]", "item 1 is 1, not an object"),
        ("<html>", "expected an object or a list of objects (near '<html>')"),
        ('{"items": [], "kind": "Pod"}', "is of kind 'Pod'; expected a List"),
        ('{"items": [], "items": [], "kind": "List"}', "`items` appears twice"),
        ("{1: 2}", "expected a key in quotes"),
        ('{"items": [], }', "expected a key in quotes"),
        ('{"a": "\ud800"}', "is not UTF-8"),
    ],
)
def test_what_is_no_stream_of_objects_is_a_sentence(text: str, message: str) -> None:
    with pytest.raises(KrmfnError) as failure:
        list(objects(read_of(text.encode("utf-8", "surrogatepass"))))
    assert message in str(failure.value)


def test_nothing_is_no_object() -> None:
    assert list(objects(read_of(b" \n"))) == []


def nodes(number: int, size: int) -> Iterator[bytes]:
    yield b'{"kind": "List", "items": ['
    for index in range(number):
        yield (b"," if index else b"") + json.dumps({"name": index, "filling": "x" * size}).encode()
    yield b"]}"


def test_the_memory_is_that_of_some_chunks() -> None:
    chunks = nodes(10_000, 4_000)
    tracemalloc.start()
    count = sum(1 for _ in objects(lambda _: next(chunks, b"")))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 10_000
    assert peak < 8 * json_stream.CHUNK  # of 40 MB


def test_an_object_that_no_api_server_stores_is_refused_before_it_fills_the_memory() -> None:
    source = io.BytesIO(b"".join(nodes(3, 40 << 20)))
    with pytest.raises(KrmfnError, match=r"object 1 is larger than 8 MiB"):
        list(objects(source.read))
    assert source.tell() < 5 * json_stream.LARGEST


@pytest.mark.parametrize("size", [1, 7, 1 << 16])
@pytest.mark.parametrize("keys", list(permutations(("apiVersion", "kind", "items"))))
def test_items_without_a_kind_have_that_of_their_list(keys: tuple[str, ...], size: int) -> None:
    bare = {"metadata": {"name": "a"}, "spec": {}}
    other = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "b"}}
    values = {"apiVersion": "v1", "kind": "NodeList", "items": [bare, other, {"spec": {}}]}
    read = list(objects(read_of(json.dumps({key: values[key] for key in keys}).encode(), size)))
    node = {"apiVersion": "v1", "kind": "Node", **bare}
    assert sorted(read, key=str) == sorted([node, other, {"spec": {}}], key=str)
