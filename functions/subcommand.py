"""A command of the command line, the SDK's own or the program's: how it is described and run."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, NamedTuple

from krmfn.log import Log

from .options import RunOptions
from .program import Program

EXITS = "exit code: 0 fine, 1 findings of severity error, 2 the work could not be done (usage, unreadable input)"
PRINTED = "exit code: 0 printed, 2 it could not be (usage, a closed output)"


class Context(NamedTuple):
    """What a command works with beside its own arguments."""

    program: Program
    options: RunOptions
    log: Log
    in_full: bool = False
    """Whether the data of every document is read with its syntax; without it that of what something looks into."""


class Subcommand(NamedTuple):
    """A command: what its help shows, its arguments, and the work."""

    help: str
    examples: tuple[str, ...]
    exits: str
    """A line on the exit codes."""
    arguments: Callable[[argparse.ArgumentParser], None]
    """Adds the command's own arguments."""
    args: type[Any]
    """The type of the arguments, a NamedTuple: a field for each by its name."""
    run: Callable[[Context, Any], int]
    """Takes a value of `args`; returns the exit code. Raises KrmfnError when the work cannot be done."""
    runs_function: bool = True
    """It has the options of a run, too (see `options.add`)."""
    joins: bool = False
    """It has the option --against, where the program has something to say about that."""
