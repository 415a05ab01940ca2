"""Which Deployment runs an operator, and what would put its number of pods back.

Source: operator-framework/api, pkg/operators/v1alpha1 (ClusterServiceVersion, Subscription).
"""

from collections.abc import Collection, Iterator

from krmfn import Manifest
from krmfn.resource import ref
from krmfn.typed import Any, NamedTuple

from ..fleet.owned import Head, head_of
from ..kmm.lookup import listing, table, tables, text
from .dump import Dump
from .owners import HELM_RELEASE, ownership

_KMM = ("kmm-operator", "kmm-operator-hub")
_COMMON = frozenset({"", "manager", "operator", "controller", "kubectl", "helm"})
"""Names that many programs have."""


class Operator(NamedTuple):
    """What runs an operator."""

    namespace: str
    name: str
    """Of the Deployment."""
    replicas: int
    selector: str
    """The labels of its pods, as kubectl takes them; "" where they are not known."""
    version: str = ""
    """The ClusterServiceVersion that makes it; "" without OLM."""
    position: int = 0
    """The Deployment's position in that."""
    subscription: str = ""
    """The Subscription that renews that: `namespace/name`; "" for none."""
    is_automatic: bool = False
    """Whether the Subscription installs without being asked."""
    put_back: tuple[str, ...] = ()
    """What else would put the number back, in words."""


def operators(dump: Dump, kinds: Collection[tuple[str, str]], heads: Collection[Head]) -> list[Operator]:
    """Return what runs the operators of some kinds: by OLM's versions, else by the managers of what they made."""
    by_version = [operator for version in dump.versions for operator in _of_version(version, dump, kinds)]
    if by_version:
        return by_version
    managers = {manager for head in heads for manager in head.managers} - _COMMON
    matches = [deployment for deployment in dump.deployments if _names(deployment) & managers]
    return [_of_deployment(deployment) for deployment in matches if not ref(deployment).name.startswith(_KMM)]


def _of_version(version: Manifest, dump: Dump, kinds: Collection[tuple[str, str]]) -> Iterator[Operator]:
    """Yield the Deployments of a ClusterServiceVersion that owns one of the kinds."""
    definitions = [entry for _, entry in tables(table(version, "spec", "customresourcedefinitions"), "owned")]
    owned = {(text(entry, "name").partition(".")[2], text(entry, "kind")) for entry in definitions}
    if not owned & {*kinds}:
        return
    target = ref(version)
    subscription = next((s for s in dump.subscriptions if _installs(s, target.namespace, target.name)), None)
    approval = text(table(subscription, "spec"), "installPlanApproval") if subscription else ""
    for index, entry in tables(table(version, "spec", "install", "spec"), "deployments"):
        name = text(entry, "name")
        running = next((d for d in dump.deployments if ref(d)[2:] == (target.namespace, name)), None)
        spec = table(running or entry, "spec")
        yield Operator(
            *(target.namespace, name, _replicas(spec), _selector(spec), target.name, index),
            "/".join(ref(subscription)[2:]) if subscription else "",
            bool(subscription) and approval != "Manual",
        )


def _installs(subscription: Manifest, namespace: str, version: str) -> bool:
    status = table(subscription, "status")
    names = (text(status, "installedCSV"), text(status, "currentCSV"))
    return ref(subscription).namespace == namespace and version in names


def _of_deployment(deployment: Manifest) -> Operator:
    owned = ownership(head_of(deployment), Dump(frozenset(), {}, {}, [], [], [], set(), set(), []))
    put_back = [*map(str, owned.appliers)]
    if owned.release and not any(applier.kind == HELM_RELEASE for applier in owned.appliers):
        put_back.append(f"the next `helm upgrade` of {owned.release}")
    target, spec = ref(deployment), table(deployment, "spec")
    replicas = _replicas(spec)
    return Operator(target.namespace, target.name, replicas, _selector(spec), put_back=tuple(put_back))


def _replicas(spec: Any) -> int:
    number = spec.get("replicas", 1)
    return number if isinstance(number, int) else 1


def _selector(spec: Any) -> str:
    labels = table(spec, "selector", "matchLabels")
    return ",".join(f"{key}={value}" for key, value in labels.items())


def _names(deployment: Manifest) -> set[str]:
    """Return the names by which a Deployment's program may call itself when it writes."""
    names = {ref(deployment).name}
    for _, container in tables(table(deployment, "spec", "template", "spec"), "containers"):
        image = text(container, "image").partition("@")[0].rpartition("/")[2].partition(":")[0]
        command = [str(word) for word in listing(container, "command") or ()][:1]
        names |= {text(container, "name"), image, *(word.rpartition("/")[2] for word in command)}
    return names - _COMMON
