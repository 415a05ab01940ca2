"""Patterns of Argo CD's `directory.include` and `exclude`, as gobwas/glob 0.2.3 answers them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.deployments.globs import is_readable, matches

ANSWERS = {
    # by a Go program that links gobwas/glob 0.2.3
    ("*.yaml", "a.yaml"): True,
    ("*.yaml", "x/a.yaml"): True,
    ("*", ".a"): True,
    ("?.yaml", "/.yaml"): True,
    ("a?", "a"): False,
    ("{a,b}.yaml", "b.yaml"): True,
    ("{a,b}.yaml", "{a,b}.yaml"): False,
    ("x/{a,{b,c}*}.yaml", "x/cd.yaml"): True,
    ("{a.yaml,x/*}", "x/y/z"): True,
    ("{a, b}", "b"): False,
    ("a,b", "a,b"): True,
    ("[ab]", "b"): True,
    ("[a-c]", "b"): True,
    ("[!a]", "b"): True,
    ("[!a]", "a"): False,
    ("[^a]", "b"): False,
    ("[ab-d]", "c"): False,
    ("[ab-d]", "-"): True,
    ("[a", "[a"): False,
    ("\\*", "*"): True,
    ("\\*", "a"): False,
    ("A", "a"): False,
    ("a}", "a}"): True,
    ("*.yaml", "x\udce9.yaml"): True,
    ("x?.yaml", "x\udce9.yaml"): True,
    ("a[b", "x\udce9.yaml"): False,
}
_ANY = st.characters(codec=None)
"""Also what stands for a byte of a file name that is not UTF-8."""


@pytest.mark.parametrize(("pattern", "text"), ANSWERS)
def test_a_pattern_matches_as_in_argo_cd(pattern: str, text: str) -> None:
    assert matches(text, pattern) is ANSWERS[pattern, text]


@given(st.text(_ANY), st.text(_ANY, max_size=20) | st.text("ab*?[]{},!-\\/", max_size=20))
def test_any_pattern_is_answered(text: str, pattern: str) -> None:
    assert matches(text, pattern) in (True, False)


@given(st.text("ab/.", min_size=1), st.text("ab/.", min_size=1))
def test_an_alternative_matches_what_it_is(text: str, other: str) -> None:
    assert matches(text, f"{{{other},{text}}}")
    assert matches(text, "*")


@given(st.text(_ANY, min_size=1), st.text(_ANY))
def test_a_text_whose_signs_are_escaped_matches_itself_alone(text: str, other: str) -> None:
    pattern = "".join(f"\\{sign}" for sign in text)
    assert matches(text, pattern)
    assert matches(other, pattern) is (other.encode(errors="replace") == text.encode(errors="replace"))


@pytest.mark.parametrize("pattern", ["[a", "a[]", "[!", "*" * 20_001])
def test_a_pattern_that_matches_nothing_is_told(pattern: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert (is_readable(pattern), matches("a", pattern)) == (False, False)
    assert is_readable("[a]")
    assert capfd.readouterr().err == ""
