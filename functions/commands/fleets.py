"""The clusters of a command's PATHs: their nodes, Modules and pods, joined."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterator, Mapping, Sequence

from krmfn import KrmfnError, ResourceList, Result

from ..deviceconfig.reading import domain_of
from ..fleet import cluster, rules
from ..fleet.cluster import Cluster
from ..fleet.nodes import Fleet
from ..formats.checked import of_cluster
from ..paths import files
from ..rendering import function_config
from ..report.parts import Part


def add_from(parser: argparse.ArgumentParser) -> None:
    """Add the option that names what other machines have found."""
    help_ = (
        "output files of `nodes --format json` and `check --format json`, for example from other machines; their "
        "clusters are included"
    )
    parser.add_argument("--from", dest="files", nargs="+", action="extend", default=[], metavar="FILE", help=help_)


def elsewhere(names: Sequence[str], here: Collection[str]) -> list[Part]:
    """Return the clusters that files of --from are about. Raises KrmfnError for one of them that is here, too."""
    from ..report import elsewhere as files_of  # here: few name any

    parts = files_of.read(files_of.File(name, files.read_text(name)) for name in names)
    for part in parts:
        if part.name in here:
            raise KrmfnError(
                f"the cluster {part.name} is both in a file of --from and among the PATHs; remove one of the two"
            )
    return parts


def read(lists: Mapping[str, ResourceList], results: list[Result]) -> Iterator[tuple[str, Cluster, bool]]:
    """Yield the name of each cluster, the cluster, and whether node exclusivity is on there.

    Findings about nodes are added to `results`. A cluster with an error among them is left out, since nothing may be
    concluded from its nodes, and so is a list with errors, for which nothing was generated.
    """
    for path, resources in lists.items():
        if not resources.failed:
            mode = function_config.read(resources)[0].exclusivity
            whole = cluster.of_list(resources, domain_of)
            problems = list(rules.about_input(whole, rules.today()))
            problems += cluster.not_held(whole)
            results += of_cluster(path, problems)
            if not any(problem.severity == "error" for problem in problems):
                yield path, whole, mode != "off"


def check_nodes(fleet: Fleet, path: str, keys: Collection[str]) -> None:
    """Raise KrmfnError when a cluster has no nodes, or when labels are not known of them."""
    if not fleet.nodes:
        raise KrmfnError(f"no nodes are known in {path}; add a NodeInventory (`krmfn inventory`), or pass --live DUMP")
    if missing := fleet.unheld(keys):
        labels = ",".join(sorted(keys))
        raise KrmfnError(f"{missing}; regenerate it with `krmfn inventory`, adding `--labels {labels}` to its options")


def label(text: str) -> tuple[str, str]:
    """Return the key and the value of `KEY=VALUE`. Raises KrmfnError for anything else."""
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise KrmfnError(f"{text!r} is not a label; write it as KEY=VALUE, or as KEY= if the value is empty")
    return key, value
