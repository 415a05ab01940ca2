"""A parser with its help in groups; its commands and options, and the one closest to a wrong word."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial

from krmfn.printing import closest
from krmfn.typed import Any

from ..options import OFFERED
from .table import GROUPS

_TITLES = {
    "what is read": "live log context kubectl from for base cluster vendor exclude function-config profile "
    "profiles-from plain ci pin",
    "what is checked": "against all namespace prune kmm-version kmm-crd kernel where strict baseline kinds fail-on "
    "exit-zero missing-from require-coverage allow-empty allow-unmapped mirror builds min-severity select ignore "
    "check max-age",
    "output": "output out output-dir replace split include-inputs format output-format plan wave write write-baseline "
    "label owner node fix diff force rules-url keep-pod-templates problems labels all-labels name valid-until update "
    "taken-on wide verbose quiet color",
    "rarely needed": "root kustomize allow-remote function-image jobs timeout hardened log-format",
}
OPTIONS = {f"--{name}": title for title, names in _TITLES.items() for name in names.split()}
"""The title under which the help of a command lists an option, by its long name."""


class Help(argparse.RawDescriptionHelpFormatter):
    """The help of a command; it breaks no word, which may belong to a command to copy."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        from textwrap import wrap

        return wrap(" ".join(text.split()), width, break_long_words=False, break_on_hyphens=False)


class Parser(argparse.ArgumentParser):
    """A parser whose help is in groups."""

    def __init__(self, **arguments: Any) -> None:
        """Take the arguments of ArgumentParser, and find the width without shutil, which loads archive formats.

        It is that of COLUMNS, else of the terminal, else 80, as in argparse.
        """
        columns = os.environ.get("COLUMNS", "")
        width = int(columns) if columns.isdecimal() else 0
        if not width and sys.__stdout__:
            with suppress(OSError, ValueError):
                width = os.get_terminal_size(sys.__stdout__.fileno()).columns
        kind = arguments.pop("formatter_class", argparse.HelpFormatter)
        super().__init__(formatter_class=partial(kind, width=(width or 80) - 2), **arguments)

    def format_help(self) -> str:
        """Return the help: usage, what the command does, its arguments in groups, examples and exit codes."""
        self._action_groups.clear()
        for title, actions in _sections(self):
            self.add_argument_group(title)._group_actions.extend(actions)
        return super().format_help()


def _sections(parser: argparse.ArgumentParser) -> Iterator[tuple[str, Sequence[argparse.Action]]]:
    """Yield the titles with the arguments below each, in the order of the tables; --help and --version come last."""
    known = {summary.dest: summary for table in _tables(parser) for summary in table._get_subactions()}
    for title, names in GROUPS.items() if known else ():
        yield title, [known[name] for name in names]
    yield "arguments", [] if known else positionals(parser)
    named = [(OPTIONS.get(name_of(option), "options"), option) for option in options(parser)]
    for title in (*_TITLES, "options"):
        yield title, [option for group, option in named if group == title]


def name_of(option: argparse.Action) -> str:
    """Return the name of an option: its first long one; others are other spellings."""
    return next(name for name in option.option_strings if name.startswith("--"))


def _tables(parser: argparse.ArgumentParser) -> list[argparse._SubParsersAction[argparse.ArgumentParser]]:
    return [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]


def commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the parser of each command, by its name."""
    return {name: subparser for table in _tables(parser) for name, subparser in table.choices.items()}


def options(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """Return the options of a parser, --help among them."""
    return [action for action in parser._actions if action.option_strings]


def option_names(parser: argparse.ArgumentParser) -> list[str]:
    """Return the short and long names of the options of a parser."""
    return [name for action in options(parser) for name in action.option_strings]


def positionals(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """Return the arguments of a parser that are no options."""
    return [action for action in parser._actions if not action.option_strings]


def offered(action: argparse.Action) -> list[str]:
    """Return the words that completion offers for an argument."""
    return [str(word) for word in getattr(action, OFFERED, None) or action.choices or ()]


def closest_word(parser: argparse.ArgumentParser, words: Sequence[str]) -> str:
    """Return the command or option that is closest to the first wrong word; "" without one, or when none is close."""
    known = commands(parser)
    command = next((word for word in words if not word.startswith("-")), "")
    if command and command not in known:
        return closest(command, known)
    names = option_names(known.get(command, parser))
    for word in words:
        name = word.partition("=")[0]
        if name.startswith("--") and len(name) > 2 and not any(option.startswith(name) for option in names):
            return closest(name, names)
    return ""
