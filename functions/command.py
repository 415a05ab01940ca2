"""A command of the command line: how it is described and run, and what it works with."""

import argparse
from collections.abc import Callable

from krmfn.streams import Log
from krmfn.typed import TYPE_CHECKING, Any, NamedTuple

from .options import RunOptions
from .settings import Intent
from .sources import Sources

if TYPE_CHECKING:
    from .paths.unchecked import Unchecked

_FAILED = "2 the command failed (usage, unreadable input)"
EXITS = f"exit code: 0 no errors, 1 findings of severity error, {_FAILED}"
FAILS_ON = f"exit code: 0 no errors, 1 findings of severity error, or what --fail-on names, {_FAILED}"
LACKS = f"exit code: 0 no errors, 1 findings of severity error, a kernel without a mapping, a missing image, {_FAILED}"
UNMAPPED = f"exit code: 0 no errors, 1 findings of severity error, a kernel without a mapping, {_FAILED}"
DIFFERS = f"exit code: 0 each case is equal, 1 a case differs, {_FAILED}"
PRINTED = "exit code: 0 printed, 2 not printed (usage, a closed output)"


class Context(NamedTuple):
    """What a command works with beside its own arguments."""

    options: RunOptions
    intent: Intent
    log: Log
    sources: Sources
    """What is built for the command, and nothing yet when it begins."""
    in_full: bool = False
    """Whether the data of every document is read, and not only that of documents that a check looks into."""
    unchecked: "Unchecked | None" = None
    """Where large texts go that a second process checks; without one they are checked as they are read."""
    profiles: tuple[str, ...] = ()
    """The files and folders of `profiles` in .krmfn.yaml."""


class Command(NamedTuple):
    """A command: its help, its arguments, and its work."""

    examples: tuple[str, ...]
    """Arguments as the command's help shows them."""
    arguments: Callable[[argparse.ArgumentParser], None]
    """Adds the command's own arguments."""
    run: Callable[[Context, Any], int | str]
    """Takes a `request`; returns the exit code, or a text to print before exit code 0.

    Raises KrmfnError when the work cannot be done.
    """
    request: type[Any]
    """The type of what is asked of it: a NamedTuple with a field for each argument that `run` reads."""
    intent: Intent | None = None
    """What it wants of the resources in its PATHs; a command with None reads none, and has no options of a run."""
    joins: bool = False
    """It has the option --against."""
    exits: str = EXITS
    """A line on the exit codes."""
