"""The help lists commands and options in groups, each of them once."""

from __future__ import annotations

import re

import pytest
from krmfn_functions.command_line import grammar, main
from krmfn_functions.command_line.grammar import OPTIONS
from krmfn_functions.command_line.table import COMMANDS, GROUPS

from tests.commands import process


def sections(*args: str) -> dict[str, list[str]]:
    """Return what the help lists below each of its titles."""
    text = process("krmfn", *args, "--help").text.partition("examples:")[0]
    parts = re.split(r"^([a-z ]+):\n", text, flags=re.MULTILINE)
    titles = dict(zip(parts[1::2], parts[2::2], strict=True))
    return {title: re.findall(r"^  (\S.*?)(?:  .*)?$", listed, re.MULTILINE) for title, listed in titles.items()}


def test_commands_are_listed_in_groups() -> None:
    listed = sections()
    assert list(listed) == ["everyday", "fleet", "authoring and editors", "more", "options"]
    assert {title: names for title, names in listed.items() if title != "options"} == {
        title: list(names) for title, names in GROUPS.items()
    }


def test_a_word_to_copy_is_not_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """However narrow the terminal: every word of an option's help is one word of the help."""
    monkeypatch.setenv("COLUMNS", "30")
    for name, parser in grammar.commands(main.parser()).items():
        shown = {*parser.format_help().replace("`", " ").split()}
        helps = (action.help.replace("%%", "%") for action in grammar.options(parser) if action.help)
        words = {word for help_ in helps for word in help_.replace("`", " ").split() if "%(" not in word}
        assert words - shown == set(), name


def test_options_are_listed_in_groups() -> None:
    listed = sections("check")
    assert list(listed) == ["arguments", "what is read", "what is checked", "output", "rarely needed", "options"]
    assert listed["options"] == ["-h, --help"]
    assert "--exclude PATTERN" in listed["what is read"]
    assert "--strict" in listed["what is checked"]
    assert "-q, --quiet" in listed["output"]
    assert "--timeout SECONDS" in listed["rarely needed"]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_lists_every_option_once(command: str) -> None:
    parser = grammar.commands(main.parser())[command]
    options = (option.option_strings for option in grammar.options(parser))
    names = [next(name for name in strings if name.startswith("--")) for strings in options]
    listed = re.findall(r"^  (?=-).*?(--[\w-]+)", parser.format_help().partition("examples:")[0], re.MULTILINE)
    assert sorted(listed) == sorted(names)


def test_every_option_is_in_a_group_and_every_group_holds_real_options() -> None:
    """An option that the table does not have would stand beside --help."""
    parsers = grammar.commands(main.parser()).values()
    names = {grammar.name_of(option) for parser in parsers for option in grammar.options(parser)}
    assert names - {"--help"} == set(OPTIONS), "`_TITLES` of command_line/grammar.py has each option"
