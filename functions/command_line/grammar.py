"""A parser with its help in groups; its commands and options read back, and the one that was meant."""

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
    "what is read": "live from for base cluster exclude function-config profiles-from",
    "what is checked": "against namespace prune kmm-version kernel where strict baseline kinds fail-on exit-zero "
    "missing-from require-coverage allow-empty allow-unmapped mirror builds min-severity select ignore check max-age",
    "output": "output out output-dir replace split include-inputs format output-format plan wave write-baseline label "
    "owner node keep-pod-templates problems labels all-labels name valid-until update taken-on wide verbose quiet "
    "color",
    "rarely needed": "root kustomize allow-remote function-image jobs timeout hardened log-format",
}
OPTIONS = {f"--{name}": title for title, names in _TITLES.items() for name in names.split()}
"""The title under which the help of a command lists an option, by its long name."""


class Help(argparse.RawDescriptionHelpFormatter):
    """The help of a command, in which no word is broken: it may be a command to copy."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        from textwrap import wrap

        return wrap(" ".join(text.split()), width, break_long_words=False, break_on_hyphens=False)


class Parser(argparse.ArgumentParser):
    """A parser whose help is in groups."""

    def __init__(self, **named: Any) -> None:
        """Take what ArgumentParser takes, and the terminal's width without shutil, whose archives nobody needs.

        As argparse has it, it is that of COLUMNS, the terminal, or 80.
        """
        columns = os.environ.get("COLUMNS", "")
        wide = int(columns) if columns.isdecimal() else 0
        if not wide and sys.__stdout__:
            with suppress(OSError, ValueError):
                wide = os.get_terminal_size(sys.__stdout__.fileno()).columns
        kind = named.pop("formatter_class", argparse.HelpFormatter)
        super().__init__(formatter_class=partial(kind, width=(wide or 80) - 2), **named)

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
    named = [(OPTIONS.get(option.option_strings[-1], "options"), option) for option in options(parser)]
    for title in (*_TITLES, "options"):
        yield title, [option for own, option in named if own == title]


def _tables(parser: argparse.ArgumentParser) -> list[argparse._SubParsersAction[argparse.ArgumentParser]]:
    return [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]


def commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the parser of each command, by its name."""
    return {name: own for table in _tables(parser) for name, own in table.choices.items()}


def options(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """Return the options of a parser, --help among them."""
    return [action for action in parser._actions if action.option_strings]


def positionals(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """Return the arguments of a parser that are no options."""
    return [action for action in parser._actions if not action.option_strings]


def offered(action: argparse.Action) -> list[str]:
    """Return the words that completion offers for an argument."""
    return [str(word) for word in getattr(action, OFFERED, None) or action.choices or ()]


def meant(parser: argparse.ArgumentParser, words: Sequence[str]) -> str:
    """Return the command or option that a wrong word is nearly; "" when all are right, or none is near."""
    known = commands(parser)
    command = next((word for word in words if not word.startswith("-")), "")
    if command and command not in known:
        return closest(command, known)
    names = [name for action in options(known.get(command, parser)) for name in action.option_strings]
    for word in words:
        name = word.partition("=")[0]
        if name.startswith("--") and len(name) > 2 and not any(option.startswith(name) for option in names):
            return closest(name, names)
    return ""
