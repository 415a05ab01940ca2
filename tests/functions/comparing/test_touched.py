"""Which lines of a file a change touches."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.comparing.touched import _changed

LINES = st.lists(st.sampled_from([b"a", b"b", b"c: 1", b"---"]), max_size=40)


@given(LINES, LINES)
def test_what_is_not_touched_stands_in_the_old_text_in_the_same_order(old: list[bytes], new: list[bytes]) -> None:
    touched = {*_changed(old, new)}
    assert touched <= {*range(len(new))}
    rest = iter(old)
    assert all(line in rest for at, line in enumerate(new) if at not in touched)
    assert old != new or not touched


@given(LINES, LINES, LINES)
def test_what_is_put_in_is_touched_alone(head: list[bytes], tail: list[bytes], added: list[bytes]) -> None:
    new = [*head, b"first", *added, b"last", *tail]
    assert {*_changed([*head, *tail], new)} == {*range(len(head), len(head) + len(added) + 2)}


def test_of_a_large_part_each_line_is_touched_and_nothing_hangs() -> None:
    """To compare these took hours: each of the equal lines of one text is held against each of the other."""
    old = [b"- a"] * 5_000
    new = [b"- a" if at % 2 else b"- %d" % at for at in range(5_000)]
    assert [*_changed(old, new)] == [*range(4_999)]
    distinct = [b"- %d" % at for at in range(3_000)]
    assert [*_changed(distinct, [b"- a", *distinct[1:-1], b"- a"])] == [*range(3_000)]
    assert [*_changed(distinct, [b"- a", *distinct])] == [0]
