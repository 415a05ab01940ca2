"""The clusters of some PATHs, compared with what they are in the base of a pull request."""

import os
from collections.abc import Callable, Iterator, Sequence

from krmfn import KrmfnError, Manifest, Result, error
from krmfn.results import placed

from ..cluster import cluster_streams, config
from ..cluster.deployed import Clusters, judge_final
from ..cluster.survey import places
from ..command import Context
from ..formats.checked import names_of
from ..paths.failures import failure_of
from ..plan import Comparison, Plan, undecided
from . import base as bases
from . import closures
from .base import Base
from .needed import is_below
from .pairs import Pair, Pairs, compared, deployed, joined, paired

_NOTHING = Plan((), (), (), 0)


def with_base(
    context: Context,
    ref: str,
    names: Sequence[str],
    said: Clusters | None = None,
    skips: bool = False,
    shows_notes: bool = False,
) -> list[Comparison]:
    """Return the comparison of each cluster of some PATHs with what it is in the merge base of HEAD and a ref.

    A cluster whose base cannot be rendered is one whose changes are not known. [] when what --against names cannot be
    read, which is logged. `said`: what shall be there, as a command has read it whose findings were logged before and
    that `shows_errors`; it is the new side, but where --against joins both sides with something else.
    With `skips` a cluster whose inputs are those of the base is neither built nor compared (see `closures`); with
    `shows_notes` a person sees the notes of the comparisons, and what they say is not logged, too.
    """
    asked, context = context, context._replace(options=context.options._replace(against=(), live=()))
    known = None if asked.options.against else said
    members = [path for _, held in map(config.parse, context.options.cluster) for path in held]
    names = list(names) or ([] if members else ["."])
    with bases.checked_out(ref, [*names, *members], context.options.function_config) as base:
        for one in (*names, *members):
            if not os.path.lexists(one) and not os.path.lexists(base.path(one)):
                raise KrmfnError(f"{one} exists neither here nor in the base {base.name}; is it the right PATH?")
        sides = closures.laid_out(context, base, names) if skips and not asked.options.against else closures.Sides()
        new = known or _streams(context, names, sides.new)
        new = new._replace(clusters=[one for one in new.clusters if one.name not in sides.same])
        old = _of_base(context, base, names, sides.old)
        pairs = [(_name(base, pair), pair) for pair in paired(old, base.folder, new, base.root)]
        if not joined(asked, pairs, said.external if said else None, sides.same):
            return []
        for each in (each for each in new.clusters if each.is_whole and not known):  # as in `rendered`
            judge_final(each.final)
        results = [*_comparisons(base, old, new, pairs, [*names, *members])]
        results += [Comparison(name, _NOTHING, is_same=True) for name in sides.same]
        results.sort(key=lambda one: sides.places.get(one.name, len(sides.places)))
        if not said:
            notes = {str(note) for one in results for note in one.notes} if shows_notes else ()
            cluster_streams.log(context, new, notes)
        return [results[0]._replace(name="")] if len(results) == 1 else results


def _streams(context: Context, names: Sequence[str], laid: Clusters | None = None) -> Clusters:
    """Return the clusters of the PATHs that are there; no PATH is not the working folder here."""
    options, names = context.options, [*filter(os.path.lexists, names)]
    existing = [(name, [*filter(os.path.lexists, held)]) for name, held in map(config.parse, options.cluster)]
    there = tuple(f"{name}={','.join(held)}" for name, held in existing if held)
    if not names and not there:
        return Clusters()
    return cluster_streams.render(context._replace(options=options._replace(cluster=there)), names, streams=laid)


def _of_base(context: Context, base: Base, names: Sequence[str], laid: Clusters | None = None) -> Clusters:
    """Return the clusters of the base; when nothing of it can be read, why not."""
    if unread := base.unread(context.options):
        return Clusters(findings=[error(line) for line in unread])
    try:
        former = context._replace(options=base.options(context.options), intent=context.intent._replace(is_old=True))
        return _streams(former, [*map(base.path, names)], laid)
    except KrmfnError as failure:
        return Clusters(failures=[failure_of("", failure)])


def _comparisons(base: Base, old: Clusters, new: Clusters, pairs: Pairs, every: Sequence[str]) -> Iterator[Comparison]:
    """Yield the comparison of each cluster, and what could not be read and is a part of none: who knows what changes.

    `pairs` are the clusters with their names, `every` the PATHs and the members of --cluster.
    """
    here = _unread(new, lambda path: os.path.relpath(os.path.realpath(path), base.root))
    there = [(path, base.located(result)) for path, result in _unread(old, base.from_root)]
    there = [*((path, error(line)) for path, line in base.skipped_below(every)), *there]
    lost, missing = ([(_owners(base, pairs, path, one), path, one) for path, one in side] for side in (there, here))
    is_edited = closures.edits_config(base)
    for at, (name, pair) in enumerate(pairs):
        of_pair = ([one for owners, _, one in side if at in owners] for side in (lost, missing))
        yield closures.with_folders(base, pair, _with_base(base, name, pair, *of_pair), is_edited)
    for owners, path, one in missing:
        if not owners:
            yield Comparison(path, _NOTHING, [one], failed=True)
    for owners, path, one in lost:
        if not owners:
            yield _unknown(base, path or ".", (), [one])


def _unread(streams: Clusters, from_root: Callable[[str], str]) -> Iterator[tuple[str, Result]]:
    """Yield what is in none of the clusters since it could not be read, with its path from the root of the repository.

    The path is "" for what counts for every cluster: with the configuration file none is known.
    """
    for result in _errors(streams.findings):
        path = from_root(result.place.path) if result.place else ""
        yield "" if path == config.NAME else path, result
    for failure in streams.failures:
        path = from_root(failure.path) if failure.path else ""
        yield from ((path, one) for one in failure.findings or [error("\n".join(failure.lines))])


def _owners(base: Base, pairs: Pairs, path: str, result: Result) -> set[int]:
    """Return the pairs that what is wrong with a path may be about.

    They are those that it names, else those that the path may be a part of: on one of the sides none has a root that is
    nearer to it.
    """
    owners = {at for at, (name, _) in enumerate(pairs) if name in names_of(result)}
    if owners or not path:
        return owners or {*range(len(pairs))}
    for side, top in enumerate((base.folder, base.root)):
        roots = (places(one.roots, top) if (one := pair[side]) else [] for _, pair in pairs)
        held = ([0 if root == "." else len(root) for root, _ in own if is_below(path, root)] for own in roots)
        nearest = [max(lengths, default=-1) for lengths in held]
        owners.update(at for at, length in enumerate(nearest) if length == max(nearest) >= 0)
    return owners


def _with_base(base: Base, name: str, pair: Pair, lost: list[Result], missing: list[Result]) -> Comparison:
    """Return the comparison of one cluster with its base; what it has and could not be read on either side is given."""
    if pair.new and (not pair.new.is_whole or _errors(pair.new.final.results)):
        missing = [*missing, *_errors(pair.new.final.results)] or [error("it cannot be read completely")]
    if missing:
        return Comparison(name, _NOTHING, missing, failed=True)
    if pair.old and (not pair.old.is_whole or pair.old.final.failed):
        lost = [*lost, *map(base.located, _errors(pair.old.final.results))] or [error("it cannot be read completely")]
    if not lost:
        return compared(pair, name, base.located)
    after = deployed(pair.new.final) if pair.new else []
    return _unknown(base, name, after, lost)


def _unknown(base: Base, name: str, after: Sequence[Manifest], reasons: Sequence[Result]) -> Comparison:
    """Return the comparison of a cluster whose base cannot be rendered."""
    head = error(f"{name} in the base {base.name} cannot be rendered, so what changes is not known")
    why = [head, *reasons, *map(error, base.skipped.values())]
    return Comparison(name, undecided(after), list(dict.fromkeys(why)))


def _errors(results: Sequence[Result]) -> list[Result]:
    """Return the errors, but for those about single nodes: what is generated reaches the cluster in spite of them."""
    return placed(one for one in results if one.severity == "error" and not one.rule.startswith("KRM6"))


def _name(base: Base, pair: Pair) -> str:
    """Return the name of a cluster; of one that is only in the base as it would be called here."""
    one = next(side for side in (pair.new, pair.old) if side)
    if pair.new or one.name not in {root.name for root in one.roots}:
        return one.name
    here = os.path.join(base.root, os.path.relpath(one.roots[0].path, base.folder))
    return os.path.relpath(here)
