"""Which engines deploy each object of a cluster: only their annotations have an effect on it."""

from collections.abc import Sequence

from krmfn.ownership import Id

from ..run import note
from .deployed import Cluster
from .reached import NAMES, reached_by_each

_HELM = "Helm"


def note_each(clusters: Sequence[Cluster], top: str) -> None:
    """Note in each final list which engines deploy its objects, where the objects of engines say it.

    `top` is the root of the repository.
    """
    for cluster in clusters:
        engines: dict[Id, set[str]] = {}
        for deployment, items in reached_by_each(cluster, top, lambda part: part.items):
            engine, how = deployment.declaration.engine, deployment.declaration.how
            # a folder on which an engine was started by hand: only Flux is (see `holders`)
            names = {NAMES.get(engine, NAMES["flux"]), *([_HELM] if how == "helm" else [])}
            for item in items:
                engines.setdefault(item.ref.id, set()).update(names)
        if engines:
            note(cluster.final, deployers={id_: frozenset(names) for id_, names in engines.items()})
