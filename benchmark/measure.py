"""One run of one program, measured from outside: its time and the peak memory of a whole process."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

WALL, CPU, OWN = "wall", "cpu", "own"
"""Which seconds count: from start to end, those of all processors, those that the last line of the output says."""


class Failed(Exception):
    """A run that cannot count: the program failed, or its output is not what it should be."""


@dataclass(frozen=True)
class Sample:
    seconds: float
    peak: int  # bytes


def environment() -> dict[str, str]:
    """Return the environment of what is measured, without settings of Python's, such as to keep no bytecode."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def measure(command: list[str], source: Path, target: Path, exit_code: int = 0, clock: str = WALL) -> Sample:
    """Run the command between two pipes, as an orchestrator does, and wait for it alone.

    A folder is not sent: the command reads it by itself. `clock` says which seconds count.
    Linux gives a new process the peak of the process that started it: whoever calls this stays small.
    """
    errors = target.with_suffix(".stderr")
    with target.open("wb") as written, errors.open("wb") as stderr:
        sent = os.devnull if source.is_dir() else str(source)
        feeder = subprocess.Popen(["cat", sent], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        drain = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=written)
        assert feeder.stdout and drain.stdin
        start = time.perf_counter()
        child = subprocess.Popen(command, stdin=feeder.stdout, stdout=drain.stdin, stderr=stderr, env=environment())
        feeder.stdout.close()
        drain.stdin.close()
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        feeder.wait()
        drain.wait()
    if child.returncode != exit_code:
        words = errors.read_text(errors="replace").strip().splitlines()
        raise Failed(f"exit {child.returncode}: {words[-1] if words else 'nothing on stderr'}")
    if clock == CPU:
        seconds = usage.ru_utime + usage.ru_stime
    elif clock == OWN:
        seconds = _reported_seconds(target)
    return Sample(seconds, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024))


def _reported_seconds(target: Path) -> float:
    """Return the seconds in the last line of an output: `seconds 0.25`."""
    lines = target.read_text().splitlines()
    word, _, number = (lines[-1] if lines else "").partition(" ")
    if word != "seconds":
        raise Failed("its last line does not say how many seconds it took")
    return float(number)
