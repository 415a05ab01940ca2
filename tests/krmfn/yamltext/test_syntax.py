"""Whether texts are YAML: the quick ways refuse what the parser's events refuse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from krmfn.errors import KrmfnError
from krmfn.yamltext import documents, load, syntax
from tests.commands import ROOT
from tests.e2e.documents import documents as fuzzed
from tests.examples import EXAMPLES


@pytest.mark.parametrize("text", ["a: b: c", "a: 1\n---\nb: 2\n", "- " * 300, "a: *x\nb: &x 1\n"])
def test_check_syntax_refuses_with_the_line(text: str) -> None:
    with pytest.raises(KrmfnError, match=r"^line \d+: "):
        syntax.check_syntax(text.encode())


def test_check_syntax_knows_what_comes_before() -> None:
    with pytest.raises(KrmfnError, match=r"^line 12: "):
        syntax.check_syntax(b"a: 1\nb: c: d\n", 10)


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
    """`check_syntax` leaves texts to libyaml in which nothing has to be counted: same sentences, same lines."""
    corpus = [path.read_bytes() for path in (ROOT / "tests" / "corpus").rglob("*") if path.is_file()]
    texts = [*corpus, *DEEP, *fuzzed(9, max(2_000, EXAMPLES * 5), ROOT / "tests" / "cases")]
    expected = [refusal(check_by_events, text) for text in texts]
    refused = Counter(sentence != "" for sentence in expected)
    assert min(refused.values()) > 200
    for text, sentence in zip(texts, expected, strict=True):
        assert refusal(syntax.check_syntax, text) == sentence, text


def check_by_events(text: bytes) -> None:
    """Check a text as `check_syntax` does for a text that it does not leave to libyaml."""
    load.refuse_inner_marks(text, 0)
    syntax._check_events(text, 0)


def usual(texts: list[bytes]) -> list[bytes]:
    """Return the texts of which `documents.quick` takes care."""
    return [text for text in texts if documents.is_usual(text)]


def test_a_stream_is_sound_where_each_document_is() -> None:
    """No document that `check_syntax` refuses is passed over, whatever stands before and behind it."""
    drawn = [*DEEP, *fuzzed(12, max(2_000, EXAMPLES * 20), ROOT / "tests" / "cases")]
    texts = usual([text.removeprefix(b"\xef\xbb\xbf") for text in drawn])
    assert len(texts) > len(drawn) // 3
    outcomes: Counter[bool] = Counter()
    for at in range(0, len(texts), 5):
        text, _ = documents.joined(texts[at : at + 5])
        spans = documents.quick(text)
        unsure = {*syntax.unsure(text, spans)}
        for index, span in enumerate(spans):
            is_refused = bool(refusal(syntax.check_syntax, text[span.start : span.end]))
            outcomes[is_refused] += 1
            assert index in unsure or not is_refused, text[span.start : span.end]
    assert min(outcomes[True], outcomes[False]) > 200


def test_what_is_refused_does_not_spoil_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(syntax, "_RUN", 20)
    text, _ = documents.joined([b"a: 1\nb: 2\n", b"c: 1\nd: 2\n", b"e: f: g\n", b"h: 1\ni: 2\n", b"j: *k\n"])
    assert [*syntax.unsure(text, documents.quick(text))] == [2, 4]
