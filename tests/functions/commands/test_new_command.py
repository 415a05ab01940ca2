"""A command that is added as architecture.md says finds all that `check` finds, or its intent says less."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from krmfn_functions import options
from krmfn_functions.command import Command, Context
from krmfn_functions.command_line import main, table
from krmfn_functions.commands import clusters
from krmfn_functions.settings import CHECK

from tests.commands import ROOT, example
from tests.examples import some_of

CASES = sorted({path.parent for path in (ROOT / "tests/cases").glob("*/*/*/input.yaml")})
EXAMPLES = sorted(path for path in (ROOT / "examples").iterdir() if path.is_dir())
assert len(CASES) > 100
assert EXAMPLES


class Request(NamedTuple):
    """What is asked of it."""

    paths: tuple[str, ...]


def _run(context: Context, args: Request) -> int:
    streams = clusters.read(context, args.paths)
    return 2 if streams is None else clusters.print_text(context, streams, "", ())


NEW = Command((".",), options.add_paths, _run, Request, CHECK)


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    command = main.command_of
    monkeypatch.setitem(table.COMMANDS, "new", table.Entry("", "print nothing"))
    monkeypatch.setattr(main, "command_of", lambda name: NEW if name == "new" else command(name))


def _answer(*args: str) -> tuple[int, str, str]:
    """The exit code, what was printed, and what was logged."""
    out, err = os.memfd_create("out"), io.StringIO()
    stdout = os.dup(1)
    os.dup2(out, 1)
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(err):
            code = main.main(args)
    finally:
        os.dup2(stdout, 1)
    os.lseek(out, 0, os.SEEK_SET)
    with os.fdopen(out, "rb") as file:
        return code, file.read().decode(), err.getvalue()


def _findings(entries: Iterator[dict[str, Any]] | list[dict[str, Any]], severity: str) -> set[tuple[Any, ...]]:
    of_rules = (entry for entry in entries if entry["rule"])
    return {(entry["rule"], entry[severity], entry.get("file") or "", entry.get("line") or 0) for entry in of_rules}


def _alike(path: str) -> tuple[int, set[tuple[Any, ...]]]:
    """What `check` answers, which must be what the new command does."""
    code, report, _ = _answer("check", "--format", "json", path)
    checked = _findings(json.loads(report)["findings"], "severity") if report else set()
    code_of_new, _, log = _answer("new", "--log-format", "json", path)
    logged = _findings(map(json.loads, filter(None, log.split("\n"))), "level")
    assert (code_of_new, logged) == (code, checked)
    return code, checked


@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda folder: folder.name)
def test_of_an_example(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(example(folder.name))
    _alike(".")


@pytest.mark.parametrize("folder", some_of(CASES), ids=lambda folder: f"{folder.parents[1].name}-{folder.name}")
def test_of_a_case(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("input.yaml").write_bytes((folder / "input.yaml").read_bytes())
    _alike(".")


def test_it_is_no_empty_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(example("conflict"))
    code, findings = _alike(".")
    assert code == 1
    assert {rule for rule, *_ in findings} >= {"KRM301"}
