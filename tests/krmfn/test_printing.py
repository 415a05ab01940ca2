"""Text for people: nothing in it hides, and what is like what."""

from __future__ import annotations

import json

import pytest

from krmfn import printing
from krmfn.printing import printable


@pytest.mark.parametrize("letter", [*"\ufe0f\U000e0163\u3164\u115f\u1160\uffa0\u2800\u034f\u180b"])
def test_no_letter_hides(letter: str) -> None:
    """They print, as far as Unicode says: a whole text can be written in variation selectors."""
    escaped = letter.encode("ascii", "backslashreplace").decode()
    assert printable(f"a{letter}b") == printing.visible(f"a{letter}b") == f"a{escaped}b"
    assert printing.json_text(letter).isascii()
    assert json.loads(printing.json_text(letter)) == letter


def test_a_likeness_is_looked_for_among_some_words_alone() -> None:
    """Of thousands each pair was compared, and each two letters of two long words."""
    words = [f"word{at}x" for at in range(1001)]
    assert (printing.closest("word7", words[:1000]), printing.closest("word7", words)) == ("word7x", "")
    assert (printing.closest("a" * 253, ["a" * 252]), printing.closest("a" * 254, ["a" * 253])) == ("a" * 252, "")
