"""What commands have in common that print something about the clusters of their PATHs, and what makes them fail."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from krmfn import KrmfnError, Ref, ResourceList, Result, error
from krmfn.printing import some
from krmfn.results import placed
from krmfn.typed import TYPE_CHECKING

from ..cluster import cluster_streams
from ..cluster.deployed import Clusters
from ..command import Context
from ..formats.checked import names_of, tag_cluster
from ..kmm.module import MODULE_KINDS
from ..paths import files, output

if TYPE_CHECKING:
    from ..plan import Comparison
    from ..report.local import Joined
    from ..report.parts import Part

_EFFECTS = {"lost": "lost", "reload": "reloaded", "blocked": "blocked"}
"""Words about nodes, with the effects of a change that they name; what is not known may be any of them."""


def read(context: Context, paths: Sequence[str], is_needed: bool = True, goes_on: bool = False) -> Clusters | None:
    """Return the clusters of some PATHs; None, with all findings logged, when something of them cannot be read.

    Without any PATH it is the working folder where one `is_needed`, else there are no clusters. What is found in a
    cluster is logged, and what stands in the files can still be looked at. With `goes_on` a cluster that cannot be read
    is left out beside others that can.
    """
    is_asked = paths or context.options.cluster or is_needed
    streams = cluster_streams.render(context, paths) if is_asked else cluster_streams.no_clusters(context)
    if not streams.is_whole:
        cluster_streams.log(context, streams)
        errors = [one for one in streams.findings if one.severity == "error"]
        unread = {one.name for one in (*streams.clusters, *streams.unassigned) if not one.is_whole}
        lost = unread.union(*map(names_of, errors))
        whole = [one for one in streams.clusters if one.name not in lost]
        if not goes_on or not whole or not all(map(names_of, errors)):
            return None
        names = sorted(lost)
        context.log.say(f"left out, since not all of it can be read: {', '.join(names)}", "error")
        return streams._replace(clusters=whole, unread=tuple(names))
    cluster_streams.log_excluded(context, streams)
    shown = {name: one for name, one in streams.lists.items() if one.failed or context.intent.logs_advice}
    context.log.findings(
        [*streams.findings, *streams.unassigned_findings, *cluster_streams.findings_of(context, streams, shown)]
    )
    return streams


def printed(context: Context, streams: Clusters, text: str, results: Iterable[Result]) -> int:
    """Print a text about some clusters, log the findings about them, and return the exit code."""
    results = placed(results)
    if len(streams.clusters) > 1:
        from ..formats import grouped  # late: of one cluster nothing is told for several

        results = grouped.lines(results, streams.lists)
    context.log.findings(results)
    output.write_stdout(text)
    if not streams.is_whole:
        return 2
    failed = any(resources.failed for resources in streams.lists.values())
    return int(failed or any(result.severity == "error" for result in results))


def unmapped(module: Ref, kernels: str, so: str) -> Result:
    """Return the error that a Module has no mapping for some kernels, and so what."""
    remedy = "add a mapping, or pass --allow-unmapped if this is intended"
    return error(f"no kernel mapping for {kernels}, so {so}; {remedy}", ref=module)


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

    parts = files_of.read((name, files.read_text(name)) for name in names)
    for part in parts:
        if part.name in here:
            raise KrmfnError(
                f"the cluster {part.name} is both in a file of --from and among the PATHs; remove one of the two"
            )
    return parts


def uncovered(lists: Mapping[str, ResourceList], words: Collection[str]) -> Iterator[Result]:
    """Yield an error for nodes without a driver, and for a cluster of which that is not known, where it is asked for.

    What has errors fails by them.
    """
    if "uncovered" not in words:
        return
    from ..report import local  # late: few ask

    joins = [local.join(name, resources) for name, resources in lists.items()]
    for joined in joins:
        if not joined.resources.failed and joined.whole.drivers:
            if not joined.groups:
                reason = joined.wrong[0] if joined.wrong else local.NO_NODES
                yield error(f"which nodes of {joined.name} get no driver is not known: {reason}")
            yield from tag_cluster(joined.name, lacking(joined))
    if without := not_asked(joins):
        yield error(without)


def lacking(joined: Joined) -> list[Result]:
    """Return an error per config and reason for which nodes of a cluster that it selects get no driver.

    With a dump of live nodes also for those that have not what is planned. Nodes alone, before a merge, do not say
    that KMM has done its part.
    """
    from ..fleet import table, wording  # late, as above

    names: dict[tuple[Ref, str], list[str]] = {}
    live = joined.live
    for row in table.rows(joined.groups, joined.whole.all_drivers, live=live):
        if row.driver and row.is_problem and (row.state != table.DRIVEN or (live and not live.dump.is_of_nodes)):
            is_assumed = row.state == table.ASSUMED and not row.node.last_kernel
            reason = f"assumed, not known: {row.reason}" if is_assumed else row.reason
            names.setdefault((row.driver.claim.ref, reason), []).append(row.node.name)
    return [error(f"{wording.nodes_named(alike)}: {reason}", ref=ref) for (ref, reason), alike in names.items()]


def not_asked(joins: Sequence[Joined]) -> str:
    """Return a sentence where there is no Module at all, so that every node is fine and nothing was asked; else ""."""
    if any(one.whole.drivers or one.resources.failed for one in joins):
        return ""
    names = [one.name for one in joins]
    return f"no Module is in {some(names, len(names))}, so no node can get one; is it the right PATH?"


def of_change(compared: Sequence[Comparison], words: Collection[str]) -> list[Result]:
    """Return an error for each change that is asked for, and for one of which that is not known."""
    found: list[Result] = []
    for one in compared:
        where = one.name or "the cluster"
        is_told = any(note.severity != "info" for note in one.notes)
        if "change" in words and (one.plan.changes or one.plan.effects or is_told):
            found.append(error(f"{where} changes (--fail-on change)"))
        if "lost" in words:
            found += tag_cluster(one.name, (error(f"{reason} (--fail-on lost)") for reason in one.doubtful))
        for word in (word for word in _EFFECTS if word in words):
            alike = [effect for effect in one.plan.effects if effect.word in (_EFFECTS[word], "unknown")]
            about = (error(f"{effect.message} (--fail-on {word})", ref=effect.ref) for effect in alike)
            found += tag_cluster(one.name, about)
            is_about = any((change.ref.group, change.ref.kind) in MODULE_KINDS for change in one.plan.changes)
            if is_about and not one.knows_nodes and _EFFECTS[word] not in one.spared:
                why = f": {one.doubt}" if one.doubt else "; add a NodeInventory (`krmfn inventory`)"
                found += tag_cluster(
                    one.name, [error(f"what happens on the nodes is not known (--fail-on {word}){why}")]
                )
    return found
