"""The command `render`: the manifests that would reach the cluster, to stdout or into folders."""

import argparse
import os
from collections.abc import Mapping, Sequence

from krmfn import Item, KrmfnError, Ref
from krmfn.printing import some
from krmfn.typed import NamedTuple

from .. import options
from ..cluster import cluster_streams, telling
from ..cluster.deployed import Cluster, deployed_items
from ..command import Command, Context
from ..grouping import grouped
from ..paths import output
from ..settings import RENDER

_EMPTY = (
    "nothing in {} would reach a cluster; an empty output makes Argo CD delete what is there, so it is refused: pass "
    "--allow-empty if this is intended"
)


class Request(NamedTuple):
    """What is asked of `render`."""

    paths: tuple[str, ...]
    output: str
    output_dir: str | None
    replace: bool
    split: str | None
    include_inputs: bool
    allow_empty: bool


def _arguments(parser: argparse.ArgumentParser) -> None:
    options.add_paths(parser)
    text = "output format (default: yaml)"
    parser.add_argument("-o", "--output", choices=("yaml", "json"), default="yaml", help=text)
    text = "write a file per object and a kustomization.yaml to DIR; several clusters get a folder each, named by the "
    parser.add_argument("--output-dir", metavar="DIR", help=f"{text}last part of their names")
    text = "replace the files that the last render wrote into DIR (as listed in its kustomization.yaml), and no others"
    parser.add_argument("--replace", action="store_true", help=text)
    text = "write one folder per stage below DIR, for Flux to apply and remove the objects stage by stage"
    parser.add_argument("--split", choices=("stages",), help=text)
    parser.add_argument("--include-inputs", action="store_true", help="print the inputs as well")
    parser.add_argument("--allow-empty", action="store_true", help="succeed even if there is nothing to write")


def run(context: Context, args: Request) -> int:
    """Print or write the manifests of every cluster; with an error in any, of none."""
    if args.replace and not args.output_dir:
        raise KrmfnError("--replace needs the folder to replace; pass --output-dir DIR")
    if args.split and not args.output_dir:
        raise KrmfnError("--split needs a folder to write to; pass --output-dir DIR")
    written = _earlier_folders(args.paths, args.output_dir) if args.output_dir else frozenset[str]()
    streams = cluster_streams.render(context._replace(options=context.options._replace(written=written)), args.paths)
    if any(finding.severity == "error" for finding in streams.findings):
        telling.log(context, streams)
        return 2
    clusters = streams.clusters if args.output_dir else _once(streams.clusters)
    folders = _folders(args.output_dir, clusters) if args.output_dir or len(clusters) > 1 else []
    lists = [cluster.final for cluster in clusters]
    contents = [resources.items if args.include_inputs else deployed_items(resources) for resources in lists]
    # a list with errors has no objects, and its errors say why
    pairs = zip(clusters, contents, strict=True)
    empty = [cluster.name for cluster, items in pairs if not (items or args.allow_empty or cluster.final.failed)]
    telling.log(context, streams)
    for name in empty:
        context.log.failure(KrmfnError(_EMPTY.format(name)))
    if not streams.is_whole or empty:
        return 2
    if any(resources.failed for resources in lists):
        return 1
    changes = [change for resources in lists for change in resources.changes]
    if folders:
        _write(context, args, dict(zip(folders, contents, strict=True)), changes)
        return 0
    context.log.changes(changes)  # before the output: behind a pipe the order of the two would be chance
    output.write_stdout(output.dump_json(contents[0]) if args.output == "json" else output.dump(contents[0]))
    return 0


def _once(clusters: Sequence[Cluster]) -> Sequence[Cluster]:
    """Return only the first of several clusters that get the same roots, where each would get the same objects."""
    roots = {tuple((root.kind, root.path) for root in cluster.roots) for cluster in clusters}
    if len(clusters) < 2 or len(roots) > 1 or any(cluster.final.failed for cluster in clusters):
        return clusters
    return clusters[:1] if len({output.dump(deployed_items(cluster.final)) for cluster in clusters}) == 1 else clusters


def _write(
    context: Context, args: Request, contents: dict[str, list[Item]], changes: Sequence[tuple[str, Ref]]
) -> None:
    """Write the folders of all clusters, say what is new, and name the folders of clusters that are gone."""
    from ..paths import replacing

    folders = list(contents)
    contents = _by_stage(contents) if args.split else contents
    write = replacing.replace_folders if args.replace else output.write_folders
    write(contents, context.options.root)
    context.log.changes(changes)
    written = {*folders, *contents}
    for folder in replacing.stale_folders(args.output_dir, written) if args.replace and args.output_dir else ():
        message = f"{folder} was written by an earlier render, but no cluster is written there now; remove it"
        context.log.say(f"warning: {message}", "warning")


def _by_stage(items_by_folder: Mapping[str, Sequence[Item]]) -> dict[str, list[Item]]:
    """Return what each stage's folder holds; every stage has one, since Flux prunes nothing of a folder that is gone.

    Raises KrmfnError for a folder that was written without stages, since its files would stay.
    """
    from ..final.order import STAGES, stage_of

    contents: dict[str, list[Item]] = {}
    for folder, items in items_by_folder.items():
        if os.path.lexists(os.path.join(folder, output.KUSTOMIZATION)):  # noqa: PTH118
            raise KrmfnError(f"{folder} was written without --split; remove it, or pass another folder")
        by_stage = grouped((stage_of(item), item) for item in items)
        contents |= {os.path.join(folder, stage): by_stage.get(stage, []) for stage in STAGES}  # noqa: PTH118
    return contents


def _earlier_folders(inputs: Sequence[str], output_dir: str) -> frozenset[str]:
    """Return the folders below both a PATH and --output-dir that `render` wrote earlier: they are not read as input."""
    from ..paths import replacing

    paths = [f"{os.path.realpath(path).rstrip('/')}/" for path in inputs]
    written = map(os.path.realpath, replacing.rendered_folders(output_dir))
    return frozenset(folder for folder in written if folder.startswith(tuple(paths)))


def _folders(directory: str | None, clusters: Sequence[Cluster]) -> list[str]:
    """Return the folder of every cluster below --output-dir.

    Raises KrmfnError for several clusters without --output-dir, for two that would have one folder, and for a folder
    that is itself rendered.
    """
    names = [cluster.name for cluster in clusters]
    if not directory:
        raise KrmfnError(
            f"there are {len(names):,} clusters ({some(names, len(names))}), and only one can be written to stdout; "
            "pass --output-dir DIR to write a folder for each, or the PATH of one"
        )
    folders = [directory] * len(names)
    if len(names) > 1:
        last = [output.safe_name(os.path.basename(os.path.realpath(name))) for name in names]  # noqa: PTH119
        for at, name in enumerate(last):
            if name in last[:at]:
                raise KrmfnError(
                    f"{names[last.index(name)]} and {names[at]} would both be written to the folder {name}; give one "
                    f"of them another name with --cluster NAME={names[at]}"
                )
        folders = [os.path.join(directory, name) for name in last]  # noqa: PTH118
    sources = {root.path for cluster in clusters for root in cluster.roots}
    for folder in folders:
        if (real := os.path.realpath(folder)) in sources:
            other = os.path.join("rendered", os.path.basename(real))  # noqa: PTH118, PTH119
            raise KrmfnError(
                f"{folder} is the input itself: the output would be mixed with its own sources, and be read with "
                f"them the next time; pass a separate folder, such as --output-dir {other}"
            )
    return folders


_EXAMPLES = ("clusters/lab", "clusters/lab --output-dir rendered/lab", "- --prune never < objects.yaml")
COMMAND = Command(_EXAMPLES, _arguments, run, Request, RENDER, joins=True)
