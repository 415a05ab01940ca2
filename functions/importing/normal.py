"""One form for all manifests that mean the same: without defaults, without empty fields, without our marks.

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
"""Mappings with any keys, whose values count even where they are empty."""
_MAY_BE_EMPTY = MAPS | {"metadata", "resources", "securityContext", "updateStrategy", "rollingUpdate"}
"""Mappings that mean nothing when they are empty; elsewhere `{}` is something, as in emptyDir."""

_TLS = ("registryTLS", "baseImageRegistryTLS", "unsignedImageRegistryTLS")
"""Verifying TLS is what KMM does without them: `{}` is how Go writes that, but a mapping's replaces the container's."""
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
"""What a field is when it is absent, by the field that holds it."""
OUR_LABELS = tuple(f"app.kubernetes.io/{name}" for name in ("name", "component", "part-of", "managed-by"))
OUR_ANNOTATIONS = (OWNER, PASSED_ON, PROFILE_MARK, *MODULE_ORDER, "config.kubernetes.io/depends-on")
_OF_NETWORK = ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy")
"""What the API server chooses for a Service, unless somebody has: a Service without an address says `None`."""
_POD_LABELS = (OWN_LABEL, SERVED_LABEL)


def normal(manifest: Manifest) -> Manifest:
    """Return the manifest in the form that is equal for all that mean the same; see the module."""
    form: Manifest = _bare(_without_ours(unaddressed(cleaned(manifest))), "")
    return form


def pods(manifest: Manifest) -> Manifest:
    """Return the pod template of a DaemonSet: its pods stay where only what the API server fills in is different."""
    template = json.loads(json.dumps(table(manifest, "spec", "template")))
    pod = table(template, "spec")
    for name in ("containers", "initContainers"):
        for _, container in tables(pod, name):
            if container.get("securityContext") == {}:  # to the server that is not nothing
                container["securityContext"] = {"seccompProfile": {}}
    form: Manifest = _bare(template, "template")
    kept = {name: pod[name] for name in ("serviceAccountName", "tolerations") if pod.get(name)}  # as is, in this order
    return {**form, "spec": {**table(form, "spec"), **kept}}


def unaddressed(manifest: Manifest) -> Manifest:
    """Return a Service without the addresses that the API server has given to it; other manifests as they are."""
    spec = manifest.get("spec")
    if manifest.get("kind") != "Service" or not isinstance(spec, dict) or spec.get("clusterIP") == "None":
        return manifest
    return {**manifest, "spec": {name: value for name, value in spec.items() if name not in _OF_NETWORK}}


def folded(module: Manifest) -> Manifest:
    """Return a normal Module with what KMM reads from its container written in each mapping, and one form of a list.

    A ManagedClusterModule with the same of the Module that it brings.
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
        # what it removes is one list: the old field wins, an empty list counts beside the container's
        own = mapping.pop("inTreeModuleToRemove", None)
        if own or (single and "inTreeModulesToRemove" in mapping):
            mapping["inTreeModulesToRemove"] = [own or single]
        if mapping.get("inTreeModulesToRemove") == [] and "inTreeModulesToRemove" not in container:
            del mapping["inTreeModulesToRemove"]
    return copy


def _without_ours(manifest: Manifest) -> Manifest:
    """Return a manifest that this program generated as it was wanted, without its marks; another one as it is."""
    if OWNER not in table(manifest, "metadata", "annotations"):
        return manifest
    copy: Manifest = json.loads(json.dumps(manifest))
    selected = table(copy, "spec", "selector", "matchLabels")  # pods keep what they are selected by
    pods = {*OUR_LABELS, *_POD_LABELS} - ({*selected} - {*_POD_LABELS})
    for place, labels in ((copy["metadata"], OUR_LABELS), (table(copy, "spec", "template", "metadata"), pods)):
        for name, ours in (("labels", labels), ("annotations", OUR_ANNOTATIONS)):
            if notes := table(place, name):
                place[name] = {key: value for key, value in notes.items() if key not in ours}
    return copy


def _bare(value: Any, holder: str) -> Any:
    if isinstance(value, list):
        entries = [_bare(entry, holder) for entry in value]
        return sorted(entries, key=partial(json.dumps, sort_keys=True)) if holder == "tolerations" else entries
    if isinstance(value, float) and value.is_integer():
        return int(value)  # 1e3 is a whole number to the API server
    if not isinstance(value, dict) or holder == "parameters":
        return value
    if holder in MAPS:
        return {key: _bare(entry, "") for key, entry in value.items() if entry is not None}
    defaults = _defaults(value, holder)
    fields = {name: _bare(entry, name) for name, entry in value.items()}
    return {name: entry for name, entry in fields.items() if not _says_nothing(holder, name, entry, defaults)}


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


def _says_nothing(holder: str, name: str, value: Any, defaults: dict[str, Any]) -> bool:
    if value == [] and (holder, name) == ("kernelMappings", "inTreeModulesToRemove"):
        return False  # it stands in place of the container's list
    if value is None or value == [] or (value == "" and name != "dirName"):
        return True
    if value == {} and name in _TLS:
        return holder != "kernelMappings"
    if value == {}:
        return name in _MAY_BE_EMPTY and (holder, name) != ("spec", "selector")
    return name in defaults and defaults[name] == value and isinstance(value, bool) == isinstance(defaults[name], bool)


_BY_TOOLS = ("meta.helm.sh/", "helm.sh/chart", "argocd.argoproj.io/instance", "internal.config.kubernetes.io/")
"""How the labels and annotations begin that a tool writes for itself when it deploys, beside those of every dump."""


def cleaned(manifest: Manifest) -> Manifest:
    """Return the manifest without its status, and without what server and tools have put into its metadata."""
    written = cluster_dump.cleaned(manifest)
    metadata = written.get("metadata")
    if not isinstance(metadata, dict):
        return written
    for name in ("labels", "annotations"):
        if isinstance(notes := metadata.get(name), dict):
            metadata[name] = {key: value for key, value in notes.items() if not key.startswith(_BY_TOOLS)}
    return {**written, "metadata": {name: value for name, value in metadata.items() if value != {}}}


def owner(manifest: Manifest) -> str:
    """Return the object that this one belongs to, as `DeviceConfig gpu`, and is deleted with; "" for none."""
    owners = listing(manifest.get("metadata"), "ownerReferences") or []
    return next((f"{one.get('kind')} {one.get('name')}" for one in owners if isinstance(one, dict)), "")


def own_notes(metadata: Manifest, name: str) -> dict[str, Any]:
    """Return the labels or annotations of an object but for the keys that every generated object has its own of."""
    notes = table(metadata, name)
    return {key: value for key, value in notes.items() if key not in OUR_LABELS + OUR_ANNOTATIONS}
