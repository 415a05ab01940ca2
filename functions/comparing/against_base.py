"""The clusters of some PATHs, compared with those in the base of a pull request."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from krmfn import KrmfnError, Manifest, Result, error
from krmfn.streams import max_bytes
from krmfn.typed import NamedTuple

from ..cluster import config, telling
from ..cluster.deployed import Cluster, Clusters, judge_final
from ..cluster.survey import places
from ..command import Context
from ..deployments.deployment import Deployment
from ..formats.checked import names_of
from ..grouping import grouped
from ..paths import files
from ..paths.manifests import KUSTOMIZATIONS
from ..plan import Comparison, Plan, undecided
from ..run import placed
from . import broken_beside, hidden, new_side, rendered_base, switched, touched, unbuilt, unchanged
from .base import Base, check_out
from .base_files import is_below
from .pairs import Pair, Pairs, compare, deployed_manifests, is_idle_aside, join_elsewhere, pair_clusters
from .unbuilt import Both, Partly

_NOTHING = Plan((), (), (), 0)
_Errors = list[tuple[str, Result]]
"""What is wrong, each with its path from the root of the repository."""


class _Unread(NamedTuple):
    """What of a cluster could not be read."""

    old: list[Result]
    new: list[Result]
    partly: Partly | None = None
    """What is compared of it all the same."""


class AgainstBase(NamedTuple):
    """What is to be compared with the merge base of HEAD and a ref."""

    ref: str
    paths: Sequence[str]
    current: Clusters | None = None
    """The clusters here if the command has rendered them, and logged their findings."""
    skips: bool = False
    """Whether those whose inputs are the same in the base are neither built nor compared (see `unchanged`)."""
    shows_notes: bool = False
    """Whether the command prints the notes, so that findings with their text are not logged."""


def compare_with_base(context: Context, request: AgainstBase) -> list[Comparison]:
    """Return the comparison of each cluster of some PATHs with the same cluster in the base.

    Returns [] when what --against names cannot be read; why is logged. With --against the clusters here are rendered
    again, without it. Raises KrmfnError as `check_out` does.
    """
    current = request.current
    has_against = bool(context.options.against)
    rendered = None if has_against else current
    alone, paths, tops = rendered_base.of_base(context, request.paths)
    with check_out(request.ref, tops, alone.options.function_config) as base:
        sides = unchanged.lay_out_sides(alone, base, paths) if request.skips and not has_against else unchanged.Sides()
        new = _new_side(alone, paths, rendered, sides)
        of_base = alone._replace(intent=alone.intent._replace(is_old=True))
        old = rendered_base.base_of(of_base, base, paths, sides.old).with_asides()
        contexts = (of_base._replace(options=base.options(of_base.options)), alone)
        both, left_out = broken_beside.left_out(contexts, base, Both(old, new))
        old, new = both
        pairs = [(_name(base, pair), pair) for pair in pair_clusters(old, base.folder, new, base.root)]
        if not join_elsewhere(context, pairs, current.external if current else None, sides.same):
            return []
        for cluster in (cluster for cluster in new.clusters if cluster.is_whole and not rendered):
            judge_final(cluster.final)
        partly = unbuilt.compared(alone, base, [pair for _, pair in pairs], both)
        partly = [part or left_out.get(name) for (name, _), part in zip(pairs, partly, strict=True)]
        of_others = {name for (name, _), part in zip(pairs, partly, strict=True) if part and part.is_of_others}
        new = new._replace(failures=new_side.without(new, of_others).failures)
        compared = _comparisons(base, Both(old, new), pairs, partly, tops)
        new_sides = {name: pair.new for name, pair in pairs}
        results = [*switched.in_each(compared, new_sides, (old.engines, new.engines), sides.roots)]
        results += [Comparison(name, _NOTHING, is_same=True) for name in sides.same]
        results.sort(key=lambda result: sides.places.get(result.name, len(sides.places)))
        if not current:
            notes = [note for result in results for note in result.notes] if request.shows_notes else []
            telling.log(alone, new, notes)
        results = [result._replace(notes=touched.at_the_change(request.ref, tops, result.notes)) for result in results]
        return [results[0]._replace(name="")] if len(results) == 1 else results


def _new_side(context: Context, paths: Sequence[str], rendered: Clusters | None, sides: unchanged.Sides) -> Clusters:
    """Return the clusters here, but for those that are the same; `rendered` has those that a check has rendered."""
    if rendered:
        new = new_side.all_clusters(context, paths, rendered, sides.new)
    else:
        new = new_side.changed_clusters(context, paths, sides.new)
    return new_side.without(new.with_asides(), sides.same)


def _comparisons(
    base: Base, sides: Both, pairs: Pairs, partly: Sequence[Partly | None], paths: Sequence[str]
) -> Iterator[Comparison]:
    """Yield the comparison of each cluster, then one for each finding about files that belong to no cluster.

    `pairs` are the clusters with their names, `partly` says of each what is compared where roots cannot be built,
    `paths` are the PATHs and the members of --cluster.
    """
    old, new = sides
    new_errors = [*_unread(new, lambda path: os.path.relpath(os.path.realpath(path), base.root))]
    old_errors = [(path, error(message)) for path, message in base.skipped_below(paths)]
    old_errors += [(path, base.located(result)) for path, result in _unread(old, base.from_root)]
    new_errors, old_errors = _without_unlisted(base, new_errors, old_errors)
    missing = [(_owners(base, pairs, path, result), path, result) for path, result in new_errors]
    lost = [(_owners(base, pairs, path, result), path, result) for path, result in old_errors]
    is_edited, hidden_names = unchanged.edits_config(base), hidden.hidden_files(old, new)
    for at, (name, pair) in enumerate(pairs):
        of_old, of_new = ([result for owners, _, result in side if at in owners] for side in (lost, missing))
        of_pair = _without_blocked(base, pair, _Unread(of_old, of_new), partly[at])
        comparison = _compare(base, name, pair, of_pair, new.engines.deployments)
        comparison = unchanged.with_folder_changes(base, pair, comparison, is_edited)
        comparison = hidden.with_hidden_files(hidden_names, comparison)
        if not is_idle_aside(pair, comparison):
            yield comparison
    unowned = ([(path, result) for owners, path, result in side if not owners] for side in (missing, lost))
    yield from _of_no_cluster(base, *unowned)


def _of_no_cluster(base: Base, missing: _Errors, lost: _Errors) -> Iterator[Comparison]:
    """Yield a comparison for each path that belongs to no cluster and cannot be read, here or else in the base."""
    by_path, former = (grouped((path or config.NAME, result) for path, result in side) for side in (missing, lost))
    yield from (Comparison(name, _NOTHING, results, failed=True) for name, results in by_path.items())
    yield from (_unknown(base, name, (), results) for name, results in former.items() if name not in by_path)


def _without_blocked(base: Base, pair: Pair, unread: _Unread, partly: Partly | None) -> _Unread:
    """Return what could not be read, without the roots that cannot be built where the rest of them is compared."""
    if partly and partly.is_of_others:
        return _Unread([], [], partly)
    if not (partly and pair.old and pair.new):
        return unread
    known = {finding for failure in pair.new.failures for finding in failure.findings}
    former = {base.located(finding) for failure in pair.old.failures for finding in failure.findings}
    lost = [result for result in unread.old if result not in former]
    return _Unread(lost, [result for result in unread.new if result not in known], partly)


def _unread(streams: Clusters, from_root: Callable[[str], str]) -> Iterator[tuple[str, Result]]:
    """Yield what could not be read and so is in no cluster, with its path from the root of the repository.

    The path is "" for a finding that counts for every cluster: without the configuration file no cluster is known.
    """
    for result in _errors(streams.sources.placed(streams.findings)):
        path = from_root(result.place.path) if result.place else ""
        yield "" if path == config.NAME else path, result
    for failure in streams.failures:
        path = from_root(failure.path) if failure.path else ""
        yield from ((path, result) for result in failure.findings or [error(str(failure.error))])


def _without_unlisted(base: Base, new: _Errors, old: _Errors) -> tuple[_Errors, _Errors]:
    """Return errors without those about a kustomization that no root lists, and that is the same on both sides."""
    paths = {path for path, _ in new if os.path.basename(path) in KUSTOMIZATIONS} & {path for path, _ in old}
    same = {path for path in paths if _is_same(os.path.join(base.root, path), os.path.join(base.folder, path))}
    kept = ([(path, result) for path, result in side if path not in same] for side in (new, old))
    new, old = kept
    return new, old


def _is_same(path: str, other: str) -> bool:
    """Return whether two files have the same text; False where one cannot be read: what it holds is not known."""
    text = _text(path)
    return text is not None and text == _text(other)


def _text(path: str) -> bytes | None:
    """Return the text of a file; None for one that is not to be read."""
    with suppress(KrmfnError):
        return files.read_regular(path, path, max_bytes())
    return None


def _owners(base: Base, pairs: Pairs, path: str, result: Result) -> set[int]:
    """Return the numbers of the pairs that a finding about a path may belong to; all for the path "".

    They are those of the clusters that it names; else those whose roots, on one of the sides, are nearest above the
    path.
    """
    owners = {at for at, (name, _) in enumerate(pairs) if name in names_of(result)}
    if owners or not path:
        return owners or {*range(len(pairs))}
    for side, top in enumerate((base.folder, base.root)):
        depths = [_depth(cluster, top, path) if (cluster := pair[side]) else -1 for _, pair in pairs]
        owners.update(at for at, depth in enumerate(depths) if depth == max(depths) >= 0)
    return owners


def _depth(cluster: Cluster, top: str, path: str) -> int:
    """Return the length of the longest path of a root at or above a path; -1 without one. Paths are from the top."""
    above = (root for root, _ in places(cluster.roots, top) if is_below(path, root))
    return max((0 if root == "." else len(root) for root in above), default=-1)


def _compare(base: Base, name: str, pair: Pair, unread: _Unread, everywhere: Sequence[Deployment]) -> Comparison:
    """Return the comparison of one cluster; `everywhere` as for `compare`."""
    lost, missing, partly = unread
    if partly and partly.is_of_others:
        return unbuilt.noted(Comparison(name, _NOTHING), partly)
    if pair.new and (not (pair.new.is_whole or partly) or _errors(placed(pair.new.final))):
        missing = [*missing, *_errors(placed(pair.new.final))] or [error("it cannot be read completely")]
    if missing:
        return Comparison(name, _NOTHING, missing, failed=True)
    if pair.old and (_errors(placed(pair.old.final)) if partly else pair.old.final.failed or not pair.old.is_whole):
        lost = [*lost, *map(base.located, _errors(placed(pair.old.final)))] or [error("it cannot be read completely")]
    if not lost:
        comparison = compare(pair, name, everywhere, base.located)
        return unbuilt.noted(comparison, partly) if partly else comparison
    manifests = deployed_manifests(pair.new.final) if pair.new else []
    return _unknown(base, name, manifests, lost)


def _unknown(base: Base, name: str, manifests: Sequence[Manifest], reasons: Sequence[Result]) -> Comparison:
    """Return the comparison of a cluster whose base cannot be rendered; `manifests` are those of the new side."""
    # without its name, so that several clusters say it once
    head = error(f"the base {base.name} cannot be rendered, so what changes is not known")
    notes = dict.fromkeys([head, *reasons, *map(error, base.skipped.values())])
    return Comparison(name, undecided(manifests), list(notes))


def _errors(results: Sequence[Result]) -> list[Result]:
    """Return the errors, but for those about nodes (KRM6..), in spite of which a cluster is rendered."""
    return [result for result in results if result.severity == "error" and not result.rule.startswith("KRM6")]


def _name(base: Base, pair: Pair) -> str:
    """Return the name of a cluster. If it is only in the base, and is named by its folder, that is the folder here."""
    cluster = next(side for side in (pair.new, pair.old) if side)
    if pair.new or cluster.name not in {root.name for root in cluster.roots}:
        return cluster.name
    return os.path.relpath(os.path.join(base.root, os.path.relpath(cluster.roots[0].path, base.folder)))
