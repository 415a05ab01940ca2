"""The command `images`: every image that the nodes will pull, to be mirrored before they do."""

import argparse
from collections.abc import Callable, Iterator, Sequence

from krmfn import KrmfnError, Result, error, warning
from krmfn.printing import json_text, some
from krmfn.typed import Any, NamedTuple
from krmfn.yamltext import emit

from .. import options
from ..cluster.deployed import Lists
from ..command import LACKS, Command, Context
from ..exclusivity.node import Node
from ..fleet import image_copies, registry
from ..fleet import images as fleet_images
from ..fleet.coverage import Group, by_driver
from ..fleet.drivers import Driver
from ..fleet.images import Image
from ..formats import columns
from ..formats.checked import tag_cluster
from ..kmm.resolution import resolver
from ..paths import files
from ..report import cluster_view
from ..report.parts import image_record, merge_images
from ..run import placed, run_of
from ..settings import LOOK
from . import clusters, moving

_EMPTY = (
    "no node would pull an image, so the list would be empty; check that this is the right PATH, and that the "
    "selectors match nodes (see `krmfn check`)"
)
_WRONG = "it has errors (run `krmfn check` on it)"
"""Why not all images of a cluster in a file of --from are known."""


class Request(NamedTuple):
    """What is asked of `images`."""

    paths: tuple[str, ...]
    kernel: tuple[str, ...]
    where: tuple[str, ...]
    allow_unmapped: bool
    missing_from: str | None
    mirror: tuple[str, ...]
    builds: bool
    files: tuple[str, ...]
    format: str


def _arguments(parser: argparse.ArgumentParser) -> None:
    options.add_paths(parser, live=True)
    moving.add_arguments(parser, "also print the images for future kernels")
    help_ = "succeed even if a Module has no mapping for a --kernel"
    parser.add_argument("--allow-unmapped", action="store_true", help=help_)
    help_ = "fail if an image is not in FILE, which lists the images of a registry, one per line"
    parser.add_argument("--missing-from", metavar="FILE", help=help_)
    help_ = "print each image with its source: an image whose name begins with DESTINATION is a copy of the one that "
    help_ += "begins with SOURCE; may be repeated, and kustomize's `images` count, too"
    parser.add_argument("--mirror", action="append", default=[], metavar="SOURCE=DESTINATION", help=help_)
    help_ = "print what has to be built, per kernel and architecture, as the matrix of a CI job (JSON)"
    parser.add_argument("--builds", action="store_true", help=help_)
    clusters.add_from(parser)
    help_ = "output format; imageset is an ImageSetConfiguration for oc-mirror, skopeo what `skopeo sync --src yaml` "
    help_ += "reads; with --mirror both hold the sources (default: text)"
    parser.add_argument("--format", choices=tuple(FORMATS), default="text", help=help_)


def _run(context: Context, args: Request) -> int:
    streams = clusters.read(context, args.paths, is_needed=not args.files, goes_on=True)
    return 2 if streams is None else clusters.print_text(context, streams, *_list(streams.lists, args))


def _list(lists: Lists, args: Request) -> tuple[str, list[Result]]:
    """Return the text about the images of all clusters, and the findings about them."""
    file = args.missing_from
    names = registry.read_images(files.read_text(file), file) if file else None
    _check(args)
    results: list[Result] = []
    image_lists: list[Sequence[Image]] = []
    builds: list[dict[str, Any]] = []
    moves, where = moving.moves(args.kernel), moving.row_filter(args.where)
    all_nodes: list[Node] = []
    for name, resources in lists.items():
        if resources.failed:
            continue
        view = cluster_view.join(name, resources)
        results += tag_cluster(name, view.node_findings)
        if view.errors:
            continue
        drivers, groups = view.cluster.drivers, view.groups
        nodes = moving.mover(resources, name, moves, where)(view.cluster.fleet)
        all_nodes += nodes
        kernels = _kernels(drivers, groups, nodes, [move.kernel for move in moves])
        image_lists.append(fleet_images.images(groups, view.cluster, kernels))
        builds += fleet_images.builds(groups, drivers, kernels) if args.builds else ()
        unknown = fleet_images.unknown_images(groups, drivers)
        results += tag_cluster(name, (_omission(finding, bool(moves)) for finding in unknown))
        results += tag_cluster(name, fleet_images.unjudged_images(groups, drivers))
        if not args.allow_unmapped:
            results += tag_cluster(name, _unmapped(drivers, kernels))
    moving.check_moves(moves, args.where, args.kernel, all_nodes)
    for part in clusters.read_outputs(args.files, lists):
        image_lists.append(part.images)
        if reason := _WRONG if part.has_errors else part.unlisted:
            results.append(error(f"the images of {part.name} are not known: {reason}"))
    images = merge_images(image_lists)
    findings = (*results, *(finding for resources in lists.values() for finding in placed(resources)))
    if not images and not any(finding.severity == "error" for finding in findings):
        raise KrmfnError(_EMPTY)
    if file and names is not None:
        results += _missing(images, names, file)
    return _text(lists, args, images, builds, names) if image_lists else "", results


def _check(args: Request) -> None:
    """Raise KrmfnError for options that cannot be combined."""
    if args.kernel and args.files:
        files_have = "files list only the images for the kernels that the nodes have now"
        raise KrmfnError(f"--kernel cannot be combined with --from, whose {files_have}")
    if args.builds and (args.files or args.mirror):
        raise KrmfnError("--builds cannot be combined with --mirror or --from, whose files do not say what is built")
    if args.where and not args.kernel:
        raise KrmfnError("--where needs --kernel, which it applies to some nodes")


def _text(
    lists: Lists, args: Request, images: Sequence[Image], builds: Sequence[dict[str, Any]], names: frozenset[str] | None
) -> str:
    """Return what is printed: the images, where they are copied from, or what has to be built.

    `names` are the images that a registry has, None without --missing-from.
    """
    if args.builds:
        missing = {*registry.missing((build["image"] for build in builds), names or frozenset())}
        return json_text(fleet_images.matrix(build for build in builds if build["image"] in missing), 2) + "\n"
    renames = (rename for resources in lists.values() for rename in run_of(resources).transformed.images)
    mirrors = [*map(image_copies.mirror, args.mirror), *((r.name, r.new_name) for r in renames if r.new_name)]
    copies = (image.name for image in images if not image.built)
    sources = {name: source for source, name in image_copies.pairs(copies, mirrors)}
    if args.mirror and args.format == "text":
        return _lines([("SOURCE", "DESTINATION"), *((source, name) for name, source in sources.items())])
    if args.mirror and args.format == "json":
        return json_text([{"source": source, "destination": name} for name, source in sources.items()], 2) + "\n"
    if args.mirror:
        images = [image._replace(name=sources[image.name]) for image in images if image.name in sources]
    return FORMATS[args.format](images)


def _lines(rows: Sequence[Sequence[str]]) -> str:
    return "".join(f"{line}\n" for line in columns.lines(rows, columns.terminal_width()))


def _omission(finding: Result, is_future: bool) -> Result:
    """Return a finding about images that the list lacks: a warning where kernels to come, perhaps theirs, are named."""
    if is_future:
        return warning(finding.message, ref=finding.ref, remedy=finding.remedy)
    option = "pass a future kernel with --kernel VERSION"
    return finding._replace(remedy=f"{finding.remedy}, or {option}" if finding.remedy else option)


def _kernels(
    drivers: Sequence[Driver], groups: Sequence[Group], nodes: Sequence[Node], future: Sequence[str]
) -> list[list[str]]:
    """Return for each Module the kernels to come of the nodes that it selects; all of them where no node is known."""
    if not (nodes and future):
        return [list(future) for _ in drivers]
    kernel_of = {(node.cluster, node.name): node.kernel for node in nodes}
    rows = []
    for _, selected in by_driver(groups, drivers):
        kernels = {kernel_of[node.cluster, node.name] for group, _ in selected for node in group.nodes}
        rows.append([kernel for kernel in dict.fromkeys(future) if kernel in kernels])
    return rows


def _unmapped(drivers: Sequence[Driver], future: Sequence[Sequence[str]]) -> Iterator[Result]:
    """Yield an error per Module that has no image for some of its kernels to come."""
    for driver, kernels in zip(drivers, future, strict=True):
        resolve = resolver(driver.module)
        missing = [kernel for kernel in kernels if driver.loads and resolve(kernel).mapping is None]
        if missing:
            yield clusters.mapping_error(driver.ref, some(missing, len(missing)), "there is no image for it")


def _missing(images: Sequence[Image], names: frozenset[str], file: str) -> list[Result]:
    """Return an error for each image that is not among `names`, those in a file, and that no build makes."""
    needed = {image.name: image for image in images if not image.built}
    results = []
    for name in registry.missing(needed, names):
        first, *others = dict.fromkeys(ref for ref, _ in needed[name].needs)
        verb = "needs" if len(others) == 1 else "need"
        addition = f"; {some(map(str, others), len(others))} {verb} it, too" if others else ""
        results.append(error(f"needs {name}, which is not in {file}{addition}", ref=first))
    return results


def text(images: Sequence[Image]) -> str:
    """Return aligned columns for people."""
    rows = [("IMAGE", "NODES", "MADE", "NEEDED BY")]
    for image in images:
        needs = [f"{ref} ({purpose})" for ref, purpose in image.needs]
        number = "?" if image.nodes is None else f"{image.nodes:,}"
        number += f" ({image.waiting:,} waiting)" if image.waiting else ""
        rows.append((image.name, number, "in the cluster" if image.built else "-", some(needs, len(needs))))
    return _lines(rows)


def imageset(images: Sequence[Image]) -> str:
    """Return an ImageSetConfiguration of the images that must be mirrored, without those that the cluster builds.

    Source: oc-mirror v2, ImageSetConfiguration (mirror.openshift.io/v2alpha1), mirror.additionalImages.
    """
    names = [{"name": image.name} for image in images if not image.built]
    head = {"apiVersion": "mirror.openshift.io/v2alpha1", "kind": "ImageSetConfiguration"}
    return emit.dump({**head, "mirror": {"additionalImages": names}})


def skopeo(images: Sequence[Image]) -> str:
    """Return the sources for `skopeo sync`, without images that the cluster builds."""
    return emit.dump(image_copies.skopeo(dict.fromkeys(image.name for image in images if not image.built)))


FORMATS: dict[str, Callable[[Sequence[Image]], str]] = {
    "text": text,
    "json": lambda images: json_text([*map(image_record, images)], 2) + "\n",
    "imageset": imageset,
    "skopeo": skopeo,
}
"""The formats of the list. In JSON `nodes` is null where their number is not known."""

_EXAMPLES = (
    "clusters/lab",
    "clusters/* --format imageset > imageset.yaml",
    "clusters/lab --kernel 5.14.0-570.12.1.el9_6.x86_64 --missing-from held.txt",
    "clusters/* --mirror registry.example.com=mirror.lab:5000 --format skopeo > sync.yaml",
    "clusters/* --builds --missing-from held.txt > matrix.json",
    "--from nodes-*.json --missing-from held.txt",
)
COMMAND = Command(_EXAMPLES, _arguments, _run, Request, LOOK, joins=True, exits=LACKS)
