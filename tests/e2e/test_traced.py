"""What kustomize and all that it starts do with files, as strace sees it: nothing of the repository is touched."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.builders import CONFIG
from tests.functions.comparing.test_base import repository
from tests.trees import config_map, function, plant

from .engines import find, path_of, run

FILES = {
    "linked": "-> base",
    "base/kustomization.yaml": "resources: [config.yaml]\n",
    "base/config.yaml": CONFIG,
    "app/kustomization.yaml": "resources: [../linked, a.yaml]\ntransformers: [function.yaml]\n"
    "configMapGenerator: [{name: c, files: [text]}]\n",
    "app/a.yaml": config_map("a"),
    "app/text": "a",
    "app/function.yaml": function("exec: {path: krmfn}"),
}
_NEW = re.compile(r"(?:clone3?|v?fork)(?:\(| resumed).* = (\d+)$")
_SECRET = "of-the-ci"


class Trace(NamedTuple):
    """The lines of strace, by process, that kustomize and what it has started have made."""

    started: list[str]
    """The calls that have started kustomize."""
    lines: list[str]


def traced(log: Path) -> Trace:
    entries = [entry.split(maxsplit=1) for entry in log.read_text(errors="replace").splitlines()]
    began = {
        process: number
        for number, (process, line) in enumerate(entries)
        if re.match(r'execve\("[^"]*/kustomize", ', line) and "ENOENT" not in line
    }
    parents = {new[1]: process for process, line in entries if (new := _NEW.search(line))}

    def is_below(process: str) -> bool:
        return process in began or (process in parents and is_below(parents[process]))

    below = [(number, entry) for number, entry in enumerate(entries) if is_below(entry[0])]
    lines = [line for number, (process, line) in below if number > began.get(process, 0)]
    return Trace([entries[number][1] for number in began.values()], lines)


@pytest.mark.parametrize(
    "command", [("check", "app"), ("render", "--include-inputs", "app"), ("diff", "--base", "HEAD")]
)
def test_no_file_of_the_repository_is_touched(kustomize: str, tmp_path: Path, command: tuple[str, ...]) -> None:
    strace = find("strace", "install the Debian package")
    repo, log = repository(tmp_path / "repo", FILES), tmp_path / "log"
    plant(repo, {"app/a.yaml": config_map("b")})
    called = [strace, "-f", "-v", "-s", "65536", "-e", "trace=%file,%process", "-o", str(log)]
    done = run(*called, "krmfn", *command, cwd=repo, env=path_of() | {"SECRET_TOKEN": _SECRET})
    assert done.code in (0, 1), done.err
    trace = traced(log)
    assert len(trace.started) >= (2 if command[0] == "diff" else 1), done.err
    touched = re.compile(rf'["=]{re.escape(os.path.realpath(repo))}')
    assert len(trace.lines) > 100
    assert [line for line in (*trace.started, *trace.lines) if touched.search(line)] == []
    for line in trace.started:
        assert _SECRET not in line and '"PWD=' not in line
    programs = {match[1] for line in trace.lines if (match := re.match(r'execve\("([^"]*)"', line))}
    assert all(
        re.search(r"/krmfn-[^/]*/bin/krmfn-[0-9a-f]{24}$|/python[0-9.]*$|^/bin/sh$", path) for path in programs
    ), programs
    assert any("/krmfn-" in path for path in programs)
    folders = {
        match[1] for line in log.read_text().splitlines() if (match := re.search(r'chdir\("([^"]*)"\) = 0', line))
    }
    assert any(re.search(r"/krmfn-[^/]*/wrapper$", path) for path in folders)
