"""The real readers that are asked: Kubernetes' decoder and kustomize (tests/e2e/fuzzer), and an API server."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import tempfile
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from tests.e2e.kube import Cluster, started

PROGRAM = "readers"
_PATIENCE = 30
"""Seconds until a reader that says nothing is ended; what hangs kustomize is no finding about krmfn."""


class Reading(NamedTuple):
    """The objects that a reader sees, in order; `error` says why there are none."""

    objects: list[Any]
    error: str = ""


class Build(NamedTuple):
    """What kustomize makes of a folder, and what it would have done."""

    built: Reading
    text: bytes
    files: frozenset[str]
    started: tuple[tuple[str, ...], ...]
    fetched: tuple[str, ...]


class Readers:
    """Asks the program, which is started when it is needed; its PATH, HOME and TMPDIR are a private folder."""

    def __init__(self, program: str) -> None:
        self._program = program
        self.folder = Path(tempfile.mkdtemp(prefix="krmfn-fuzz-"))
        self._git = self.folder / "fetched"
        for name in ("bin", "home", "tmp"):
            (self.folder / name).mkdir()
        git = self.folder / "bin" / "git"
        git.write_text(f'#!/bin/sh\necho "git $*" >> {self._git}\nexit 1\n')
        git.chmod(0o755)
        self._process: subprocess.Popen[bytes] | None = None
        self._servers = ExitStack()

    @cached_property
    def cluster(self) -> Cluster:
        """A real API server, which is started when it is needed."""
        folder = self.folder / "cluster"
        folder.mkdir()
        return self._servers.enter_context(started(folder))

    def stream(self, text: bytes) -> tuple[Reading, Reading]:
        """Return how Kubernetes and kustomize read a stream."""
        answer = self._ask("stream", text)
        return _reading(answer.get("kubernetes")), _reading(answer.get("kyaml"))

    def build(self, folder: Path) -> Build:
        """Return what kustomize builds of a folder."""
        self._git.unlink(missing_ok=True)
        answer = self._ask("folder", os.fsencode(folder))
        cloned = self._git.read_text().splitlines() if self._git.exists() else []
        started = tuple(map(tuple, answer.get("started", ())))
        text = answer.get("text", "").encode(errors="surrogatepass")
        fetched = (*answer.get("fetched", ()), *cloned)
        return Build(_reading(answer.get("built")), text, frozenset(answer.get("files", ())), started, fetched)

    def close(self) -> None:
        """End the program, and remove its folder."""
        self._end()
        self._servers.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _ask(self, kind: str, question: bytes) -> dict[str, Any]:
        process = self._process or self._start()
        assert process.stdin and process.stdout
        try:
            process.stdin.write(b"%s %d\n%s" % (kind.encode(), len(question), question))
            process.stdin.flush()
            ready = select.select([process.stdout], [], [], _PATIENCE)[0]
            answer = process.stdout.readline() if ready else b""
        except BrokenPipeError:
            answer = b""
        if not answer:  # it hangs, or has ended itself: kustomize does so for some paths
            self._end()
        return json.loads(answer.decode(errors="surrogateescape")) if answer else {}

    def _start(self) -> subprocess.Popen[bytes]:
        home = str(self.folder / "home")
        self._process = subprocess.Popen(
            [self._program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=home,
            env={"PATH": str(self.folder / "bin"), "TMPDIR": str(self.folder / "tmp"), "HOME": home},
        )
        return self._process

    def _end(self) -> None:
        if self._process:
            with self._process as process:
                process.kill()
        self._process = None


def _reading(answer: dict[str, Any] | None) -> Reading:
    answer = answer or {"error": "the reader gave no answer"}
    return Reading(answer.get("objects") or [], answer.get("error", ""))
