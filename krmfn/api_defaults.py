"""What the API server fills in where a manifest says nothing, kind by kind.

Source: k8s.io/kubernetes pkg/apis/*/v1/defaults.go of Kubernetes 1.34, and what its API server gives back
(tests/e2e/test_cluster_dump.py compares). A path is written with a `*` for an entry of a list; a function takes the
value and the mapping that it stands in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Default = Any
"""A value, or a function from a value and what it stands in to whether it is the default."""
Table = Mapping[str, Default]


def below(prefix: str, table: Table) -> dict[str, Default]:
    """Return a table for what stands at a path."""
    return {f"{prefix}.{path}": default for path, default in table.items()}


def _pull_policy(value: Any, container: Mapping[str, Any]) -> bool:
    """Return True for Always where the image has no tag or the tag latest, else for IfNotPresent."""
    image = str(container.get("image", ""))
    tag = image.rpartition("/")[2].partition(":")[2]
    return bool(value == ("Always" if tag in ("", "latest") and "@" not in image else "IfNotPresent"))


def _is(key: str) -> Callable[[Any, Mapping[str, Any]], bool]:
    return lambda value, holder: bool(value == holder.get(key))


def _anything(value: Any, holder: Mapping[str, Any]) -> bool:
    return True


_PROBE = {
    "failureThreshold": 3,
    "periodSeconds": 10,
    "successThreshold": 1,
    "timeoutSeconds": 1,
    "httpGet.scheme": "HTTP",
    "httpGet.path": "/",
    "grpc.service": "",
}
_HOOK = {"httpGet.scheme": "HTTP", "httpGet.path": "/"}
_CONTAINER = {
    "imagePullPolicy": _pull_policy,
    "resources": {},
    "securityContext.procMount": "Default",
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
    "ports.*.protocol": "TCP",
    "env.*.value": "",
    "env.*.valueFrom.fieldRef.apiVersion": "v1",
    "env.*.valueFrom.resourceFieldRef.divisor": "0",
    **below("livenessProbe", _PROBE),
    **below("readinessProbe", _PROBE),
    **below("startupProbe", _PROBE),
    **below("lifecycle.postStart", _HOOK),
    **below("lifecycle.preStop", _HOOK),
}
_DOWNWARD = {"items.*.fieldRef.apiVersion": "v1", "items.*.resourceFieldRef.divisor": "0"}
_CLAIM = {"metadata": {}, "spec.volumeMode": "Filesystem"}
_VOLUME = {
    "emptyDir": lambda value, volume: value == {} and set(volume) == {"name", "emptyDir"},
    "hostPath.type": "",
    "configMap.defaultMode": 420,
    "secret.defaultMode": 420,
    "downwardAPI.defaultMode": 420,
    "projected.defaultMode": 420,
    "projected.sources.*.serviceAccountToken.expirationSeconds": 3600,
    **below("downwardAPI", _DOWNWARD),
    **below("projected.sources.*.downwardAPI", _DOWNWARD),
    **below("ephemeral.volumeClaimTemplate", _CLAIM),
    "iscsi.iscsiInterface": "default",
    "rbd.keyring": "/etc/ceph/keyring",
    "rbd.pool": "rbd",
    "rbd.user": "admin",
    "scaleIO.fsType": "xfs",
    "scaleIO.storageMode": "ThinProvisioned",
}
_POD = {
    "dnsPolicy": "ClusterFirst",
    "restartPolicy": "Always",
    "schedulerName": "default-scheduler",
    "securityContext": {},
    "serviceAccount": _is("serviceAccountName"),
    "terminationGracePeriodSeconds": 30,
    **below("containers.*", _CONTAINER),
    **below("initContainers.*", _CONTAINER),
    **below("volumes.*", _VOLUME),
}
_TEMPLATE = {"template.metadata": {}, **below("template.spec", _POD)}
_ROLLING = {"updateStrategy.type": "RollingUpdate", "revisionHistoryLimit": 10, **_TEMPLATE}
_JOB = {
    "backoffLimit": 6,
    "completionMode": "NonIndexed",
    "completions": 1,
    "parallelism": 1,
    "manualSelector": False,
    "podReplacementPolicy": "TerminatingOrFailed",
    "suspend": False,
    "selector.matchLabels.batch.kubernetes.io/controller-uid": _anything,
    **_TEMPLATE,
}
_SERVICE = {
    "allocateLoadBalancerNodePorts": True,
    "clusterIP": lambda value, spec: value != "None",
    "clusterIPs": lambda value, spec: value == [spec.get("clusterIP")],
    "externalTrafficPolicy": "Cluster",
    "healthCheckNodePort": _anything,
    "internalTrafficPolicy": "Cluster",
    "ipFamilies": lambda value, spec: spec.get("ipFamilyPolicy") == "SingleStack",
    "ipFamilyPolicy": "SingleStack",
    "ports.*.nodePort": _anything,
    "ports.*.protocol": "TCP",
    "ports.*.targetPort": _is("port"),
    "sessionAffinity": "None",
    "sessionAffinityConfig.clientIP.timeoutSeconds": 10800,
    "type": "ClusterIP",
}
_RBAC = "rbac.authorization.k8s.io"
_SUBJECTS = {"subjects.*.apiGroup": lambda value, one: value == ("" if one.get("kind") == "ServiceAccount" else _RBAC)}

TABLES: Mapping[tuple[str, str], Table] = {
    ("", "Pod"): below("spec", _POD | {"enableServiceLinks": True}),
    ("", "Service"): below("spec", _SERVICE),
    ("", "Secret"): {"type": "Opaque"},
    ("", "Namespace"): {"metadata.labels.kubernetes.io/metadata.name": _anything, "spec.finalizers": ["kubernetes"]},
    ("apps", "DaemonSet"): below(
        "spec",
        {"updateStrategy.rollingUpdate.maxSurge": 0, "updateStrategy.rollingUpdate.maxUnavailable": 1, **_ROLLING},
    ),
    ("apps", "Deployment"): below(
        "spec",
        {
            "progressDeadlineSeconds": 600,
            "replicas": 1,
            "revisionHistoryLimit": 10,
            "strategy.rollingUpdate.maxSurge": "25%",
            "strategy.rollingUpdate.maxUnavailable": "25%",
            "strategy.type": "RollingUpdate",
            **_TEMPLATE,
        },
    ),
    ("apps", "StatefulSet"): below(
        "spec",
        {
            "persistentVolumeClaimRetentionPolicy.whenDeleted": "Retain",
            "persistentVolumeClaimRetentionPolicy.whenScaled": "Retain",
            "podManagementPolicy": "OrderedReady",
            "replicas": 1,
            "updateStrategy.rollingUpdate.partition": 0,
            "volumeClaimTemplates.*.apiVersion": "v1",
            "volumeClaimTemplates.*.kind": "PersistentVolumeClaim",
            "volumeClaimTemplates.*.status.phase": "Pending",
            **below("volumeClaimTemplates.*", _CLAIM),
            **_ROLLING,
        },
    ),
    ("batch", "Job"): below("spec", _JOB),
    ("batch", "CronJob"): below(
        "spec",
        {
            "concurrencyPolicy": "Allow",
            "failedJobsHistoryLimit": 1,
            "successfulJobsHistoryLimit": 3,
            "suspend": False,
            "jobTemplate.metadata": {},
            **below("jobTemplate.spec", _TEMPLATE),
        },
    ),
    ("networking.k8s.io", "NetworkPolicy"): {
        "spec.ingress.*.ports.*.protocol": "TCP",
        "spec.egress.*.ports.*.protocol": "TCP",
        "spec.policyTypes": lambda value, spec: value == (["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]),
    },
    (_RBAC, "RoleBinding"): _SUBJECTS,
    (_RBAC, "ClusterRoleBinding"): _SUBJECTS,
    ("scheduling.k8s.io", "PriorityClass"): {"preemptionPolicy": "PreemptLowerPriority"},
}
