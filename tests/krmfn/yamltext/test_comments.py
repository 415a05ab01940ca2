"""Where an item ends and the comments of what follows begin."""

from __future__ import annotations

import pytest

from krmfn.yamltext.comments import trailer


@pytest.mark.parametrize(
    ("item", "behind"),
    [
        ("- a: b\n", ""),
        ("- a: b\n", "# of the next\n"),
        ("- a: b\n", "\n# of the next\n\n"),
        ("- a: b\r\n", "\r\n# of the next\r\n"),
        ("- a: b\n  # of this\n", "# of the next\n"),
        ("- a: |\n    b\n    # in the text\n", "\n# of the next\n"),
        ("- a: |+\n    b\n\n\n", "# of the next\n"),
        ("- a: |2+\n    b\n\n\n", ""),
        ("- a: b # c\n", "# no end of line"),
        ("- a: b", ""),
        *((f"- a:\n#{mark}  b\n", "") for mark in ("\r", "\x85", "\u2028", "\u2029")),  # they end the comment
    ],
)
def test_trailer(item: str, behind: str) -> None:
    assert trailer((item + behind).encode(), 0) == len(item.encode())


def test_comments_up_to_the_dashes_belong_to_the_next() -> None:
    text = b"  - a: b\n    # of this\n  # of the next\n# and this\n"
    assert text[trailer(text, 2) :] == b"  # of the next\n# and this\n"


def test_a_million_blank_lines_take_no_time() -> None:
    text = b"- a: |\n" + b"\n" * 1_000_000 + b"    b\n"
    assert trailer(text, 0) == len(text)
