"""What is asked of a command is a type: a field for each argument, and a misspelt one is an error of mypy."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from functions.command_line import grammar, main
from functions.command_line.table import COMMANDS
from functions.options import RunOptions
from tests.commands import ROOT


def own_arguments(name: str) -> set[str]:
    """Return the names of the arguments that a command adds by itself."""
    parser = grammar.Parser(prog=name, formatter_class=grammar.Help)
    main.command_of(name).arguments(parser)
    return {action.dest for action in parser._actions if action.dest != "help"}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_request_has_the_arguments_of_its_command(name: str) -> None:
    """Those that it has not are among the options of the run, where every command finds them."""
    request, known = main.command_of(name).request, own_arguments(name)
    assert {*request._fields} <= known
    assert known - {*request._fields} <= {*RunOptions._fields}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_takes_its_own_request(name: str) -> None:
    command = main.command_of(name)
    annotation = [*inspect.signature(command.run).parameters.values()][1].annotation
    assert annotation in (command.request, command.request.__name__)


def test_mypy_finds_a_misspelt_argument(tmp_path: Path) -> None:
    """In a copy of a command in which one letter is doubled."""
    source = (ROOT / "functions/commands/check.py").read_text()
    assert source.count("args.fail_on)") > 0
    copy = ROOT / "functions/commands/check.py"
    wrong = tmp_path / "wrong.py"
    wrong.write_text(source.replace("args.fail_on)", "args.fail_onn)"))
    shadow = ["--shadow-file", str(copy), str(wrong), "--cache-dir", str(tmp_path / "cache")]
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", *shadow, str(copy)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert '"Request" has no attribute "fail_onn"' in done.stdout, done.stdout + done.stderr
