"""Commands run by one process that has loaded the program already: see warm_process.py."""

from __future__ import annotations

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, NamedTuple

from .warm_process import LENGTH, NUMBER

AT_START = ("PYTHON", "LC_", "LANG", "LD_")
"""How the names of variables begin that count when a Python starts; a command of a warm one gets all others anew."""


class Loaded(NamedTuple):
    """A process that has loaded the program, and the line to it."""

    process: subprocess.Popen[bytes]
    line: socket.socket


class Ended(NamedTuple):
    """A process that has ended: its code as subprocess has it, its stdout and its stderr."""

    code: int
    out: bytes
    err: bytes


def run(
    command: Sequence[str], stdin: bytes, cwd: Path, env: Mapping[str, str], timeout: float, together: bool = False
) -> Ended:
    """Run `krmfn`, `deviceconfig` or `ptemplate`, given by its path, to its end.

    `together` has its stderr in its stdout, as a terminal has. Raises subprocess.TimeoutExpired when it had to be
    killed.
    """
    line = _loaded(frozenset((name, value) for name, value in env.items() if name.startswith(AT_START))).line
    text = json.dumps({"command": command, "cwd": str(cwd), "env": dict(env)}).encode()
    with tempfile.TemporaryFile() as read, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        read.write(stdin)
        read.seek(0)
        socket.send_fds(
            line, [LENGTH.pack(len(text))], [read.fileno(), out.fileno(), (out if together else err).fileno()]
        )
        line.sendall(text)
        process = _number(line)
        try:
            line.settimeout(timeout)
            code = _number(line)
        except BaseException as problem:  # an interrupt, too: the next request must not get this answer
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
            line.settimeout(None)
            _number(line)
            if isinstance(problem, TimeoutError):
                raise subprocess.TimeoutExpired(command, timeout, _all_of(out), _all_of(err)) from problem
            raise
        line.settimeout(None)
        return Ended(code, _all_of(out), _all_of(err))


def _number(line: socket.socket) -> int:
    (number,) = NUMBER.unpack(line.recv(NUMBER.size, socket.MSG_WAITALL))
    return int(number)


def _all_of(stream: IO[bytes]) -> bytes:
    stream.seek(0)
    return stream.read()


@cache
def _loaded(at_start: frozenset[tuple[str, str]]) -> Loaded:
    """Start a process with these variables, which loads the program; it ends when this process does."""
    ours, line = socket.socketpair()
    env = {name: value for name, value in os.environ.items() if not name.startswith(AT_START)} | dict(at_start)
    command = [sys.executable, str(Path(__file__).with_name("warm_process.py")), str(line.fileno())]
    process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, pass_fds=[line.fileno()])
    line.close()
    loaded = Loaded(process, ours)
    atexit.register(_end, loaded)
    return loaded


def _end(loaded: Loaded) -> None:
    loaded.line.close()
    loaded.process.wait()
