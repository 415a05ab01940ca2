"""Which resources the selector of a patch is for: as kustomize says, in a time that no pattern can make long."""

from __future__ import annotations

import pytest
from krmfn_functions.kustomization.values import is_for

from tests import bounded

SELECTORS = {
    "ab": True,
    "a": False,
    "a.*": True,
    "a|b": False,  # the whole name, as between ^(?: and )$
    "x)|(?:ab": True,  # a regexp in halves: kustomize puts it between these, too
    "^ab$": True,
    "\\pL+": True,  # Go's, not Python's
    "(?P<a>a)[[:alpha:]]": True,
    "(?i)AB": True,
    "AB": False,
    "a\\-b": False,
    "(?=a)..": True,  # kustomize refuses these: it cannot be told
    "[": True,
    "(?:" + "a?" * 500 + "b{1000}": True,
    "\ud800": True,
}


@pytest.mark.parametrize("pattern", SELECTORS)
def test_a_selector(pattern: str) -> None:
    assert is_for({"name": pattern}, {"kind": "A"}, ["ab"]) == SELECTORS[pattern]
    assert is_for({"kind": pattern, "labelSelector": "x"}, {"kind": "ab"}, ["c"]) == SELECTORS[pattern]


def test_of_several_names_any_counts() -> None:
    assert is_for({"kind": "A", "name": "old-.*"}, {"kind": "A"}, ["new-a", "old-a"])
    assert is_for({"kind": "A", "name": "old-a"}, {"kind": "A"}, ["new-a", "old-a"])
    assert not is_for({"kind": "B", "name": "old-a"}, {"kind": "A"}, ["new-a", "old-a"])


def test_no_selector_takes_long() -> None:
    code = """
from krmfn_functions.kustomization.values import is_for
for pattern in ("(a+)+c|a.*", "(a|a)*b|a.*", "(.*a){50}c|.*", "(?:(?:a{1,30}){1,30}){1,30}|.*", "a?" * 200 + "a" * 200):
    for size in (40, 250, 10**6):
        is_for({"name": pattern}, {"kind": "A"}, ["a" * size])
"""
    assert bounded.python(code, 10).returncode == 0
