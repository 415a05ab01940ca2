"""Run a command, and answer with its exit code whatever happens: its arguments, as values, and the work."""

import argparse
import io
import os
import sys
from collections import namedtuple
from collections.abc import Sequence
from contextlib import redirect_stdout
from importlib import import_module
from types import MappingProxyType

from krmfn import printing, streams
from krmfn.errors import KrmfnError
from krmfn.streams import Log, ensure_stderr
from krmfn.typed import Any

from .. import VERSION, options
from ..command import Command, Context
from ..options import RunOptions
from ..paths import output
from ..settings import CHECK
from . import grammar
from .grammar import Parser
from .table import COMMANDS

NAME = "krmfn"


def parser(is_bare: bool = False) -> argparse.ArgumentParser:
    """Return the parser of the command line; of a bare one the commands, which take their time, have no arguments."""
    made = Parser(
        prog=NAME,
        description="Render DeviceConfigs and Ptemplates to KMM Modules and DaemonSets, and check what a cluster would "
        "refuse.",
        epilog="Without a command, krmfn is a KRM function for kustomize (transformers:) and kpt (pipeline): it reads "
        "a ResourceList from stdin and writes one to stdout; exit code 0, or 1 with findings of severity error. "
        "Run `krmfn COMMAND --help` for examples and exit codes.",
    )
    text = "print the version; with --verbose also what bounds kustomize on this machine"
    made.add_argument("--version", action=_Version, nargs=0, help=text)
    parsers = made.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in COMMANDS:
        own = parsers.add_parser(name, help=COMMANDS[name].summary, formatter_class=grammar.Help)
        if not is_bare:
            _describe(own, name, command_of(name))
    return made


def command_of(name: str) -> Command:
    """Return the command of a name."""
    module, _, attribute = COMMANDS[name].place.partition(":")
    value: Command = getattr(import_module(f"..{module}", __package__), attribute)
    return value


def _describe(own: argparse.ArgumentParser, name: str, command: Command) -> None:
    """Add what the help of a command shows, and its arguments."""
    shown = "\n".join(f"  {NAME} {name} {example}".rstrip() for example in command.examples or ("",))
    summary = COMMANDS[name].summary
    own.description = f"{summary[0].upper()}{summary[1:]}."
    own.epilog = f"examples:\n{shown}\n\n{command.exits}"
    command.arguments(own)
    if command.intent:
        options.add(own, joins=command.joins)


def parse(argv: Sequence[str]) -> tuple[Command, Any, RunOptions] | int:
    """Return the command that is called, a named tuple of its own arguments, and the options of its run.

    For wrong usage, --help and --version, answered here, it is the exit code.
    Raises KrmfnError for an option or a PATH that is empty.
    """
    answer = io.StringIO()
    if sorted(argv) == ["--verbose", "--version"]:
        from ..kustomization import landlock  # here: no other answer needs it

        output.write_stdout(f"{NAME} (krmfn {VERSION})\nkustomize: {landlock.holds()}\n")
        return 0
    try:
        with redirect_stdout(answer):
            namespace = _intermixed(argv)
    except SystemExit as left:
        if not left.code:
            output.write_stdout(answer.getvalue())
            return 0
        if word := grammar.meant(parser(), argv):
            sys.stderr.write(f"{NAME}: did you mean {word}?\n")
        return 2
    command = command_of(namespace.command)
    if "" in getattr(namespace, "paths", ()):
        # with --base it would count as a folder that is gone
        raise KrmfnError("a PATH is an empty string; is a shell variable not set?")
    if command.intent:
        given = {name: getattr(namespace, name.replace("-", "_")) for name in options.SETTINGS}
        namespace.flags = MappingProxyType({name: value for name, value in given.items() if value is not None})
    names = namedtuple("Args", [*vars(namespace)])  # type: ignore[misc]  # it wants the names written out
    of_run = options.typed(RunOptions, namespace) if command.intent else RunOptions()
    return command, options.typed(names, namespace), of_run


def _intermixed(argv: Sequence[str]) -> argparse.Namespace:
    """Return the arguments; options may stand between PATHs, and after `--` everything is a PATH.

    argparse mixes them for a parser without commands only, so each command's parser is called by itself: the others are
    not even made. What comes before a command is --help or --version. Raises KrmfnError for an empty option.
    """
    if not argv or argv[0] not in COMMANDS or "--" in argv:
        known = parser(is_bare=len(argv) < 2)
        namespace = known.parse_args(argv)
        own = grammar.commands(known)[namespace.command]
    else:
        own = Parser(prog=f"{NAME} {argv[0]}", formatter_class=grammar.Help)
        _describe(own, argv[0], command_of(argv[0]))
        is_mixed = any(word.startswith("-") for word in argv)  # else argparse need not write the usage first
        parse_args = own.parse_intermixed_args if is_mixed else own.parse_args
        namespace = parse_args(argv[1:], argparse.Namespace(command=argv[0]))
    for option in grammar.options(own):  # `--kernel "$K"` where K is not set would be another question: what is now
        value = getattr(namespace, option.dest, None)
        if ("" in value) if isinstance(value, list) else value == "" != option.default:
            raise KrmfnError(f"{option.option_strings[-1]} is empty; set a value, or remove it")
    return namespace


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        sys.stdout.write(f"{parser.prog} (krmfn {VERSION})\n")
        parser.exit()


def main(argv: Sequence[str]) -> int:
    """Run a command. Exit code: 0 fine, 1 findings of severity error, 2 the work could not be done.

    `diff` has its own meaning for 1: the two differ. A crash is 2, and keeps its traceback.
    """
    log = Log()
    try:
        ensure_stderr()
        call = parse(argv)
        if isinstance(call, int):
            return call
        command, args, given = call
        base = Log(given.log_format) if given.log_format else streams.from_environment()
        is_painted = printing.is_wanted(given.color, sys.stderr)
        log = base._replace(verbose=base.verbose or given.verbose, quiet=given.quiet, color=is_painted)
        if command.intent and any(name.startswith("ARGOCD_") for name in os.environ):
            from . import argocd

            given = argocd.applied(given)
        answer = command.run(Context(given, command.intent or CHECK, log), args)
        if isinstance(answer, int):
            return answer
        output.write_stdout(answer)
        return 0
    except KrmfnError as failure:
        log.failure(failure)
    except KeyboardInterrupt:
        log.say("interrupted")
        return 130
    except BaseException as failure:  # a SystemExit(0) of the function included
        if isinstance(failure, FileNotFoundError) and not _has_working_folder():
            log.failure(KrmfnError("the working folder was removed while krmfn was running, so there is no result"))
        else:
            log.crash("this is a bug in krmfn, not in your files; there is no result")
    return 2


def _has_working_folder() -> bool:
    """Return False when the working folder was removed."""
    try:
        os.getcwd()  # noqa: PTH109  # pathlib is not there
    except FileNotFoundError:
        return False
    return True
