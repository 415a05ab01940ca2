"""The final list of a cluster as the rules see it: what is deployed, how it is called, what makes pods, and where."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from krmfn import Item, Manifest, Ref, Result, itemtext
from krmfn.resource import FieldPath, GroupKind, split
from krmfn.typed import Any, NamedTuple

from ..kmm.lookup import POD_KINDS, table, tables, text, texts
from ..kmm.module import LABELS, MODULE_GROUP, MODULE_KIND, MODULE_KINDS, Module, module_of
from ..rendering.generated import place_of
from ..rendering.kinds import of_kinds
from ..run import Run, Transformed

SECRET, CONFIG_MAP, SERVICE_ACCOUNT = ("", "Secret"), ("", "ConfigMap"), ("", "ServiceAccount")
PRIORITY_CLASS, DEVICE_CLASS = ("scheduling.k8s.io", "PriorityClass"), ("resource.k8s.io", "DeviceClass")
CLUSTER_SCOPED = frozenset({PRIORITY_CLASS, DEVICE_CLASS})
KINDS = (SECRET, CONFIG_MAP, SERVICE_ACCOUNT, PRIORITY_CLASS, DEVICE_CLASS)
"""What pods and Modules name, as (group, kind)."""
NODE_AFFINITY = ("affinity", "nodeAffinity")
REQUIRED, PREFERRED = (f"{how}DuringSchedulingIgnoredDuringExecution" for how in ("required", "preferred"))


class Final(NamedTuple):
    """What reaches one cluster."""

    deployed: Sequence[Item]
    inputs: Sequence[Item]
    """What was read and is left out of a render: configs, functionConfigs, Nodes, local-config."""
    owners: Mapping[tuple[str, str, str, str], Item]
    """The resources that objects can be made from, by their ids."""
    modules: Sequence[tuple[Item, Module]]
    """The Modules, also those that a ManagedClusterModule brings to its clusters."""
    run: Run
    created: frozenset[Ref]
    """What this run has made."""

    @property
    def theirs(self) -> Sequence[Item]:
        """What the cluster gets from elsewhere: it is there for references, and is not judged."""
        return self.run.external.items if self.run.external else ()

    def owner(self, item: Item) -> Item | None:
        """Return the resource that an item was made from; None for one that is written by hand."""
        return self.owners.get(item.mark.owner) if item.mark else None

    def located(self, item: Item, result: Result) -> Result:
        """Return the finding with its resource and place; about what was made, at the field that the value is from."""
        result = item.located(result)
        owner, config = self.owner(item), self.run.config_item
        if result.place or not owner:
            return result
        place = place_of(owner, result.field)
        if place == owner.place and config:  # it stands in the functionConfig, or nowhere
            other = place_of(config, result.field)
            place = place if other == config.place else other
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
_HASH = re.compile(r"-[2456789bcdfghkmt]{10}\Z")
"""A hash that kustomize puts behind a generated name: ten characters, none of which makes a word.

Source: kustomize v5, api/hasher/hasher.go (encode).
"""
_DEEPEST = 8
"""How many prefixes and suffixes one name is looked at with."""


class Names:
    """The names that a reference may have: of what is in the list, and of what something in the list will make."""

    def __init__(self, items: Sequence[Item], modules: Iterable[tuple[Item, Module]]) -> None:
        """Take the names of some resources, and of what KMM makes for the Modules among them."""
        made: list[tuple[GroupKind, str, str]] = []
        for item in items:
            made.append(((item.group, item.kind), item.ref.namespace, item.ref.name))
            made += made_by(item)
        for _, module in modules:
            classes = tables(table(module.spec, "dra"), "deviceClasses")  # KMM makes them
            made += ((DEVICE_CLASS, "", text(device_class, "name")) for _, device_class in classes)
        self._by_kind: dict[GroupKind, dict[str, set[str]]] = {}
        for kind, namespace, name in made:
            if name:
                self._by_kind.setdefault(kind, {}).setdefault(namespace, set()).add(name)

    def near(self, kind: GroupKind, namespace: str) -> set[str]:
        """Return the names of a kind in a namespace; who applies it decides what no namespace means: it fits all."""
        spaces = self._by_kind.get(kind, {})
        wanted = spaces if not namespace or kind in CLUSTER_SCOPED else (namespace, "", "*")
        return {name for space in wanted for name in spaces.get(space, ())}

    def is_there(self, kind: GroupKind, namespace: str, name: str) -> bool:
        """Return True when a name is among them, or always there."""
        if name in _EVERYWHERE.get(kind, ()) or (kind == PRIORITY_CLASS and name.startswith("system-")):
            return True
        return name in self.near(kind, namespace)


def made_by(item: Item) -> Iterator[tuple[GroupKind, str, str]]:
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
        own = text(spec, "externalSecretName") or name
        yield SECRET, "*" if of_cluster else namespace, text(table(inner, "target"), "name") or own
    elif (group, kind) == ("cert-manager.io", "Certificate"):
        yield SECRET, namespace, itemtext.string(item, "spec", "secretName")
    elif group == "secrets.hashicorp.com":
        yield SECRET, namespace, itemtext.string(item, "spec", "destination", "name")
    elif (group, kind) == ("isindir.github.com", "SopsSecret"):
        for _, template in tables(table(item.manifest, "spec"), "secretTemplates"):
            yield SECRET, namespace, text(template, "name")
    elif (group, kind) == ("trust.cert-manager.io", "Bundle"):
        yield from ((made, "*", name) for made in (CONFIG_MAP, SECRET))


def twin(name: str, present: Iterable[str], transformed: Transformed, hashed: bool) -> str:
    """Return the name that is `name` with or without prefixes, suffixes and a hash of kustomize's; "" for none.

    Two names with different prefixes are no twins: each may come from an overlay of its own.
    """
    plain, shorter = _plain(name, hashed), bare(name, transformed, hashed)
    for other in sorted(present):
        if other != name and (_plain(other, hashed) & shorter or plain & bare(other, transformed, hashed)):
            return other
    return ""


def _plain(name: str, hashed: bool) -> set[str]:
    return {name, _HASH.sub("", name)} if hashed else {name}


def bare(name: str, transformed: Transformed, hashed: bool) -> set[str]:
    """Return a name, and what is left of it without prefixes and suffixes that are applied, and without a hash."""
    names = _plain(name, hashed)
    for _ in range(_DEEPEST):
        shorter = {one.removeprefix(prefix) for one in names for prefix in transformed.prefixes}
        shorter |= {one.removesuffix(suffix) for one in names for suffix in transformed.suffixes}
        if shorter <= names:
            break
        names |= shorter
    return names - {""}


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
