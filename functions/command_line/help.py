"""The help: commands and options in groups."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial

from krmfn.typed import Any

from . import grammar
from .table import GROUPS

_READ = "live from for base cluster exclude function-config profiles-from"
_JUDGED = (
    "against namespace prune kmm-version kernel where strict baseline kinds fail-on exit-zero missing-from "
    "require-coverage allow-empty allow-unmapped mirror builds min-severity select ignore check max-age"
)
_OUTPUT = (
    "output out output-dir replace split include-inputs format output-format plan wave write-baseline label owner node "
    "keep-pod-templates problems labels all-labels name valid-until update taken-on wide verbose quiet color"
)
_RARE = "root kustomize allow-remote function-image jobs timeout hardened log-format"
OPTIONS = {
    f"--{name}": title
    for title, names in (
        ("what is read", _READ),
        ("what is checked", _JUDGED),
        ("output", _OUTPUT),
        ("rarely needed", _RARE),
    )
    for name in names.split()
}
"""The title under which the help of a command lists an option, by its long name."""


class Parser(argparse.ArgumentParser):
    """A parser whose help is in groups."""

    def __init__(self, **named: Any) -> None:
        """Take what ArgumentParser takes, and the terminal's width without shutil, whose archives nobody needs."""
        kind = named.pop("formatter_class", argparse.HelpFormatter)
        super().__init__(formatter_class=partial(kind, width=_width()), **named)

    def format_help(self) -> str:
        """Return the help: usage, what the command does, its arguments in groups, examples and exit codes."""
        formatter = self._get_formatter()
        formatter.add_usage(self.usage, self._actions, self._mutually_exclusive_groups)
        formatter.add_text(self.description)
        for title, actions in _sections(self):
            formatter.start_section(title)
            formatter.add_arguments(actions)
            formatter.end_section()
        formatter.add_text(self.epilog)
        return formatter.format_help()


def _width() -> int:
    """Return how many columns a text takes: as argparse has it, of COLUMNS, the terminal, or 80."""
    columns = os.environ.get("COLUMNS", "")
    wide = int(columns) if columns.isdecimal() else 0
    if not wide and sys.__stdout__:
        with suppress(OSError, ValueError):
            wide = os.get_terminal_size(sys.__stdout__.fileno()).columns
    return (wide or 80) - 2


def _sections(parser: argparse.ArgumentParser) -> Iterator[tuple[str, Sequence[argparse.Action]]]:
    """Yield the titles with the arguments below each, in the order of the tables; --help and --version come last."""
    known = {action.dest: action for action in grammar.summaries(parser)}
    for title, names in GROUPS.items() if known else ():
        yield title, [known[name] for name in names]
    yield "arguments", [] if known else grammar.positionals(parser)
    options = grammar.options(parser)
    for title in dict.fromkeys(OPTIONS.values()):
        yield title, [one for one in options if OPTIONS.get(one.option_strings[-1]) == title]
    yield "options", [one for one in options if one.option_strings[-1] not in OPTIONS]
