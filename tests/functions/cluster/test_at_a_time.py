"""Roots that are read several at a time."""

from __future__ import annotations

from threading import Barrier

import pytest
from krmfn_functions.cluster.cluster_inputs import _at_a_time

from krmfn.errors import KrmfnError


def test_what_is_made_stands_in_the_order_of_what_it_was_made_from() -> None:
    both = Barrier(2)  # each waits for the other: two are at work

    def work(number: int) -> int:
        both.wait(60)
        return number * 2

    assert _at_a_time(2, work, range(40)) == [number * 2 for number in range(40)]


def test_the_first_error_ends_it_and_what_was_begun_is_ended() -> None:
    begun: list[int] = []
    ended: list[int] = []
    both = Barrier(2)

    def work(number: int) -> None:
        begun.append(number)
        both.wait(60)
        if number < 2:
            raise KrmfnError(f"number {number}")
        ended.append(number)

    with pytest.raises(KrmfnError, match="number 0"):
        _at_a_time(2, work, range(40))
    assert sorted(begun) == [0, 1]
    assert ended == []
