"""What comes of a run without an error: the list with the generated objects, and without those of earlier runs."""

from collections.abc import Iterable, Sequence

from krmfn import Item, Manifest, ResourceList, editing, error
from krmfn.index import index_of
from krmfn.ownership import mark_of
from krmfn.resource import annotations_of, checked, ref

from ..run import run_of
from . import leftovers
from .function_config import FunctionConfig
from .kinds import Scopes, is_ours

_ALL_REMOVED = (
    "every item would be removed, since no owner is in the input, and kpt deletes an empty package; "
    "remove the files by hand"
)


def settle(
    resources: ResourceList, scopes: Scopes, manifests: Sequence[Manifest], kept: Sequence[Item], config: FunctionConfig
) -> None:
    """Put the objects in place of their earlier versions or at the end, and remove the obsolete ones.

    In function mode a functionConfig of ours never empties a list: kpt would delete the package, and nothing would be
    there to run on again.
    """
    marked = resources.marked() if config.prune != "never" else ()  # first, to leave out the new objects
    if marked and (objects := [item for scope in scopes for item in leftovers.generated_by(scope, marked)]):
        keep = {*(ref(manifest).id for manifest in manifests), *(item.ref.id for item in kept)}
        stale = dict.fromkeys(item for item in objects if item.ref.id not in keep)
        is_emptied = not manifests and all(item in stale for item in resources.items)
        function = resources.function_config if run_of(resources).settings.intent.is_function else None
        if stale and function and is_ours(function) and is_emptied:
            resources.report([error(_ALL_REMOVED, rule="KRM116", ref=ref(function))])
            return
        if stale:
            from krmfn import owned  # here: most runs remove nothing

            owned.remove(resources, [*stale])
    put(resources, manifests)


def put(resources: ResourceList, manifests: Iterable[Manifest]) -> None:
    """Upsert generated objects; labels, annotations and top-level keys that others put on an existing one stay.

    Raises ValueError for a manifest without the mark of `ownership.stamp`, or with that of another object.
    """
    named = [(checked(manifest), manifest) for manifest in manifests]
    for new, manifest in named:
        mark = mark_of(annotations_of(manifest))
        if mark is None or mark.made != new.id:
            raise ValueError(f"{new} has no mark of its own; call ownership.stamp when its name is final")
    index = index_of(resources, {new.kind for new, _ in named})
    editing.put(resources, editing.plan(resources, named, index, is_owned=True))
