"""The command line that every function built on the SDK has: the same function between other ends."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import redirect_stdout

from .. import log
from ..envelope import Chunk
from ..errors import KrmfnError
from ..item import Item
from ..log import Log
from ..plan import plan
from ..reports import changes, findings
from ..resourcelist import ResourceList
from ..runner import ensure_stderr, ensure_stdout, write
from . import arguments, baseline, checking, completion, grammar, inputs, manifests
from .program import Command, Printed, Program

__all__ = ["Command", "Printed", "Program", "main"]


def main(program: Program, words: Sequence[str]) -> int:
    """One subcommand. Exit code: 0 fine, 1 findings of severity error, 2 the work could not be done.

    `diff` has its own meaning for 1: the two differ. A crash is 2, and keeps its traceback.
    """
    said = Log()
    try:
        ensure_stderr()
        asked = _asked(program, words)
        if isinstance(asked, int):
            return asked
        said = _log(asked)
        if asked.command in program.commands:
            return _command(program, program.commands[asked.command], asked, said)
        return {"render": _render, "check": _check, "diff": _diff, "completion": _completion}[asked.command](
            program, asked, said
        )
    except KrmfnError as failure:
        said.failure(failure)
    except KeyboardInterrupt:
        said.say("interrupted")
        return 130
    except BaseException:  # a SystemExit(0) of the function included
        said.crash("this is a bug in the program, not in your files; nothing was decided")
    return 2


def _asked(program: Program, words: Sequence[str]) -> argparse.Namespace | int:
    """Return the arguments, or the exit code when that was all: usage is wrong, or --help and --version."""
    answer = io.StringIO()
    parser = arguments.parser(program)
    try:
        with redirect_stdout(answer):
            return parser.parse_args(words)
    except SystemExit as left:
        if left.code:
            if word := grammar.meant(parser, words):
                sys.stderr.write(f"{program.name}: did you mean {word}?\n")
            return 2
    _print(answer.getvalue())
    return 0


def _log(asked: argparse.Namespace) -> Log:
    wanted = getattr(asked, "log_format", None)
    said = Log(wanted) if wanted else log.from_environment()
    return said._replace(verbose=said.verbose or getattr(asked, "verbose", False))


def _render(program: Program, asked: argparse.Namespace, said: Log) -> int:
    """Print or write the manifests of every PATH; with an error in any, of none."""
    folders = _folders(asked)
    lists = [_judged(program, one, said) for one in _each(asked)]
    if any(resources.failed for resources in lists):
        return 1
    shown = [_shown(program, one, resources) for one, resources in zip(_each(asked), lists, strict=True)]
    # before the output: behind a pipe the order of the two would be chance
    said.changes([change for resources in lists for change in resources.changes])
    if folders:
        for folder, items in zip(folders, shown, strict=True):
            manifests.write_folder(folder, items, asked.root)
    elif asked.output == "json":
        _write([manifests.dump_json(shown[0])])
    else:
        _write([manifests.dump(shown[0])])
    return 0


def _each(asked: argparse.Namespace) -> list[argparse.Namespace]:
    """Return the arguments with one PATH each, as `path`."""
    return [argparse.Namespace(**{**vars(asked), "path": path}) for path in asked.paths]


def _folders(asked: argparse.Namespace) -> list[str]:
    """Return the folder of every PATH below --output-dir, [] without that option. Raises KrmfnError for two alike."""
    if len(asked.paths) == 1:
        return [asked.output_dir] if asked.output_dir else []
    if not asked.output_dir:
        raise KrmfnError("several PATHs are several sets of manifests; say --output-dir DIR, which gets a folder each")
    names = [os.path.basename(os.path.realpath(path)) for path in asked.paths]  # noqa: PTH119
    for at, name in enumerate(names):
        if name in names[:at]:
            first, second = asked.paths[names.index(name)], asked.paths[at]
            raise KrmfnError(f"{first} and {second} would both be the folder {name}; render them one by one")
    return [os.path.join(asked.output_dir, name) for name in names]  # noqa: PTH118


def _judged(program: Program, asked: argparse.Namespace, said: Log) -> ResourceList:
    """Return the list of one PATH after the function; its findings are said."""
    resources = inputs.read(asked)
    resources.report(checking.nothing(program, asked, resources, inputs.kinds(program, resources)))
    inputs.apply(program, asked, resources)
    said.findings(resources.results)
    return resources


def _shown(program: Program, asked: argparse.Namespace, resources: ResourceList) -> list[Item]:
    shown = resources.items if asked.include_inputs else inputs.deployed(program, resources)
    if not shown and not asked.allow_empty:
        raise KrmfnError(
            f"nothing in {asked.path} would reach a cluster; an empty output makes Argo CD delete what is there, "
            "so it is refused: say --allow-empty if that is meant"
        )
    return shown


def _check(program: Program, asked: argparse.Namespace, said: Log) -> int:
    checked = checking.joined([checking.checked(program, one) for one in _each(asked)])
    everything = found = list(checked.results)
    if asked.write_baseline:
        manifests.write_text(asked.write_baseline, baseline.dump(found), asked.root)
        return 0
    if asked.baseline:
        text = manifests.read_text(asked.baseline, asked.root)
        found = baseline.new(found, baseline.parse(text, asked.baseline))
        known = len(everything) - len(found)
        said.say(f"{known} of {len(everything)} findings are named in {asked.baseline}")
    _print(findings.FORMATS[asked.format](checked._replace(results=found)))
    severities = findings.summary(found)
    return int(severities["error"] > 0 or (asked.strict and severities["warning"] > 0))


def _diff(program: Program, asked: argparse.Namespace, said: Log) -> int:
    """What would change. A change that the cluster refuses is a note of severity error, not a failure of the diff."""
    if asked.old == asked.new == "-":
        raise KrmfnError("OLD and NEW are both stdin; give one of them as a file or directory")
    old, new = _rendered(program, asked, asked.old, said), _rendered(program, asked, asked.new, said)
    said.findings(new.results)
    shown = [[item.manifest for item in inputs.deployed(program, resources)] for resources in (old, new)]
    found = plan(*shown)
    notes = list(program.notes(found, new)) if program.notes else []
    _print(changes.FORMATS[asked.format](found, notes))
    return int(bool(found.changes))


def _rendered(program: Program, asked: argparse.Namespace, path: str, said: Log) -> ResourceList:
    """Return the list after the function. What is rendered already is checked and stays as it is."""
    asked = argparse.Namespace(**{**vars(asked), "path": path})
    resources = inputs.read(asked)
    inputs.apply(program, asked, resources)
    if resources.failed:
        said.findings(resources.results)
        raise KrmfnError(f"{path} cannot be rendered, so there is nothing to compare")
    return resources


def _command(program: Program, command: Command | Printed, asked: argparse.Namespace, said: Log) -> int:
    if isinstance(command, Printed):
        _print(command.run(asked))
        return 0
    lists: list[ResourceList] = []
    for one in _each(asked):
        lists.append(inputs.read(one))
        inputs.apply(program, one, lists[-1])
        if lists[-1].failed:  # nothing was generated; what stands in the files can still be looked at
            said.findings(lists[-1].results)
    text, found = command.run(lists, asked)
    found = list(found)
    said.findings(found)
    _print(text)
    return int(any(resources.failed for resources in lists) or any(finding.severity == "error" for finding in found))


def _completion(program: Program, asked: argparse.Namespace, said: Log) -> int:
    _print(completion.SHELLS[asked.shell](arguments.parser(program)))
    return 0


def _print(text: str) -> None:
    """To stdout; half a surrogate pair, which is no UTF-8, leaves as its escape (a valid one in JSON, too)."""
    _write([text.encode(errors="backslashreplace")])


def _write(chunks: Iterable[Chunk]) -> None:
    ensure_stdout()
    write(1, chunks)
