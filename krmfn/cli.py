"""The command line that every function built on the SDK has: the same function between other ends."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import redirect_stdout
from typing import NamedTuple

from . import baseline, kustomize, manifests, report
from .errors import KrmfnError
from .item import Item
from .resourcelist import ResourceList
from .runner import Function, read_stdin, say, say_findings, write

LOCAL_KINDS = frozenset({("kpt.dev", "Kptfile"), ("kustomize.config.k8s.io", "Kustomization")})


class Command(NamedTuple):
    """A subcommand of one function: it looks at the list after the function has run."""

    about: str
    arguments: Callable[[argparse.ArgumentParser], None]
    """Adds the command's own arguments."""
    run: Callable[[ResourceList, argparse.Namespace], str]
    """The text to print. Raises KrmfnError when there is none."""


class Printed(NamedTuple):
    """A subcommand of one function that reads no resources: it prints what the program carries with it."""

    about: str
    arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], str]


class Program(NamedTuple):
    """A function and what its command line must know of it."""

    name: str
    about: str
    function: Function
    inputs: Collection[tuple[str, str]] = ()
    """(group, kind) of resources that are read and not deployed; a render leaves them out."""
    config: tuple[str, str] = ("", "")
    """(group, kind) of its functionConfig; one among the resources read is taken as such."""
    options: Mapping[str, str] = {}  # read only
    """Settings that become options: name and help."""
    commands: Mapping[str, Command | Printed] = {}
    """Subcommands beside `render` and `check`, by name."""


def main(program: Program, arguments: Sequence[str]) -> int:
    """One subcommand. Exit code: 0 fine, 1 findings of severity error, 2 the work could not be done."""
    asked = _parser(program).parse_args(arguments)
    try:
        if asked.command in program.commands:
            return _command(program, program.commands[asked.command], asked)
        return _render(program, asked) if asked.command == "render" else _check(program, asked)
    except KrmfnError as failure:
        say(f"error: {failure}")
        return 2
    except KeyboardInterrupt:
        say("interrupted")
        return 130


def _render(program: Program, asked: argparse.Namespace) -> int:
    resources = _read(asked)
    _apply(program, asked, resources)
    say_findings(resources.results)
    if resources.failed:
        return 1
    shown = [item for item in resources.items if asked.include_inputs or not _stays_here(item, program)]
    if not shown and not asked.allow_empty:
        raise KrmfnError(
            f"nothing in {asked.path} would reach a cluster; an empty output makes Argo CD delete what is there, "
            "so it is refused: say --allow-empty if that is meant"
        )
    if asked.output_dir:
        manifests.write_folder(asked.output_dir, shown)
    elif asked.output == "json":
        write(1, [json.dumps(item.manifest, ensure_ascii=False).encode() + b"\n" for item in shown])
    else:
        write(1, [manifests.dump(shown)])
    return 0


def _check(program: Program, asked: argparse.Namespace) -> int:
    resources = _read(asked)
    count = len(resources.items)
    _apply(program, asked, resources)
    found = resources.results
    if asked.write_baseline:
        manifests.write_text(asked.write_baseline, baseline.dump(found))
        return 0
    if asked.baseline:
        found = baseline.new(found, baseline.parse(manifests.read_text(asked.baseline), asked.baseline))
        say(f"{len(resources.results) - len(found)} of {len(resources.results)} findings are named in {asked.baseline}")
    write(1, [report.FORMATS[asked.format](found, count).encode()])
    counts = report.summary(found)
    return int(counts["error"] > 0 or (asked.strict and counts["warning"] > 0))


def _command(program: Program, command: Command | Printed, asked: argparse.Namespace) -> int:
    if isinstance(command, Printed):
        write(1, [command.run(asked).encode()])
        return 0
    resources = _read(asked)
    _apply(program, asked, resources)
    if resources.failed:
        say_findings(resources.results)
        return 1
    write(1, [command.run(resources, asked).encode()])
    return 0


def _apply(program: Program, asked: argparse.Namespace, resources: ResourceList) -> None:
    resources.function_config = _function_config(program, asked, resources)
    given = {name: getattr(asked, name.replace("-", "_")) for name in program.options}
    given["namespace"] = given.get("namespace") or os.environ.get("ARGOCD_APP_NAMESPACE")
    resources.options = {name: value for name, value in given.items() if value} | {"command": asked.command}
    with redirect_stdout(sys.stderr):
        program.function(resources)


def _read(asked: argparse.Namespace) -> ResourceList:
    if manifests.kustomization_in(asked.path):
        return manifests.read_stream(kustomize.build(asked.path, shlex.split(asked.kustomize)))
    return manifests.read(asked.path, read_stdin() if asked.path == "-" else None)


def _function_config(program: Program, asked: argparse.Namespace, resources: ResourceList) -> dict[str, object] | None:
    """The functionConfig: from --function-config, else the one among the resources, else none."""
    if asked.function_config:
        found = manifests.read(asked.function_config).items
    else:
        group, kind = program.config
        found = resources.select(kind, group) if kind else []
    if len(found) > 1 or (asked.function_config and not found):
        where = asked.function_config or asked.path
        raise KrmfnError(f"{where}: {len(found)} functionConfigs; give exactly one (--function-config FILE)")
    return found[0].manifest if found else resources.function_config


def _stays_here(item: Item, program: Program) -> bool:
    """True for what is read and not deployed: inputs, kpt's and kustomize's own files, local-config resources."""
    about = (item.ref.group, item.kind)
    return about in program.inputs or about in LOCAL_KINDS or item.annotations.get(kustomize.LOCAL) == "true"


def _parser(program: Program) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=program.name,
        description=program.about,
        epilog="Without a command it is a KRM function: a ResourceList on stdin, a ResourceList on stdout, "
        "as kustomize (transformers:) and kpt (pipeline) run it.",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    render = commands.add_parser("render", help="print the manifests that would reach the cluster")
    _common(render, program)
    render.add_argument("-o", "--output", choices=("yaml", "json"), default="yaml")
    render.add_argument("--output-dir", metavar="DIR", help="write a file per object and a kustomization.yaml")
    render.add_argument("--include-inputs", action="store_true", help="print what was read, too")
    render.add_argument("--allow-empty", action="store_true", help="succeed with no output at all")
    check = commands.add_parser("check", help="print the findings only")
    _common(check, program)
    check.add_argument("--format", choices=tuple(report.FORMATS), default="text")
    check.add_argument("--baseline", metavar="FILE", help="findings named in FILE do not count")
    check.add_argument("--write-baseline", metavar="FILE", help="name today's findings in FILE")
    check.add_argument("--strict", action="store_true", help="warnings fail, too")
    for name, command in program.commands.items():
        own = commands.add_parser(name, help=command.about)
        if isinstance(command, Command):
            _common(own, program)
        command.arguments(own)
    return parser


def _common(parser: argparse.ArgumentParser, program: Program) -> None:
    where = "a directory (with a kustomization it is built first), a file, or - for stdin (default: .)"
    parser.add_argument("path", nargs="?", default=".", metavar="PATH", help=where)
    parser.add_argument("--function-config", metavar="FILE", help="the functionConfig (default: the one found in PATH)")
    parser.add_argument("--kustomize", default="", metavar="FLAGS", help="flags for kustomize build, in one string")
    for name, about in program.options.items():
        parser.add_argument(f"--{name}", metavar=name.upper().replace("-", "_"), help=about)


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        parser.exit(0, f"{parser.prog} (krmfn {version('krmfn')})\n")
