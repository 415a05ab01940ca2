"""What makes two manifests the same object on an API server: the namespace counts only for kinds that have one."""

from krmfn import Ref
from krmfn.ownership import Id

_RBAC, _ADMISSION, _STORAGE = "rbac.authorization.k8s.io", "admissionregistration.k8s.io", "storage.k8s.io"
_KINDS = {
    "": ("ComponentStatus", "Namespace", "Node", "PersistentVolume"),
    _ADMISSION: (
        *("MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "MutatingWebhookConfiguration"),
        *("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration"),
    ),
    "apiextensions.k8s.io": ("CustomResourceDefinition",),
    "apiregistration.k8s.io": ("APIService",),
    "certificates.k8s.io": ("CertificateSigningRequest", "ClusterTrustBundle"),
    "flowcontrol.apiserver.k8s.io": ("FlowSchema", "PriorityLevelConfiguration"),
    "networking.k8s.io": ("IPAddress", "IngressClass", "ServiceCIDR"),
    "node.k8s.io": ("RuntimeClass",),
    "policy": ("PodSecurityPolicy",),
    _RBAC: ("ClusterRole", "ClusterRoleBinding"),
    "resource.k8s.io": ("DeviceClass", "DeviceTaintRule", "ResourceSlice"),
    "scheduling.k8s.io": ("PriorityClass",),
    _STORAGE: ("CSIDriver", "CSINode", "StorageClass", "VolumeAttachment", "VolumeAttributesClass"),
    "hub.kmm.sigs.x-k8s.io": ("ManagedClusterModule",),
    "kmm.sigs.x-k8s.io": ("NodeModulesConfig",),
    "nfd.k8s-sigs.io": ("NodeFeatureRule",),
    "security.openshift.io": ("SecurityContextConstraints",),
}
CLUSTER_SCOPED = frozenset((group, kind) for group, kinds in _KINDS.items() for kind in kinds)
"""(group, kind) of what has no namespace: kubectl and Argo CD leave out the one that a manifest may have.

Source: `kubectl api-resources --namespaced=false` of Kubernetes 1.34; the CRDs of KMM 2.6, Node Feature Discovery 0.17
and OpenShift 4.19.
"""


_BUILT_IN = {
    *("", "apps", "autoscaling", "batch", "coordination.k8s.io", "discovery.k8s.io", "networking.k8s.io", "policy"),
    *(_RBAC, "kmm.sigs.x-k8s.io"),
}
"""Groups of which every kind is known: what is not among CLUSTER_SCOPED has a namespace."""


def has_namespace(ref: Ref) -> bool:
    """Return True for an object of a kind that surely has a namespace."""
    return ref.group in _BUILT_IN and (ref.group, ref.kind) not in CLUSTER_SCOPED


def object_id(ref: Ref) -> Id:
    """Return what makes an object unique on an API server: group, kind, name, and the namespace where there is one."""
    group, kind, namespace, name = ref.id
    return group, kind, "" if (group, kind) in CLUSTER_SCOPED else namespace, name
