"""The command line of every function built on the SDK: render, check and diff."""

from __future__ import annotations

import argparse
import io
from collections.abc import Iterable, Sequence
from contextlib import redirect_stdout

from .. import counts
from ..envelope import Chunk
from ..errors import KrmfnError
from ..log import Log, from_environment
from ..plan import plan
from ..reports import changes, findings
from ..resourcelist import ResourceList
from ..results import Checked, Result, in_order, warning
from ..runner import ensure_stderr, ensure_stdout, write
from . import arguments, baseline, inputs, manifests
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
        return {"render": _render, "check": _check, "diff": _diff}[args.command](program, args, log)
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
    try:
        with redirect_stdout(output):
            return arguments.parser(program).parse_args(argv)
    except SystemExit as left:
        if left.code:
            return 2
    _print(output.getvalue())
    return 0


def _log(args: argparse.Namespace) -> Log:
    wanted = getattr(args, "log_format", None)
    log = Log(wanted) if wanted else from_environment()
    return log._replace(verbose=log.verbose or getattr(args, "verbose", False))


def _render(program: Program, args: argparse.Namespace, log: Log) -> int:
    resources = inputs.read(args)
    resources.report(_nothing(program, args, resources, inputs.kinds(program, resources)))
    inputs.apply(program, args, resources)
    log.findings(resources.results)
    if resources.failed:
        return 1
    shown = resources.items if args.include_inputs else inputs.deployed(program, resources)
    if not shown and not args.allow_empty:
        raise KrmfnError(
            f"nothing in {args.path} would reach a cluster; an empty output makes Argo CD delete what is there, "
            "so it is refused: say --allow-empty if that is meant"
        )
    log.changes(resources.changes)  # before the output: behind a pipe the order of the two would be chance
    if args.output_dir:
        manifests.write_folder(args.output_dir, shown, args.root)
    elif args.output == "json":
        _write([manifests.dump_json(shown)])
    else:
        _write([manifests.dump(shown)])
    return 0


def _check(program: Program, args: argparse.Namespace, log: Log) -> int:
    resources = inputs.read(args)
    count, kinds = len(resources.items), inputs.kinds(program, resources)
    configs = [(item.ref, item.place) for item in resources.items if (item.ref.group, item.kind) in program.owners]
    resources.report(_nothing(program, args, resources, kinds))
    inputs.apply(program, args, resources)
    if resources.function_config:
        kinds["functionConfig"] = kinds.get("functionConfig") or 1
    results = in_order(resources.results)
    if args.write_baseline:
        manifests.write_text(args.write_baseline, baseline.dump(results), args.root)
        return 0
    if args.baseline:
        text = manifests.read_text(args.baseline, args.root)
        results = baseline.new(results, baseline.parse(text, args.baseline))
        known = len(resources.results) - len(results)
        log.say(f"{known} of {len(resources.results)} findings are named in {args.baseline}")
    _print(findings.FORMATS[args.format](Checked(results, count, configs, kinds, resources.files)))
    severities = findings.summary(results)
    return int(severities["error"] > 0 or (args.strict and severities["warning"] > 0))


def _nothing(
    program: Program, args: argparse.Namespace, resources: ResourceList, kinds: dict[str, int]
) -> list[Result]:
    """Return a warning when no resource is of the function's kinds: the PATH may be the wrong one."""
    if any(kinds.values()) or args.function_config or not program.owners:
        return []
    wanted = list(dict.fromkeys(kind for _, kind in sorted(program.owners)))
    wanted += [*filter(None, [program.config[1]]), *dict.fromkeys(kind for _, kind in sorted(program.kinds))]
    where = counts.counted(len(resources.items), "resource")
    where += f", {counts.counted(resources.files, 'file')}" if resources.files else ""
    message = (
        f"no {', '.join(wanted[:-1])} or {wanted[-1]} is in {args.path} ({where}), so there is nothing to do; "
        "is it the right PATH?"
    )
    return [warning(message, rule="KRM109")]


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
    resources = inputs.read(args)
    inputs.apply(program, args, resources)
    if resources.failed:  # nothing was generated; what stands in the files can still be looked at
        log.findings(resources.results)
    text, results = command.run(resources, args)
    results = list(results)
    log.findings(results)
    _print(text)
    return int(resources.failed or any(result.severity == "error" for result in results))


def _print(text: str) -> None:
    """Print to stdout; half a surrogate pair, which is not UTF-8, is escaped (validly in JSON, too)."""
    _write([text.encode(errors="backslashreplace")])


def _write(chunks: Iterable[Chunk]) -> None:
    ensure_stdout()
    write(1, chunks)
