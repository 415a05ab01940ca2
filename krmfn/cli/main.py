"""The command line of every function built on the SDK: render, check and diff."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import redirect_stdout

from ..envelope import Chunk
from ..errors import KrmfnError
from ..item import Item
from ..log import Log, from_environment
from ..plan import plan
from ..reports import changes, findings
from ..resourcelist import ResourceList
from ..runner import ensure_stderr, ensure_stdout, write
from . import arguments, baseline, checking, completion, grammar, inputs, manifests
from .program import Command, Printed, Program

__all__ = ["Command", "Printed", "Program", "main"]


def main(program: Program, argv: Sequence[str]) -> int:
    """Run a subcommand. Exit code: 0 fine, 1 findings of severity error, 2 the work could not be done.

    `diff` has its own meaning for 1: the two differ. A crash is 2, and keeps its traceback.
    """
    log = Log()
    try:
        ensure_stderr()
        args = _parsed(program, argv)
        if isinstance(args, int):
            return args
        log = _log(args)
        if args.command in program.commands:
            return _command(program, program.commands[args.command], args, log)
        own = {"render": _render, "check": _check, "diff": _diff, "completion": _completion}
        return own[args.command](program, args, log)
    except KrmfnError as failure:
        log.failure(failure)
    except KeyboardInterrupt:
        log.say("interrupted")
        return 130
    except BaseException:  # a SystemExit(0) of the function included
        log.crash("this is a bug in the program, not in your files; nothing was decided")
    return 2


def _parsed(program: Program, argv: Sequence[str]) -> argparse.Namespace | int:
    """Return the arguments; for wrong usage, --help and --version the exit code."""
    output = io.StringIO()
    parser = arguments.parser(program)
    try:
        with redirect_stdout(output):
            return parser.parse_args(argv)
    except SystemExit as left:
        if left.code:
            if word := grammar.meant(parser, argv):
                sys.stderr.write(f"{program.name}: did you mean {word}?\n")
            return 2
    _print(output.getvalue())
    return 0


def _log(args: argparse.Namespace) -> Log:
    wanted = getattr(args, "log_format", None)
    log = Log(wanted) if wanted else from_environment()
    return log._replace(verbose=log.verbose or getattr(args, "verbose", False))


def _render(program: Program, args: argparse.Namespace, log: Log) -> int:
    """Print or write the manifests of every PATH; with an error in any, of none."""
    folders = _folders(args)
    lists = [_applied(program, one, log) for one in _each(args)]
    if any(resources.failed for resources in lists):
        return 1
    shown = [_shown(program, one, resources) for one, resources in zip(_each(args), lists, strict=True)]
    # before the output: behind a pipe the order of the two would be chance
    log.changes([change for resources in lists for change in resources.changes])
    if folders:
        for folder, items in zip(folders, shown, strict=True):
            manifests.write_folder(folder, items, args.root)
    elif args.output == "json":
        _write([manifests.dump_json(shown[0])])
    else:
        _write([manifests.dump(shown[0])])
    return 0


def _each(args: argparse.Namespace) -> list[argparse.Namespace]:
    """Return the arguments with one PATH each, as `path`."""
    return [argparse.Namespace(**{**vars(args), "path": path}) for path in args.paths]


def _folders(args: argparse.Namespace) -> list[str]:
    """Return the folder of every PATH below --output-dir, [] without that option. Raises KrmfnError for two alike."""
    if len(args.paths) == 1:
        return [args.output_dir] if args.output_dir else []
    if not args.output_dir:
        raise KrmfnError("several PATHs are several sets of manifests; say --output-dir DIR, which gets a folder each")
    names = [os.path.basename(os.path.realpath(path)) for path in args.paths]  # noqa: PTH119
    for at, name in enumerate(names):
        if name in names[:at]:
            first, second = args.paths[names.index(name)], args.paths[at]
            raise KrmfnError(f"{first} and {second} would both be the folder {name}; render them one by one")
    return [os.path.join(args.output_dir, name) for name in names]  # noqa: PTH118


def _applied(program: Program, args: argparse.Namespace, log: Log) -> ResourceList:
    """Return the list of one PATH after the function; its findings are logged."""
    resources = inputs.read(args)
    resources.report(checking.nothing(program, args, resources, inputs.kinds(program, resources)))
    inputs.apply(program, args, resources)
    log.findings(resources.results)
    return resources


def _shown(program: Program, args: argparse.Namespace, resources: ResourceList) -> list[Item]:
    shown = resources.items if args.include_inputs else inputs.deployed(program, resources)
    if not shown and not args.allow_empty:
        raise KrmfnError(
            f"nothing in {args.path} would reach a cluster; an empty output makes Argo CD delete what is there, "
            "so it is refused: say --allow-empty if that is meant"
        )
    return shown


def _check(program: Program, args: argparse.Namespace, log: Log) -> int:
    checked = checking.joined([checking.checked(program, one) for one in _each(args)])
    everything = results = list(checked.results)
    if args.write_baseline:
        manifests.write_text(args.write_baseline, baseline.dump(results), args.root)
        return 0
    if args.baseline:
        text = manifests.read_text(args.baseline, args.root)
        results = baseline.new(results, baseline.parse(text, args.baseline))
        known = len(everything) - len(results)
        log.say(f"{known} of {len(everything)} findings are named in {args.baseline}")
    _print(findings.FORMATS[args.format](checked._replace(results=results)))
    severities = findings.summary(results)
    return int(severities["error"] > 0 or (args.strict and severities["warning"] > 0))


def _diff(program: Program, args: argparse.Namespace, log: Log) -> int:
    """Print what would change. A change that the cluster refuses is a note of severity error, not a failure."""
    if args.old == args.new == "-":
        raise KrmfnError("OLD and NEW are both stdin; give one of them as a file or directory")
    old, new = _rendered(program, args, args.old, log), _rendered(program, args, args.new, log)
    log.findings(new.results)
    shown = [[item.manifest for item in inputs.deployed(program, resources)] for resources in (old, new)]
    planned = plan(*shown)
    notes = list(program.notes(planned, new)) if program.notes else []
    _print(changes.FORMATS[args.format](planned, notes))
    return int(bool(planned.changes))


def _rendered(program: Program, args: argparse.Namespace, path: str, log: Log) -> ResourceList:
    """Return the resources of a path after the function has run; what is rendered already stays as it is."""
    args = argparse.Namespace(**{**vars(args), "path": path})
    resources = inputs.read(args)
    inputs.apply(program, args, resources)
    if resources.failed:
        log.findings(resources.results)
        raise KrmfnError(f"{path} cannot be rendered, so there is nothing to compare")
    return resources


def _command(program: Program, command: Command | Printed, args: argparse.Namespace, log: Log) -> int:
    if isinstance(command, Printed):
        _print(command.run(args))
        return 0
    lists: list[ResourceList] = []
    for one in _each(args):
        lists.append(inputs.read(one))
        inputs.apply(program, one, lists[-1])
        if lists[-1].failed:  # nothing was generated; what stands in the files can still be looked at
            log.findings(lists[-1].results)
    text, results = command.run(lists, args)
    results = list(results)
    log.findings(results)
    _print(text)
    return int(any(resources.failed for resources in lists) or any(result.severity == "error" for result in results))


def _completion(program: Program, args: argparse.Namespace, log: Log) -> int:
    _print(completion.SHELLS[args.shell](arguments.parser(program)))
    return 0


def _print(text: str) -> None:
    """Print to stdout; half a surrogate pair, which is not UTF-8, is escaped (validly in JSON, too)."""
    _write([text.encode(errors="backslashreplace")])


def _write(chunks: Iterable[Chunk]) -> None:
    ensure_stdout()
    write(1, chunks)
