"""What a dump shows beside nodes and what KMM has loaded: Modules, images, pods, engines, as far as `chain` asks.

Only named fields are kept; environments, arguments, commands and annotations of pods are dropped while reading.
"""

from krmfn import Manifest
from krmfn.printing import printable
from krmfn.typed import NamedTuple

from ..kmm.crd.user_facts import CRD, is_crd
from ..kmm.lookup import table, tables, text
from ..kmm.module import MODULE_GROUP, NAME_LABEL
from . import facts, kmm_version, live_pods, warned
from .live_engines import ENGINES, Engine, Name, engine_of
from .live_pods import IMAGE_OWNER, Pod, is_operator
from .owned import Head, head_of, is_kept
from .pod_status import LONGEST
from .resource_claims import drivers_of

TRACKING = "argocd.argoproj.io/tracking-id"
"""Argo CD's annotation with the name of the Application that applies an object."""
_HEAD = ("name", "namespace", "labels", "deletionTimestamp", "finalizers")


class Objects(NamedTuple):
    """The objects of a dump."""

    kinds: set[str]
    """The kinds that the dump has any object of, or of which a cluster that was asked has none."""
    modules: dict[Name, Manifest]
    """Modules: name, labels that engines set, spec, when deleted."""
    images: dict[Name, dict[str, str]]
    """The state of each image of a Module, "" for one that KMM has not found out (ModuleImagesConfig)."""
    builds: dict[Name, dict[str, tuple[str, str]]]
    """The action and result for each image that KMM builds or signs (ModuleBuildSignConfig)."""
    pods: list[Pod]
    pods_on: dict[str, list[Pod]]
    """The same by their nodes."""
    pods_of: dict[Name, list[Pod]]
    """Those that KMM made for a Module, by its namespace and name."""
    operators: list[Pod]
    """Those of KMM's operator, and of its webhook's server."""
    engines: list[Engine]
    accounts: set[Name]
    namespaces: dict[str, tuple[str, bool]]
    """The Pod Security level that each enforces, and whether it is being deleted."""
    full_quotas: dict[str, str]
    """By namespace: a quota of pods that is used up."""
    refused: dict[Name, tuple[str, str]]
    """Why no pod of a DaemonSet can be made, in the words of its newest warning: when, and the words."""
    claims: dict[Name, frozenset[str]]
    """The drivers of the devices that are allocated to each ResourceClaim (Dynamic Resource Allocation)."""
    uids: set[str]
    """The uids of the Namespace kube-system, each of another cluster."""
    crds: list[Manifest]
    """The CRDs of KMM's kinds."""
    kmm_versions: list[str]
    """The KMM versions that OLM's objects name, "" for those of other operators."""
    heads: list[Head]
    """Who owns what."""

    @property
    def kmm_version(self) -> str:
        """The KMM version of the cluster: by OLM's object, else by the operator's image; "" where neither says it."""
        images = (image for pod in self.operators for image in pod.images)
        return next(filter(None, (*self.kmm_versions, *map(kmm_version.of_image, images))), "")


def nothing() -> Objects:
    """Return the objects of a dump that has none."""
    return Objects(set(), {}, {}, {}, [], {}, {}, [], [], set(), {}, {}, {}, {}, set(), [], [], [])


def add_pod(objects: Objects, pod: Pod) -> None:
    """Add a pod."""
    objects.pods.append(pod)
    objects.pods_on.setdefault(pod.node, []).append(pod)
    if is_operator(pod):
        objects.operators.append(pod)
    if name := pod.labels.get(NAME_LABEL) or pod.labels.get(IMAGE_OWNER):
        objects.pods_of.setdefault((pod.namespace, name), []).append(pod)


def put_in_order(objects: Objects) -> None:
    """Put the pods that are there for one thing in the order in which they count."""
    for pods in (objects.operators, *objects.pods_on.values(), *objects.pods_of.values()):
        live_pods.put_in_order(pods)


def add(objects: Objects, manifest: Manifest) -> None:
    """Add what is kept of any object but a pod."""
    group, kind = text(manifest, "apiVersion").rpartition("/")[0], text(manifest, "kind")
    metadata = table(manifest, "metadata")
    name = text(metadata, "namespace"), text(metadata, "name")
    objects.kinds.add(kind)
    if is_kept(manifest):
        objects.heads.append(head_of(manifest))
    if group == MODULE_GROUP:
        _add_of_kmm(objects, manifest, kind, name)
    elif (group, kind) in ENGINES:
        objects.engines.append(engine_of(manifest, kind, name))
    elif kind == "Event" and text(manifest, "reason") == "FailedCreate":
        _add_refusal(objects, manifest)
    elif (group, kind) == ("resource.k8s.io", "ResourceClaim"):
        objects.claims[name] = drivers_of(manifest)
    elif group == "":
        _add_of_core(objects, manifest, kind, name)
    elif (group, kind) == CRD and is_crd(manifest):
        objects.crds.append(
            {key: manifest[key] for key in ("apiVersion", "kind", "metadata", "spec") if key in manifest}
        )
    elif (group, kind) == kmm_version.SUBSCRIBED:
        objects.kmm_versions.append(kmm_version.of_subscription(manifest))


def _add_of_core(objects: Objects, manifest: Manifest, kind: str, name: Name) -> None:
    """Add a ServiceAccount, a Namespace or a quota."""
    metadata = table(manifest, "metadata")
    if kind == "ServiceAccount":
        objects.accounts.add(name)
    elif kind == "Namespace":
        level = text(table(metadata, "labels"), "pod-security.kubernetes.io/enforce")
        objects.namespaces[name[1]] = level, "deletionTimestamp" in metadata
        objects.uids.update({facts.cluster_uid(manifest)} - {""})
    elif kind == "ResourceQuota":
        hard, used = table(manifest, "status", "hard"), table(manifest, "status", "used")
        for key in ("pods", "count/pods"):
            if key in hard and str(hard[key]) == str(used.get(key)):
                objects.full_quotas[name[0]] = f"{name[1]}: {used[key]} of {hard[key]} {key}"


def _add_refusal(objects: Objects, manifest: Manifest) -> None:
    """Add why no pod of a DaemonSet can be made, unless a newer warning about it is there."""
    subject = warned.subject_of(manifest)
    if text(subject, "kind") == "DaemonSet":
        name, (time, words) = (text(subject, "namespace"), text(subject, "name")), warned.sentence(manifest)
        objects.refused[name] = max(objects.refused.get(name, ("", "")), (time, printable(words)[:LONGEST]))


def _add_of_kmm(objects: Objects, manifest: Manifest, kind: str, name: Name) -> None:
    """Add a Module, or what KMM has found out about its images.

    Source: KMM main, api/v1beta1/moduleimagesconfig_types.go and modulebuildsignconfig_types.go.
    """
    metadata, status = table(manifest, "metadata"), table(manifest, "status")
    if kind == "Module":
        head: Manifest = {key: metadata[key] for key in _HEAD if key in metadata}
        tracking = text(table(metadata, "annotations"), TRACKING)
        kept: Manifest = {key: manifest[key] for key in ("apiVersion", "kind", "spec") if key in manifest}
        objects.modules[name] = {**kept, "metadata": {**head, "annotations": {TRACKING: tracking}}}
    elif kind == "ModuleImagesConfig":
        states = objects.images.setdefault(name, {})
        states |= {text(entry, "image"): "" for _, entry in tables(table(manifest, "spec"), "images")}
        states |= {text(entry, "image"): text(entry, "status") for _, entry in tables(status, "imagesStates")}
    elif kind == "ModuleBuildSignConfig":
        entries = [entry for _, entry in tables(status, "images")]
        results = {text(e, "image"): (text(e, "action"), text(e, "status")) for e in entries}
        objects.builds.setdefault(name, {}).update(results)
