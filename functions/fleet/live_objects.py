"""What a dump shows beside nodes and what KMM has loaded: Modules, images, pods, engines, as far as `chain` asks.

Only named fields are kept; environments, arguments, commands and annotations of pods are dropped while reading.
"""

from krmfn import Manifest
from krmfn.printing import printable
from krmfn.typed import NamedTuple

from ..kmm.crd.user_facts import CRD, is_crd
from ..kmm.lookup import table, tables, text
from ..kmm.module import MODULE_GROUP, NAME_LABEL
from . import facts, kmm_version
from .live_pods import IMAGE_OWNER, LONGEST, Pod, is_operator
from .owned import Head, head_of, is_kept

Name = tuple[str, str]
"""Namespace and name."""
_ENGINES = {("argoproj.io", "Application"), ("kustomize.toolkit.fluxcd.io", "Kustomization")}
TRACKING = "argocd.argoproj.io/tracking-id"
"""Argo CD's annotation with the name of the Application that applies an object."""
_HEAD = ("name", "namespace", "labels", "deletionTimestamp", "finalizers")


class Engine(NamedTuple):
    """An Application of Argo CD or a Kustomization of Flux: what applies Modules."""

    kind: str
    namespace: str
    name: str
    problem: str
    """Why it is not through, in its own words; "" where nothing says so."""
    applies: frozenset[Name]
    """The Modules that it says it applies; empty where it names none."""


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
    refused: dict[Name, str]
    """Why no pod of a DaemonSet can be made, in the words of its newest warning."""
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
    return Objects(set(), {}, {}, {}, [], {}, {}, [], [], set(), {}, {}, {}, set(), [], [], [])


def add_pod(objects: Objects, pod: Pod) -> None:
    """Add a pod."""
    objects.pods.append(pod)
    objects.pods_on.setdefault(pod.node, []).append(pod)
    if is_operator(pod):
        objects.operators.append(pod)
    if name := pod.labels.get(NAME_LABEL) or pod.labels.get(IMAGE_OWNER):
        objects.pods_of.setdefault((pod.namespace, name), []).append(pod)


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
    elif (group, kind) in _ENGINES:
        objects.engines.append(_engine(manifest, kind, name))
    elif kind == "Event" and text(manifest, "reason") == "FailedCreate":
        _add_refusal(objects, manifest)
    elif (group, kind) == ("", "ServiceAccount"):
        objects.accounts.add(name)
    elif (group, kind) == ("", "Namespace"):
        level = text(table(metadata, "labels"), "pod-security.kubernetes.io/enforce")
        objects.namespaces[name[1]] = level, "deletionTimestamp" in metadata
        objects.uids.update({facts.cluster_uid(manifest)} - {""})
    elif (group, kind) == CRD and is_crd(manifest):
        objects.crds.append(
            {key: manifest[key] for key in ("apiVersion", "kind", "metadata", "spec") if key in manifest}
        )
    elif (group, kind) == kmm_version.SUBSCRIBED:
        objects.kmm_versions.append(kmm_version.of_subscription(manifest))
    elif (group, kind) == ("", "ResourceQuota"):
        hard, used = table(manifest, "status", "hard"), table(manifest, "status", "used")
        for key in ("pods", "count/pods"):
            if key in hard and str(hard[key]) == str(used.get(key)):
                objects.full_quotas[name[0]] = f"{name[1]}: {used[key]} of {hard[key]} {key}"


def _add_refusal(objects: Objects, manifest: Manifest) -> None:
    """Add why no pod of a DaemonSet can be made."""
    subject = table(manifest, "involvedObject") or table(manifest, "regarding")
    if text(subject, "kind") == "DaemonSet":
        words = f"FailedCreate: {text(manifest, 'message') or text(manifest, 'note')}"
        objects.refused[text(subject, "namespace"), text(subject, "name")] = printable(words)[:LONGEST]


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


def _engine(manifest: Manifest, kind: str, name: Name) -> Engine:
    """Return an engine's object with why it is not through.

    Sources: Argo CD 3.2, pkg/apis/application/v1alpha1; Flux's kustomize-controller, api/v1.
    """
    status, problem = table(manifest, "status"), ""
    operation = table(status, "operationState")
    if text(operation, "phase") in ("Failed", "Error"):
        problem = f"{text(operation, 'phase')}: {text(operation, 'message')}"
    elif text(table(status, "sync"), "status") == "OutOfSync":
        problem = "OutOfSync"
    for _, condition in tables(status, "conditions"):
        if text(condition, "type") == "Ready" and text(condition, "status") == "False":
            problem = f"{text(condition, 'reason')}: {text(condition, 'message')}"
        elif text(condition, "type").endswith("Error"):
            problem = f"{text(condition, 'type')}: {text(condition, 'message')}"
    if table(manifest, "spec").get("suspend") is True:
        problem = "suspended (spec.suspend)"
    entries = (entry for _, entry in tables(status, "resources") if text(entry, "kind") == "Module")
    applies = {(text(entry, "namespace"), text(entry, "name")) for entry in entries}
    ids = (text(entry, "id").split("_") for _, entry in tables(table(status, "inventory"), "entries"))
    applies |= {(parts[0], parts[1]) for parts in ids if parts[-1] == "Module" and len(parts) > 3}
    return Engine(kind, *name, printable(problem), frozenset(applies))
