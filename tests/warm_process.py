"""A process that has loaded the program and becomes a command per request: it forks, and the child is the command.

Loading takes most of the time of a command on a small input, and the tests run thousands. The child has the arguments,
folder, environment and streams of the request and runs the entry point as the console script does, to the end of the
interpreter. What loading does by itself is for tests that start a program anew: tests.commands.execute.

A request is four bytes of length and a JSON object, and three descriptors; the answers are the process id and the
return code, eight bytes each. The end of the socket is the end of this process.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import shutil
import signal
import socket
import struct
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

PACKAGES = ("krmfn", "krmfn_functions")
LATE = ("re2", "importlib.metadata")
"""What is imported inside of functions, and slow."""
NUMBER = struct.Struct("q")
LENGTH = struct.Struct("I")
CASES = Path(__file__).with_name("cases")
EXAMPLE = Path(__file__).parents[1] / "examples" / "fleet"


def load() -> None:
    """Import every module of the program, and what they use, and compile the page."""
    for package in PACKAGES:
        for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            if not module.name.endswith(".__main__"):
                importlib.import_module(module.name)
    from krmfn_functions.report.page import template  # not before sys.path is right

    for name in LATE:
        importlib.import_module(name)
    template()


def use() -> None:
    """Run what needs nothing of the machine: a child finds compiled what is compiled at its first use.

    The paths are those of a folder that is gone then: what a process keeps by its path is for no child.
    """
    from krmfn_functions.all_kinds import krmfn
    from krmfn_functions.command_line import main

    from krmfn import ResourceList

    for case in sorted(CASES.glob("*/valid/*/input.yaml"))[::6]:
        krmfn(ResourceList.parse(case.read_bytes()))
    streams, nothing = [os.dup(1), os.dup(2)], os.open(os.devnull, os.O_WRONLY)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(EXAMPLE, folder, dirs_exist_ok=True)
        for words in (["check", folder], ["check", folder, "--format", "json"], ["explain", "KRM101"]):
            for target in (1, 2):  # each time: a command closes its output at its end
                os.dup2(nothing, target)
            main.main(words)
    tempfile.tempdir = None  # a child has a TMPDIR of its own
    for target, stream in enumerate(streams, 1):
        os.dup2(stream, target)
    for descriptor in (nothing, *streams):
        os.close(descriptor)


def request(line: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Return the next request and its descriptors; end the process when there is none."""
    head, descriptors, _, _ = socket.recv_fds(line, LENGTH.size, 3)
    if not head:
        sys.exit(0)
    (length,) = LENGTH.unpack(head)
    text = b""
    while len(text) < length:
        text += line.recv(length - len(text))
    return json.loads(text), descriptors


def take_place(wanted: dict[str, Any], descriptors: list[int]) -> None:
    """Make this process one that was started with these arguments, folder, environment and streams."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for target, descriptor in enumerate(descriptors):
        os.dup2(descriptor, target)
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(wanted["env"])
    os.chdir(wanted["cwd"])
    sys.argv[:] = wanted["command"]


def next_command(line: socket.socket) -> Callable[[], None]:
    """Return, in a child each time, the entry point to run there."""
    from krmfn_functions import __main__ as entries

    while True:
        wanted, descriptors = request(line)
        if not (child := os.fork()):
            line.close()
            take_place(wanted, descriptors)
            entry: Callable[[], None] = getattr(entries, Path(sys.argv[0]).name)
            return entry
        for descriptor in descriptors:
            os.close(descriptor)
        line.sendall(NUMBER.pack(child))
        _, status = os.waitpid(child, 0)
        line.sendall(NUMBER.pack(os.waitstatus_to_exitcode(status)))


def end_with(entry: Callable[[], None]) -> None:
    """Run an entry point, and end as the interpreter does but for taking all that is loaded apart, 0.04 s."""
    try:
        entry()
    except SystemExit as problem:
        if not isinstance(problem.code, int):
            raise
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(problem.code & 0xFF)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal it reaches the tests, too, which end this process
    sys.path[0] = str(Path(sys.executable).parent)  # as of a console script, and tests/ has a folder krmfn
    load()
    use()
    gc.collect()
    gc.freeze()  # what is loaded stays, and no child need walk it
    end_with(next_command(socket.socket(fileno=int(sys.argv[1]))))
