"""The final list of a cluster as the rules see it: what is deployed, how it is called, what makes pods, and where."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from krmfn import Item, Manifest, Ref, ResourceList, Result, itemtext
from krmfn.resource import FieldPath, GroupKind, split
from krmfn.typed import Any, NamedTuple

from ..kmm.lookup import POD_KINDS, pod_images, table, tables, text, texts
from ..kmm.module import HUB_KIND, LABELS, MODULE_GROUP, MODULE_KIND, MODULE_KINDS, Module, module_of
from ..rendering.generated import place_of
from ..rendering.kinds import of_kinds
from ..run import Run, origin_of, run_of

SECRET, CONFIG_MAP, SERVICE_ACCOUNT = ("", "Secret"), ("", "ConfigMap"), ("", "ServiceAccount")
PRIORITY_CLASS, DEVICE_CLASS = ("scheduling.k8s.io", "PriorityClass"), ("resource.k8s.io", "DeviceClass")
CLUSTER_SCOPED = frozenset({PRIORITY_CLASS, DEVICE_CLASS})
KINDS = (SECRET, CONFIG_MAP, SERVICE_ACCOUNT, PRIORITY_CLASS, DEVICE_CLASS)
"""What pods and Modules name, as (group, kind)."""
NODE_AFFINITY = ("affinity", "nodeAffinity")
REQUIRED, PREFERRED = (f"{prefix}DuringSchedulingIgnoredDuringExecution" for prefix in ("required", "preferred"))


class FinalList(NamedTuple):
    """The resources that reach one cluster, and what is known of their origin."""

    deployed: Sequence[Item]
    inputs: Sequence[Item]
    """Resources that are only read: configs, functionConfigs, Nodes, local-config."""
    owners: Mapping[tuple[str, str, str, str], Item]
    """The resources that objects can be made from, by their ids."""
    modules: Sequence[tuple[Item, Module]]
    """The Modules, also those that a ManagedClusterModule brings to its clusters."""
    run: Run
    created: frozenset[Ref]
    """The objects that this run has generated."""

    @property
    def external(self) -> Sequence[Item]:
        """The resources that the cluster gets from elsewhere: references to them count, and they are not judged."""
        return self.run.external.items if self.run.external else ()

    def origin(self, item: Item) -> str:
        """Return in words where an external resource is from."""
        return origin_of(self.run.external or ResourceList(), item)

    def is_brought(self, item: Item) -> bool:
        """Return True for an external resource that a hub brings to this cluster."""
        return id(item) in run_of(self.run.external or ResourceList()).origins

    def owner(self, item: Item) -> Item | None:
        """Return the resource that an item was generated from; None for one that is written by hand."""
        return self.owners.get(item.mark.owner) if item.mark else None

    def located(self, item: Item, result: Result) -> Result:
        """Return the finding with its resource and place; for a generated object, the place that the value is from."""
        result = item.located(result)
        owner, config = self.owner(item), self.run.config_item
        if result.place or not owner:
            return result
        place = place_of(owner, result.field)
        if place == owner.place and config:  # the config does not have the value: perhaps the functionConfig does
            config_place = place_of(config, result.field)
            place = place if config_place == config.place else config_place
        return result._replace(place=place)


def modules_of(items: Sequence[Item]) -> list[tuple[Item, Module]]:
    """Return the Modules among some items, also those that a ManagedClusterModule brings to its clusters."""
    return [(item, module) for item in of_kinds(items, MODULE_KINDS) if (module := module_of(item.manifest))]


_EVERYWHERE = {
    SERVICE_ACCOUNT: frozenset({"default", "builder", "deployer"}),
    CONFIG_MAP: frozenset({"kube-root-ca.crt", "openshift-service-ca.crt"}),
}
"""What Kubernetes and OpenShift put into every namespace."""
_SERVING = ("service.beta.openshift.io/serving-cert-secret-name", "service.alpha.openshift.io/serving-cert-secret-name")
"""Annotations of a Service that let OpenShift make a Secret."""


class Names:
    """The names that a reference may have: of resources in the list, and of those that controllers make from them."""

    def __init__(self, items: Sequence[Item], modules: Iterable[tuple[Item, Module]]) -> None:
        """Take the names of some resources, and of what KMM makes for the Modules among them."""
        names: list[tuple[GroupKind, str, str]] = []
        for item in items:
            names.append(((item.group, item.kind), item.ref.namespace, item.ref.name))
            names += controller_names(item)
        for _, module in modules:
            classes = tables(table(module.spec, "dra"), "deviceClasses")  # KMM makes them
            names += ((DEVICE_CLASS, "", text(device_class, "name")) for _, device_class in classes)
        self._by_kind: dict[GroupKind, dict[str, set[str]]] = {}
        self._visible: dict[tuple[GroupKind, str], set[str]] = {}
        for kind, namespace, name in names:
            if name:
                self._by_kind.setdefault(kind, {}).setdefault(namespace, set()).add(name)

    def visible(self, kind: GroupKind, namespace: str) -> set[str]:
        """Return the names of a kind that resources in a namespace can refer to; a missing namespace matches all."""
        if (kind, namespace) not in self._visible:  # thousands of references may ask for thousands of names
            by_namespace = self._by_kind.get(kind, {})
            namespaces = by_namespace if not namespace or kind in CLUSTER_SCOPED else (namespace, "", "*")
            names = {name for space in namespaces for name in by_namespace.get(space, ())}
            self._visible[kind, namespace] = names
        return self._visible[kind, namespace]

    def has(self, kind: GroupKind, namespace: str, name: str) -> bool:
        """Return True for a name that resources in a namespace can refer to, or that every cluster has."""
        if name in _EVERYWHERE.get(kind, ()) or (kind == PRIORITY_CLASS and name.startswith("system-")):
            return True
        return name in self.visible(kind, namespace)


def controller_names(item: Item) -> Iterator[tuple[GroupKind, str, str]]:
    """Yield kind, namespace (* for each) and name of what a controller of the cluster makes from a resource.

    Source: the APIs of external-secrets.io, bitnami.com, cert-manager.io, secrets.hashicorp.com, isindir.github.com
    and trust.cert-manager.io; OpenShift's service CA.
    """
    group, kind, namespace, name = item.ref.id
    if kind == "Service" and not group:
        for key in _SERVING:
            yield SECRET, namespace, item.annotations.get(key, "")
    elif (group, kind) == ("bitnami.com", "SealedSecret"):
        yield SECRET, namespace, name
    elif group == "external-secrets.io" and kind in ("ExternalSecret", "ClusterExternalSecret"):
        spec = table(item.manifest, "spec")
        of_cluster = kind != "ExternalSecret"
        inner = table(spec, "externalSecretSpec") if of_cluster else spec
        secret = text(table(inner, "target"), "name") or text(spec, "externalSecretName") or name
        yield SECRET, "*" if of_cluster else namespace, secret
    elif (group, kind) == ("cert-manager.io", "Certificate"):
        yield SECRET, namespace, itemtext.string(item, "spec", "secretName")
    elif group == "secrets.hashicorp.com":
        yield SECRET, namespace, itemtext.string(item, "spec", "destination", "name")
    elif (group, kind) == ("isindir.github.com", "SopsSecret"):
        for _, template in tables(table(item.manifest, "spec"), "secretTemplates"):
            yield SECRET, namespace, text(template, "name")
    elif (group, kind) == ("trust.cert-manager.io", "Bundle"):
        yield from ((copy, "*", name) for copy in (CONFIG_MAP, SECRET))


class NodeLabel(NamedTuple):
    """A label of nodes that a selector or an affinity names."""

    key: str
    path: FieldPath
    value: str | None = None
    """The value that it must have; None where several or any would do."""
    is_required: bool = True
    """Whether a pod runs only on nodes with it."""


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
    yield from (label for label in labels if label.key.startswith(LABELS))


def node_labels(pod: Manifest, path: FieldPath) -> Iterator[NodeLabel]:
    """Yield the labels that the nodes of a pod must have, or should have."""
    yield from of_selector(table(pod, "nodeSelector"), (*path, "nodeSelector"))
    affinity, path = table(pod, *NODE_AFFINITY), (*path, *NODE_AFFINITY)
    for index, term in tables(table(affinity, REQUIRED), "nodeSelectorTerms"):
        yield from _of_term(term, (*path, REQUIRED, "nodeSelectorTerms", index), is_required=True)
    for index, entry in tables(affinity, PREFERRED):
        yield from _of_term(table(entry, "preference"), (*path, PREFERRED, index, "preference"), is_required=False)


def of_selector(selector: dict[str, Any], path: FieldPath) -> Iterator[NodeLabel]:
    """Yield the labels of an equality selector."""
    for key, value in selector.items():
        yield NodeLabel(key, (*path, key), value if isinstance(value, str) else None)


def _of_term(term: Manifest, path: FieldPath, is_required: bool) -> Iterator[NodeLabel]:
    """Yield the labels of a term of a node affinity."""
    for index, expression in tables(term, "matchExpressions"):
        values = texts(expression, "values")
        value = values[0] if text(expression, "operator") == "In" and len(values) == 1 else None
        yield NodeLabel(text(expression, "key"), (*path, "matchExpressions", index, "key"), value, is_required)


def images(item: Item) -> Iterator[tuple[FieldPath, str]]:
    """Yield the images of a Module or of what makes pods, with their paths."""
    module = module_of(item.manifest)
    head = ("spec", "moduleSpec") if item.kind == HUB_KIND else ("spec",)
    for field, image, _ in module.images() if module else ():
        yield (*head, *split(field)[1:]), image
    path, pod = pod_of(item.group, item.kind, item.manifest)
    yield from (((*path, *field), image) for field, image in pod_images(pod))
