"""The command `images`: every image that the nodes will pull, to be mirrored before they do."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from krmfn import ResourceList, Result, error
from krmfn.cli import files
from krmfn.cli.main import Command
from krmfn.results import printable, reference
from krmfn.yamltext import emit

from ..fleet import registry, wording
from ..fleet.coverage import coverage
from ..fleet.images import Image, Need, images
from . import fleets


class Images(NamedTuple):
    """The arguments of `images`."""

    paths: tuple[str, ...]
    nodes: str | None
    kernel: tuple[str, ...]
    missing_from: str | None
    format: str


def _arguments(parser: argparse.ArgumentParser) -> None:
    fleets.add_arguments(parser)
    help_ = "a kernel to come: print the images for it, too; may be given several times"
    parser.add_argument("--kernel", action="append", default=[], metavar="VERSION", help=help_)
    help_ = "fail when FILE, a list of what a registry holds (an image a line), lacks an image"
    parser.add_argument("--missing-from", metavar="FILE", help=help_)
    help_ = "imageset is an ImageSetConfiguration for oc-mirror (default: text)"
    parser.add_argument("--format", choices=tuple(FORMATS), default="text", help=help_)


def _run(lists: Mapping[str, ResourceList], args: Images) -> tuple[str, list[Result]]:
    there = registry.held(files.read_text(args.missing_from), args.missing_from) if args.missing_from else None
    needed: dict[str, Image] = {}
    results: list[Result] = []
    decided = False
    for path, whole, exclusive in fleets.read(lists, args.nodes, results):
        decided = True
        groups = coverage(whole.fleet.nodes, whole.drivers, exclusive, whole.theirs)
        for image in images(
            *(groups, whole.drivers, whole.workloads, whole.fleet.label_keys, args.kernel, whole.theirs)
        ):
            before = needed.get(image.name, Image(image.name, ()))
            needed[image.name] = before._replace(needs=before.needs + tuple(_in(path, need) for need in image.needs))
    wanted = [needed[name] for name in sorted(needed)]
    if there is not None:
        results += _missing(wanted, there, str(args.missing_from))
    return FORMATS[args.format](wanted) if decided else "", results


def _in(path: str, need: Need) -> Need:
    """Return the need with its nodes told apart from those of other clusters."""
    return need if need.nodes is None else need._replace(nodes=frozenset((path, node) for node in need.nodes))


def _missing(found: Sequence[Image], there: frozenset[str], file: str) -> list[Result]:
    """Return an error for each image that is not in the list and that no build in the cluster makes."""
    needed = {image.name: image for image in found if not image.built}
    results = []
    for name in registry.missing(needed, there):
        first, *others = (need.ref for need in needed[name].needs)
        more = f" and {len(others):,} more" if others else ""
        results.append(error(f"{name} is not in {file}; {first}{more} needs it", ref=first))
    return results


def text(found: Sequence[Image]) -> str:
    """Return aligned columns for people."""
    lines = [("IMAGE", "NODES", "MADE", "NEEDED BY")]
    for image in found:
        needs = [f"{need.ref} ({need.purpose})" for need in image.needs]
        number = "?" if image.nodes is None else f"{image.nodes:,}"
        made = "in the cluster" if image.built else "-"
        lines.append((printable(image.name), number, made, printable(wording.listing(needs, len(needs)))))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = ("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)
    return "".join(f"{line.rstrip()}\n" for line in padded)


def as_json(found: Sequence[Image]) -> str:
    """Return a JSON list; `nodes` is null where their number is not known."""
    entries = [
        {
            "image": image.name,
            "nodes": image.nodes,
            "madeInCluster": image.built,
            "neededBy": [{**reference(need.ref), "for": need.purpose} for need in image.needs],
        }
        for image in found
    ]
    return json.dumps(entries, indent=2, ensure_ascii=False) + "\n"


def imageset(found: Sequence[Image]) -> str:
    """Return an ImageSetConfiguration of what must be there before: images that the cluster makes are left out.

    Source: oc-mirror v2, ImageSetConfiguration (mirror.openshift.io/v2alpha1), mirror.additionalImages.
    """
    names = [{"name": image.name} for image in found if not image.built]
    return emit.dump(
        {
            "apiVersion": "mirror.openshift.io/v2alpha1",
            "kind": "ImageSetConfiguration",
            "mirror": {"additionalImages": names},
        }
    )


FORMATS: dict[str, Callable[[Sequence[Image]], str]] = {"text": text, "json": as_json, "imageset": imageset}

_EXAMPLES = (
    "clusters/lab",
    "clusters/* --format imageset > imageset.yaml",
    "clusters/lab --kernel 5.14.0-570.12.1.el9_6.x86_64 --missing-from held.txt",
)
IMAGES = Command("print every image that the nodes will pull, once", _arguments, Images, _run, _EXAMPLES, joins=True)
