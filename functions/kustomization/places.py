"""Where findings about what kustomize has built stand: in the file, patch or kustomization that a person wrote.

kustomize tells where a resource comes from only when it is asked, in annotations that can change what a patch does. So
a build is done without, and once more with them when a finding needs it; a build without findings costs nothing more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial

from krmfn.errors import KrmfnError
from krmfn.item import Item
from krmfn.ownership import Id, mark_of
from krmfn.resource import Place, split
from krmfn.resourcelist import ResourceList
from krmfn.results import Field, Result

from ..rendering.generated import of_value
from . import values, written
from .calls import Call
from .graph import Graph, Kustomization
from .kustomize import Built
from .values import generator, same_at


class Places:
    """The files behind one build. They are read, and kustomize runs again, when the first finding asks."""

    def __init__(self, graph: Graph, folder: str, calls: Sequence[Call], again: Callable[[], Built]) -> None:
        """Take the kustomizations, the folder that is built with its calls, and how to build it with origins."""
        self._graph, self._folder, self._built = graph, folder, graph.below(folder)
        self._configs = {call.config.ref.id: call.config for call in calls}
        self._again, self._number = again, 0
        # no cached_property: before Python 3.12 one lock held up all instances, and kustomize runs once for each
        self._traced = lru_cache(maxsize=None)(self._trace)
        self._patches = lru_cache(maxsize=None)(values.documents_of)

    def _trace(self) -> written.Origins:
        """Build with origins; nothing has one where that fails."""
        try:
            built = self._again()
        except KrmfnError:
            built = Built(b"")
        lists = (ResourceList.parse(seen.text) for seen in built.seen)
        seen = {item.ref.id: item for resources in lists for item in resources.items}
        origins = written.origins(self._graph, self._folder, built.base)
        return origins._replace(notes=written.notes_in(built.stream), seen=seen)

    def give(self, items: Sequence[Item]) -> None:
        """Let findings about items of the build, all of them, look up their places."""
        self._number = len(items)
        for number, item in enumerate(items):
            item.file = Place("", number, finder=partial(self._of_item, item, number))

    def of_call(self, result: Result) -> Result:
        """Let a finding that a function has reported in the build look up its place."""
        config = self._configs.get(result.ref.id) if result.ref else None
        if config:
            return config.located(result)
        return result._replace(place=Place("", finder=self._of_call)) if result.ref and not result.place else result

    def _of_item(self, item: Item, number: int, result: Result) -> Result:
        """Return a finding about an item of the build, or about what is made from it, at its place in the files."""
        every = self._traced().notes
        notes = every[number] if len(every) == self._number else {}
        if result.ref and _id_in(result.ref.id, {item.ref.id: item}) is None:
            return result._replace(place=self._of_owner(item, notes, result.field))
        return self._at(notes, item, result)

    def _of_call(self, result: Result) -> Result:
        """Return a finding at its place; names are those of the moment at which the function was called."""
        seen = self._traced().seen
        item = _id_in(result.ref.id, seen) if result.ref else None
        if item:
            return self._at(item.annotations, item, result)
        makers = (one for one in seen.values() if result.message.startswith(f"generated from {one.ref}: "))
        owner = next(makers, None)
        return result._replace(place=self._of_owner(owner, owner.annotations, result.field) if owner else None)

    def _at(self, notes: Mapping[str, str], item: Item, result: Result) -> Result:
        """Return a finding about an item at its field, with the name that the resource has in its file."""
        origins = self._traced()
        built = written.way(notes, origins, self._built)
        names = written.names(item.ref, built)
        maker = written.maker(notes)
        if maker:
            return self._at_maker(maker, item, result, names, built)
        origin = written.origin_of(notes)
        if "repo" in origin:  # fetched: its paths are those of another repository
            return result._replace(place=None)
        file = origins.files.get(str(origin.get("path", "")))  # None where it may mean one of several
        files = {file} if file else {file for one in self._built for file in written.resources(one)}
        previous = notes.get(written.PREVIOUS, "").partition(",")[0]
        candidates = [one for file in sorted(files) for one in self._graph.resources(file)]
        source = written.document(candidates, item.ref, {previous} if previous else names)
        if source:
            return self._at_field(result, item, source, names, built)
        return result._replace(place=Place(file.name) if file else None)

    def _of_owner(self, owner: Item, notes: Mapping[str, str], field: Field | None) -> Place | None:
        """Return the place of what a field of a generated object comes from: the owner's or a functionConfig's field.

        It is the one that has the same value. Without one it is the owner.
        """
        key, value = (split(field.path)[-1], field.current) if field else ("", None)
        for item in (owner, *self._configs.values()):
            path = of_value({"spec": item.manifest.get("spec")}, value, key)
            if path and item is not owner:
                return item.field_place(path)
            if path:
                return self._at(notes, owner, Result("", field=Field(path))).place
        return self._at(notes, owner, Result("")).place

    def _at_field(
        self, result: Result, item: Item, source: Item, names: set[str], built: Sequence[Kustomization]
    ) -> Result:
        """Return a finding about an item at its field in `source`, or where a kustomization gives it another value."""
        path = result.field.path if result.field else ""
        result = result._replace(ref=source.ref)
        same = path if path in ("", "metadata.name") else same_at(path, item.manifest, source)
        if same is not None:
            return result._replace(place=source.field_place(same) if same else source.place)
        place, by = self._changed(path, item, {*names, source.name}, built)
        message = f"{result.message} (set by a patch of {' or '.join(by)})" if by and not place else result.message
        return result._replace(message=message, place=place or source.field_place(path))

    def _changed(
        self, path: str, item: Item, names: set[str], built: Sequence[Kustomization]
    ) -> tuple[Place | None, Iterable[str]]:
        """Return where a kustomization gives a field its value, and the kustomizations that may change it."""
        found = list(values.changes(path, item.manifest, names, built, self._patches)) if path else []
        return next((place for _, place in found if place), None), dict.fromkeys(name for name, _ in found)

    def _at_maker(
        self, maker: str, item: Item, result: Result, names: set[str], built: Sequence[Kustomization]
    ) -> Result:
        """Return a finding about what was made in the build: where that was patched, else where what made it stands."""
        patched, _ = self._changed(result.field.path if result.field else "", item, names, built)
        if patched:
            return result._replace(place=patched)
        mark = mark_of(item.annotations)
        owner = _id_in(mark.owner, self._traced().seen) if mark else None
        if owner:
            is_said = result.message.startswith("generated from ")
            message = result.message if is_said else f"generated from {owner.ref}: {result.message}"
            return result._replace(message=message, place=self._of_owner(owner, owner.annotations, result.field))
        kustomization = self._traced().kustomizations.get(maker)
        place = kustomization and generator(kustomization, item.kind, names)
        return result._replace(place=place or (Place(kustomization.name) if kustomization else None))


def _id_in(wanted: Id, items: Mapping[Id, Item]) -> Item | None:
    """Return the item with an id, or with that id without its namespace."""
    return items.get(wanted) or items.get(written.anywhere(wanted))
