"""Normalize manifests: those that mean the same become equal, without defaults, empty fields and krmfn's marks.

Sources of the defaults: k8s.io/kubernetes v1.34, pkg/apis/core/v1 and pkg/apis/apps/v1, defaults.go; KMM's Module CRD.
"""

import json
from functools import partial

from krmfn import Manifest
from krmfn.ownership import OWNER, PASSED_ON
from krmfn.typed import Any

from .. import cluster_dump
from ..deviceconfig.daemonsets import OWN_LABEL, SERVED_LABEL
from ..kmm.lookup import listing, table, tables
from ..kmm.module import HUB_KIND
from ..rendering.generated import MODULE_ORDER
from ..rendering.kinds import PROFILE_MARK

MAPS = {
    *("labels", "annotations", "nodeSelector", "matchLabels", "selector", "limits", "requests"),
    *("volumeAttributes", "options", "parameters"),
}
"""Mappings with keys of the user, whose values count even if they are empty."""
_MAY_BE_EMPTY = MAPS | {"metadata", "resources", "securityContext", "updateStrategy", "rollingUpdate"}
"""Mappings that mean nothing when they are empty; any other `{}` has a meaning, as in emptyDir."""

_TLS = ("registryTLS", "baseImageRegistryTLS", "unsignedImageRegistryTLS")
"""KMM verifies TLS without these, and with the `{}` that Go writes; but in a mapping `{}` replaces the container's."""
_PROBE = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}
_CONTAINER = {"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}
DEFAULTS: dict[str, dict[str, Any]] = {
    "spec": {
        "revisionHistoryLimit": 10,
        "minReadySeconds": 0,
        "restartPolicy": "Always",
        "dnsPolicy": "ClusterFirst",
        "schedulerName": "default-scheduler",
        "terminationGracePeriodSeconds": 30,
        "enableServiceLinks": True,
        **dict.fromkeys(("hostNetwork", "hostPID", "hostIPC"), False),
        "serviceAccountName": "default",
        "type": "ClusterIP",
        "sessionAffinity": "None",
        **dict.fromkeys(("internalTrafficPolicy", "externalTrafficPolicy"), "Cluster"),
    },
    "updateStrategy": {"type": "RollingUpdate"},
    "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0},
    **dict.fromkeys(("containers", "initContainers"), _CONTAINER),
    **dict.fromkeys(("livenessProbe", "readinessProbe", "startupProbe"), _PROBE),
    **{key: {"defaultMode": 420} for key in ("configMap", "secret", "downwardAPI", "projected")},
    "httpGet": {"scheme": "HTTP"},
    "ports": {"protocol": "TCP"},
    "fieldRef": {"apiVersion": "v1"},
    "resourceFieldRef": {"divisor": "0"},
    "serviceAccountToken": {"expirationSeconds": 3600},
    "modprobe": {"dirName": "/opt"},
    **{key: {"insecure": False, "insecureSkipTLSVerify": False} for key in _TLS},
}
"""The values of absent fields, by the field that holds them."""
OUR_LABELS = tuple(f"app.kubernetes.io/{name}" for name in ("name", "component", "part-of", "managed-by"))
OUR_ANNOTATIONS = (OWNER, PASSED_ON, PROFILE_MARK, *MODULE_ORDER, "config.kubernetes.io/depends-on")
_OF_NETWORK = ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy")
"""Fields of a Service that the API server fills in when they are missing; `None` says that it has no address."""
_POD_LABELS = (OWN_LABEL, SERVED_LABEL)


def normal(manifest: Manifest) -> Manifest:
    """Return the manifest in a form that is equal for all manifests with the same meaning."""
    form: Manifest = _normalized(_without_ours(unaddressed(cleaned(manifest))), "")
    return form


def without_defaults(value: Any) -> Any:
    """Return the fields of an object without those that mean what their absence means."""
    return _normalized(value, "")


def is_no_tls(holder: str, name: str) -> bool:
    """Return whether `{}` in this field means what its absence means: KMM verifies TLS either way."""
    return name in _TLS and holder != "kernelMappings"


def pods(manifest: Manifest) -> Manifest:
    """Return the pod template of a DaemonSet, without what the API server fills in: if it is equal, the pods stay."""
    template = json.loads(json.dumps(table(manifest, "spec", "template")))
    pod = table(template, "spec")
    for name in ("containers", "initContainers"):
        for _, container in tables(pod, name):
            if container.get("securityContext") == {}:  # the server does not take that as absent
                container["securityContext"] = {"seccompProfile": {}}
    form: Manifest = _normalized(template, "template")
    kept = {name: pod[name] for name in ("serviceAccountName", "tolerations") if pod.get(name)}  # as is, in this order
    return {**form, "spec": {**table(form, "spec"), **kept}}


def unaddressed(manifest: Manifest) -> Manifest:
    """Return a Service without the addresses that the API server has given to it; other manifests as they are."""
    spec = manifest.get("spec")
    if manifest.get("kind") != "Service" or not isinstance(spec, dict) or spec.get("clusterIP") == "None":
        return manifest
    return {**manifest, "spec": {name: value for name, value in spec.items() if name not in _OF_NETWORK}}


def folded(module: Manifest) -> Manifest:
    """Return a normal Module whose mappings have the fields that KMM reads for them from the container, too.

    Modules to remove are always a list. For a ManagedClusterModule, this is done in its `moduleSpec`.
    Source: KMM v2.4.0 to main, internal/module/kernelmapper.go (`resolution`).
    """
    copy: Manifest = json.loads(json.dumps(module))
    spec = table(copy, "spec", *(["moduleSpec"] if copy.get("kind") == HUB_KIND else []))
    container = table(spec, "moduleLoader", "container")
    image, single = container.pop("containerImage", None), container.pop("inTreeModuleToRemove", None)
    if single:
        container["inTreeModulesToRemove"] = [single]
    for _, mapping in tables(container, "kernelMappings"):
        if image:
            mapping.setdefault("containerImage", image)
        if mapping.get("registryTLS") == {} and "registryTLS" not in container:
            del mapping["registryTLS"]
        # the old field with one module wins over the list; an empty list replaces the container's
        removed = mapping.pop("inTreeModuleToRemove", None) or (single if "inTreeModulesToRemove" in mapping else None)
        if removed:
            mapping["inTreeModulesToRemove"] = [removed]
        if mapping.get("inTreeModulesToRemove") == [] and "inTreeModulesToRemove" not in container:
            del mapping["inTreeModulesToRemove"]
    return copy


def _without_ours(manifest: Manifest) -> Manifest:
    """Return a manifest that krmfn generated without krmfn's labels and annotations; another one unchanged."""
    if OWNER not in table(manifest, "metadata", "annotations"):
        return manifest
    copy: Manifest = json.loads(json.dumps(manifest))
    selector = table(copy, "spec", "selector", "matchLabels")  # pods keep the labels that select them
    pod_labels = {*OUR_LABELS, *_POD_LABELS} - ({*selector} - {*_POD_LABELS})
    for metadata, labels in ((copy["metadata"], OUR_LABELS), (table(copy, "spec", "template", "metadata"), pod_labels)):
        for name, ours in (("labels", labels), ("annotations", OUR_ANNOTATIONS)):
            if notes := table(metadata, name):
                metadata[name] = {key: value for key, value in notes.items() if key not in ours}
    return copy


def _normalized(value: Any, holder: str) -> Any:
    if isinstance(value, list):
        entries = [_normalized(entry, holder) for entry in value]
        return sorted(entries, key=partial(json.dumps, sort_keys=True)) if holder == "tolerations" else entries
    if isinstance(value, float) and value.is_integer():
        return int(value)  # the API server reads 1e3 as an integer
    if not isinstance(value, dict) or holder == "parameters":
        return value
    if holder in MAPS:
        return {key: _normalized(entry, "") for key, entry in value.items() if entry is not None}
    defaults = _defaults(value, holder)
    fields = {name: _normalized(entry, name) for name, entry in value.items()}
    return {name: entry for name, entry in fields.items() if not _is_absent(holder, name, entry, defaults)}


def _defaults(value: dict[str, Any], holder: str) -> dict[str, Any]:
    defaults = DEFAULTS.get(holder, {})
    if holder in ("containers", "initContainers"):
        tag = str(value.get("image", "")).rpartition("/")[2]
        policy = "Always" if ":" not in tag or tag.endswith(":latest") else "IfNotPresent"
        return {**defaults, "imagePullPolicy": "IfNotPresent" if "@" in tag else policy}
    if holder == "ports" and "port" in value:
        return {**defaults, "targetPort": value["port"]}
    if holder == "spec" and "serviceAccount" in value:  # the deprecated twin, which the API server keeps equal
        return {**defaults, "serviceAccount": value.get("serviceAccountName")}
    return defaults


def _is_absent(holder: str, name: str, value: Any, defaults: dict[str, Any]) -> bool:
    """Return True for a value that means the same as none."""
    if value == [] and (holder, name) == ("kernelMappings", "inTreeModulesToRemove"):
        return False  # it replaces the container's list
    if value is None or value == [] or (value == "" and name != "dirName"):
        return True
    if value == {} and name in _TLS:
        return is_no_tls(holder, name)
    if value == {}:
        return name in _MAY_BE_EMPTY and (holder, name) != ("spec", "selector")
    return name in defaults and defaults[name] == value and isinstance(value, bool) == isinstance(defaults[name], bool)


_BY_TOOLS = ("meta.helm.sh/", "helm.sh/chart", "argocd.argoproj.io/instance", "internal.config.kubernetes.io/")
"""Prefixes of labels and annotations that tools write for themselves, beside those that `cluster_dump` removes."""


def cleaned(manifest: Manifest) -> Manifest:
    """Return the manifest without its status, and without the metadata that the server and tools have written."""
    written = cluster_dump.cleaned(manifest)
    metadata = written.get("metadata")
    if not isinstance(metadata, dict):
        return written
    for name in ("labels", "annotations"):
        if isinstance(notes := metadata.get(name), dict):
            metadata[name] = {key: value for key, value in notes.items() if not key.startswith(_BY_TOOLS)}
    return {**written, "metadata": {name: value for name, value in metadata.items() if value != {}}}


def owner(manifest: Manifest) -> str:
    """Return the owner with which this object is deleted, as `DeviceConfig gpu`; "" for none."""
    owners = listing(manifest.get("metadata"), "ownerReferences") or []
    return next((f"{entry.get('kind')} {entry.get('name')}" for entry in owners if isinstance(entry, dict)), "")


def own_notes(metadata: Manifest, name: str) -> dict[str, Any]:
    """Return the labels or annotations of an object, but for the keys that krmfn sets on every generated object."""
    notes = table(metadata, name)
    return {key: value for key, value in notes.items() if key not in OUR_LABELS + OUR_ANNOTATIONS}
