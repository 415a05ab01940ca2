"""The command line that every function built on the SDK has: the same function between other ends."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from . import arguments, baseline, inputs, log, manifests, planformats, report
from .errors import KrmfnError
from .log import Log
from .plan import plan
from .program import Command, Printed, Program
from .resourcelist import ResourceList
from .results import Checked, in_order
from .runner import write

__all__ = ["Command", "Printed", "Program", "main"]


def main(program: Program, words: Sequence[str]) -> int:
    """One subcommand. Exit code: 0 fine, 1 findings of severity error, 2 the work could not be done.

    `diff` has its own meaning for 1: the two differ.
    """
    asked = arguments.parser(program).parse_args(words)
    wanted = getattr(asked, "log_format", None)
    said = Log(wanted or "text")
    try:
        said = Log(wanted) if wanted else log.from_environment()
        if asked.command in program.commands:
            return _command(program, program.commands[asked.command], asked, said)
        return {"render": _render, "check": _check, "diff": _diff}[asked.command](program, asked, said)
    except KrmfnError as failure:
        said.say(str(failure), "error")
        return 2
    except KeyboardInterrupt:
        said.say("interrupted")
        return 130


def _render(program: Program, asked: argparse.Namespace, said: Log) -> int:
    resources = inputs.read(asked)
    inputs.apply(program, asked, resources)
    said.findings(resources.results)
    if resources.failed:
        return 1
    shown = resources.items if asked.include_inputs else inputs.deployed(program, resources)
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


def _check(program: Program, asked: argparse.Namespace, said: Log) -> int:
    resources = inputs.read(asked)
    count = len(resources.items)
    configs = [(item.ref, item.place) for item in resources.items if (item.ref.group, item.kind) in program.owners]
    inputs.apply(program, asked, resources)
    found = in_order(resources.results)
    if asked.write_baseline:
        manifests.write_text(asked.write_baseline, baseline.dump(found))
        return 0
    if asked.baseline:
        found = baseline.new(found, baseline.parse(manifests.read_text(asked.baseline), asked.baseline))
        known = len(resources.results) - len(found)
        said.say(f"{known} of {len(resources.results)} findings are named in {asked.baseline}")
    _print(report.FORMATS[asked.format](Checked(found, count, configs)))
    counts = report.summary(found)
    return int(counts["error"] > 0 or (asked.strict and counts["warning"] > 0))


def _diff(program: Program, asked: argparse.Namespace, said: Log) -> int:
    """What would change. A change that the cluster refuses is a note of severity error, not a failure of the diff."""
    if asked.old == asked.new == "-":
        raise KrmfnError("OLD and NEW are both stdin; give one of them as a file or directory")
    old, new = _rendered(program, asked, asked.old, said), _rendered(program, asked, asked.new, said)
    said.findings(new.results)
    shown = [[item.manifest for item in inputs.deployed(program, resources)] for resources in (old, new)]
    found = plan(*shown)
    notes = list(program.notes(found, new)) if program.notes else []
    _print(planformats.FORMATS[asked.format](found, notes))
    return int(bool(found.changes))


def _rendered(program: Program, asked: argparse.Namespace, path: str, said: Log) -> ResourceList:
    """The list after the function. One without anything to render is rendered already: it is checked, and stays as it
    is, since the function would take its objects for left-overs of owners that are gone."""
    asked = argparse.Namespace(**{**vars(asked), "path": path})
    resources = inputs.read(asked)
    before = list(resources.items)
    inputs.apply(program, asked, resources)
    if program.owners and not any((item.group, item.kind) in program.owners for item in before):
        resources.items = before
    if resources.failed:
        said.findings(resources.results)
        raise KrmfnError(f"{path} cannot be rendered, so there is nothing to compare")
    return resources


def _command(program: Program, command: Command | Printed, asked: argparse.Namespace, said: Log) -> int:
    if isinstance(command, Printed):
        _print(command.run(asked))
        return 0
    resources = inputs.read(asked)
    inputs.apply(program, asked, resources)
    if resources.failed:  # nothing was generated; what stands in the files can still be looked at
        said.findings(resources.results)
    _print(command.run(resources, asked))
    return int(resources.failed)


def _print(text: str) -> None:
    """To stdout; half a surrogate pair, which is no UTF-8, leaves as its escape (a valid one in JSON, too)."""
    write(1, [text.encode(errors="backslashreplace")])
