"""What Modules build from: their build sections, and the ConfigMaps with the Dockerfiles that KMM reads for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from krmfn import Item, Result
from krmfn.ownership import Id
from krmfn.typed import NamedTuple

from ..kmm.dockerfile import Dockerfile, dockerfile_of
from ..kmm.lookup import table, tables, text
from ..kmm.module import CONTAINER, HUB_KIND, Module
from ..kmm.recipes import KEY
from ..kmm.rule import on_hub
from .stream import CONFIG_MAP, FinalList


class Build(NamedTuple):
    """A build section of a Module, with the name of its ConfigMap."""

    item: Item
    module: Module
    path: str
    """The section's path in the Module."""
    name: str
    arguments: Mapping[str, str]
    """The build arguments by their names, each with its path."""

    def located(self, final: FinalList, finding: Result) -> Result:
        """Return a finding about the Module at its place."""
        return final.located(self.item, on_hub(finding) if self.item.kind == HUB_KIND else finding)


class Source(NamedTuple):
    """A Dockerfile in a ConfigMap, and the builds that use it."""

    item: Item
    dockerfile: Dockerfile
    builds: list[Build]


def builds_of(final: FinalList) -> Iterator[Build]:
    """Yield what the kernel mappings of each Module are built from, with the arguments merged as KMM does."""
    for item, module in final.modules:
        shared = module.container.get("build")
        for path, section in module.sections("build"):
            holders = [(f"{CONTAINER}.build", shared), (path, section)]
            name = text(table(section, "dockerfileConfigMap"), "name")
            arguments = {
                text(entry, "name"): f"{holder}.buildArgs[{index}].name"
                for holder, of_holder in holders
                for index, entry in tables(of_holder, "buildArgs")
            }
            if name:
                yield Build(item, module, path, name, arguments)


def config_maps(final: FinalList) -> dict[str, list[Item]]:
    """Return the ConfigMaps by their names, those that stand elsewhere among them."""
    items: dict[str, list[Item]] = {}
    for item in (*final.deployed, *final.external):
        if (item.group, item.kind) == CONFIG_MAP:
            items.setdefault(item.ref.name, []).append(item)
    return items


def config_map_of(build: Build, items: list[Item]) -> Item | None:
    """Return the ConfigMap that KMM reads, of those with the name; None where it is not known.

    A hub builds in the namespace of its operator, which the input does not tell.
    """
    if build.item.kind == HUB_KIND:
        return items[0] if len(items) == 1 else None
    return next((item for item in items if item.ref.namespace == build.module.ref.namespace), None)


def sources_of(final: FinalList) -> list[Source]:
    """Return the Dockerfiles that builds use; a text without FROM stands for one that is not known."""
    items, sources = config_maps(final), dict[Id, Source]()
    for build in builds_of(final):
        item = config_map_of(build, items.get(build.name, []))
        content = text(table(item.manifest, "data"), KEY) if item else ""
        if item and content:
            sources.setdefault(item.ref.id, Source(item, dockerfile_of(content), [])).builds.append(build)
    return [source for source in sources.values() if source.dockerfile.stages]
