"""The command `init`: a repository that works, from nothing, or from dumps of the clusters as they are."""

import argparse
import os
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

from krmfn import KrmfnError, Manifest, Result
from krmfn.printing import counted, listed, printable
from krmfn.schema import check
from krmfn.typed import Any, NamedTuple
from krmfn.yamltext import emit

from ..cluster import config, dumps
from ..cluster.config_schema import SCHEMA
from ..command import Command, Context
from ..fleet import cluster, collecting, rules
from ..importing import assembly, beginnings
from ..importing.beginnings import Cluster, File
from ..importing.drafts import rendered
from ..importing.importer import Import
from ..options import RunOptions
from ..paths import deadline, files, output, roots
from ..settings import READ
from . import clusters, import_
from .import_ import Source

_OF_INVENTORY = ("Node", "Namespace")
"""The kinds of which an inventory is imported."""
EXITS = "exit code: 0 written, 1 written, and a finding of severity error about what runs, 2 nothing written"


class _Import(NamedTuple):
    """What was imported of some clusters."""

    clusters: Sequence[Cluster]
    profiles: Manifest | None
    """The functionConfig with the profiles that the configs share."""
    lines: Sequence[str]
    """What became of the objects, for people."""
    findings: Sequence[Result]


def _arguments(parser: argparse.ArgumentParser) -> None:
    help_ = "the folder of the repository; files that are there stay as they are (default: .)"
    parser.add_argument("folder", nargs="?", default=".", metavar="DIR", help=help_)
    help_ = "a cluster of the repository; may be repeated (default: one folder for one cluster)"
    parser.add_argument("--cluster", action="append", default=[], metavar="NAME", help=help_)
    help_ = "a cluster as it is: import its Modules and DaemonSets from a dump (see `why --kubectl`), and its nodes"
    parser.add_argument("--live", action="append", default=[], metavar="NAME=DUMP", help=help_)


def _run(context: Context, args: Any) -> int:
    if not args.folder:
        raise KrmfnError("DIR is empty; name the folder of the repository, or leave it out for this one")
    by_name = _dumps(args.live)
    names = list(dict.fromkeys((*by_name, *args.cluster)))
    for name in names:
        if check({"clusters": {name: [name]}}, SCHEMA):
            rule = "begin with a letter or digit, and use letters, digits, dots, dashes and underscores"
            raise KrmfnError(f"{name!r} cannot be the name of a cluster; {rule}")
    imported = _imported(context, by_name) if by_name else _Import([], None, [], [])
    known = {part.name: part for part in imported.clusters}
    parts = [known.get(name, Cluster(name)) for name in names]
    top = roots.root_of(os.path.realpath(args.folder)) or os.path.realpath(args.folder)
    prefix = os.path.relpath(os.path.realpath(args.folder), top)
    written = beginnings.files(parts, imported.profiles, "" if prefix == os.curdir else prefix)
    lines = _written(args.folder, top, written)
    context.log.findings(imported.findings)
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


def _imported(context: Context, by_name: Mapping[str, str]) -> _Import:
    """Return what is imported of the dumps. Raises KrmfnError for one that cannot be read or has no Module."""
    run = import_.run_of_render({})
    pairs = tuple(f"{name}={dump}" for name, dump in by_name.items())
    streams = clusters.read(Context(RunOptions(cluster=pairs), READ, context.log), list(by_name.values()))
    if streams is None:
        raise KrmfnError("the dumps cannot be read, so nothing is written")
    sources = import_.sources_of(streams)
    imports = [import_.convert(source, run) for source in sources]
    conversions = [conversion for imported in imports for conversion in imported.conversions]
    configs, profiles = assembly.assemble(conversions, run)
    rest, parts = iter(configs), list[Cluster]()
    lines, findings = list[str](), list[Result]()
    for source, imported in zip(sources, imports, strict=True):
        manifests = [*islice(rest, len(imported.conversions)), *(kept.manifest for kept in imported.kept)]
        resources = rendered(manifests, run._replace(crds=source.crds), profiles)
        findings += import_.findings_of(imported, {item.ref.id: item.place for item in source.items})
        findings += [result for result in resources.results if result.severity == "error"]
        inventory = _inventory(by_name[source.name], source.name, cluster.label_keys(resources))
        parts.append(Cluster(source.name, import_.texts_of(manifests), inventory))
        lines.append(_summary(source, imported))
        if not inventory:
            lines.append(f"{source.name}: the dump has no nodes, so it gets no inventory")
    return _Import(parts, profiles, lines, findings)


def _summary(source: Source, imported: Import) -> str:
    """Return the line about a cluster: what takes the place of what, and what stays."""
    objects = [manifest for conversion in imported.conversions for manifest in conversion.objects]
    kinds = listed({kind: sum(1 for manifest in objects if manifest["kind"] == kind) for kind in _kinds(objects)})
    configs = counted(len(imported.conversions), "DeviceConfig")
    text = f"{source.name}: {configs} in place of {kinds}" if objects else f"{source.name}: no DeviceConfig"
    kept = f", {counted(len(imported.kept), 'object')} kept as written by hand" if imported.kept else ""
    number = imported.others - sum(1 for item in source.items if item.kind in _OF_INVENTORY)
    others = f", {counted(number, 'other object')} left out" if number else ""
    return f"{text}{kept}{others}"


def _kinds(manifests: Sequence[Manifest]) -> list[str]:
    return list(dict.fromkeys(str(manifest["kind"]) for manifest in manifests))


def _inventory(dump: str, name: str, keys: set[str]) -> bytes:
    """Return the NodeInventory of the nodes in a dump; b"" where it has none."""
    uids: set[str] = set()
    nodes = collecting.noting_uids(dumps.objects_of(dump), uids)
    kinds: set[object] = set()
    nodes = (manifest for manifest in nodes if _is_of_inventory(manifest, kinds))
    try:
        entries = collecting.collect(nodes, keys)
    except KrmfnError as failure:
        if "Node" not in kinds:
            return b""
        raise KrmfnError(*(f"{dump}: {line}" for line in failure.args)) from failure
    head = {"clusterUID": "".join(uids), "takenOn": rules.today()}
    return emit.dump(collecting.manifest(entries, name, keys, head)).encode()


def _is_of_inventory(manifest: Manifest, kinds: set[object]) -> bool:
    """Return True for an object of which an inventory is made, whose kind is added to `kinds`."""
    kind = manifest.get("kind")
    if kind in _OF_INVENTORY:
        kinds.add(kind)
    return kind in _OF_INVENTORY


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


def _next_steps(folder: str, by_name: Mapping[str, str]) -> list[str]:
    lines = ["", "next:", f"  krmfn check {shlex.quote(folder)}    # what the clusters would refuse or regret"]
    if by_name:
        pairs = [word for name, dump in by_name.items() for word in ("--live", f"{name}={dump}")]
        lines.append(f"  {shlex.join(['krmfn', 'adopt', folder, *pairs])}    # what a sync changes on each node")
    return [*lines, "  commit it; gitops/ in krmfn's repository has CI and Argo CD to copy, a page for each"]


COMMAND = Command(("gpus --cluster dev --cluster prod", "gpus --live lab=lab-dump.yaml"), _arguments, _run, exits=EXITS)
