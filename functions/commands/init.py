"""The command `init`: a repository that works, from nothing, or from dumps of the clusters as they are."""

import argparse
import os
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from krmfn import KrmfnError
from krmfn.printing import printable
from krmfn.schema import check
from krmfn.typed import Any

from ..cluster import config
from ..cluster.config_schema import SCHEMA
from ..command import Command, Context
from ..importing import beginnings, vendors
from ..importing.beginnings import FIRST_FILES, Cluster, File
from ..options import RunOptions
from ..paths import deadline, files, output, roots
from ..settings import ANSWER
from . import adopt
from .init_imports import Imported, imported_of

EXITS = "exit code: 0 written, 1 written, and a finding of severity error about what runs, 2 nothing written"


def _arguments(parser: argparse.ArgumentParser) -> None:
    help_ = "the folder of the repository; files that are there stay as they are (default: .)"
    parser.add_argument("folder", nargs="?", default=".", metavar="DIR", help=help_)
    help_ = "a cluster of the repository; may be repeated (default: one folder for one cluster)"
    parser.add_argument("--cluster", action="append", default=[], metavar="NAME", help=help_)
    known = ", ".join(vendors.names())
    help_ = f"begin with the Profile of a vendor's product and a first config of its kind ({known}); may be repeated"
    parser.add_argument("--vendor", action="append", default=[], metavar="NAME", help=help_)
    help_ = "a cluster as it is: import its Modules and DaemonSets from a dump (see `why --kubectl`), and its nodes"
    parser.add_argument("--live", action="append", default=[], metavar="NAME=DUMP", help=help_)


def _run(context: Context, args: Any) -> int:
    if not args.folder:
        raise KrmfnError("DIR is empty; name the folder of the repository, or leave it out for this one")
    first = {name: text for vendor in args.vendor for name, text in vendors.files(vendor).items()} or FIRST_FILES
    by_name = _dumps(args.live)
    names = list(dict.fromkeys((*by_name, *args.cluster)))
    for name in names:
        if check({"clusters": {name: [name]}}, SCHEMA):
            rule = "begin with a letter or digit, and use letters, digits, dots, dashes and underscores"
            raise KrmfnError(f"{name!r} cannot be the name of a cluster; {rule}")
    imported = imported_of(context, by_name) if by_name else Imported([], None, [], [])
    known = {part.name: part for part in imported.clusters}
    parts = [known.get(name, Cluster(name)) for name in names]
    top = roots.root_of(os.path.realpath(args.folder)) or os.path.realpath(args.folder)
    prefix = os.path.relpath(os.path.realpath(args.folder), top)
    written = beginnings.files(parts, imported.profiles, "" if prefix == os.curdir else prefix, first)
    lines = _written(args.folder, top, written)
    context.log.findings(imported.findings)
    lines += _adopted(context, args.folder, by_name) if by_name else ()
    steps = _next_steps(args.folder, by_name)
    output.write_stdout("".join(f"{printable(line)}\n" for line in (*imported.lines, *lines, *steps)))
    return int(any(finding.severity == "error" for finding in imported.findings))


def _dumps(texts: Sequence[str]) -> dict[str, str]:
    """Return the dump of each cluster by its name.

    Raises KrmfnError for another form, for a name twice, and for what is no file: it is read twice, for its Modules and
    for its nodes.
    """
    by_name: dict[str, str] = {}
    for text in texts:
        name, sign, dump = text.partition("=")
        if not (name and sign and dump):
            raise KrmfnError(f"--live {text!r} must be NAME=DUMP")
        if name in by_name:
            raise KrmfnError(f"--live names {name} twice; give one of the two clusters another name")
        if "," in dump:
            raise KrmfnError(f"--live {text!r} has a comma, which divides paths; rename the dump")
        if dump == "-" or (Path(dump).exists() and not Path(dump).is_file()):
            raise KrmfnError(f"--live {text!r} is no file, and a dump is read twice; write it to a file and pass that")
        by_name[name] = dump
    return by_name


def _written(folder: str, top: str, written: Sequence[File]) -> list[str]:
    """Write the files, all or none; return a line about each. Raises KrmfnError where one of them exists.

    The configuration file stands in `top`, the root of the repository. One that is there stays, and what it should have
    is among the lines.
    """
    lines, new = list[str](), list[tuple[str, bytes]]()
    for file in written:
        is_config = file.path == config.NAME
        path = os.path.join(top if is_config else folder, file.path)  # noqa: PTH118
        label = os.path.relpath(path)
        if is_config and os.path.lexists(path):
            lines += ["", f"{label} is there; let it have these lines:", *file.text.decode().splitlines()]
            continue
        if os.path.lexists(path):
            raise KrmfnError(f"{label} is there, and nothing is written over it; pass another folder")
        new.append((path, file.text))
        lines.append(f"{label}: {file.purpose}")
    _write(new)
    return lines


def _write(new: Sequence[tuple[str, bytes]]) -> None:
    """Write files and the folders they stand in; remove them again where one cannot be written."""
    deadline.finish()
    folders: list[Path] = []
    begun: list[Path] = []
    try:
        for name, text in new:
            folder = Path(name).parent
            with files.errors_of(folder):
                for parent in reversed([path for path in (folder, *folder.parents) if not path.exists()]):
                    parent.mkdir()
                    folders.append(parent)
            begun.append(Path(name))
            files.write(name, text)
    except BaseException:
        with suppress(OSError):
            for path in begun:
                path.unlink(missing_ok=True)
            for folder in reversed(folders):
                folder.rmdir()
        raise


def _adopted(context: Context, folder: str, by_name: Mapping[str, str]) -> list[str]:
    """Return whether Git can take over in each cluster, as `adopt` says it; a line says where that is not known."""
    live = tuple(f"{name}={dump}" for name, dump in by_name.items())
    quiet = context.log._replace(quiet=True)
    try:
        known = adopt.conclusions(Context(RunOptions(live=live), ANSWER, quiet), [folder])
    except KrmfnError as failure:
        return ["", f"whether Git can take over is not known yet: {failure.args[0]}"]
    return ["", *(known or ["whether Git can take over is not known yet: what was written cannot be rendered here"])]


def _next_steps(folder: str, by_name: Mapping[str, str]) -> list[str]:
    lines = ["", "next:", f"  krmfn check {shlex.quote(folder)}    # what the clusters would refuse or regret"]
    if by_name:
        pairs = [word for name, dump in by_name.items() for word in ("--live", f"{name}={dump}")]
        lines.append(f"  {shlex.join(['krmfn', 'adopt', folder, *pairs])}    # the steps until Git has it")
    return [*lines, "  commit it; gitops/ in krmfn's repository has CI and Argo CD to copy, a page for each"]


_EXAMPLES = (
    "gpus --cluster dev --cluster prod",
    "gpus --vendor amd-gpu",
    "gpus --live lab=lab-dump.yaml",
)
COMMAND = Command(_EXAMPLES, _arguments, _run, exits=EXITS)
