"""Text to data as Kubernetes reads it, within bounds; complaints with lines."""

from __future__ import annotations

from typing import Any

import pytest

from krmfn.errors import KrmfnError
from krmfn.yamltext import load

DOCUMENTS: dict[str, Any] = {
    "": None,
    "# only a comment\n": None,
    "a: 1\nb: '1'\nc: \"1\"\n": {"a": 1, "b": "1", "c": "1"},
    "a: !!str 1\nb: !!int '1'\nc: !!str yes\nd: !other 1\n": {"a": "1", "b": 1, "c": "yes", "d": "1"},
    "1: a\ntrue: b\n2001-01-01: c\n~: d\n": {"1": "a", "true": "b", "2001-01-01": "c", "~": "d"},
    "a: 1\na: 2\n": {"a": 2},
    "a: &x {b: 1}\nc: *x\n": {"a": {"b": 1}, "c": {"b": 1}},
    "a: &x {b: 1, c: 2}\nd:\n  <<: *x\n  c: 3\n": {"a": {"b": 1, "c": 2}, "d": {"b": 1, "c": 3}},
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
    "a: *x\n": "line 1: found undefined alias",
    "a: 1\nb: &x [*x]\n": "line 2: an alias stands inside the value it names",
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
        load.read(text.encode(), 10)
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
    load.check_syntax(text.encode())


def test_billions_of_laughs_are_refused() -> None:
    laughs = "a0: &a0 [lol]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12))
    with pytest.raises(KrmfnError, match=r"^line \d+: aliases expand to more than 1,000,000 values"):
        load.read(laughs.encode())


def test_a_large_document_without_aliases_is_no_bomb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "MAX_VALUES", 1_000)
    assert len(load.read(("[" + "[0],\n" * 2_000 + "]").encode())) == 2_000
    with pytest.raises(KrmfnError, match="aliases expand"):
        load.read(("- &a [" + "0, " * 100 + "]\n" + "- *a\n" * 50).encode())


def test_a_scalar_of_ten_megabytes() -> None:
    text = b"a: " + b"x" * 10_000_000 + b"\nb: " + b"9" * 10_000_000 + b"\nc: '" + b"y z" * 3_000_000 + b"'\n"
    assert {key: len(value) for key, value in load.read(text).items()} == {"a": 10**7, "b": 10**7, "c": 9 * 10**6}


@pytest.mark.parametrize("text", ["a: b: c", "a: 1\n---\nb: 2\n", "- " * 300])
def test_check_syntax_refuses_with_the_line(text: str) -> None:
    with pytest.raises(KrmfnError, match=r"^line \d+: "):
        load.check_syntax(text.encode())


def test_check_syntax_knows_what_comes_before() -> None:
    with pytest.raises(KrmfnError, match=r"^line 12: "):
        load.check_syntax(b"a: 1\nb: c: d\n", 10)


def test_lines_before_are_counted_only_for_a_complaint() -> None:
    """Counted for each item of a large list, they would cost more than all the rest."""

    def never() -> int:
        raise AssertionError

    assert load.placed(lambda line: load.read(b"a: 1\n", line), never) == {"a": 1}
    with pytest.raises(KrmfnError, match=r"^line 8: "):
        load.placed(lambda line: load.read(b"a: b: c\n", line), lambda: 7)
