"""The command `images`: every image that the nodes will pull, to be mirrored before they do."""

import argparse
from collections.abc import Callable, Iterator, Sequence

from krmfn import KrmfnError, Result, error, warning
from krmfn.printing import json_text, some
from krmfn.typed import Any
from krmfn.yamltext import emit

from .. import options
from ..cluster.deployed import Lists
from ..command import Command, Context
from ..exclusivity.node import Node
from ..fleet import images as fleet_images
from ..fleet import registry
from ..fleet.coverage import Group, by_driver
from ..fleet.drivers import Driver
from ..fleet.images import Image
from ..formats import columns
from ..formats.checked import tag_cluster
from ..kmm.resolution import resolver
from ..paths import files
from ..report import local
from ..report.parts import image_record, together
from ..run import run_of
from ..settings import LOOK
from . import clusters, moving

_WRONG = "it has errors (run `krmfn check` on it)"
"""Why the images of a cluster in a file are not all there."""


def _arguments(parser: argparse.ArgumentParser) -> None:
    options.add_paths(parser, live=True)
    moving.add_arguments(parser, "print the images for future kernels as well, where a node moves")
    help_ = "succeed even if a Module has no mapping for a --kernel"
    parser.add_argument("--allow-unmapped", action="store_true", help=help_)
    help_ = "fail if an image is not in FILE, which lists the images of a registry, one per line"
    parser.add_argument("--missing-from", metavar="FILE", help=help_)
    help_ = (
        "print each image with the one that it is a copy of: SOURCE is what the name of an image begins with where it "
        "is copied from, DESTINATION where the nodes pull it; may be repeated, and kustomize's `images` count, too"
    )
    parser.add_argument("--mirror", action="append", default=[], metavar="SOURCE=DESTINATION", help=help_)
    help_ = "print what has to be built, per kernel and architecture, as the matrix of a CI job (JSON)"
    parser.add_argument("--builds", action="store_true", help=help_)
    clusters.add_from(parser)
    help_ = (
        "output format; imageset is an ImageSetConfiguration for oc-mirror, skopeo what `skopeo sync --src yaml` "
        "reads; with --mirror both hold the sources (default: text)"
    )
    parser.add_argument("--format", choices=tuple(FORMATS), default="text", help=help_)


def _run(context: Context, args: Any) -> int:
    streams = clusters.read(context, args.paths, is_needed=not args.files, goes_on=True)
    return 2 if streams is None else clusters.printed(context, streams, *_list(streams.lists, args))


def _list(lists: Lists, args: Any) -> tuple[str, list[Result]]:
    there = registry.held(files.read_text(args.missing_from), args.missing_from) if args.missing_from else None
    _check(args)
    results: list[Result] = []
    needed: list[Sequence[Image]] = []
    built: list[dict[str, Any]] = []
    moves, where = moving.moves(args.kernel), moving.where(args.where)
    every: list[Node] = []
    for name, resources in lists.items():
        if resources.failed:
            continue
        joined = local.join(name, resources)
        results += tag_cluster(name, joined.about_nodes)
        if joined.wrong:
            continue
        whole, groups = joined.whole, joined.groups
        nodes = moving.moved(resources, name, moves, where)(whole.fleet)
        every += nodes
        kernels = _kernels(whole.drivers, groups, nodes, [one.kernel for one in moves])
        needed.append(fleet_images.images(groups, whole, kernels))
        built += fleet_images.builds(groups, whole.drivers, kernels) if args.builds else ()
        lacking = (_left_out(one, bool(moves)) for one in fleet_images.unknown_images(groups, whole.drivers))
        results += tag_cluster(name, lacking)
        if not args.allow_unmapped:
            results += tag_cluster(name, _unmapped(whole.drivers, kernels))
    moving.check_moved(moves, args.where, args.kernel, every)
    for part in clusters.elsewhere(args.files, lists):
        needed.append(part.images)
        if why := _WRONG if part.has_errors else part.unlisted:
            results.append(error(f"the images of {part.name} are not known: {why}"))
    wanted = together(needed)
    of_lists = (one for resources in lists.values() for one in resources.results)
    if not wanted and not any(one.severity == "error" for one in (*results, *of_lists)):
        raise KrmfnError(
            "no node would pull an image, so the list would be empty; check that this is the right PATH, and that "
            "the selectors match nodes (see `krmfn check`)"
        )
    if there is not None:
        results += _missing(wanted, there, str(args.missing_from))
    return _text(lists, args, wanted, built, there) if needed else "", results


def _check(args: Any) -> None:
    """Raise KrmfnError for options that say nothing together."""
    if args.kernel and args.files:
        files_have = "files list only the images for the kernels that the nodes have now"
        raise KrmfnError(f"--kernel cannot be combined with --from, whose {files_have}")
    if args.builds and (args.files or args.mirror):
        raise KrmfnError("--builds cannot be combined with --mirror or --from, whose files do not say what is built")
    if args.where and not args.kernel:
        raise KrmfnError("--where needs --kernel, which it applies to some nodes")


def _text(
    lists: Lists, args: Any, wanted: Sequence[Image], built: Sequence[dict[str, Any]], there: frozenset[str] | None
) -> str:
    """Return what is printed: the images, where they are copied from, or what has to be built and is not there."""
    if args.builds:
        lacking = {*registry.missing((one["image"] for one in built), there or frozenset())}
        return json_text(fleet_images.matrix(one for one in built if one["image"] in lacking), 2) + "\n"
    replaced = [one for resources in lists.values() for one in run_of(resources).transformed.images]
    known = [*map(fleet_images.mirror, args.mirror), *((one.name, one.new_name) for one in replaced if one.new_name)]
    copied = (one.name for one in wanted if not one.built)
    pairs = {name: source for source, name in fleet_images.pairs(copied, known)}
    if args.mirror and args.format == "text":
        return _lines([("SOURCE", "DESTINATION"), *((pairs[name], name) for name in pairs)])
    if args.mirror and args.format == "json":
        return json_text([{"source": source, "destination": name} for name, source in pairs.items()], 2) + "\n"
    if args.mirror:
        wanted = [one._replace(name=pairs[one.name]) for one in wanted if one.name in pairs]
    return FORMATS[args.format](wanted)


def _lines(rows: Sequence[Sequence[str]]) -> str:
    return "".join(f"{line}\n" for line in columns.lines(rows))


def _left_out(lacking: Result, is_future: bool) -> Result:
    """Return what the list lacks; it is a warning where kernels to come were named, and theirs may be among them."""
    if is_future:
        return warning(lacking.message, ref=lacking.ref)
    return lacking._replace(message=f"{lacking.message}; pass a future kernel with --kernel VERSION")


def _kernels(
    drivers: Sequence[Driver], groups: Sequence[Group], nodes: Sequence[Node], future: Sequence[str]
) -> list[list[str]]:
    """Return for each Module the kernels to come of the nodes that it selects; all of them where no node is known."""
    if not (nodes and future):
        return [list(future) for _ in drivers]
    becomes = {(node.cluster, node.name): node.kernel for node in nodes}
    found = []
    for _, selected in by_driver(groups, drivers):
        kernels = {becomes[node.cluster, node.name] for group, _ in selected for node in group.nodes}
        found.append([kernel for kernel in dict.fromkeys(future) if kernel in kernels])
    return found


def _unmapped(drivers: Sequence[Driver], future: Sequence[Sequence[str]]) -> Iterator[Result]:
    """Yield an error per Module that has no image for some of its kernels to come."""
    for driver, kernels in zip(drivers, future, strict=True):
        resolve = resolver(driver.module)
        without = [kernel for kernel in kernels if driver.loads and resolve(kernel).mapping is None]
        if without:
            yield clusters.unmapped(driver.ref, some(without, len(without)), "there is no image for it")


def _missing(found: Sequence[Image], there: frozenset[str], file: str) -> list[Result]:
    """Return an error for each image that is not in the list and that no build in the cluster makes."""
    needed = {image.name: image for image in found if not image.built}
    results = []
    for name in registry.missing(needed, there):
        first, *others = dict.fromkeys(ref for ref, _ in needed[name].needs)
        need = "needs" if len(others) == 1 else "need"
        more = f"; {some(map(str, others), len(others))} {need} it, too" if others else ""
        results.append(error(f"needs {name}, which is not in {file}{more}", ref=first))
    return results


def text(found: Sequence[Image]) -> str:
    """Return aligned columns for people."""
    rows = [("IMAGE", "NODES", "MADE", "NEEDED BY")]
    for image in found:
        needs = [f"{ref} ({purpose})" for ref, purpose in image.needs]
        number = "?" if image.nodes is None else f"{image.nodes:,}"
        rows.append((image.name, number, "in the cluster" if image.built else "-", some(needs, len(needs))))
    return _lines(rows)


def imageset(found: Sequence[Image]) -> str:
    """Return an ImageSetConfiguration of what must be there before: images that the cluster makes are left out.

    Source: oc-mirror v2, ImageSetConfiguration (mirror.openshift.io/v2alpha1), mirror.additionalImages.
    """
    names = [{"name": image.name} for image in found if not image.built]
    head = {"apiVersion": "mirror.openshift.io/v2alpha1", "kind": "ImageSetConfiguration"}
    return emit.dump({**head, "mirror": {"additionalImages": names}})


FORMATS: dict[str, Callable[[Sequence[Image]], str]] = {
    "text": text,
    "json": lambda found: json_text([*map(image_record, found)], 2) + "\n",
    "imageset": imageset,
    "skopeo": lambda found: emit.dump(fleet_images.skopeo(dict.fromkeys(one.name for one in found if not one.built))),
}
"""The formats of the list. In JSON `nodes` is null where their number is not known; oc-mirror and `skopeo sync` get no
images that the cluster makes."""

_EXAMPLES = (
    "clusters/lab",
    "clusters/* --format imageset > imageset.yaml",
    "clusters/lab --kernel 5.14.0-570.12.1.el9_6.x86_64 --missing-from held.txt",
    "clusters/* --mirror registry.example.com=mirror.lab:5000 --format skopeo > sync.yaml",
    "clusters/* --builds --missing-from held.txt > matrix.json",
    "--from nodes-*.json --missing-from held.txt",
)
COMMAND = Command(*(_EXAMPLES, _arguments, _run, LOOK), joins=True)
