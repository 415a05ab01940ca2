"""Objects of engines that go or come while the folder that they deploy stays: it goes or comes with them.

So people switch an application off and on: its file goes from the list of a kustomization, and nothing else changes; or
it is removed, and `.krmfn.yaml` still gives the folder to a cluster.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

from krmfn import Ref, warning
from krmfn.printing import some
from krmfn.typed import NamedTuple

from ..cluster import config
from ..cluster.deployed import Cluster
from ..cluster.engines import GROUPS, Engines
from ..cluster.root_files import files_of_root, may_be_ours
from ..cluster.survey import Root
from ..deployments.deployment import Deployment
from ..grouping import grouped
from ..paths.roots import within
from ..plan import Comparison, Opening
from ..sentence import Topic


class _Words(NamedTuple):
    """How a warning says what becomes of an object, and of what it deploys."""

    event: str
    of_file: str
    of_config: str
    goes: str
    counts: str


_OFF = _Words("deleted", "stays", "still names", "goes with it", "stayed")
_ON = _Words("created", "was there", "named", "comes with it", "had been deployed")


class _Change(NamedTuple):
    """A comparison of a cluster, and what its objects of engines are judged by."""

    comparison: Comparison
    folders: Sequence[str]
    """Those of the cluster's new side."""
    sides: tuple[Engines, Engines]
    roots: Sequence[Root]
    """Those of all clusters."""


def in_each(
    comparisons: Iterable[Comparison],
    sides: Mapping[str, Cluster | None],
    engines: tuple[Engines, Engines],
    roots: Sequence[Root],
) -> Iterator[Comparison]:
    """Yield comparisons, each as `with_switched` returns it; `sides` are their new sides by their names.

    `roots` are those of all clusters; without any those of the clusters that are compared.
    """
    roots = roots or [root for cluster in sides.values() if cluster for root in cluster.roots]
    for comparison in comparisons:
        yield with_switched(comparison, sides.get(comparison.name), engines, roots)


def with_switched(
    comparison: Comparison, cluster: Cluster | None, engines: tuple[Engines, Engines], roots: Sequence[Root]
) -> Comparison:
    """Return a comparison with a warning about each object of an engine that goes or comes without what it deploys.

    `cluster` is its new side, `engines` have what the files of both sides deploy, `roots` are those of all clusters.
    What an object leaves in its cluster, what another one deploys, and what holds nothing of ours, is no loss. Other
    clusters may have objects of the same name.
    """
    if not cluster or not any(change.ref.group in GROUPS for change in comparison.plan.changes):
        return comparison
    old, new = engines
    change = _Change(comparison, [root.path for root in cluster.roots], engines, roots)
    going = [holder for holder in (*new.deployments, *_only_in(old, new)) if not holder.declaration.kept_by]
    former = _sources(old)
    coming = [holder for holder in new.deployments if holder.declaration.source.ref in former]
    off, on = _openings(change, going, _OFF), _openings(change, [*coming, *_only_in(new, old)], _ON)
    notes = [warning((opening.topic or "", opening.text)) for opening in (*off, *on)]
    return comparison._replace(
        first=(*off, *on, *comparison.first),
        notes=[*notes, *comparison.notes],
        doubtful=(*off, *comparison.doubtful),
    )


def _sources(engines: Engines) -> set[Ref]:
    """Return the objects that deploy something."""
    return {holder.declaration.source.ref for holder in engines.deployments}


def _only_in(engines: Engines, other: Engines) -> list[Deployment]:
    """Return what objects of one side deploy that are in no file of the other, without what others deploy there.

    Where the objects decide which clusters there are, the folder goes and comes with the object.
    """
    if engines.decide or other.decide:
        return []
    present, deployed = _sources(other), {holder.path for holder in other.deployments}
    return [
        holder
        for holder in engines.deployments
        if holder.declaration.source.ref not in present and holder.path not in deployed
    ]


def _openings(change: _Change, holders: Iterable[Deployment], words: _Words) -> list[Opening]:
    """Return what is said of those objects that the change creates or deletes, as the words say."""
    refs = (entry.ref for entry in change.comparison.plan.changes if entry.what == words.event)
    changed = grouped(((ref.group, ref.kind, ref.name), ref.namespace) for ref in refs)
    top = change.sides[1].top
    going = [
        holder
        for holder in holders
        if _is_among(holder, changed)
        and any(within(os.path.join(top, holder.declaration.file), folder) for folder in change.folders)
        and _holds_ours(holder.real(top), change.roots)
    ]
    on_both = _sources(change.sides[0]) & _sources(change.sides[1]) if going else set[Ref]()
    by_object = grouped((holder.declaration.source.ref, holder) for holder in going)
    texts = [(str(ref), _text(of_object, words, ref in on_both)) for ref, of_object in by_object.items()]
    return [Opening(f"{name} {text}", Topic((name, words.event))) for name, text in texts]


def _is_among(holder: Deployment, changed: Mapping[tuple[str, str, str], Sequence[str]]) -> bool:
    """Return whether the object of a deployment is one of those; its kustomization may have given it a namespace.

    `changed` has the namespaces of the objects by group, kind and name.
    """
    source = holder.declaration.source.ref
    namespaces = changed.get((source.group, source.kind, source.name), ())
    return bool(namespaces) and (not source.namespace or source.namespace in namespaces)


def _holds_ours(folder: str, roots: Sequence[Root]) -> bool:
    """Return whether a folder that is deployed may hold something of ours, in files that it lists or that are in it."""
    for root in roots:
        is_below = within(root.path, folder)  # else it may be above: loose files in a folder that .krmfn.yaml names
        if any(may_be_ours(path) for path in files_of_root(root) if is_below or within(path, folder)):
            return True
    return False


def _text(holders: Sequence[Deployment], words: _Words, is_on_both: bool) -> str:
    """Return what is said of an object, whose file is on both sides or on one alone."""
    file, folders = holders[0].declaration.file, [holder.path for holder in holders]
    deployed = some(folders, len(folders), 1)
    reason = f"{file} {words.of_file}" if is_on_both else f"{config.NAME} {words.of_config} {deployed}"
    becomes = f"what it deploys ({deployed}) {words.goes}, and counts here as if it {words.counts}"
    return f"is {words.event}, but {reason}: {becomes}"
