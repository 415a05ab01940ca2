"""All findings of a run, collected once: what each command prints, counts and exits by is a view of these."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence

from krmfn import Place, ResourceList
from krmfn.findings import Findings
from krmfn.results import Result, error
from krmfn.typed import TYPE_CHECKING

from ..cluster import cluster_lists, root_files, unjudged
from ..cluster.deployed import Clusters
from ..command import Context
from ..finding import in_order, without_copies
from ..formats.checked import Checked, names_of, new_findings, parse_baseline, tag_cluster
from ..formats.findings import fails
from ..formats.unjudged import Gap, failing, joined, sentence
from ..paths import failures, files
from ..paths.manifests import KUSTOMIZATIONS
from ..run import placed, run_of
from ..sources import Sources

if TYPE_CHECKING:
    from ..plan import Comparison


def collect(context: Context, streams: Clusters, baseline: str | None, additions: Iterable[Result] = ()) -> Checked:
    """Return the findings of all clusters, with an error for all that cannot be read.

    Findings in the file `baseline` are left out; `additions` never are. Raises KrmfnError for a file that is no
    baseline.
    """
    clusters = (*streams.clusters, *streams.unassigned)
    counts = [cluster.counts._replace(turned_off=run_of(cluster.final).turned_off) for cluster in clusters]
    results = [*streams.findings, *in_order(streams.unassigned_findings())]
    for cluster in (*streams.clusters, *streams.left_out):
        results += tag_cluster(cluster.name, in_order(placed(cluster.final)))
    for failure in streams.failures:
        results += tag_cluster(failure.cluster, failure.findings) if failure.is_blocked else []
    number = len(results)
    results = _not_listed(context, results, baseline) if baseline else results
    left_out = number - len(results)
    additions = list(additions)
    results += additions
    # no baseline names these: what was not read was not judged
    for failure in (failure for failure in streams.failures if not failure.is_blocked):
        errors = _read_errors(failure)
        results += tag_cluster(failure.cluster, errors) if failure.cluster else errors
    names = [cluster.name for cluster in (*streams.clusters, *streams.left_out)]
    names = [*dict.fromkeys([*names, *(name for addition in additions for name in names_of(addition))])]
    if len(names) > 1:
        from ..formats import grouped  # here: findings about one cluster are not grouped

        results = grouped.join(results, names)
    by_cluster = {cluster.name: placed(cluster.final) for cluster in streams.clusters}
    checked = cluster_lists.total(counts)._replace(results=list(Findings(map(_place_in_file, results))))
    read = (*clusters, *streams.left_out)
    return checked._replace(
        files=root_files.number_of_files(read, streams.config.name),
        excluded=len(streams.excluded),
        foreign=streams.foreign,
        clusters=by_cluster,
        baseline=left_out,
        not_judged=unjudged.of_clusters(streams),
    )


def _not_listed(context: Context, results: Sequence[Result], baseline: str) -> list[Result]:
    """Return the findings that a baseline does not list, and log how many it lists. Raises as `collect` does."""
    known = parse_baseline(files.read_text(baseline, context.options.root), baseline)
    if known.older:
        message = f"{baseline} was written by an older krmfn; write it again with --write-baseline"
        context.log.say(message, "warning")
    others = list(new_findings(results, known))
    context.log.say(f"{len(results) - len(others)} of {len(results)} findings are listed in {baseline}")
    return others


def exit_code(streams: Clusters, checked: Checked, fail_on: Collection[str]) -> int:
    """Return the exit code of findings: 1 for those that fail the command, 2 where something could not be read.

    A root that may not be built is no reason for 2 where a baseline lists why.
    """
    if not streams.is_whole:
        blocking = {finding.id for failure in streams.failures for finding in failure.findings}
        if not (streams.is_readable and blocking.isdisjoint(finding.id for finding in checked.results)):
            return 2
    return int(fails(checked.results, fail_on))


def new_lists(comparisons: Sequence[Comparison]) -> dict[str, ResourceList]:
    """Return what each cluster gets in the new state, by its name, where that is known."""
    sides = ((comparison.name or "the new state", comparison.sides) for comparison in comparisons)
    return {name: of_both[1] for name, of_both in sides if of_both}


def gaps_of_change(comparisons: Sequence[Comparison]) -> tuple[Gap, ...]:
    """Return what is not judged: of the new state, and of the change."""
    from ..formats import verdict  # here: most checks compare nothing

    lists = new_lists(comparisons)
    return (*joined(unjudged.of_lists(lists), [*lists]), *verdict.of_change(comparisons))


def gap_errors(gaps: Sequence[Gap]) -> list[Result]:
    """Return an error for each gap, for --fail-on unjudged.

    What the user leaves out, and what is shown to hold nothing of ours, fails nothing.
    """
    return [error(f"{sentence(gap)}: not judged (--fail-on unjudged)") for gap in failing(gaps)]


def with_gaps(checked: Checked, words: Collection[str]) -> Checked:
    """Return a check with an error for each gap where `words`, those of --fail-on, ask for it."""
    errors = gap_errors(checked.not_judged) if "unjudged" in words else []
    return checked._replace(results=list(Findings([*checked.results, *errors]))) if errors else checked


def with_config_places(checked: Checked, sources: Sources) -> Checked:
    """Return a check whose configs have the names and places of their files, as its errors have them."""
    if not any(result.severity == "error" for result in checked.results):
        return checked
    return checked._replace(configs=[(ref, sources.located(source)) for ref, source in checked.configs])


def at_the_change(checked: Checked, base: str, paths: Sequence[str]) -> Checked:
    """Return a check whose findings of two places stand at the place that the change since `base` touches."""
    from ..comparing import touched  # here: what runs Git is slow to load

    return checked._replace(results=touched.at_the_change(base, paths, checked.results))


def with_changes(checked: Checked, comparisons: Sequence[Comparison]) -> Checked:
    """Return a check with the findings about the change that are not among its own: every output counts them all."""
    from ..formats import grouped, verdict  # here: most checks compare nothing

    names = [comparison.name for comparison in comparisons]
    notes = grouped.notes(comparisons)
    results = [grouped.tag_clusters(note, holders, names) if names[1:] else note for note, holders in notes]
    results = [*checked.results, *without_copies(results, checked.results)]
    gaps = joined((*checked.not_judged, *verdict.of_change(comparisons)))
    return checked._replace(results=list(Findings(results)), not_judged=gaps)


def _place_in_file(result: Result) -> Result:
    """Return a finding whose place is a file, or none: CI servers show no finding at a folder."""
    place = result.place
    if not place or place.line or not os.path.isdir(place.path):  # noqa: PTH112
        return result
    names = (f"{place.path}/{name}" for name in KUSTOMIZATIONS)
    if name := next(filter(os.path.isfile, names), ""):
        return result._replace(place=place._replace(path=os.path.normpath(name)))
    return result._replace(place=None, message=f"{place.path}: {result.message}")


def _read_errors(failure: failures.Failure) -> list[Result]:
    """Return an error for each file of a PATH that cannot be read, or one for the PATH."""
    if failure.findings:
        return list(failure.findings)
    place = Place(failure.name)
    return [error("\n".join(part.lines(failure.name)), place=place) for part in failures.parts(failure.error)]
