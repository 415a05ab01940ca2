"""Read commands and options back from a parser, and guess which one was meant."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ..options import OFFERED


def commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the parser of each command, by its name."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def summaries(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """Return what the help of a parser lists for each of its commands."""
    tables = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return [summary for table in tables for summary in table._get_subactions()]


def options(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """Return the options of a parser, --help among them."""
    return [action for action in parser._actions if action.option_strings]


def positionals(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """Return the arguments of a parser that are no options."""
    return [action for action in parser._actions if not action.option_strings]


def offered(action: argparse.Action) -> list[str]:
    """Return the words that completion offers for an argument."""
    return [str(word) for word in action.choices or getattr(action, OFFERED, None) or ()]


def meant(parser: argparse.ArgumentParser, words: Sequence[str]) -> str:
    """Return the command or option that a wrong word is nearly; "" when all are right, or none is near."""
    from difflib import get_close_matches

    known = commands(parser)
    command = next((word for word in words if not word.startswith("-")), "")
    if command and command not in known:
        return next(iter(get_close_matches(command, known, 1)), "")
    names = [name for action in options(known.get(command, parser)) for name in action.option_strings]
    for word in words:
        name = word.partition("=")[0]
        if name.startswith("--") and len(name) > 2 and not any(option.startswith(name) for option in names):
            return next(iter(get_close_matches(name, names, 1)), "")
    return ""
