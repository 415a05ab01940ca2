"""Many documents divided in one pass, and their heads read by lines: as one by one, and as the parser reads them."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from krmfn_functions.paths import division
from krmfn_functions.paths.division import Span

from krmfn.errors import KrmfnError
from krmfn.resource import Ref, ref
from krmfn.yamltext import documents, load, split
from tests import bounded
from tests.commands import ROOT
from tests.e2e.documents import documents as fuzzed
from tests.examples import EXAMPLES

DIVIDED = {
    b"": [],
    b"# only\n\n": [],
    b"a: 1\n": [b"a: 1\n"],
    b"---\na: 1\n": [b"\na: 1\n"],
    b"--- # b\na: 1\n---\n# c\n---\nd: 1": [b" # b\na: 1\n", b"\nd: 1"],
    b"a: 1\n...\n---\nb: 2\n--- {c: 1}\n": [b"a: 1\n", b"\nb: 2\n", b" {c: 1}\n"],
    b"a: |\n ---\n---b\n": [b"a: |\n ---\n---b\n"],
    b"\n\na: 1\n---": [b"\n\na: 1\n"],
}


@pytest.mark.parametrize("text", DIVIDED, ids=str)
def test_a_text_is_divided(text: bytes) -> None:
    assert division.is_usual(text)
    assert [text[span.start : span.end] for span in division.divide(text)] == DIVIDED[text]
    assert [document.text for document in documents.documents(text)] == DIVIDED[text]


UNUSUAL = (
    *(b"{}", b"[]", b"%YAML 1.1\n---\na: 1\n", b"a: 1\n%b\n", b"a: 1\r\n", b"a: \x00", b"a: \xff", b"- a\n"),
    *(b" a: 1\n", b"'a': 1\n", b"*a", b"---\ta\n", b"---a\n"),
    *(f"a: b{mark}c\n".encode() for mark in "\x85\u2028\u2029\ufeff"),
)


@pytest.mark.parametrize("text", UNUSUAL, ids=repr)
def test_what_is_unusual_is_divided_alone(text: bytes) -> None:
    assert not division.is_usual(text)


PIECES = st.sampled_from(
    ("---", "---# ", "--- # ", "--- ", "----", "...", "... ", "...#", "# c", "a: 1", " ", "\t", "\n", "\n", "b")
)


@given(st.lists(st.lists(PIECES, max_size=12).map("".join), max_size=4))
def test_what_readers_divide_differently_is_seen_in_one_pass(drawn: list[str]) -> None:
    texts = [text for text in (sample.encode() for sample in drawn) if division.is_usual(text)]
    stream, starts = division.joined(texts)
    spans = division.divide(stream)
    for start, text in zip(starts, texts, strict=True):
        inside = [span for span in spans if start - 1 <= span.start <= start + len(text)]
        assert any(span.is_misread for span in inside) == bool(documents.misread(text))


def test_many_texts_are_divided_as_each_is_alone() -> None:
    texts = drawn(13)
    for at in range(0, len(texts), 7):
        some = texts[at : at + 7]
        text, starts = division.joined(some)
        assert [text[start : start + len(document)] for start, document in zip(starts, some, strict=True)] == some
        alone = [document.text for sample in some for document in documents.documents(sample)]
        assert [text[span.start : span.end].strip(b"\n") for span in division.divide(text)] == [
            document.strip(b"\n") for document in alone
        ]


NOTHING = (
    *(b"# only", b"# a\n  # b\n\n", b"# a\r\n\r\n  # b\r\n", b"\n \n", "# déjà vu — \u2026\n".encode()),
    *(b"---\n---\n...\n", b"--- \t# a\n", b"---\t\n# b\n...\t\n", b"# \xef\xbb\xbfa"),
    b"#" * 90 + b"\n# a #\n" + b"#" * 90,
)


@pytest.mark.parametrize("text", NOTHING, ids=repr)
def test_blank_lines_and_comments_are_no_document(text: bytes) -> None:
    assert list(documents.documents(text)) == []
    assert not division.is_usual(text) or division.divide(text) == []


@pytest.mark.parametrize("mark", ["\r", "\x85", "\u2028", "\u2029", "\r\r\n"])
def test_a_comment_hides_no_document_behind_a_line_break_of_old(mark: str) -> None:
    for text in (f"# a{mark}kind: A\n", f"---\n# a\n#{mark}kind: A", f"a: 1\n--- # a{mark}kind: A\n...\n"):
        *_, last = documents.documents(text.encode())
        assert load.read(last.text) == {"kind": "A"}


PIECES = st.sampled_from(
    [
        "#",
        "# a",
        " ",
        "a: 1",
        "%A",
        "\n%YAML 1.1",
        "\n---",
        "\n--- ",
        "\n",
        "\r\n",
        "\r",
        *"\t\x85\u2028\u2029\ufeff\x81\x7f\f\ufffe",
    ]
)


@settings(max_examples=EXAMPLES * 20)
@given(st.lists(PIECES, max_size=8).map("".join))
def test_what_is_no_document_is_none_to_libyaml(text: str) -> None:
    """libyaml takes the line breaks of YAML 1.1, as Go's readers do; a document that it refuses is one."""
    if not list(documents.documents(text.encode())):
        events = list(load.events(text.encode()))
        nodes = [getattr(event, "value", None) for event in events if isinstance(event, yaml.NodeEvent)]
        assert nodes == [""] * text.count("---")


def test_a_banner_takes_no_longer_than_its_length_says() -> None:
    code = """
from krmfn.yamltext import documents
for text in (b"#" * 10**5, b"#\\n" * 10**5, b" #" * 10**5, b" " * 10**5, b"\\r\\n" * 10**5, b"---\\n" * 10**4):
    for end in (b"", b"\\r", b"\\nx", b"\\x00"):
        list(documents.documents(text + end)), list(documents.documents(b"--- " + text + end))
"""
    assert bounded.python(code, 20).returncode == 0


HEAD = b"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n"
HEADS = {
    HEAD: ("", "a"),
    b"# above\n\n" + HEAD + b"spec:\n  x: 1\n": ("", "a"),
    HEAD + b"  namespace: b\n": ("b", "a"),
    HEAD.replace(b"  name: a", b"  annotations:\n    name: x\n\n  name: a-1.b\nspec: {}").strip(): ("", "a-1.b"),
    HEAD.replace(b"name: a", b"generateName: a-"): ("", ""),
}
"""Namespace and name of what has a head that is read by lines."""
UNSURE = {
    "a number": HEAD.replace(b"v1", b"1.0"),
    "a boolean": HEAD.replace(b"name: a", b"name: yes"),
    "a name over lines": HEAD + b"    more\n",
    "a name over a blank line": HEAD + b"\n    more\n",
    "a name with a comment": HEAD.replace(b": a\n", b": a # b\n"),
    "a name twice": HEAD + b"  name: b\n",
    "a name in quotes": HEAD.replace(b"  name", b"  'name'"),
    "another name in quotes": HEAD + b"  'name': b\n",
    "a key of the head again": HEAD + b"kind: Job\n",
    "a key of the head again, in quotes": HEAD + b"spec: {}\n'kind': Job\n",
    "a list": HEAD + b"items: []\n",
    "a merge": HEAD + b"<<: {kind: Job}\n",
    "a deeper column": HEAD.replace(b"  name", b"    name"),
    "a flow mapping": b"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n",
    "a comment in the left column": HEAD.replace(b"  name", b"# b\n  name"),
    "a tag": b"--- !a\n" + HEAD,
    "a longer key": HEAD + b"  names: b\n",
    "an alias": HEAD + b"spec: *a\n",
}


@pytest.mark.parametrize("text", HEADS, ids=repr)
def test_a_head(text: bytes) -> None:
    assert head(text) == Ref("v1", "Pod", *HEADS[text])


@pytest.mark.parametrize("name", UNSURE)
def test_an_unsure_head(name: str) -> None:
    assert head(UNSURE[name]) is None


def head(text: bytes) -> Ref | None:
    (span,) = division.divide(text)
    return division.head(text, span)


def test_a_head_is_what_the_parser_says() -> None:
    read = 0
    for text in drawn(14):
        spans = division.divide(text)
        dubious = division.dubious(text, spans)
        for index, span in enumerate(spans):
            reference = division.head(text, span) if index not in dubious else None
            if reference and is_sound(text, span):
                data = load.read(text[span.start : span.end])
                assert reference == ref(data), text
                read += 1
    assert read > 50


def is_sound(text: bytes, span: Span) -> bool:
    try:
        load.read(text[span.start : span.end])
    except KrmfnError:
        return False
    return True


def drawn(seed: int) -> list[bytes]:
    """Return usual documents in every style, whole and damaged, some as kustomize writes them."""
    texts = [*fuzzed(seed, EXAMPLES * 35, ROOT / "tests" / "cases")]
    texts += [path.read_bytes() for path in sorted((ROOT / "tests" / "cases").rglob("*.yaml"))]
    texts = [text.removeprefix(b"\xef\xbb\xbf") for text in texts]
    return [text for text in texts if division.is_usual(text)]


def test_dubious_documents_are_those_that_are_not_simple() -> None:
    text, _ = division.joined(drawn(15))
    spans = division.divide(text)
    dubious = division.dubious(text, spans)
    assert dubious
    assert dubious == {at for at, span in enumerate(spans) if not split.is_simple(text[span.start : span.end])}
