"""Rows as lines: as wide as they need, or no wider than a terminal."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.formats.columns import fitted, lines

from tests.commands import COMMANDS, ROOT, drained, environment, execute
from tests.functions.comparing.test_base import repository

CELLS = st.text(st.sampled_from("ab c-/"), max_size=40)


@given(rows=st.lists(st.tuples(CELLS, CELLS, CELLS, CELLS), min_size=1, max_size=4))
def test_no_line_is_wider_than_the_terminal_and_no_word_is_lost(rows: list[tuple[str, ...]]) -> None:
    shown = fitted(rows, 80)
    assert max(map(len, shown), default=0) <= 80
    letters = sorted(char for row in rows for cell in row for char in cell if char != " ")
    assert sorted(char for line in shown for char in line if char != " ") == letters


def test_what_is_narrow_enough_stands_as_it_is() -> None:
    rows = [("A", "B"), ("one", "two three")]
    assert lines(rows, 80) == lines(rows) == ["A    B", "one  two three"]
    assert lines(rows, 12) == ["A", "    B", "one", "    two", "    three"]


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of its own with the fleet of the examples, whose prod-b has the next version in Git."""
    folder = tmp_path_factory.mktemp("fleet") / "repo"
    shutil.copytree(ROOT / "examples" / "fleet", folder)
    config = folder / "base" / "gpu.yaml"
    config.write_text(config.read_text().replace("2.26.0", "2.27.0"))
    return repository(folder, {})


def on_terminal(folder: Path, *args: str) -> list[str]:
    """What a command prints on a terminal, line by line."""
    reader, writer = pty.openpty()
    where = environment(COLUMNS="80", NO_COLOR="1")
    with subprocess.Popen([COMMANDS / "krmfn", *args], cwd=folder, stdout=writer, stderr=subprocess.DEVNULL, env=where):
        os.close(writer)
        text = drained(reader).decode()
    return text.replace("\r\n", "\n").splitlines()


@pytest.mark.parametrize(
    "args", [["nodes"], ["nodes", "--wide"], ["images", "clusters/dev"], ["explain", "clusters/prod-b", "gpu"]]
)
def test_each_table_fits_a_terminal_of_80_columns(args: list[str], fleet: Path) -> None:
    told = on_terminal(fleet, *args)
    assert len(told) > 5
    assert [line for line in told if len(line) > 80] == []
    piped = execute(COMMANDS / "krmfn", *args, cwd=fleet, env=environment()).out.decode().splitlines()
    assert max(map(len, piped)) > 80, "into a pipe nothing is shortened"


def test_problems_are_first_and_what_nothing_selects_is_one_line(fleet: Path) -> None:
    told = on_terminal(fleet, "nodes")
    states = [line for line in told if line[:1] not in ("", " ") and "STATE" not in line]
    assert "not selected" in states[-1]
    assert sum("not selected" in line for line in states) == 1
    assert "other version" in states[0], "those that wait for their label"
    assert sum("registry.example.com" in line for line in told if "keeps" not in line) < 3
