"""What Modules build from: their build sections, and the ConfigMaps with the Dockerfiles that KMM reads for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from krmfn import Item, Result
from krmfn.ownership import Id
from krmfn.typed import TYPE_CHECKING, Any, NamedTuple

from ..kmm.lookup import table, tables, text
from ..kmm.module import CONTAINER, HUB_KIND, Module
from ..kmm.recipes import KEY
from ..kmm.rule import on_hub
from .stream import CONFIG_MAP, FinalList

if TYPE_CHECKING:
    from ..kmm.dockerfile import Dockerfile


class Build(NamedTuple):
    """A build section of a Module, with the name of its ConfigMap."""

    item: Item
    module: Module
    path: str
    """The section's path in the Module."""
    name: str
    arguments: Mapping[str, str]
    """The build arguments of the section by their names, each with its path."""
    shared: Mapping[str, str]
    """Those of the container, which KMM adds; the same object in all builds of a Module: it may be long."""

    def located(self, final: FinalList, finding: Result) -> Result:
        """Return a finding about the Module at its place."""
        return final.located(self.item, on_hub(finding) if self.item.kind == HUB_KIND else finding)


class Source(NamedTuple):
    """A Dockerfile in a ConfigMap, and the builds that use it."""

    item: Item
    dockerfile: Dockerfile
    builds: list[Build]

    def arguments(self) -> set[str]:
        """Return the names of all build arguments that it gets from Modules."""
        shared = {id(build.shared): build.shared for build in self.builds}
        return {name for names in (*shared.values(), *(build.arguments for build in self.builds)) for name in names}


def builds_of(final: FinalList) -> Iterator[Build]:
    """Yield what the kernel mappings of each Module are built from."""
    for item, module in final.modules:
        path_of_all = f"{CONTAINER}.build"
        shared = _arguments(path_of_all, module.container.get("build"))
        for path, section in module.sections("build"):
            arguments = {} if path == path_of_all else _arguments(path, section)
            if name := text(table(section, "dockerfileConfigMap"), "name"):
                yield Build(item, module, path, name, arguments, shared)


def _arguments(path: str, section: Any) -> dict[str, str]:
    entries = tables(section, "buildArgs")
    return {text(entry, "name"): f"{path}.buildArgs[{index}].name" for index, entry in entries}


def config_maps(final: FinalList) -> dict[str, dict[str, Item]]:
    """Return the ConfigMaps by their names and namespaces, those that stand elsewhere among them."""
    items: dict[str, dict[str, Item]] = {}
    for item in (*final.deployed, *final.external):
        if (item.group, item.kind) == CONFIG_MAP:
            items.setdefault(item.ref.name, {}).setdefault(item.ref.namespace, item)
    return items


def config_map_of(build: Build, items: Mapping[str, Item]) -> Item | None:
    """Return the ConfigMap that KMM reads, of those with the name by namespace; None where it is not known.

    A hub builds in the namespace of its operator, which the input does not tell.
    """
    if build.item.kind == HUB_KIND:
        return next(iter(items.values())) if len(items) == 1 else None
    return items.get(build.module.ref.namespace)


def sources_of(final: FinalList) -> list[Source]:
    """Return the Dockerfiles that builds use; a text without FROM stands for one that is not known."""
    items, sources = config_maps(final), dict[Id, Source]()
    for build in builds_of(final):
        item = config_map_of(build, items.get(build.name, {}))
        content = text(table(item.manifest, "data"), KEY) if item else ""
        if item and content:
            from ..kmm.dockerfile import dockerfile_of  # here: few clusters have a Dockerfile

            sources.setdefault(item.ref.id, Source(item, dockerfile_of(content), [])).builds.append(build)
    return [source for source in sources.values() if source.dockerfile.stages]
