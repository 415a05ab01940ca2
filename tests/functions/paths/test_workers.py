"""Work in several threads."""

from __future__ import annotations

import sys
import threading

import pytest
from krmfn_functions.paths.workers import in_threads

from tests.commands import HANGS, execute


def nothing() -> None:
    """End nothing."""


def test_results_are_in_the_order_of_the_values() -> None:
    barrier = threading.Barrier(3)

    def work(value: int) -> tuple[int, int]:
        barrier.wait(HANGS)  # ends only with three at a time
        return value, threading.get_ident()

    results = in_threads(3, work, range(6), nothing)
    assert [value for value, _ in results] == [*range(6)]
    assert len({thread for _, thread in results[:3]}) == 3


@pytest.mark.parametrize("number", [1, 2, 9])
def test_there_may_be_more_threads_than_values_and_none(number: int) -> None:
    assert in_threads(number, str, [1, 2], nothing) == ["1", "2"]
    assert in_threads(number, str, [], nothing) == []


def test_the_error_about_the_first_value_is_raised_and_no_other_value_is_begun() -> None:
    begun, second_failed = list[int](), threading.Event()

    def work(value: int) -> None:
        begun.append(value)
        if value == 0:
            second_failed.wait(HANGS)
        else:
            second_failed.set()
        raise ValueError(value)

    with pytest.raises(ValueError, match=r"^0$"):
        in_threads(2, work, range(100), nothing)
    assert sorted(begun) == [0, 1]


@pytest.mark.parametrize("sent", ["os.kill(os.getpid(), signal.SIGINT)", "signal.pthread_kill(own, signal.SIGINT)"])
def test_an_interrupt_ends_what_is_waited_for(sent: str) -> None:
    """The signal comes when both threads wait for what only `end` sets.

    The second one wakes another thread than the main one, as a signal does that comes just before that one waits.
    """
    code = f"""
import os, signal, threading
from krmfn_functions.paths.workers import in_threads
signal.signal(signal.SIGINT, signal.default_int_handler)
ended, both, begun = threading.Event(), threading.Barrier(2), []
def work(value):
    begun.append(value)
    if both.wait({HANGS}) == 0:
        own = threading.get_ident()
        {sent}
    ended.wait({HANGS})
try:
    in_threads(2, work, range(100), ended.set)
except KeyboardInterrupt:
    print(sorted(begun), ended.is_set(), threading.active_count())
"""
    assert execute(sys.executable, "-c", code).ended(0).text == "[0, 1] True 1\n"
