"""What the fuzzer finds, and what is asked of every run of krmfn: it answers, it ends, it touches nothing else."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from krmfn import KrmfnError
from tests.commands import ROOT

PATIENCE = 3.0
"""Seconds of this process' own CPU that an input of a few kilobytes may take; a thousand times of what is usual."""
_PROCESSES = ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.spawn", "os.system")
_SOCKETS = ("socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo")
_OWN = (str(ROOT), sys.prefix, sys.base_prefix, "/dev/null", "/proc/")


class Finding(Exception):
    """A property that does not hold, with what was seen."""

    def __init__(self, rule: str, **seen: Any) -> None:
        super().__init__(rule)
        self.rule, self.seen = rule, seen


class Refused(Exception):
    """The input is refused by krmfn, with a message of its own: nothing can go wrong with it."""


class TooLong(BaseException):
    """Raised where the work goes on for too long."""


@contextmanager
def watched(folder: Path | None = None) -> Iterator[None]:
    """Watch krmfn at work: a bug, a hang, a process, a socket or a file outside of `folder` is a finding."""
    events: list[str] = []
    _watch(folder, events)
    signal.signal(signal.SIGVTALRM, _too_long)
    signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE)
    try:
        yield
    except KrmfnError as refusal:
        raise Refused(str(refusal)) from refusal
    except (Finding, Refused):
        raise
    except TooLong:
        raise Finding("ends", seconds=f"more than {PATIENCE:g} of CPU", at=traceback.format_exc(limit=-3)) from None
    except Exception as bug:
        raise Finding("no traceback", error=repr(bug)[:500], at=traceback.format_exc(limit=-3)) from bug
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        _watch(None, [], False)
    if events:
        raise Finding("touches nothing else", events=sorted(set(events)))


def _too_long(number: int, frame: FrameType | None) -> None:
    raise TooLong


_watching: list[Any] = [False, None, []]


def _watch(folder: Path | None, events: list[str], on: bool = True) -> None:
    if len(_watching) == 3:
        sys.addaudithook(_heard)
        _watching.append("installed")
    _watching[:3] = [on, str(folder) if folder else None, events]


def _heard(event: str, args: tuple[Any, ...]) -> None:
    on, folder, events, *_ = _watching
    if not on:
        return
    if event in _PROCESSES or event in _SOCKETS:
        events.append(f"{event} {args!r}"[:300])
    elif event == "open" and isinstance(args[0], (str, bytes)) and folder:
        path = os.path.abspath(os.fsdecode(args[0]))
        if not path.startswith((folder, *_OWN)):
            events.append(f"open {path}")


def alike(data: Any, other: Any) -> bool:
    """Return True for the same data; 1 is 1.0, as in JSON, and a text that JSON escapes is the text."""
    if isinstance(data, dict) and isinstance(other, dict):
        return data.keys() == other.keys() and all(alike(value, other[key]) for key, value in data.items())
    if isinstance(data, list) and isinstance(other, list):
        return len(data) == len(other) and all(map(alike, data, other))
    if isinstance(data, bool) or isinstance(other, bool):
        return data is other
    if isinstance(data, (int, float)) and isinstance(other, (int, float)):
        return float(data) == float(other)
    return bool(data == other)


Work = Callable[[bytes], object]
