"""Variables of Flux's `postBuild` in data; `tests/e2e/test_flux_library.py` asks Flux's own library for the same."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.deployments.substitution import SIGN, Variables, replacements, variables

VALUES = {"A": "a", "N": "12", "T": "true", "E": "", "URL": "r.example.com:5000/x", "C": "a: b"}
TEXTS: dict[str, Any] = {
    "${A}": "a",
    "x-${A}-${N}": "x-a-12",
    "${N}": 12,
    "${T}": True,
    "${URL}/gpu:${N}": "r.example.com:5000/x/gpu:12",
    "${A:=d}": "a",
    "${E:-d}": "d",
    "${U:=d}": "d",
    "${U:-}x": "x",
    "${U}": "${U}",
    "$${A}": "${A}",
    "$$": "$",
    "$A": "$A",
    "a: ${A}": "a: a",
    "line\n${N}\n": "line\n12\n",
}
"""Each text of an object, and its value afterwards."""
OPAQUE = ("${A^^}", "${A", "${#A}", "${C}", "${A/a/b}", "${A:=${N}}")
"""Texts of which nothing is known: another form, or no single value afterwards."""


@pytest.mark.parametrize("text", TEXTS)
def test_a_variable_is_replaced_as_by_flux(text: str) -> None:
    known = variables({"substitute": VALUES}, lambda name: None)
    assert known
    assert replacements({"a": [text]}, known) == [(("a", 0), TEXTS[text])]


@pytest.mark.parametrize("text", OPAQUE)
def test_what_is_not_known_changes_nothing(text: str) -> None:
    known = Variables(tuple(VALUES.items()))
    assert replacements({"a": text, "b": "${A}"}, known) is None


def test_a_key_with_a_variable_is_not_known() -> None:
    assert replacements({"${A}": "b"}, Variables((("A", "a"),))) is None


def test_later_sources_go_before_earlier_ones_and_inline_values_before_all() -> None:
    build = {"substitute": {"A": "3"}, "substituteFrom": [{"kind": "ConfigMap", "name": name} for name in "xy"]}
    data = {"x": {"A": "1", "B": "1", "C": "1\n"}, "y": {"B": "2"}}
    assert variables(build, data.get) == Variables((("A", "3"), ("B", "2"), ("C", "1")))


def test_what_an_unknown_source_holds_is_open() -> None:
    sources = [{"kind": "ConfigMap", "name": "x"}, {"kind": "Secret", "name": "x"}, {"kind": "ConfigMap", "name": "y"}]
    known = variables({"substituteFrom": sources}, {"x": {"A": "1"}, "y": {"B": "2"}}.get)
    assert known == Variables((("B", "2"),), is_open=True)
    manifest = {"a": "${REG_A}/${B}:${KERNEL_VERSION}"}
    assert replacements(manifest, known) == [(("a",), f"reg-a{SIGN}/2:${{KERNEL_VERSION}}")]


@pytest.mark.parametrize("build", [{}, {"substitute": {}}, {"substitute": {"a-b": "x"}}])
def test_without_variables_and_with_names_that_flux_refuses_nothing_is_replaced(build: dict[str, Any]) -> None:
    assert variables(build, lambda name: None) is None


@given(st.text("${}A:=-#' \n\"x", max_size=12))
def test_any_text_is_answered(text: str) -> None:
    found = replacements({"a": text}, Variables((("A", "a"),)))
    assert found is None or all(path == ("a",) for path, _ in found)
