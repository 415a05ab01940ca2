"""The line on a terminal while a long run lasts."""

from __future__ import annotations

import io
import sys
import threading

import pytest
from krmfn_functions.cluster.progress import progress

from krmfn.streams import Log
from tests.commands import HANGS


class Terminal(io.StringIO):
    """A stream that says it is a terminal, and when something is written to it."""

    def __init__(self, is_terminal: bool = True) -> None:
        super().__init__()
        self.is_terminal, self.written = is_terminal, threading.Event()

    def isatty(self) -> bool:
        return self.is_terminal

    def flush(self) -> None:
        self.written.set()


def stderr_of(monkeypatch: pytest.MonkeyPatch, log: Log, is_terminal: bool = True, after: float = 0) -> str:
    """Return what a run over two clusters writes to stderr."""
    stream = Terminal(is_terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    with progress(log, 2, "clusters", after) as step:
        if is_terminal and not after and log == Log():
            stream.written.wait(HANGS)
        step()
        step()
    return stream.getvalue()


def test_the_line_counts_and_is_gone_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    start = "\r\x1b[K"
    lines = [f"{start}{number} of 2 clusters" for number in range(3)]
    assert stderr_of(monkeypatch, Log()) == "".join(lines) + start


@pytest.mark.parametrize("log", [Log("json"), Log(quiet=True)])
def test_programs_and_quiet_runs_see_nothing(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    assert stderr_of(monkeypatch, log) == ""


def test_neither_does_a_file_nor_a_short_run(monkeypatch: pytest.MonkeyPatch) -> None:
    assert stderr_of(monkeypatch, Log(), is_terminal=False) == ""
    assert stderr_of(monkeypatch, Log(), after=3600) == ""
