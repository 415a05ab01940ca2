"""What makes pods, and which labels of nodes it asks for."""

from collections.abc import Iterator

from krmfn import Item, Manifest
from krmfn.resource import FieldPath, split
from krmfn.typed import Any, NamedTuple

from ..kmm.lookup import POD_KINDS, table, tables, text, texts
from ..kmm.module import LABELS, MODULE_GROUP, MODULE_KIND, module_of

SECRET, CONFIG_MAP, SERVICE_ACCOUNT = ("", "Secret"), ("", "ConfigMap"), ("", "ServiceAccount")
PRIORITY_CLASS, DEVICE_CLASS = ("scheduling.k8s.io", "PriorityClass"), ("resource.k8s.io", "DeviceClass")
CLUSTER_SCOPED = frozenset({PRIORITY_CLASS, DEVICE_CLASS})
"""What pods and Modules name, as (group, kind)."""
NODE_AFFINITY = ("affinity", "nodeAffinity")
REQUIRED, PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)


class NodeLabel(NamedTuple):
    """A label of nodes that a selector or an affinity names."""

    key: str
    path: FieldPath
    value: str | None = None
    """The value that it must have; None where several or any would do."""
    is_required: bool = True
    """Whether nothing runs without it."""


def pod_of(group: str, kind: str, manifest: Manifest) -> tuple[FieldPath, Manifest]:
    """Return the spec of the pods that a resource makes, and its path; {} for a kind that makes none."""
    path = POD_KINDS.get((group, kind), ())
    return path, table(manifest, *path) if path else {}


def labels_of_kmm(item: Item) -> Iterator[NodeLabel]:
    """Yield each selector and affinity on a label of KMM's, of the pods of a resource, or of a Module."""
    path, pod = pod_of(item.group, item.kind, item.manifest)
    labels = node_labels(pod, path)
    if (item.group, item.kind) == (MODULE_GROUP, MODULE_KIND):
        labels = of_selector(table(item.manifest, "spec", "selector"), ("spec", "selector"))
    yield from (one for one in labels if one.key.startswith(LABELS))


def node_labels(pod: Manifest, path: FieldPath) -> Iterator[NodeLabel]:
    """Yield the labels that the nodes of a pod must have, or should have."""
    yield from of_selector(table(pod, "nodeSelector"), (*path, "nodeSelector"))
    affinity, where = table(pod, *NODE_AFFINITY), (*path, *NODE_AFFINITY)
    for at, term in tables(table(affinity, REQUIRED), "nodeSelectorTerms"):
        yield from _of_term(term, (*where, REQUIRED, "nodeSelectorTerms", at), is_required=True)
    for at, weighted in tables(affinity, PREFERRED):
        yield from _of_term(table(weighted, "preference"), (*where, PREFERRED, at, "preference"), is_required=False)


def of_selector(selector: dict[str, Any], path: FieldPath) -> Iterator[NodeLabel]:
    """Yield the labels of an equality selector."""
    for key, value in selector.items():
        yield NodeLabel(key, (*path, key), value if isinstance(value, str) else None)


def _of_term(term: Manifest, path: FieldPath, is_required: bool) -> Iterator[NodeLabel]:
    for at, expression in tables(term, "matchExpressions"):
        values = texts(expression, "values")
        only = values[0] if text(expression, "operator") == "In" and len(values) == 1 else None
        yield NodeLabel(text(expression, "key"), (*path, "matchExpressions", at, "key"), only, is_required)


def images(item: Item) -> Iterator[tuple[FieldPath, str]]:
    """Yield the images of a Module or of what makes pods, with their paths."""
    module = module_of(item.manifest)
    for field, image, _ in module.images() if module else ():
        yield split(field), image
    path, pod = pod_of(item.group, item.kind, item.manifest)
    for part in ("initContainers", "containers", "ephemeralContainers"):
        for at, container in tables(pod, part):
            yield (*path, part, at, "image"), text(container, "image")
