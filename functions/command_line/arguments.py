"""The parser of a function's command line, and its arguments as typed values."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from types import MappingProxyType
from typing import Any, NamedTuple

from krmfn.errors import KrmfnError

from .. import options
from ..options import RunOptions
from ..paths import output
from ..program import Program
from ..subcommand import PRINTED, Context, Subcommand
from . import grammar


class Completion(NamedTuple):
    """The arguments of `completion`."""

    shell: str


def names(program: Program) -> list[str]:
    """Return the names of all commands, in the order in which the help lists them."""
    return ["render", "check", "diff", *program.commands, "completion"]


def subcommand(program: Program, name: str) -> Subcommand:
    """Return the command of a name. Only its own modules are loaded."""
    if name == "render":
        from ..commands.render import RENDER

        return RENDER
    if name == "check":
        from ..commands.check import CHECK

        return CHECK
    if name == "diff":
        from ..commands.diff import DIFF

        return DIFF
    if name == "completion":
        return _completion_of(program.name)
    from . import commands

    return commands.subcommand(program.commands[name])


def parser(program: Program) -> argparse.ArgumentParser:
    """Return the parser of a function's command line."""
    made = argparse.ArgumentParser(
        prog=program.name,
        description=program.description,
        epilog="Without a command it is a KRM function: a ResourceList on stdin, a ResourceList on stdout, "
        "as kustomize (transformers:) and kpt (pipeline) run it; exit code 0, or 1 with findings of severity error. "
        "COMMAND --help has examples and exit codes.",
    )
    made.add_argument("--version", action=_Version, nargs=0, help="print the version")
    parsers = made.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in names(program):
        command = subcommand(program, name)
        _describe(parsers.add_parser(name, help=command.help), program, name, command)
    return made


def _describe(own: argparse.ArgumentParser, program: Program, name: str, command: Subcommand) -> None:
    """Add what the help of a command shows, and its arguments."""
    shown = "\n".join(f"  {program.name} {name} {example}".rstrip() for example in command.examples)
    own.description = f"{command.help[0].upper()}{command.help[1:]}."
    own.epilog = f"examples:\n{shown}\n\n{command.exits}"
    own.formatter_class = argparse.RawDescriptionHelpFormatter
    command.arguments(own)
    if command.runs_function:
        options.add(own, program, joins=command.joins)


class Call(NamedTuple):
    """A command with its arguments."""

    command: Subcommand
    args: Any
    """A value of the command's type of arguments."""
    options: RunOptions


def parse(program: Program, argv: Sequence[str]) -> Call | int:
    """Return the command that is called; for wrong usage, --help and --version, answered here, the exit code.

    Raises KrmfnError for an option or a PATH that is empty.
    """
    answer = io.StringIO()
    try:
        with redirect_stdout(answer):
            return _call(program, _intermixed(program, argv))
    except SystemExit as left:
        if left.code:
            if word := grammar.meant(parser(program), argv):
                sys.stderr.write(f"{program.name}: did you mean {word}?\n")
            return 2
    output.write_stdout(answer.getvalue())
    return 0


def _check_values(known: argparse.ArgumentParser, namespace: argparse.Namespace) -> None:
    """Raise KrmfnError for an option that is given with an empty text, as `--kernel "$K"` is where K is not set.

    The command would answer another question: what is now, in place of what will be with that kernel.
    """
    for option in grammar.options(known):
        value = getattr(namespace, option.dest, None)
        if ("" in value) if isinstance(value, list) else value == "" != option.default:
            raise KrmfnError(f"{option.option_strings[-1]} is empty; give it a value, or leave it out")


def _call(program: Program, namespace: argparse.Namespace) -> Call:
    command = subcommand(program, namespace.command)
    if "" in getattr(namespace, "paths", ()):
        # with --base it would count as a folder that is gone
        raise KrmfnError("a PATH is an empty text; is a variable of the command not set?")
    if not command.runs_function:
        return Call(command, options.typed(command.args, namespace), RunOptions(namespace.command))
    given = {name: getattr(namespace, name.replace("-", "_")) for name in program.options}
    namespace.own = MappingProxyType({name: value for name, value in given.items() if value is not None})
    return Call(command, options.typed(command.args, namespace), options.typed(RunOptions, namespace))


def _intermixed(program: Program, argv: Sequence[str]) -> argparse.Namespace:
    """Return the arguments; options may stand between PATHs, and after `--` everything is a PATH.

    argparse mixes them for a parser without commands only, so each command's parser is called by itself: the others are
    not even made. What comes before a command is --help or --version.
    """
    if not argv or argv[0] not in names(program) or "--" in argv:
        known = parser(program)
        namespace = known.parse_args(argv)
        own = grammar.commands(known)[namespace.command]
    else:
        own = argparse.ArgumentParser(prog=f"{program.name} {argv[0]}")
        _describe(own, program, argv[0], subcommand(program, argv[0]))
        namespace = own.parse_intermixed_args(argv[1:], argparse.Namespace(command=argv[0]))
    _check_values(own, namespace)
    return namespace


def _completion(context: Context, args: Completion) -> int:
    from . import completion

    output.write_stdout(completion.SHELLS[args.shell](parser(context.program)))
    return 0


def _shell(parser: argparse.ArgumentParser) -> None:
    from . import completion

    text = "bash and fish read the file of the example by themselves, zsh with `source FILE` in ~/.zshrc"
    parser.add_argument("shell", choices=tuple(completion.SHELLS), metavar="SHELL", help=f"bash, zsh or fish; {text}")


def _completion_of(name: str) -> Subcommand:
    examples = (
        f"bash > ~/.local/share/bash-completion/completions/{name}",
        f"zsh > ~/.{name}-completion.zsh",
        f"fish > ~/.config/fish/completions/{name}.fish",
    )
    summary = "print what makes a shell complete commands and options"
    return Subcommand(summary, examples, PRINTED, _shell, Completion, _completion, runs_function=False)


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        sys.stdout.write(f"{parser.prog} (krmfn {version('krmfn')})\n")
        parser.exit()
