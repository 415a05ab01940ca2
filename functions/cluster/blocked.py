"""Roots that cannot be built: what else they list is judged by its plain files, where nothing there changes them."""

from collections.abc import Iterator

from krmfn import Item, ResourceList
from krmfn.typed import NamedTuple

from ..kmm.lookup import text
from ..kustomization.graph import Graph, Kustomization
from ..paths import manifests
from ..paths.disk import File
from ..paths.failures import Failure
from ..run import note
from .survey import Root

_WORDS = " (other files are judged as they stand)"
_PLAIN = frozenset(
    {
        *("apiVersion", "kind", "metadata", "resources", "bases", "namespace", "buildMetadata", "sortOptions"),
        *("configMapGenerator", "secretGenerator", "generatorOptions", "generators", "crds", "openapi"),
        *("helmCharts", "helmGlobals", "helmChartInflationGenerator", "transformers", "validators", "images"),
    }
)
"""Fields of a kustomization beside which a config is judged as its file has it: they only add to it."""


class _File(NamedTuple):
    """A file with resources, and the namespace that they get; "" for their own."""

    file: File
    namespace: str


def plain(root: Root) -> ResourceList:
    """Return what is judged of a kustomization that may not be built: what stands in the files under `resources`.

    It is nothing where patches or the like change these.
    """
    items, graph = list[Item](), root.graph
    if not all(_is_plain(kustomization, graph) for kustomization in graph.below(root.path)):
        return ResourceList()
    for listed in dict.fromkeys(_files(graph, root.path, "", ())):
        read, _ = manifests.read_files([listed.file])
        for item in read.items if listed.namespace else ():
            if not item.content.duplicate_keys:  # what holds a key twice is an error of its own
                item["metadata.namespace"] = listed.namespace
        items += read.items
    calls = graph.calls(root.path)
    if not (calls and calls[0].program):
        return ResourceList(items)
    resources = ResourceList(items, calls[0].config.manifest)
    note(resources, config_item=calls[0].config)
    return resources


def with_words(failure: Failure, resources: ResourceList) -> Failure:
    """Return why a root cannot be built, with words that say what is judged of it nevertheless."""
    first, *others = failure.findings
    words = _WORDS if resources.items else ""
    return failure._replace(findings=(first._replace(message=first.message + words), *others), is_blocked=True)


def _is_plain(kustomization: Kustomization, graph: Graph) -> bool:
    """Return True where nothing in a kustomization changes what its files say; our own functions do not."""
    is_ours = all(call.program or call.field.startswith("generators") for call in graph.calls(kustomization.folder))
    return _PLAIN.issuperset(kustomization.manifest) and is_ours


def _files(graph: Graph, folder: str, namespace: str, above: tuple[str, ...]) -> Iterator[_File]:
    """Yield the files that a kustomization and its bases list under `resources`; the outermost namespace counts."""
    kustomization = graph.kustomizations.get(folder)
    if not kustomization or folder in above:
        return
    namespace = namespace or text(kustomization.manifest, "namespace")
    for reference in kustomization.references:
        if reference.role == "resource" and reference.kind == "file":
            yield _File(File(reference.name, reference.real), namespace)
        elif reference.role == "resource" and reference.kind == "folder":
            yield from _files(graph, reference.real, namespace, (*above, folder))
