"""The command `report`: a fleet as one page to look at."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from krmfn import ResourceList, Result

from ..deviceconfig.reading import domain_of
from ..paths import files
from ..plan import Comparison
from ..program import Command
from ..report.links import link
from . import fleets


class Report(NamedTuple):
    """The arguments of `report`."""

    paths: tuple[str, ...]
    output: str | None
    base: str | None
    files: tuple[str, ...]
    compared: tuple[Comparison, ...]


def _arguments(parser: argparse.ArgumentParser) -> None:
    help_ = "write the page to FILE, all of it or nothing (default: stdout)"
    parser.add_argument("-o", "--output", metavar="FILE", help=help_)
    fleets.add_from(parser)


def _run(lists: Mapping[str, ResourceList], args: Report) -> tuple[str, list[Result]]:
    from importlib.metadata import version

    # here: no other command has a template to fill in
    from ..report.judged import refused
    from ..report.local import part
    from ..report.page import page
    from .catalogue import rules

    parts = [part(name, resources, domain_of) for name, resources in lists.items()]
    parts += fleets.elsewhere(args.files, lists)
    text = page(parts, {rule.id: rule for rule in rules()}, version("krmfn"), args.compared, _links(args.output))
    # those of the lists count, and were written, by themselves
    before = {str(result) for resources in lists.values() for result in resources.results}
    found = (*(finding for one in parts for finding in one.findings), *refused(args.compared))
    results = [finding for finding in found if str(finding) not in before]
    if args.output is None:
        return text, results
    files.write_text(args.output, text)
    return "", results


def _links(output: str | None) -> Callable[[str], str]:
    """Return the function that gives the link to a file from the page; "" for one that is not below the page's folder.

    Nobody knows where a page from stdout will be.
    """
    if output is None:
        return lambda name: ""
    folder = str(Path(output).parent)
    return cache(lambda name: link(files.below(folder, name)))


_EXAMPLES = (
    "clusters/lab -o report.html",
    "clusters/lab --base origin/main -o report.html",
    "clusters/* > report.html",
    "--from nodes-*.json check-*.json -o report.html",
)
REPORT = Command(
    "write one HTML page about a fleet",
    _arguments,
    Report,
    _run,
    _EXAMPLES,
    is_judged=True,
    compares=True,
    joins=True,
    reads_paths=lambda args: not args.files,
)
