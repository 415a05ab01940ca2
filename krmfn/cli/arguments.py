"""The arguments of every subcommand."""

from __future__ import annotations

import argparse
import sys

from .. import log
from ..reports import changes, findings
from . import completion
from .program import Command, Program

EXITS = "exit code: 0 fine, 1 findings of severity error, 2 the work could not be done (usage, unreadable input)"
PRINTED = "exit code: 0 printed, 2 it could not be (usage, a closed output)"
DIFFERS = "exit code: 0 nothing changes, 1 something does, 2 one of the two cannot be rendered"
PATH = "a directory (with a kustomization it is built first), a file, or - for stdin"


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
    commands = made.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name: str, summary: str, exits: str, *examples: str) -> argparse.ArgumentParser:
        shown = "\n".join(f"  {program.name} {name} {example}".rstrip() for example in examples)
        return commands.add_parser(
            name,
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            epilog=f"examples:\n{shown}\n\n{exits}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )

    _render(add("render", "print the manifests that would reach the cluster", EXITS, *_RENDER), program)
    _check(add("check", "print the findings only", EXITS, *_CHECK), program)
    _diff(add("diff", "print what would change on the cluster, and what that risks", DIFFERS, *_DIFF), program)
    for name, command in program.commands.items():
        exits = EXITS if isinstance(command, Command) else PRINTED
        own = add(name, command.help, exits, *(command.examples or [""]))
        if isinstance(command, Command):
            _path(own)
            _common(own, program)
        command.arguments(own)
    shells = add("completion", "print what makes a shell complete commands and options", PRINTED, *_COMPLETION)
    shells.add_argument("shell", choices=tuple(completion.SHELLS))
    return made


_COMPLETION = ("bash > ~/.local/share/bash-completion/completions/krmfn",)
_RENDER = ("clusters/lab", "clusters/lab --output-dir rendered/lab", "- --prune never < objects.yaml")
_CHECK = ("clusters/lab", "clusters/lab --format sarif > findings.sarif", "clusters/lab --strict --baseline known.json")
_DIFF = ("main/clusters/lab clusters/lab", "/dev/null clusters/lab --format markdown")


def _render(parser: argparse.ArgumentParser, program: Program) -> None:
    _path(parser)
    _common(parser, program)
    parser.add_argument("-o", "--output", choices=("yaml", "json"), default="yaml")
    parser.add_argument(
        "--output-dir",
        metavar="DIR",
        help="write a file per object and a kustomization.yaml; of several PATHs a folder each, by its last name",
    )
    parser.add_argument("--include-inputs", action="store_true", help="print what was read, too")
    parser.add_argument("--allow-empty", action="store_true", help="succeed with no output at all")


def _check(parser: argparse.ArgumentParser, program: Program) -> None:
    _path(parser)
    _common(parser, program)
    parser.add_argument("--format", choices=tuple(findings.FORMATS), default="text")
    parser.add_argument("--baseline", metavar="FILE", help="findings named in FILE do not count")
    parser.add_argument("--write-baseline", metavar="FILE", help="name today's findings in FILE")
    parser.add_argument("--strict", action="store_true", help="warnings fail, too")


def _diff(parser: argparse.ArgumentParser, program: Program) -> None:
    parser.add_argument("old", metavar="OLD", help=f"what is on the cluster: {PATH}; /dev/null for nothing yet")
    parser.add_argument("new", metavar="NEW", help="what shall be there, likewise")
    _common(parser, program)
    parser.add_argument("--format", choices=tuple(changes.FORMATS), default="text")


def _path(parser: argparse.ArgumentParser) -> None:
    path_help = f"{PATH} (default: .); several are judged each by itself"
    parser.add_argument("paths", nargs="*", default=["."], metavar="PATH", help=path_help)


def _common(parser: argparse.ArgumentParser, program: Program) -> None:
    parser.add_argument("--function-config", metavar="FILE", help="the functionConfig (default: the one in PATH)")
    parser.add_argument("--kustomize", default="", metavar="FLAGS", help="flags for kustomize build, in one string")
    text = f"how stderr is written (default: text, or the format that {log.VARIABLE} names)"
    parser.add_argument("--log-format", choices=log.FORMATS, help=text)
    text = f"name every object that is created, updated or removed (also: {log.VERBOSE}=1)"
    parser.add_argument("-v", "--verbose", action="store_true", help=text)
    text = "no link leads out of DIR (default: the Git work tree that holds PATH, else PATH)"
    parser.add_argument("--root", metavar="DIR", help=text)
    for name, text in program.options.items():
        parser.add_argument(f"--{name}", metavar=name.upper().replace("-", "_"), help=text)


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        sys.stdout.write(f"{parser.prog} (krmfn {version('krmfn')})\n")
        parser.exit()
