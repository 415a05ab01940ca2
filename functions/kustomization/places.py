"""Find the places of findings about built resources: in the file, patch or kustomization that the user wrote.

kustomize notes the origin of a resource only on request, in annotations that may change the effect of a patch. So a
build is done without them, and again with them when a finding needs it; a build without findings is done once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache, partial

from krmfn.errors import KrmfnError
from krmfn.item import Item
from krmfn.ownership import Id, mark_of
from krmfn.resource import Place, split
from krmfn.resourcelist import ResourceList
from krmfn.results import Field, Result

from ..finding import fact, with_words
from ..paths.disk import File
from ..rendering.generated import OWNER_FACT, generated_from, of_value
from . import provenance, values
from .calls import Call
from .graph import Graph, Kustomization
from .kustomize import Output
from .values import generator, path_in_source


class Places:
    """The files of one build. They are read, and kustomize runs again, for the first finding."""

    def __init__(self, graph: Graph, folder: str, calls: Sequence[Call], trace: Callable[[], Output]) -> None:
        """Take the graph, the folder that was built, its calls, and a function that builds it with origins."""
        self._graph, self._folder, self._kustomizations = graph, folder, graph.below(folder)
        self._configs = {call.config.ref.id: call.config for call in calls}
        self._trace, self._number = trace, 0
        # not cached_property: before Python 3.12 it has one lock for all instances, each of which may run kustomize
        self._origins = lru_cache(maxsize=None)(self._read_origins)
        self._patches = lru_cache(maxsize=None)(values.documents_of)
        self._owners = lru_cache(maxsize=None)(self._read_owners)
        self._documents = lru_cache(maxsize=None)(self._read_documents)

    def _read_origins(self) -> provenance.Origins:
        """Build with origins; if that fails, there are none."""
        try:
            output = self._trace()
        except KrmfnError:
            output = Output(b"")
        lists = (ResourceList.parse(call.text) for call in output.inputs)
        inputs = {item.ref.id: item for resources in lists for item in resources.items}
        origins = provenance.origins(self._graph, self._folder, output.base)
        return origins._replace(notes=provenance.notes_in(output.stream), inputs=inputs)

    def _read_owners(self) -> Mapping[str, Item]:
        """Return the inputs of the calls, each as findings name it as an owner."""
        return {str(item.ref): item for item in reversed([*self._origins().inputs.values()])}

    def _read_documents(self, file: File | None) -> provenance.Documents:
        """Return the resources of a file; None stands for all files that the build lists."""
        listed = (name for base in self._kustomizations for name in provenance.resource_files(base))
        files = [file] if file else sorted({*listed})
        return provenance.by_kind(resource for name in files for resource in self._graph.resources(name))

    def attach(self, items: Sequence[Item]) -> None:
        """Let findings about items look up their places; these are all items of the build."""
        self._number = len(items)
        for number, item in enumerate(items):
            item.file = Place("", number, finder=partial(self._locate_item, item, number))

    def locate(self, result: Result) -> Result:
        """Let a finding that a function has reported during the build look up its place."""
        if result.ref and (config := self._configs.get(result.ref.id)):
            return config.located(result)
        return result._replace(place=Place("", finder=self._locate_call)) if result.ref and not result.place else result

    def _locate_item(self, item: Item, number: int, result: Result) -> Result:
        """Return a finding about an item of the build, or about an object generated from it, with its place."""
        all_notes = self._origins().notes
        notes = all_notes[number] if len(all_notes) == self._number else {}
        if result.ref and _item_with(result.ref.id, {item.ref.id: item}) is None:
            return result._replace(place=self._owner_place(item, notes, result.field))
        return self._locate(notes, item, result)

    def _locate_call(self, result: Result) -> Result:
        """Return a finding of a function with its place; the names in it are those at the time of the call."""
        inputs = self._origins().inputs
        if result.ref and (item := _item_with(result.ref.id, inputs)):
            return self._locate(item.annotations, item, result)
        owner = self._owners().get(str(fact(result, OWNER_FACT)))
        return result._replace(place=self._owner_place(owner, owner.annotations, result.field) if owner else None)

    def _locate(self, notes: Mapping[str, str], item: Item, result: Result) -> Result:
        """Return a finding about an item at its field, with the name that the resource has in its file."""
        origins = self._origins()
        transformers = provenance.transformers(notes, origins, self._kustomizations)
        names = provenance.names(item.ref, transformers)
        if maker := provenance.maker(notes):
            return self._locate_generated(maker, item, result, names, transformers)
        origin = provenance.origin_of(notes)
        if "repo" in origin:  # fetched: its paths are those of another repository
            return result._replace(place=None)
        file = origins.files.get(str(origin.get("path", "")))  # None where it may mean one of several
        previous = notes.get(provenance.PREVIOUS, "").partition(",")[0]
        if source := provenance.document(self._documents(file), item.ref, {previous} if previous else names):
            return self._locate_field(result, item, source, names, transformers)
        return result._replace(place=Place(file.name) if file else None)

    def _owner_place(self, owner: Item, notes: Mapping[str, str], field: Field | None) -> Place | None:
        """Return the place of the owner's or a functionConfig's field that has the value of a generated object's field.

        Without such a field it is the place of the owner.
        """
        key, value = (split(field.path)[-1], field.current) if field else ("", None)
        for item in (owner, *self._configs.values()):
            path = of_value({"spec": item.manifest.get("spec")}, value, key)
            if path and item is not owner:
                return item.field_place(path)
            if path:
                return self._locate(notes, owner, Result("", field=Field(path))).place
        return self._locate(notes, owner, Result("")).place

    def _locate_field(
        self, result: Result, item: Item, source: Item, names: set[str], transformers: Sequence[Kustomization]
    ) -> Result:
        """Return a finding about an item at its field in `source`, or where a kustomization changes the value."""
        path = result.field.path if result.field else ""
        result = result._replace(ref=source.ref)
        source_path = path if path in ("", "metadata.name") else path_in_source(path, item.manifest, source)
        if source_path is not None:
            return result._replace(place=source.field_place(source_path) if source_path else source.place)
        place, files = self._change(path, item, {*names, source.name}, transformers)
        if files and not place:
            result = with_words(result, after=f" (set by a patch of {' or '.join(files)})")
        return result._replace(place=place or source.field_place(path))

    def _change(
        self, path: str, item: Item, names: set[str], transformers: Sequence[Kustomization]
    ) -> tuple[Place | None, Collection[str]]:
        """Return the place where a kustomization sets a field, and the files of those that may change it."""
        changes = list(values.changes(path, item.manifest, names, transformers, self._patches)) if path else []
        return next((place for _, place in changes if place), None), dict.fromkeys(name for name, _ in changes)

    def _locate_generated(
        self, maker: str, item: Item, result: Result, names: set[str], transformers: Sequence[Kustomization]
    ) -> Result:
        """Return a finding about an item made in the build at its patch, else at its owner, else at its generator."""
        patch_place, _ = self._change(result.field.path if result.field else "", item, names, transformers)
        if patch_place:
            return result._replace(place=patch_place)
        mark = mark_of(item.annotations)
        owner = _item_with(mark.owner, self._origins().inputs) if mark else None
        if owner:
            named = result if fact(result, OWNER_FACT) else generated_from(owner.ref, result)
            return named._replace(place=self._owner_place(owner, owner.annotations, result.field))
        kustomization = self._origins().kustomizations.get(maker)
        place = kustomization and generator(kustomization, item.kind, names)
        return result._replace(place=place or (Place(kustomization.name) if kustomization else None))


def _item_with(id_: Id, items: Mapping[Id, Item]) -> Item | None:
    """Return the item with an id, else the one with that id without its namespace."""
    return items.get(id_) or items.get(provenance.without_namespace(id_))
