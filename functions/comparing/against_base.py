"""The clusters of some PATHs, compared with what they are in the base of a pull request."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence

from krmfn.errors import KrmfnError
from krmfn.resource import Manifest
from krmfn.results import Result, error, placed
from krmfn.typed import NamedTuple

from ..cluster import cluster_streams, live_nodes
from ..cluster.cluster_lists import Rendered
from ..cluster.cluster_streams import Streams
from ..cluster.config import NAME as CONFIG_FILE
from ..cluster.config import Config, parse
from ..cluster.deployed import judge_final
from ..cluster.layout import Layout
from ..command import Context
from ..paths.failures import Failure, failure_of, log_failures
from ..paths.roots import within
from ..plan import Comparison, Plan, undecided
from . import base as bases
from . import closures
from .base import Base
from .pairs import Pair, compared, deployed, join_theirs, paired

_NOTHING = Plan((), (), (), 0)
_NO_STREAMS = Streams([], [], [], Config(), ())


def with_base(
    context: Context, ref: str, names: Sequence[str], said: Streams | None = None, skips: bool = False
) -> list[Comparison]:
    """Return the comparison of each cluster of some PATHs with what it is in the merge base of HEAD and a ref.

    A cluster whose base cannot be rendered is one whose changes are not known. [] when what --against names cannot be
    read, which is logged. `said`: what shall be there, as a command has read it whose findings were logged before and
    that `shows_errors`; it is the new side, but where --against joins both sides with something else.
    With `skips` a cluster whose inputs are those of the base is neither built nor compared (see `closures`).
    """
    asked, context = context, context._replace(options=context.options._replace(against=(), live=()))
    members = [path for _, held in map(parse, context.options.cluster) for path in held]
    names = list(names) or ([] if members else ["."])
    every = [*names, *members]
    with bases.checked_out(ref, every, context.options.function_config) as base:
        gone = next((one for one in every if not (os.path.lexists(one) or os.path.lexists(base.path(one)))), None)
        if gone:
            raise KrmfnError(f"{gone} exists neither here nor in the base {base.name}; is it the right PATH?")
        here = [one for one in names if os.path.lexists(one)]
        both = _laid_out(context, base, here, names) if skips and not asked.options.against else None
        same = closures.alike(both[0], base.folder, both[1], base.root) if both else frozenset[str]()
        if said and not asked.options.against:
            new = said._replace(clusters=[one for one in said.clusters if one.cluster.name not in same])
        else:
            new = _streams(context, here, _changed(both[1], base.root, both[1], base.root, same) if both else None)
        old = _of_base(context, base, names, _changed(both[0], base.folder, both[1], base.root, same) if both else None)
        pairs = paired(old, base.folder, new, base.root)
        named = [(_name(base, pair), pair) for pair in pairs]
        if failures := join_theirs(asked, named, said.theirs if said else None):
            log_failures(context.log, failures)
            return []
        sides = {name: [one.final for one in pair if one] for name, pair in named}
        live_nodes.join(asked, sides, [*sides, *same])
        for one in new.clusters if not said or asked.options.against else ():
            if one.is_whole:  # what is missing would be reported as missing
                judge_final(one.final)
        if not said:
            cluster_streams.log(context, new)
        lost, missing = _lost(base, old, every), _missing(base, new)
        compared = [
            _with_base(base, pair, *(_of_pair(part, base, pairs, pair) for part in (lost, missing))) for pair in pairs
        ]
        compared += _unplaced(base, pairs, lost, missing)
        if both and same:
            places = {one.name: at for at, one in enumerate(both[1].clusters)}
            compared += [Comparison(name, _NOTHING, is_same=True) for name in same]
            compared.sort(key=lambda one: places.get(one.name, len(places)))
        return [compared[0]._replace(name="")] if len(compared) == 1 else compared


def _laid_out(context: Context, base: Base, here: Sequence[str], names: Sequence[str]) -> tuple[Layout, Layout] | None:
    """Return which clusters there were and are; None when something of it is not certain, or not set alike."""
    options = base.options(context.options)
    if base.skipped or not closures.same_settings(options, base.folder, context.options, base.root):
        return None
    there = [path for path in map(base.path, names) if os.path.lexists(path)]
    if len(here) != len(names) or len(there) != len(names) or context.options.cluster:
        return None
    try:
        old = cluster_streams.laid_out(context._replace(options=options), there)
        return old, cluster_streams.laid_out(context, here)
    except KrmfnError:  # said when that side is rendered
        return None


def _changed(laid: Layout, top: str, new: Layout, new_top: str, same: Collection[str]) -> Layout:
    """Return one side without the clusters that are the same on both."""
    left_out = [closures.roots(one, new_top) for one in new.clusters if one.name in same]
    return laid._replace(clusters=[one for one in laid.clusters if closures.roots(one, top) not in left_out])


def _streams(context: Context, names: Sequence[str], laid: Layout | None = None) -> Streams:
    """Return the clusters of the PATHs that are there; no PATH is not the working folder here."""
    options = context.options
    there = tuple(f"{name}={','.join(held)}" for name, held in _existing(options.cluster))
    if not names and not there:
        return _NO_STREAMS
    return cluster_streams.rendered(context._replace(options=options._replace(cluster=there)), names, laid=laid)


def _existing(joined: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each cluster of --cluster with those of its paths that are there."""
    for name, held in map(parse, joined):
        if there := [path for path in held if os.path.lexists(path)]:
            yield name, there


def _of_base(context: Context, base: Base, names: Sequence[str], laid: Layout | None = None) -> Streams:
    """Return the clusters of the base; when nothing of it can be read, why not."""
    if unread := base.unread(context.options):
        return _NO_STREAMS._replace(findings=[error(line) for line in unread])
    there = [path for path in map(base.path, names) if os.path.lexists(path)]
    try:
        former = context._replace(options=base.options(context.options), intent=context.intent._replace(is_old=True))
        return _streams(former, there, laid)
    except KrmfnError as failure:
        return _NO_STREAMS._replace(failures=[failure_of("", failure)])


class _Lost(NamedTuple):
    """Something that one side has and that could not be read."""

    path: str
    """From the root of the repository; "" when it counts for every cluster."""
    result: Result


def _lost(base: Base, old: Streams, every: Sequence[str]) -> list[_Lost]:
    """Return what of the PATHs could not be read in the base."""
    lost = [_Lost(path, error(line)) for path, line in base.skipped_below(every)]
    lost += [one._replace(result=base.located(one.result)) for one in _unread(old, base.from_root)]
    return lost


def _missing(base: Base, new: Streams) -> list[_Lost]:
    """Return what could not be read here."""
    return _unread(new, lambda path: os.path.relpath(os.path.realpath(path), base.root))


def _unread(streams: Streams, from_root: Callable[[str], str]) -> list[_Lost]:
    """Return what is in none of the clusters since it could not be read; with the configuration file none is known."""
    lost = []
    for result in _errors(streams.findings):
        path = from_root(result.place.path) if result.place else ""
        lost.append(_Lost("" if path == CONFIG_FILE else path, result))
    for failure in streams.failures:
        path = from_root(failure.path) if failure.path else ""
        lost += (_Lost(path, result) for result in _results(failure))
    return lost


def _of_pair(lost: Sequence[_Lost], base: Base, pairs: Sequence[Pair], pair: Pair) -> list[Result]:
    """Return what concerns one cluster."""
    return [one.result for one in lost if _concerns(base, pairs, pair, one.path)]


def _concerns(base: Base, pairs: Sequence[Pair], pair: Pair, path: str) -> bool:
    """Return True when a path may be a part of a cluster: on one of the sides none has a root that is nearer to it."""
    if not path:
        return True
    for at, top in enumerate((base.folder, base.root)):
        nearest = [_nearness(one[at], top, path) for one in pairs]
        if nearest[pairs.index(pair)] == max(nearest) >= 0:
            return True
    return False


def _nearness(one: Rendered | None, top: str, path: str) -> int:
    """Return how long the longest root of a cluster is that holds a path; -1 for none."""
    roots = [os.path.relpath(root.path, top) for root in one.cluster.roots] if one else []
    return max((0 if root == "." else len(root) for root in roots if root == "." or within(path, root)), default=-1)


def _with_base(base: Base, pair: Pair, lost: list[Result], missing: list[Result]) -> Comparison:
    """Return the comparison of one cluster with its base; what it has and could not be read on either side is given."""
    name = _name(base, pair)
    if pair.new and (not pair.new.is_whole or _errors(pair.new.final.results)):
        missing = [*missing, *_errors(pair.new.final.results)] or [error("it cannot be read completely")]
    if missing:
        return Comparison(name, _NOTHING, missing, failed=True)
    if pair.old and (not pair.old.is_whole or pair.old.final.failed):
        lost = [*lost, *map(base.located, _errors(pair.old.final.results))] or [error("it cannot be read completely")]
    if not lost:
        return compared(pair, name)
    after = deployed(pair.new.final) if pair.new else []
    return _unknown(base, name, after, lost)


def _unknown(base: Base, name: str, after: Sequence[Manifest], reasons: Sequence[Result]) -> Comparison:
    """Return the comparison of a cluster whose base cannot be rendered."""
    head = error(f"{name} in the base {base.name} cannot be rendered, so what changes is not known")
    why = [head, *reasons, *(error(line) for line in base.elsewhere())]
    return Comparison(name, undecided(after), list(dict.fromkeys(why)))


def _unplaced(base: Base, pairs: Sequence[Pair], lost: Sequence[_Lost], missing: Sequence[_Lost]) -> list[Comparison]:
    """Return what could not be read and is a part of no cluster: nobody knows what changes there."""
    left = [
        [one for one in part if not any(_concerns(base, pairs, pair, one.path) for pair in pairs)]
        for part in (lost, missing)
    ]
    here = [Comparison(one.path, _NOTHING, [one.result], failed=True) for one in left[1]]
    return [*here, *(_unknown(base, one.path or ".", (), [one.result]) for one in left[0])]


def _results(failure: Failure) -> list[Result]:
    return list(failure.findings) or [error("\n".join(failure.lines))]


def _errors(results: Sequence[Result]) -> list[Result]:
    """Return the errors, but for those about single nodes: what is generated reaches the cluster in spite of them."""
    return placed(one for one in results if one.severity == "error" and not one.rule.startswith("KRM6"))


def _name(base: Base, pair: Pair) -> str:
    """Return the name of a cluster; of one that is only in the base as it would be called here."""
    one = pair.old
    if pair.new:
        return pair.new.cluster.name
    if one is None or one.cluster.name not in {root.name for root in one.cluster.roots}:
        return one.cluster.name if one else ""
    here = os.path.join(base.root, os.path.relpath(one.cluster.roots[0].path, base.folder))
    return os.path.relpath(here)
