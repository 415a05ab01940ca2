"""An option that is called safe in a shell's text has a pattern that lets in nothing that a shell reads."""

from __future__ import annotations

from itertools import product

from hypothesis import assume, given
from hypothesis import strategies as st
from krmfn_functions.kmm.regexps import compile_error, matches
from krmfn_functions.profile.misuse import is_safe

PLAIN = ["a", "b", ".", "-", "/", "é", "\\.", "\\d", "\\w", "[a-c]", "[^a]", "[ -~]", "[a;]", "[\\x20]", "[]a]"]
ODD = ["\\s", "\\S", "\\W", "\\x3b", "\\x{20}", "\\040", "\\p{L}", "\\p{Z}", "\\PL", "[[:punct:]]", "\\Qa;\\E", "\\t"]
ODD += ["\\;", "\\ ", "\\_", "\\$", "\\^", "\\b", "\\z", "\\A", "\\{", "\\}", "^", "$", "(?i)"]
GRAMMAR = ["(", "(?:", ")", "|", "*", "+", "?", "{1}", "{0,2}", "{", "}", "{,}"]
READ = [text for size in (1, 2, 3) for text in map("".join, product("a1;{ $", repeat=size)) if set(text) & set(";{ $")]
"""Texts that hold something that a shell reads."""


@given(st.lists(st.sampled_from(PLAIN + ODD + GRAMMAR), min_size=1, max_size=6).map("".join))
def test_no_text_that_a_shell_reads_fits_a_safe_pattern(inner: str) -> None:
    pattern = f"^{inner}$"
    assume(not compile_error(pattern))
    if is_safe({"type": "string", "pattern": pattern}):
        assert [text for text in READ if matches(pattern, text)] == [], pattern


def test_ordinary_patterns_are_safe() -> None:
    for pattern in ("^[a-z]+$", "^v[0-9]{1,3}(\\.\\d+)*$", "^(?:a|b)?$"):
        assert is_safe({"type": "string", "pattern": pattern}), pattern
