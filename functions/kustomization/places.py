"""Find the places of findings about built resources: in the file, patch or kustomization that the user wrote.

kustomize notes the origin of a resource only on request, in annotations that may change the effect of a patch. So a
build is done without them, and again with them when a finding needs it; a build without findings is done once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

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
from .graph import Kustomization
from .kustomize import Output
from .references import Reference
from .traces import Trace, origins_of
from .values import generator, path_in_source


class Places:
    """What is known of one build. Its files are read, and kustomize runs again, for the first finding."""

    def __init__(self, trace: Trace, items: Sequence[Item]) -> None:
        """Take how the folder is built again, and all items of the build."""
        self._trace, self._items = trace, [*items]
        self._kustomizations = trace.graph.below(trace.folder)
        self._configs = {call.config.ref.id: call.config for call in trace.decision.calls}
        self._known_origins: provenance.Origins | None = None
        self._known_owners: Mapping[str, Item] | None = None
        self._read_patches: dict[Reference, list[Item]] = {}
        self._read_files: dict[File | None, provenance.Documents] = {}

    def located(self, result: Result, number: int) -> Result:
        """Return a finding about an item of the build, or about an object generated from it, with its place.

        The number -1 stands for what a function has reported: the names are then those at the time of the call.
        """
        if number < 0:
            return self._located_call(result)
        item, all_notes = self._items[number], self._origins().notes
        notes = all_notes[number] if len(all_notes) == len(self._items) else {}
        if result.ref and _item_with(result.ref.id, {item.ref.id: item}) is None:
            return result._replace(place=self._owner_place(item, notes, result.field))
        return self._locate(notes, item, result)

    def _located_call(self, result: Result) -> Result:
        """Return a finding of a function with its place."""
        inputs = self._origins().inputs
        if result.ref and (item := _item_with(result.ref.id, inputs)):
            return self._locate(item.annotations, item, result)
        owner = self._owners().get(str(fact(result, OWNER_FACT)))
        return result._replace(place=self._owner_place(owner, owner.annotations, result.field) if owner else None)

    def _origins(self) -> provenance.Origins:
        """Return the origins of what was built; none if it cannot be built with them."""
        if self._known_origins is None:
            try:
                output = origins_of(self._trace)
            except KrmfnError:
                output = Output(b"")
            lists = (ResourceList.parse(call.text) for call in output.inputs)
            inputs = {item.ref.id: item for resources in lists for item in resources.items}
            origins = provenance.origins(self._trace.graph, self._trace.folder, output.base)
            self._known_origins = origins._replace(notes=provenance.notes_in(output.stream), inputs=inputs)
        return self._known_origins

    def _owners(self) -> Mapping[str, Item]:
        """Return the inputs of the calls, each as findings name it as an owner."""
        if self._known_owners is None:
            inputs = self._origins().inputs.values()
            self._known_owners = {str(item.ref): item for item in reversed([*inputs])}
        return self._known_owners

    def _documents(self, file: File | None) -> provenance.Documents:
        """Return the resources of a file; None stands for all files that the build lists."""
        if file not in self._read_files:
            listed = (name for base in self._kustomizations for name in provenance.resource_files(base))
            files, read = [file] if file else sorted({*listed}), self._trace.graph.resources
            self._read_files[file] = provenance.by_kind(resource for name in files for resource in read(name))
        return self._read_files[file]

    def _patches(self, reference: Reference) -> list[Item]:
        """Return the documents of a patch."""
        if reference not in self._read_patches:
            self._read_patches[reference] = values.documents_of(reference)
        return self._read_patches[reference]

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
