"""The arguments of every subcommand."""

from __future__ import annotations

import argparse
import sys

from .. import log
from ..reports import changes, findings
from .program import Command, Program

PATH = "a directory (with a kustomization it is built first), a file, or - for stdin"


def parser(program: Program) -> argparse.ArgumentParser:
    """Return the parser of a function's command line."""
    made = argparse.ArgumentParser(
        prog=program.name,
        description=program.description,
        epilog="Without a command it is a KRM function: a ResourceList on stdin, a ResourceList on stdout, "
        "as kustomize (transformers:) and kpt (pipeline) run it.",
    )
    made.add_argument("--version", action=_Version, nargs=0, help="print the version")
    commands = made.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _render(commands.add_parser("render", help="print the manifests that would reach the cluster"), program)
    _check(commands.add_parser("check", help="print the findings only"), program)
    _diff(commands.add_parser("diff", help="print what would change on the cluster, and what that risks"), program)
    for name, command in program.commands.items():
        own = commands.add_parser(name, help=command.help)
        if isinstance(command, Command):
            _path(own)
            _common(own, program)
        command.arguments(own)
    return made


def _render(parser: argparse.ArgumentParser, program: Program) -> None:
    _path(parser)
    _common(parser, program)
    parser.add_argument("-o", "--output", choices=("yaml", "json"), default="yaml")
    parser.add_argument("--output-dir", metavar="DIR", help="write a file per object and a kustomization.yaml")
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
    parser.epilog = "Exit code: 0 nothing changes, 1 something does, 2 one of the two cannot be rendered."
    parser.add_argument("old", metavar="OLD", help=f"what is on the cluster: {PATH}; /dev/null for nothing yet")
    parser.add_argument("new", metavar="NEW", help="what shall be there, likewise")
    _common(parser, program)
    parser.add_argument("--format", choices=tuple(changes.FORMATS), default="text")


def _path(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", nargs="?", default=".", metavar="PATH", help=f"{PATH} (default: .)")


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
