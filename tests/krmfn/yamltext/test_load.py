"""Text to data as Kubernetes reads it, within bounds; complaints with lines; what the quick ways refuse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from krmfn_functions.paths import division, syntax

from krmfn.errors import KrmfnError
from krmfn.yamltext import load
from tests.commands import ROOT
from tests.e2e.documents import documents as fuzzed
from tests.examples import EXAMPLES

DOCUMENTS: dict[str, Any] = {
    "": None,
    "# only a comment\n": None,
    "a: 1\nb: '1'\nc: \"1\"\n": {"a": 1, "b": "1", "c": "1"},
    "a: !!str 1\nb: !!int '1'\nc: !!str yes\nd: !other 1\n": {"a": "1", "b": 1, "c": "yes", "d": "1"},
    "012: a\nyes: b\n2001-01-01: c\n": {"10": "a", "true": "b", "2001-01-01": "c"},
    "off: a\n-0x1F: b\n'012': c\n!!str 1e3: d\n": {"false": "a", "-31": "b", "012": "c", "1e3": "d"},
    "a: !!binary aGVs\nb: !!binary |\n  aGVs\n  bG8=\n!!binary Yw==: d\n": {"a": "hel", "b": "hello", "c": "d"},
    "a: !custom 1\nb: !custom {c: 1}\nd: !x:int 3\n": {"a": "1", "b": {"c": 1}, "d": "3"},
    "a: !!float 3\nb: !!null ''\nc: !!bool 'yes'\nd: !<tag:yaml.org,2002:int> '3'\n": {
        "a": 3.0,
        "b": None,
        "c": True,
        "d": 3,
    },
    "a: {b: 2, <<: {b: 2, c: 3}}\n": {"a": {"b": 2, "c": 3}},
    "a: |\n  ! x\nb: x ! y\n": {"a": "! x\n", "b": "x ! y"},
    "a: 1\na: 2\n": {"a": 2},
    "a: &x {b: 1}\nc: *x\n": {"a": {"b": 1}, "c": {"b": 1}},
    "a: &x {b: 1, c: 2}\nd:\n  <<: *x\n  c: 3\n": {"a": {"b": 1, "c": 2}, "d": {"b": 1, "c": 3}},
    "a: &x 1\nb: *x\nc: &x 2\nd: *x\n": {"a": 1, "b": 1, "c": 2, "d": 2},
    "a: &x {b: 1}\nc: &x {d: 1}\ne: {<<: *x}\n": {"a": {"b": 1}, "c": {"d": 1}, "e": {"d": 1}},
    "- &x {b: 1}\n- &y {b: 2, c: 2}\n- <<: [*x, *y]\n": [{"b": 1}, {"b": 2, "c": 2}, {"b": 1, "c": 2}],
    "a:\n  '<<': 1\n": {"a": {"<<": 1}},
    "a: |\n  b\n  c\nd: >-\n  e\n  f\n": {"a": "b\nc\n", "d": "e f"},
    '{"a": [1, 2.5, true, null, "\\u00e9"]}': {"a": [1, 2.5, True, None, "é"]},
    "a: 1\r\nb: 'c\r\n\r\n  d'\r\n": {"a": 1, "b": "c\nd"},
}
REFUSED = {
    "a: b: c": "line 1: mapping values are not allowed",
    "a: [1,\nb: 2\n": "line 3: did not find expected",
    "a: 'b\n": "line 2: found unexpected end of stream",
    "x: 1\n\ta: 1\n": "line 2: found a tab character that violates indentation",
    "a: 1\n---\nb: 2\n": "line 2: but found another document",
    "a: *x\n": "line 1: this alias (*) does not refer to an earlier anchor (&) of the same resource; write the",
    "a: &x 1\nb: &x [*x]\n": "line 2: an alias is inside the value that it refers to",
    "a: &x 1\nb: &x 2\nc: *y\n": "line 3: this alias (*) does not refer to an earlier anchor (&) of the same",
    "1e3: a\n": "line 1: the key 1e3 is not a string to Kubernetes; put it in quotes",
    "a: 1\n1.10: a\n": "line 2: the key 1.10 is not a string to Kubernetes",
    "~: a\n": "line 1: the key ~ is not a string to Kubernetes",
    "18446744073709551615: a\n": "line 1: the key 18446744073709551615 is not a string to Kubernetes",
    "1: a\n'1': b\n": "line 2: the key 1 is already here, spelled differently",
    "true: a\nb: c\nyes: b\n": "line 3: the key true is already here, spelled differently",
    "a: !!int x\n": "line 1: 'x' is not a valid int",
    "a: !!bool 1\n": "line 1: '1' is not a valid bool",
    "a: !!int yes\n": "line 1: 'yes' is not a valid int",
    "a: !!timestamp 2001-1-1t1:2:3\n": "line 1: YAML readers disagree about !!timestamp; remove it",
    "a: [!x, b]\n": "line 1: a tag has no value; write a value after it, or ''",
    "a: {b: !!str, c: d}\n": "line 1: a tag has no value",
    "a: !!binary '@@'\n": "line 1: this !!binary is not base64 of UTF-8 text",
    "a: !!binary YWJj=\n": "line 1: this !!binary is not base64 of UTF-8 text",
    "a: !!binary /w==\n": "line 1: this !!binary is not base64 of UTF-8 text",
    "a: 1\nb: ! 12\n": "line 2: the tag `!` is not read; leave it out, and put a string in quotes",
    "a: [&x ! '12']\n": "line 1: the tag `!` is not read",
    "a: {b: 2, <<: {b: 1}}\n": "line 1: `<<` after the key b brings another value for it, and YAML readers",
    "a: {<<: 1}\n": "line 1: `<<` takes a mapping or a list of mappings",
    "a: {<<: [1]}\n": "line 1: `<<` takes a mapping or a list of mappings",
    "a: 1\nb: &x [*x]\n": "line 2: an alias is inside the value that it refers to",
    "a:\n? [b]\n: c\n": "line 2: a key must be a word",
    "a: 1\nb: \x01\n": "line 2: control characters are not allowed (character U+0001)",
    "a: !e!x 1\n": "line 1: found undefined tag handle",
}


@pytest.mark.parametrize("text", DOCUMENTS)
def test_read(text: str) -> None:
    assert repr(load.read(text.encode())) == repr(DOCUMENTS[text])


@pytest.mark.parametrize("text", REFUSED)
def test_refused_with_the_line(text: str) -> None:
    with pytest.raises(KrmfnError) as refused:
        load.read(text.encode())
    assert str(refused.value).startswith(REFUSED[text])
    with pytest.raises(KrmfnError) as further:
        load.placed(lambda: load.read(text.encode()), lambda: 10)
    line = REFUSED[text].split(":")[0].split()[1]
    assert str(further.value).startswith(f"line {int(line) + 10}:")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[" * 100_000, id="flow, open"),
        pytest.param("a: " + "[" * 100_000 + "]" * 100_000, id="flow"),
        pytest.param('{"a":' * 100_000, id="JSON"),
        pytest.param("- " * 100_000 + "a", id="dashes"),
        pytest.param("? " * 100_000 + "a", id="question marks"),
        pytest.param("".join(f"{' ' * n}-\n{' ' * n} a:\n" for n in range(190)), id="two levels a column"),
        pytest.param("\n".join(f"{' ' * n}a:" for n in range(5_000)), id="block"),
        pytest.param("a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 5_000)), id="aliases"),
    ],
)
def test_nesting_is_bounded(text: str) -> None:
    with pytest.raises(KrmfnError, match=r"^line \d+: nested deeper than 200 levels"):
        load.read(text.encode())


@pytest.mark.parametrize("shape", ["- ", "[", "a:\n"])
def test_nesting_up_to_the_bound_is_fine(shape: str) -> None:
    text = {"- ": "- " * 199 + "a", "[": "[" * 199 + "]" * 199}.get(shape)
    text = text or "\n".join(f"{' ' * n}a:" for n in range(199)) + " b"
    load.read(text.encode())
    syntax.check(text.encode())


def test_billions_of_laughs_are_refused() -> None:
    laughs = "a0: &a0 [lol]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12))
    with pytest.raises(KrmfnError, match=r"^line \d+: aliases expand to more than [0-9,]+ values"):
        load.read(laughs.encode())


def test_many_small_bombs_are_refused_each_by_its_size() -> None:
    """A document of 380 bytes expanded to 1,000,000 values, which took 2 s; a file may hold thousands."""
    bomb = "a: &a [" + "1, " * 10 + "]\n" + "".join(f"{b}: &{b} [{f'*{a}, ' * 10}]\n" for a, b in pairwise("abcdef"))
    with pytest.raises(KrmfnError, match="aliases expand"):
        load.read(bomb.encode())
    base = "base: &base {image: a, command: [b], env: {c: d}}\n" + "".join(f"x{n}: {{<<: *base}}\n" for n in range(99))
    assert len(load.read(base.encode())) == 100


def test_a_large_document_without_aliases_is_no_bomb() -> None:
    assert len(load.read(("[" + "[0],\n" * 2_000 + "]").encode())) == 2_000


def test_a_scalar_of_ten_megabytes() -> None:
    text = b"a: " + b"x" * 10_000_000 + b"\nb: " + b"9" * 10_000_000 + b"\nc: '" + b"y z" * 3_000_000 + b"'\n"
    assert {key: len(value) for key, value in load.read(text).items()} == {"a": 10**7, "b": 10**7, "c": 9 * 10**6}


def test_lines_before_are_counted_only_for_a_complaint() -> None:
    """Counted for each item of a large list, they would cost more than all the rest."""

    def never() -> int:
        raise AssertionError

    assert load.placed(lambda: load.read(b"a: 1\n"), never) == {"a": 1}
    with pytest.raises(KrmfnError, match=r"^line 8: "):
        load.placed(lambda: load.read(b"a: b: c\n"), lambda: 7)


@pytest.mark.parametrize("above", ["a: b\n", "\n", "a: b\r\n", "a: 'b\n", "a: b\x85", "a: b\u2028"])
def test_a_byte_order_mark_inside_a_text_is_refused(above: str) -> None:
    """libyaml passes over it, and Kubernetes makes it a part of the key behind it."""
    text = f"{above}\ufeffkind: Pod\n".encode()
    number = 1 + text.count(b"\n", 0, -1)
    for check in (load.read, syntax.check):
        with pytest.raises(KrmfnError, match=rf"^line {number}: a byte order mark is inside the text"):
            check(text)


def test_a_byte_order_mark_before_a_text_is_none_of_it() -> None:
    assert load.read(b"\xef\xbb\xbfkind: Pod\n") == {"kind": "Pod"}
    syntax.check(b"\xef\xbb\xbfkind: Pod\n")


@pytest.mark.parametrize("text", ["a: b: c", "a: 1\n---\nb: 2\n", "- " * 300, "a: *x\nb: &x 1\n"])
def test_check_syntax_refuses_with_the_line(text: str) -> None:
    with pytest.raises(KrmfnError, match=r"^line \d+: "):
        syntax.check(text.encode())


def test_check_syntax_knows_what_comes_before() -> None:
    with pytest.raises(KrmfnError, match=r"^line 12: "):
        syntax.check(b"a: 1\nb: c: d\n", 10)


def refusal(check: Callable[[bytes], None], text: bytes) -> str:
    try:
        check(text)
    except KrmfnError as failure:
        return str(failure)
    return ""


DEEP = [
    *(b"%sa" % (b"- " * depth) for depth in (44, 45, 99, 100, 199, 200, 201, 300)),
    *(b"".join(b"%sa:\n%s-" % (b"  " * at, b"  " * at) for at in range(depth)) for depth in (44, 45, 100, 101, 150)),
    *(b"".join(b"%sa:\n" % (b" " * at) for at in range(depth)) for depth in (89, 90, 91, 199, 200, 201, 202)),
    *(b"a: %sb%s" % (b"[" * depth, b"]" * depth) for depth in (99, 100, 198, 199, 200, 201)),
    *(b"%sa: %sb%s" % (b"- " * 44, b"[" * depth, b"]" * depth) for depth in (99, 100, 111, 112, 113, 160)),
    *(b"".join(b"%s?\n" % (b" " * at) for at in range(depth)) for depth in (89, 90, 199, 200, 201)),
]


def test_the_quick_check_refuses_what_the_events_refuse() -> None:
    """`syntax.check` leaves texts to libyaml in which nothing has to be counted: same sentences, same lines."""
    corpus = [path.read_bytes() for path in (ROOT / "tests" / "corpus").rglob("*") if path.is_file()]
    texts = [*corpus, *DEEP, *fuzzed(9, EXAMPLES * 35, ROOT / "tests" / "cases")]
    expected = [refusal(check_by_events, text) for text in texts]
    refused = Counter(sentence != "" for sentence in expected)
    assert min(refused.values()) > len(texts) // 12
    for text, sentence in zip(texts, expected, strict=True):
        assert refusal(syntax.check, text) == sentence, text


def check_by_events(text: bytes) -> None:
    """Check a text as `syntax.check` does for a text that it does not leave to libyaml."""
    load.refuse_inner_marks(text, 0)
    syntax._check_events(text, 0)


def usual(texts: list[bytes]) -> list[bytes]:
    """Return the texts of which `division.divide` takes care."""
    return [text for text in texts if division.is_usual(text)]


def test_a_stream_is_sound_where_each_document_is() -> None:
    """No document that `syntax.check` refuses is passed over, whatever stands before and behind it."""
    drawn = [*DEEP, *fuzzed(12, EXAMPLES * 35, ROOT / "tests" / "cases")]
    texts = usual([text.removeprefix(b"\xef\xbb\xbf") for text in drawn])
    assert len(texts) > len(drawn) // 3
    outcomes: Counter[bool] = Counter()
    for at in range(0, len(texts), 5):
        text, _ = division.joined(texts[at : at + 5])
        spans = division.divide(text)
        unsure = {*syntax.suspects(text, spans)}
        for index, span in enumerate(spans):
            is_refused = bool(refusal(syntax.check, text[span.start : span.end]))
            outcomes[is_refused] += 1
            assert index in unsure or not is_refused, text[span.start : span.end]
    assert min(outcomes[True], outcomes[False]) > len(texts) // 12


def test_what_is_refused_does_not_spoil_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(syntax, "_RUN", 20)
    text, _ = division.joined([b"a: 1\nb: 2\n", b"c: 1\nd: 2\n", b"e: f: g\n", b"h: 1\ni: 2\n", b"j: *k\n"])
    assert [*syntax.suspects(text, division.divide(text))] == [2, 4]
