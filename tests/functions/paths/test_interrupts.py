"""An interrupt that comes while a process is started takes effect afterwards."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator

import pytest
from krmfn_functions.paths import workers


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """Both signals interrupt as they do in a command; a shell lets what it starts with & ignore SIGINT."""
    before = [(number, signal.signal(number, signal.default_int_handler)) for number in (signal.SIGINT, signal.SIGTERM)]
    yield
    for number, handler in before:
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_comes_when_the_block_is_done(number: signal.Signals) -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), workers.hold_signals():
        os.kill(os.getpid(), number)
        done.append("the rest of the block")
    assert done
    assert signal.getsignal(number) is signal.default_int_handler


def test_a_block_that_fails_restores_the_handlers() -> None:
    with pytest.raises(OSError, match="no such"), workers.hold_signals():
        raise OSError("no such program")
    assert signal.getsignal(signal.SIGTERM) is signal.default_int_handler


def test_another_thread_holds_nothing() -> None:
    seen = []

    def start() -> None:
        with workers.hold_signals():
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]
