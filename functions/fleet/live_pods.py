"""The pods of a dump that may have to do with a driver: those that KMM makes, those that use devices, the operator's.

Environments, arguments, commands and annotations are dropped while reading.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TypeVar

from krmfn import Manifest
from krmfn.printing import printable
from krmfn.typed import NamedTuple

from ..kmm.lookup import Table, listing, table, tables, text
from ..kmm.module import LABELS, NAME_LABEL
from .pod_status import PodStatus
from .resource_claims import claims_of

IMAGE_OWNER = f"{LABELS}image-owner"
"""The label with a Module's name on the pod that looks for one of its images."""
ROLES = {"device-plugin": "devicePlugin", "dra": "dra"}
"""The roles of the pods that KMM runs on a node beside a kernel module, and the fields that ask for them."""
_KEPT = (
    "app.kubernetes.io/name",
    "app.kubernetes.io/component",
    "app",
    "control-plane",
    "openshift.io/build.name",
    "krmfn.dev/daemonset",
)
"""Labels of pods beside KMM's own."""
_METADATA = (
    *("name", "namespace", "uid", "labels", "creationTimestamp", "deletionTimestamp", "finalizers", "ownerReferences"),
)
_STATUS, _STATE = ("phase", "reason", "message"), ("reason", "message", "exitCode")
_STATES = (("state", "terminated"), ("lastState", "terminated"), ("state", "waiting"))
_CONDITIONS = ("Ready", "PodScheduled")
_CONTAINERS = ("initContainerStatuses", "containerStatuses")
_OPERATOR, _NFD = "kmm-operator", "nfd-worker"
_CORE = ("kubernetes.io", "k8s.io")
"""Domains of resources that no device plugin serves: attachable volumes, huge pages and the like."""


Shared = TypeVar("Shared", bound=Hashable)


class Pod(NamedTuple):
    """A pod that may have to do with a driver."""

    namespace: str
    name: str
    node: str
    """"" for one that is not scheduled."""
    labels: Mapping[str, str]
    """KMM's, and those that name an application."""
    phase: str
    status: PodStatus
    is_ready: bool
    images: tuple[str, ...]
    selects: frozenset[str]
    """The label keys that it selects nodes by."""
    devices: frozenset[str]
    """The resources of device plugins that it has."""
    claims: frozenset[str]
    """The names of its ResourceClaims, which are in its namespace."""
    is_daemon: bool
    """Whether a DaemonSet has made it."""
    role: str
    """What KMM runs it for beside a kernel module, as `ROLES` has it; "" for any other pod."""
    deleted: str
    """When it was deleted, if it is still there."""
    finalizers: tuple[str, ...]
    """What has to let it go then."""
    exit_code: str
    """The exit code of a container that has failed; "" where there is none."""
    since: str
    """When it was made."""
    restarts: bool
    """Whether a container of it crashes again and again, so that its last log is that of the previous run."""

    @property
    def full_name(self) -> str:
        """Namespace and name for people."""
        return printable(f"{self.namespace}/{self.name}")

    @property
    def has_ended(self) -> bool:
        """Whether it runs no more, and waits for being removed."""
        return self.phase in ("Succeeded", "Failed")


@lru_cache(maxsize=1 << 14)
def shared(value: Shared) -> Shared:
    """Return an equal value that another pod has, too: 100,000 pods have few different ones."""
    return value


def pod_of(manifest: Manifest, status: PodStatus, is_ready: bool) -> Pod | None:
    """Return what is kept of a pod; None for one that has nothing to do with a driver."""
    metadata, spec = table(manifest, "metadata"), table(manifest, "spec")
    labels = {key: value for key, value in table(metadata, "labels").items() if isinstance(value, str)}
    kept = {key: value for key, value in labels.items() if key.startswith(LABELS) or key in _KEPT}
    selects = selected_keys(spec)
    devices, name = shared(frozenset(_devices(spec))), text(metadata, "name")
    is_of_kmm = any(key.startswith(LABELS) for key in (*kept, *selects)) or "openshift.io/build.name" in kept
    claims = claims_of(manifest)
    if not (is_of_kmm or devices or claims or _OPERATOR in name or _NFD in name):
        return None
    states = list(_states(table(manifest, "status")))
    codes = [state["exitCode"] for state in states if state.get("exitCode")]
    owners = [text(owner, "kind") for _, owner in tables(metadata, "ownerReferences")]
    return Pod(
        namespace=shared(text(metadata, "namespace")),
        name=name,
        node=shared(text(spec, "nodeName")),
        labels=kept,
        phase=shared(text(table(manifest, "status"), "phase")),
        status=status,
        is_ready=is_ready,
        images=shared(tuple(text(container, "image") for _, container in tables(spec, "containers"))),
        selects=selects,
        devices=devices,
        claims=claims,
        is_daemon="DaemonSet" in owners,
        role=_role(labels, "DaemonSet" in owners),
        deleted=text(metadata, "deletionTimestamp"),
        finalizers=tuple(map(str, listing(metadata, "finalizers") or ())),
        exit_code=str(codes[0]) if codes else "",
        since=text(metadata, "creationTimestamp"),
        restarts=any(text(state, "reason") == "CrashLoopBackOff" for state in states),
    )


def selected_keys(spec: Table) -> frozenset[str]:
    """Return the label keys that a node must have for a pod: by its nodeSelector, or by any term of its affinity."""
    keys = [*map(str, table(spec, "nodeSelector"))]
    required = table(spec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    for _, term in tables(required, "nodeSelectorTerms"):
        for _, rule in tables(term, "matchExpressions"):
            keys += [text(rule, "key")] if text(rule, "operator") in ("In", "Exists", "Gt", "Lt") else []
    names: frozenset[str] = shared(frozenset(keys) - {""})
    return names


def kept_pods(manifest: Manifest) -> Iterator[Manifest]:
    """Yield a pod that may have to do with a driver, without what nobody asks for: it would fill the memory."""
    if not pod_of(manifest, PodStatus(), False):
        return
    spec = table(manifest, "spec")
    kept: Manifest = {"nodeName": spec.get("nodeName"), "nodeSelector": dict.fromkeys(selected_keys(spec), "")}
    kept["resourceClaims"] = [{"resourceClaimName": name} for name in claims_of(manifest)]
    for key in ("initContainers", "containers"):
        entries = (entry for _, entry in tables(spec, key))
        kept[key] = [
            {part: entry[part] for part in ("name", "image", "resources") if part in entry} for entry in entries
        ]
    metadata = _kept(table(manifest, "metadata"), _METADATA)
    yield {"metadata": metadata, "spec": kept, "status": _kept_status(table(manifest, "status"))}


def _kept(value: Table, keys: Iterable[str]) -> Table:
    """Return some entries of a mapping."""
    return {key: value[key] for key in keys if key in value}


def _kept_status(status: Table) -> Table:
    """Return what says of a status whether the pod goes on, and why not."""
    kept, parts = _kept(status, _STATUS), ("type", "status", "reason", "message")
    conditions = (entry for _, entry in tables(status, "conditions"))
    kept["conditions"] = [_kept(entry, parts) for entry in conditions if text(entry, "type") in _CONDITIONS]
    for key in _CONTAINERS:
        kept[key] = [_kept_container(entry) for _, entry in tables(status, key)]
    return kept


def _kept_container(entry: Table) -> Table:
    """Return the states of a container, and whether it is ready."""
    kept: Table = _kept(entry, ("ready",))
    for part, kind in _STATES:
        if state := table(entry, part, kind):
            kept.setdefault(part, {})[kind] = _kept(state, _STATE)
    return kept


def _role(labels: Mapping[str, str], is_daemon: bool) -> str:
    """Return the role of a pod; KMM up to 2.6 sets no label for it, and makes DaemonSets of device plugins alone.

    Source: KMM v2.4.0 to v2.6.0, internal/controllers/device_plugin_reconciler.go, and main for the label.
    """
    return labels.get(f"{LABELS}role") or ("device-plugin" if is_daemon and NAME_LABEL in labels else "")


def _states(status: Table) -> Iterator[Table]:
    """Yield the last and the present states of all containers."""
    for key in _CONTAINERS:
        for _, entry in tables(status, key):
            for path in _STATES:
                yield table(entry, *path)


def _devices(spec: Table) -> Iterator[str]:
    """Yield the resources of device plugins that the containers ask for."""
    for key in ("initContainers", "containers"):
        for _, container in tables(spec, key):
            for part in ("limits", "requests"):
                for name in table(container, "resources", part):
                    domain, slash, _ = str(name).partition("/")
                    if slash and not domain.endswith(_CORE):
                        yield str(name)


def put_in_order(pods: list[Pod]) -> None:
    """Put pods in the order in which they count where several are there for one thing, whatever that of the dump is.

    Those that are ready, then those that are to be, then those that have ended; of each the newest first.
    """
    pods.sort(key=lambda pod: (pod.namespace, pod.name))
    pods.sort(key=lambda pod: pod.since, reverse=True)
    pods.sort(key=lambda pod: (not pod.is_ready, pod.has_ended))


def is_operator(pod: Pod) -> bool:
    """Return True for a pod of KMM's operator: its controller, or its webhook's server."""
    return _OPERATOR in pod.name and NAME_LABEL not in pod.labels


def is_nfd_worker(pod: Pod) -> bool:
    """Return True for a pod of node feature discovery that labels its node."""
    return _NFD in pod.name
