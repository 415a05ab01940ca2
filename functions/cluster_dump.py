"""Recognise objects that a cluster returned (`kubectl get -o yaml`), and remove what servers wrote into them."""

from krmfn.resource import Manifest
from krmfn.typed import Any

_METADATA = (
    *("uid", "resourceVersion", "generation", "creationTimestamp", "selfLink", "managedFields", "ownerReferences"),
    *("finalizers", "deletionTimestamp", "deletionGracePeriodSeconds"),
)
_WRITTEN = (
    *("kubectl.kubernetes.io/last-applied-configuration", "kubectl.kubernetes.io/restartedAt"),
    *("deprecated.daemonset.template.generation", "deployment.kubernetes.io/revision"),
    *("argocd.argoproj.io/tracking-id", "argocd.argoproj.io/installation-id", "config.k8s.io/owning-inventory"),
    *("kustomize.toolkit.fluxcd.io/name", "kustomize.toolkit.fluxcd.io/namespace"),
    *("helm.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/namespace", "controller-uid", "job-name"),
)
"""Labels and annotations that kubectl, controllers and engines write."""
_WRITTEN_PREFIXES = ("openshift.io/sa.scc.", "batch.kubernetes.io/")


def is_dumped(manifest: Manifest) -> bool:
    """Return True for an object that comes from a cluster: only there it has a uid and a resourceVersion."""
    metadata = manifest.get("metadata")
    return isinstance(metadata, dict) and bool(metadata.get("uid") and metadata.get("resourceVersion"))


def cleaned(manifest: Manifest) -> Manifest:
    """Return an object of a dump without the fields that a server wrote, as far as that is certain."""
    copy = {key: value for key, value in manifest.items() if key != "status"}
    if isinstance(metadata := copy.get("metadata"), dict):
        copy["metadata"] = _without_written({key: value for key, value in metadata.items() if key not in _METADATA})
    spec = copy.get("spec")
    template = spec.get("template") if isinstance(spec, dict) else None
    if isinstance(spec, dict) and isinstance(template, dict) and isinstance(template.get("metadata"), dict):
        pod_metadata = _without_written({k: v for k, v in template["metadata"].items() if k != "creationTimestamp"})
        copy["spec"] = {**spec, "template": {**template, "metadata": pod_metadata}}
    return copy


def _without_written(metadata: dict[str, Any]) -> dict[str, Any]:
    for key in ("labels", "annotations"):
        if isinstance(entries := metadata.get(key), dict):
            kept = (name for name in entries if name not in _WRITTEN and not str(name).startswith(_WRITTEN_PREFIXES))
            metadata[key] = {name: entries[name] for name in kept}
            if not metadata[key]:
                del metadata[key]
    return metadata
