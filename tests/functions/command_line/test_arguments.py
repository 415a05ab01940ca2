"""Arguments as values that nobody writes to: options between PATHs, nothing of argparse behind the parser."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.command import Command
from krmfn_functions.command_line import grammar, main
from krmfn_functions.command_line.main import parse
from krmfn_functions.commands.check import COMMAND
from krmfn_functions.options import SETTINGS, RunOptions

from tests.commands import process

OPTIONS = {
    "render": [
        ["--include-inputs"],
        ["--allow-empty"],
        ["-o", "json"],
        ["--output=yaml"],
        ["--output-dir", "out"],
        ["--replace"],
    ],
    "check": [["--strict"], ["--format", "json"], ["--format=sarif"], ["--baseline", "known.json"]],
    "diff": [["--format", "markdown"]],
    "resolve": [["--kernel", "6.1"], ["--kernel=5.14"], ["--allow-unmapped"]],
}
COMMON = [
    *([["-q"]], [["--root", "."]], [["--kustomize=--enable-helm -v"]], [["--prune", "never"]], [["--color", "never"]]),
    *([["--namespace=a"]], [["--log-format", "json"]], [["--function-config", "c.yaml"]]),
]
PATHS = st.text("ab/.-_ é", min_size=1, max_size=4).filter(lambda path: path == "-" or not path.startswith("-"))


class Call(NamedTuple):
    command: Command
    args: Any
    options: RunOptions


def called(*argv: str) -> Call:
    call = parse(argv)
    assert isinstance(call, tuple)
    return Call(*call)


@st.composite
def mixed(draw: st.DrawFn) -> tuple[list[str], list[str]]:
    """A command line with its options first, and the same one with the PATHs among them in the same order."""
    command = draw(st.sampled_from(sorted(OPTIONS)))
    choices = [*OPTIONS[command], *(option for spellings in COMMON for option in spellings)]
    options = draw(st.lists(st.sampled_from(choices), unique_by=lambda option: option[0], max_size=5))
    if command == "resolve":
        options = [["--kernel", "4.18"], *options]
    count = (2, 2) if command == "diff" else (0, 4)
    paths = draw(st.lists(PATHS, min_size=count[0], max_size=count[1]))
    slots = sorted(draw(st.lists(st.integers(0, len(options)), min_size=len(paths), max_size=len(paths))))
    mixed_args = [command]
    for at in range(len(options) + 1):
        mixed_args += [path for path, slot in zip(paths, slots, strict=True) if slot == at]
        mixed_args += options[at] if at < len(options) else []
    return [command, *(arg for option in options for arg in option), *paths], mixed_args


@given(mixed())
def test_options_may_stand_between_paths(lines: tuple[list[str], list[str]]) -> None:
    first, between = lines
    assert called(*between)[1:] == called(*first)[1:]


def test_every_argument_is_where_it_belongs() -> None:
    call = called("check", "a", "--strict", "b", "--prune=never", "--format", "json", "c", "-q")
    assert (call.args.paths, call.args.format, call.args.fail_on) == (("a", "b", "c"), "json", ("warning",))
    assert (call.args.baseline, call.args.write_baseline) == (None, None)
    assert (call.command, call.options.quiet, dict(call.options.flags)) == (COMMAND, True, {"prune": "never"})
    assert called("check").args.paths == ()
    compared = called("diff", "--format", "json", "a", "-q", "b").args
    assert (compared.paths, compared.format) == (("a", "b"), "json")
    assert called("resolve", "a", "--kernel", "1", "b", "--kernel", "2").args.kernel == ("1", "2")


def test_after_two_dashes_everything_is_a_path() -> None:
    assert called("check", "--strict", "--", "-x", "--strict").args.paths == ("-x", "--strict")
    assert called("check", "--", "-").args.paths == ("-",)


@pytest.mark.parametrize(
    "argv",
    [
        ["check", "a", "--nonsense", "b"],
        ["check", "a", "--format", "b"],
        ["check", "a", "b", "--format"],
        ["resolve", "a", "b"],
        ["check", "-q", "a", "-v"],
        ["check", "a", "--strict", "--root"],
        ["completion", "csh"],
        [],
        [""],
        ["check a"],
    ],
)
def test_wrong_usage_stays_wrong_usage(argv: list[str]) -> None:
    with contextlib.redirect_stderr(io.StringIO()) as err:
        assert parse(argv) == 2
    assert "usage: krmfn" in err.getvalue()


def thawed(value: Any) -> list[Any]:
    """What of a command's arguments could be changed after they were read."""
    if isinstance(value, tuple):
        return [leaf for part in value for leaf in thawed(part)]
    return [] if value is None or isinstance(value, str | int | frozenset | MappingProxyType) else [value]


@pytest.mark.parametrize("command", sorted(grammar.commands(main.parser())))
def test_a_command_gets_frozen_values(command: str) -> None:
    example = main.command_of(command).examples[0]
    call = called(command, *shlex.split(re.split(r" [<>|] ?", f" {example}")[0]))
    assert thawed(call.args) == []
    with pytest.raises((AttributeError, TypeError)):
        call.options.flags["prune"] = "never"  # type: ignore[index]
    with pytest.raises(AttributeError):
        call.options.root = "/"  # type: ignore[misc]


@pytest.mark.parametrize("option", sorted(SETTINGS))
def test_a_setting_that_is_an_option_is_not_empty(option: str) -> None:
    """As `--prune=$PRUNE` is when the variable is not set: the default would be a guess."""
    refusal = process("krmfn", "check", f"--{option}=", "examples/quickstart").refused()
    assert refusal == f"error: --{option} is empty; set a value, or remove it\n"
