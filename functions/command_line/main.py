"""Run a command: parse its arguments, do its work, and return an exit code whatever happens."""

import argparse
import io
import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout, suppress
from importlib import import_module
from types import MappingProxyType

from krmfn import printing, streams
from krmfn.errors import KrmfnError
from krmfn.streams import Log, ensure_stderr
from krmfn.typed import Any

from .. import VERSION, options, terminal
from ..command import Command, Context
from ..kmm import regexp_work
from ..options import RunOptions
from ..paths import deadline, files, output
from ..settings import CHECK
from ..sources import Sources
from . import grammar
from .grammar import Parser
from .table import COMMANDS

NAME = "krmfn"


def parser(is_bare: bool = False) -> argparse.ArgumentParser:
    """Return the parser of the command line; the commands of a bare one have no arguments, which take time to load."""
    root = Parser(
        prog=NAME,
        description="Render DeviceConfigs and Ptemplates to KMM Modules and DaemonSets, and check what a cluster would "
        "refuse.",
        epilog="Without a command, krmfn is a KRM function for kustomize (transformers:) and kpt (pipeline): it reads "
        "a ResourceList from stdin and writes one to stdout; exit code 0, or 1 with findings of severity error. "
        "Run `krmfn COMMAND --help` for examples and exit codes.",
    )
    text = "print the version; with --verbose also how kustomize is confined on this machine"
    root.add_argument("--version", action="version", version=f"%(prog)s {VERSION}", help=text)
    parsers = root.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in COMMANDS:
        subparser = parsers.add_parser(name, help=COMMANDS[name].summary, formatter_class=grammar.Help)
        if not is_bare:
            _describe(subparser, name, command_of(name))
    return root


def command_of(name: str) -> Command:
    """Return the command of a name."""
    module, _, attribute = COMMANDS[name].place.partition(":")
    value: Command = getattr(import_module(f"..{module}", __package__), attribute or "COMMAND")
    return value


def _describe(subparser: argparse.ArgumentParser, name: str, command: Command) -> None:
    """Add what the help of a command shows, and its arguments."""
    examples = "\n".join(f"  {NAME} {name} {example}".rstrip() for example in command.examples or ("",))
    summary = COMMANDS[name].summary
    subparser.description = f"{summary[0].upper()}{summary[1:]}."
    subparser.epilog = f"examples:\n{examples}\n\n{command.exits}"
    command.arguments(subparser)
    if command.intent:
        options.add(subparser, joins=command.joins)


def parse(argv: Sequence[str]) -> tuple[Command, Any, RunOptions] | int:
    """Return the command that is called, what is asked of it, and the options of its run.

    Return the exit code for --help and --version, which are answered here, and for wrong usage.
    Raises KrmfnError for an option or a PATH that is empty.
    """
    answer = io.StringIO()
    if sorted(argv) == ["--verbose", "--version"]:
        from ..kustomization import probe, sandbox  # here: no other answer needs them

        bounds = f"kustomize: {sandbox.status()}\nprobe: {probe.status()}\n"
        output.write_stdout(f"{NAME} {VERSION}\n{bounds}")
        return 0
    try:
        with redirect_stdout(answer):
            namespace = _intermixed(argv)
    except SystemExit as end:
        if not end.code:
            output.write_stdout(answer.getvalue())
            return 0
        if word := grammar.closest_word(parser(), argv):
            sys.stderr.write(f"{NAME}: did you mean {word}?\n")
        return 2
    command = command_of(namespace.command)
    if "" in getattr(namespace, "paths", ()):
        # with --base it would count as a folder that is gone
        raise KrmfnError("a PATH is an empty string; is a shell variable not set?")
    if command.intent:
        flags = {name: getattr(namespace, name.replace("-", "_")) for name in options.SETTINGS}
        namespace.flags = MappingProxyType({name: value for name, value in flags.items() if value is not None})
    run_options = options.typed(RunOptions, namespace) if command.intent else RunOptions()
    return command, options.typed(command.request, namespace), run_options


def _intermixed(argv: Sequence[str]) -> argparse.Namespace:
    """Return the arguments; options may stand between PATHs, and after `--` everything is a PATH.

    argparse mixes them for a parser without commands only, so each command's parser is called by itself: the others are
    not even made. What comes before a command is --help or --version. Raises KrmfnError for an empty option.
    """
    if not argv or argv[0] not in COMMANDS or "--" in argv:
        root = parser(is_bare=len(argv) < 2)
        namespace = root.parse_args(argv)
        subparser = grammar.commands(root)[namespace.command]
    else:
        subparser = Parser(prog=f"{NAME} {argv[0]}", formatter_class=grammar.Help)
        _describe(subparser, argv[0], command_of(argv[0]))
        is_mixed = any(word.startswith("-") for word in argv)  # else argparse need not write the usage first
        parse_args = subparser.parse_intermixed_args if is_mixed else subparser.parse_args
        namespace = parse_args(argv[1:], argparse.Namespace(command=argv[0]))
    for option in grammar.options(subparser):  # `--kernel "$K"` without K would ask about the present kernels
        value = getattr(namespace, option.dest, None)
        if ("" in value) if isinstance(value, list) else value == "" != option.default:
            raise KrmfnError(f"{grammar.name_of(option)} is empty; set a value, or remove it")
    return namespace


def main(argv: Sequence[str]) -> int:
    """Run a command and return its exit code: 0, 1 for findings of severity error, 2 when the work was not done.

    1 means to `diff` that the two sides differ. A crash is 2 and prints its traceback.
    """
    log = Log()
    try:
        ensure_stderr()
        call = parse(argv)
        if isinstance(call, int):
            return call
        command, request, run_options = call
        base = Log(run_options.log_format) if run_options.log_format else streams.from_environment()
        paint = terminal.message if terminal.has_colors(run_options.color, sys.stderr) else None
        log = base._replace(verbose=base.verbose or run_options.verbose, quiet=run_options.quiet, paint=paint)
        if command.intent and any(name.startswith("ARGOCD_") for name in os.environ):
            from . import argocd

            run_options = argocd.with_settings(run_options)
        context = Context(run_options, command.intent or CHECK, log, Sources())
        if not command.intent:
            return _answer(command, context, request)
        seconds = run_options.timeout or options.RUN_SECONDS
        with deadline.bounded(seconds, lambda: log.failure(_too_long(seconds))), regexp_work.bounded():
            return _answer(command, context, request)
    except KrmfnError as failure:
        log.failure(failure)
    except deadline.OutOfTime as end:
        log.failure(_too_long(seconds, *end.args))
    except KeyboardInterrupt:
        log.say("interrupted")
        return 130
    except BaseException as failure:  # a SystemExit(0) of the function included
        if isinstance(failure, FileNotFoundError) and not _has_working_folder():
            log.failure(KrmfnError("the working folder was removed while krmfn was running, so there is no result"))
        else:
            log.crash("this is a bug in krmfn, not in your files; there is no result")
    return 2


def _answer(command: Command, context: Context, request: Any) -> int:
    """Do a command's work, and return its exit code."""
    with files.pipes_kept():
        answer = command.run(context, request)
    if isinstance(answer, int):
        return answer
    output.write_stdout(answer)
    return 0


def _too_long(seconds: int, where: str = "") -> KrmfnError:
    """Return the failure of a run that was interrupted; `where` is a phrase about what it was at."""
    took = f"the run took longer than {printing.counted(seconds, 'second')}"
    return KrmfnError(f"{took} and was stopped{where}; raise the limit with --timeout SECONDS")


def _has_working_folder() -> bool:
    """Return False when the working folder was removed."""
    with suppress(FileNotFoundError):
        return bool(os.getcwd())  # noqa: PTH109  # pathlib is not there
    return False
