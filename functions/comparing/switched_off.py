"""Objects of engines that leave what is deployed while the folder stays that they deploy: it goes with them.

So people switch an application off: its file goes from the list of a kustomization, and nothing else changes; or it is
removed, and `.krmfn.yaml` still gives the folder to a cluster.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

from krmfn import Ref, warning
from krmfn.printing import some

from ..cluster import config
from ..cluster.deployed import Cluster
from ..cluster.engines import Engines
from ..cluster.root_files import files_of_root, may_be_ours
from ..cluster.survey import Root
from ..deployments.deployment import Deployment
from ..grouping import grouped
from ..paths.roots import within
from ..plan import Comparison, Opening
from ..sentence import Topic

_OFF = "switched off"


def in_each(
    comparisons: Iterable[Comparison],
    sides: Mapping[str, Cluster | None],
    engines: tuple[Engines, Engines],
    roots: Sequence[Root],
) -> Iterator[Comparison]:
    """Yield comparisons, each as `with_switched_off` returns it; `sides` are their new sides by their names.

    `roots` are those of all clusters; without any those of the clusters that are compared.
    """
    roots = roots or [root for cluster in sides.values() if cluster for root in cluster.roots]
    for comparison in comparisons:
        yield with_switched_off(comparison, sides.get(comparison.name), engines, roots)


def with_switched_off(
    comparison: Comparison, cluster: Cluster | None, engines: tuple[Engines, Engines], roots: Sequence[Root]
) -> Comparison:
    """Return a comparison with a warning about each object of an engine that it deletes, while what it deploys stays.

    `cluster` is its new side, `engines` have what the files of both sides deploy, `roots` are those of all clusters.
    What an object leaves in its cluster, what another one deploys, and what holds nothing of ours, is no loss. Other
    clusters may have objects of the same name.
    """
    deleted = [change.ref for change in comparison.plan.changes if change.what == "deleted"]
    if not (cluster and deleted):
        return comparison
    top, folders = engines[1].top, [root.path for root in cluster.roots]
    going = [
        holder
        for holder in (*engines[1].deployments, *_removed(*engines))
        if not holder.declaration.kept_by
        and _is_among(holder, deleted)
        and any(within(os.path.join(top, holder.declaration.file), folder) for folder in folders)
        and _holds_ours(holder.real(top), roots)
    ]
    by_object = grouped((str(holder.declaration.source.ref), holder) for holder in going)
    openings = [Opening(_text(name, of_object, top), Topic((name, _OFF))) for name, of_object in by_object.items()]
    if not openings:
        return comparison
    notes = [warning((opening.topic or "", opening.text)) for opening in openings]
    return comparison._replace(
        first=(*openings, *comparison.first),
        notes=[*notes, *comparison.notes],
        doubtful=(*openings, *comparison.doubtful),
    )


def _removed(old: Engines, new: Engines) -> list[Deployment]:
    """Return what objects deployed that are nowhere in the files any more, without what others deploy now.

    Where the objects decide which clusters there are, the folder went from its cluster with the object.
    """
    if new.decide:
        return []
    present = {holder.declaration.source.ref for holder in new.deployments}
    deployed = {holder.path for holder in new.deployments}
    return [
        holder
        for holder in old.deployments
        if holder.declaration.source.ref not in present and holder.path not in deployed
    ]


def _is_among(holder: Deployment, deleted: Sequence[Ref]) -> bool:
    """Return whether the object of a deployment is one of those; its kustomization may have given it a namespace."""
    source = holder.declaration.source.ref
    names = ((ref.group, ref.kind, ref.name) for ref in deleted if source.namespace in ("", ref.namespace))
    return (source.group, source.kind, source.name) in names


def _holds_ours(folder: str, roots: Sequence[Root]) -> bool:
    """Return whether a folder that is deployed may hold something of ours, in files that it lists or that are in it."""
    for root in roots:
        is_below = within(root.path, folder)  # else it may be above: loose files in a folder that .krmfn.yaml names
        if any(may_be_ours(path) for path in files_of_root(root) if is_below or within(path, folder)):
            return True
    return False


def _text(name: str, holders: Sequence[Deployment], top: str) -> str:
    file, folders = holders[0].declaration.file, [holder.path for holder in holders]
    deployed = some(folders, len(folders), 1)
    reason = f"{file} stays" if os.path.lexists(os.path.join(top, file)) else f"{config.NAME} still names {deployed}"
    return (
        f"{name} is deleted, but {reason}: what it deploys ({deployed}) goes with it, and counts here as if it stayed"
    )
