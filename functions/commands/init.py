"""The command `init`: a repository that works, from nothing, or from dumps of the clusters as they are."""

import argparse
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from krmfn import KrmfnError, Manifest
from krmfn.printing import printable
from krmfn.schema import check
from krmfn.typed import NamedTuple
from krmfn.yamltext import emit

from ..cluster import config
from ..cluster.config_schema import SCHEMA
from ..command import Command, Context
from ..importing import beginnings, recipes, vendors
from ..importing.beginnings import FIRST_FILES, Cluster, File
from ..options import RunOptions
from ..paths import files, output, roots
from ..paths.whole import all_or_nothing
from ..settings import ANSWER
from ..sources import Sources
from . import adopt, init_ci, init_dump, init_engines, init_layout, init_next, init_state
from .init_imports import Imported, imported_of
from .init_layout import Layout

EXITS = "exit code: 0 written, 1 written, and what runs has an error, 2 nothing written"


class Request(NamedTuple):
    """What is asked of `init`."""

    folder: str
    cluster: tuple[str, ...]
    vendor: tuple[str, ...]
    live: tuple[str, ...]
    kubectl: bool
    plain: bool
    ci: str | None
    pin: str | None


def _arguments(parser: argparse.ArgumentParser) -> None:
    help_ = "the folder of the repository; existing files stay as they are (default: .)"
    parser.add_argument("folder", nargs="?", default=".", metavar="DIR", help=help_)
    help_ = "a cluster of the repository; may be repeated (default: one folder for one cluster)"
    parser.add_argument("--cluster", action="append", default=[], metavar="NAME", help=help_)
    known = ", ".join(vendors.names())
    help_ = f"begin with the Profile of a vendor's product and a first config of its kind ({known}); may be repeated"
    parser.add_argument("--vendor", action="append", default=[], metavar="NAME", help=help_)
    help_ = "import the Modules, DaemonSets and nodes of a running cluster from a dump (see --kubectl); may be repeated"
    parser.add_argument("--live", action="append", default=[], metavar="NAME=DUMP", help=help_)
    help_ = "print a shell script that writes such a dump with kubectl, and exit"
    parser.add_argument("--kubectl", action="store_true", help=help_)
    parser.add_argument("--plain", action="store_true", help="write no kustomizations; krmfn needs no kustomize then")
    help_ = "the server for the CI files (default: the one of the repository's CI files or remote)"
    parser.add_argument("--ci", choices=init_ci.SERVERS, default=None, help=help_)
    help_ = "the repository and commit of krmfn that CI installs (default: those of the krmfn that runs)"
    parser.add_argument("--pin", metavar="URL@COMMIT", help=help_)


class _Place(NamedTuple):
    """Where the files go."""

    folder: str
    """DIR."""
    top: str
    """The root of its Git work tree, or DIR itself where there is none."""
    is_repository: bool
    layout: Layout = Layout()
    """Empty where DIR gets a layout of its own."""

    @property
    def prefix(self) -> str:
        """Return DIR from the root; "" for the root itself."""
        prefix = os.path.relpath(os.path.realpath(self.folder), self.top)
        return "" if prefix == os.curdir else prefix


def _run(context: Context, args: Request) -> int | str:
    if args.kubectl:
        return init_dump.script()
    first = {name: text for vendor in args.vendor for name, text in vendors.files(vendor).items()} or FIRST_FILES
    by_name = _dumps(args.live)
    names = list(dict.fromkeys((*by_name, *args.cluster)))
    _check_names(names)
    place = _place(context, args.folder)
    if place.layout.roots and not names and args.vendor:
        names = [*place.layout.roots]
        if len(names) > 1:
            raise KrmfnError(f"which cluster gets it? pass --cluster; there are {', '.join(names)}")
    state = init_state.lines(place.top, list(by_name.values())) if place.is_repository else init_state.NO_REPOSITORY
    imported = imported_of(context, by_name) if by_name else Imported([], None, [], [])
    known = {part.name: part for part in imported.clusters}
    parts = [known.get(name, Cluster(name)) for name in names]
    planned, notes = _planned(place, parts, imported.profiles, first, args.plain)
    has_nodes = any(part.inventory for part in parts)
    if place.is_repository:
        has_nodes = has_nodes or bool(init_layout.inventories(place.top))
        ci = init_ci.pipeline(place.top, args.ci, args.pin, has_nodes)
        planned, notes = [*planned, *ci.files], [*notes, *ci.lines]
    if not planned and not names:
        raise KrmfnError("nothing is left to write here; name a cluster with --cluster, or a server with --ci", *notes)
    lines = [*_written(place, planned), *notes]
    context.log.findings(imported.findings)
    lines += init_state.undeployed(context, place.top, place.layout, parts) if place.layout.engine else ()
    lines += _adopted(context, args.folder, by_name) if by_name else ()
    paths = [file.path for file in planned]
    bare = [part.name for part in parts if not part.inventory]
    base = os.path.relpath(place.top) if place.layout.roots else args.folder
    without_nodes = init_next.folders(base, bare, paths) if bare or not has_nodes else ()
    steps = init_next.steps(args.folder, by_name, paths, without_nodes)
    output.write_stdout("".join(f"{printable(line)}\n" for line in (*imported.lines, *lines, *state, *steps)))
    return int(any(finding.severity == "error" for finding in imported.findings))


def _check_names(names: Sequence[str]) -> None:
    for name in names:
        if check({"clusters": {name: [name]}}, SCHEMA):
            rule = "begin with a letter or digit, and use letters, digits, dots, dashes and underscores"
            raise KrmfnError(f"{name!r} cannot be the name of a cluster; {rule}")


def _place(context: Context, folder: str) -> _Place:
    """Return where the files go. Raises KrmfnError for a folder that the layout of its repository would not know."""
    if not folder:
        raise KrmfnError("DIR is empty; name the folder of the repository, or leave it out for this one")
    real = os.path.realpath(folder)
    top = roots.root_of(real)
    if not (top and os.path.lexists(Path(top, ".git"))):
        return _Place(folder, top or real, False)
    layout = init_layout.layout_of(top, context.log)
    if top == real:
        return _Place(folder, top, True, layout)
    if layout.engine:
        message = (
            f"the objects of {layout.engine} say which folder a cluster gets, so init adds to the whole repository"
        )
        raise KrmfnError(f"{message}: leave DIR out at its root, {os.path.relpath(top)}")
    return _Place(folder, top, True)


def _planned(
    place: _Place, parts: Sequence[Cluster], profiles: Manifest | None, first: Mapping[str, bytes], is_plain: bool
) -> tuple[Sequence[File], Sequence[str]]:
    """Return the files that are to be written, and what else is to be said."""
    layout = place.layout
    if not layout.roots:
        return beginnings.files(parts, profiles, place.prefix, first, is_plain), []
    spots = init_layout.spots_of(layout, place.top, [part.name for part in parts])
    candidates = init_layout.inventories(place.top)
    present = {
        part.name: init_layout.inventory_of(place.top, candidates, part.name) for part in parts if part.inventory
    }
    fresh = [part._replace(inventory=b"") if present.get(part.name) else part for part in parts]
    planned, notes = beginnings.added(fresh, profiles, spots, first)
    planned += init_engines.applications(layout, place.top, [*spots], spots)
    notes += [
        f"{path} has the nodes of {name}, and stays; `krmfn inventory` renews it"
        for name, path in present.items()
        if path
    ]
    new = {name: [spot.folder] for name, spot in spots.items() if name not in layout.roots}
    if new and not layout.engine:
        text = emit.dump({"clusters": new}).splitlines()
        notes += ["", f"{os.path.relpath(layout.streams.config.name)} is there; let it have these lines:", *text]
    return planned, notes


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


def _written(place: _Place, planned: Sequence[File]) -> list[str]:
    """Write the files, all or none; return a line about each. Raises KrmfnError where one of them exists.

    The configuration file and those for CI stand in the root of the repository, and so do those of a layout that is
    there. A configuration file that is there stays, and what it should have is among the lines.
    """
    lines, new = list[str](), list[tuple[str, bytes]]()
    for file in planned:
        is_of_root = bool(place.layout.roots) or file.path == config.NAME or file.path in recipes.PATHS
        path = os.path.join(place.top if is_of_root else place.folder, file.path)  # noqa: PTH118
        label = os.path.relpath(path)
        if file.path == config.NAME and os.path.lexists(path):
            lines += ["", f"{label} is there; let it have these lines:", *file.text.decode().splitlines()]
            continue
        if os.path.lexists(path):
            raise KrmfnError(f"{label} is there, and nothing is written over it; pass another folder")
        new.append((path, file.text))
        lines.append(f"{label}: {file.purpose}")
    with all_or_nothing() as written:
        for path, text in new:
            folder = Path(path).parent
            with files.errors_of(folder):
                written.make(folder)
            written.write(Path(path), text)
    return lines


def _adopted(context: Context, folder: str, by_name: Mapping[str, str]) -> list[str]:
    """Return whether Git can take over in each cluster, as `adopt` says it; a line says where that is not known."""
    live = tuple(f"{name}={dump}" for name, dump in by_name.items())
    quiet = context.log._replace(quiet=True)
    try:
        known = adopt.conclusions(Context(RunOptions(live=live), ANSWER, quiet, Sources()), [folder])
    except KrmfnError as failure:
        return ["", f"whether Git can take over is not known yet: {failure.lines()[0]}"]
    return ["", *(known or ["whether Git can take over is not known yet: what was written cannot be rendered here"])]


_EXAMPLES = (
    "gpus --cluster dev --cluster prod",
    "gpus --vendor amd-gpu",
    "gpus --live lab=lab-dump.yaml",
)
COMMAND = Command(_EXAMPLES, _arguments, _run, Request, exits=EXITS)
