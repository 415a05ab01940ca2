"""Ask the kernel what it lets a program do in kustomize's place, by a child that tries it."""

from __future__ import annotations

import json
import os
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from krmfn.errors import KrmfnError

from . import process
from .confinement import FLAGS, import_paths
from .probe_actions import Outcome, Targets
from .workspace import open_workspace

_CODE = "import sys; sys.path[:] = {paths!r}; from krmfn_functions.kustomization.probe_actions import main; main()"


def status() -> str:
    """Return what a child in kustomize's place was refused, as words of a sentence."""
    try:
        outcome = try_all()
    except KrmfnError as failure:
        return f"no child could be started in kustomize's place: {failure}"
    refused = f"{outcome.tried - len(outcome.allowed)} of {outcome.tried} actions refused in kustomize's place"
    return refused + (f"; allowed: {', '.join(outcome.allowed)}" if outcome.allowed else "")


def try_all() -> Outcome:
    """Start a child as kustomize is started for a build that calls functions, and return what came of its actions.

    Raises KrmfnError when it cannot be started or does not end as it should.
    """
    if not sys.executable:
        raise KrmfnError("the Python that runs krmfn has no path")
    with open_workspace(None) as workspace, _targets() as targets:
        confinement = workspace.confinement((), {})._replace(flags=FLAGS)
        inside = confinement.environment["TMPDIR"]
        Path(inside, "file").touch()
        arguments = json.dumps(targets._replace(inside=inside)._asdict())
        command = [sys.executable, "-I", "-c", _CODE.format(paths=import_paths()), arguments]
        bounds = confinement.bounds(sys.executable, is_open=False)
        program = process.Program(command, confinement.environment, "the probe", 60, inside)
        done = process.run(program, bounds)
    if done.returncode:
        raise KrmfnError(f"it ended with {done.returncode}: {done.stderr.decode(errors='replace').strip()[-400:]}")
    return Outcome(**json.loads(done.stdout))


@contextmanager
def _targets() -> Iterator[Targets]:
    """Yield what the child may not reach; it is there for the block."""
    with ExitStack() as stack:
        outside = stack.enter_context(tempfile.TemporaryDirectory(prefix="krmfn-probe-"))
        Path(outside, "file").write_text("not for a build\n", encoding="utf-8")
        program = Path(outside, "program")
        program.write_text("#!/bin/sh\n", encoding="utf-8")
        program.chmod(0o700)
        Path(outside, "empty").mkdir()
        path, abstract = f"{outside}/socket", f"krmfn-{os.urandom(8).hex()}"
        port = stack.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1]
        for address in (path, f"\0{abstract}"):
            listener = stack.enter_context(closing(socket.socket(socket.AF_UNIX)))
            listener.bind(address)
            listener.listen()
        yield Targets(outside, "", port, path, abstract, os.getpid())
