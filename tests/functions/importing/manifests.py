"""A Module and a DaemonSet as somebody has written them, and as `kubectl get -o yaml` prints them."""

from __future__ import annotations

from typing import Any

from krmfn_functions.run import Run
from krmfn_functions.settings import RENDER, Settings

from krmfn import Manifest
from tests.builders import edited, manifest, module

RUN = Run(settings=Settings(RENDER))
GPU = edited(module(name="gpu", selector={"gpu": "a"}), ("metadata.labels", {"team": "drivers"}))
READY = "kmm.node.kubernetes.io/kmm.gpu.ready"
CONTAINER: dict[str, Any] = {
    "name": "exporter",
    "image": "registry.example.com/exporter:1",
    "ports": [{"containerPort": 9400}],
    "livenessProbe": {"httpGet": {"path": "/", "port": 9400}},
    "volumeMounts": [{"name": "sys", "mountPath": "/sys"}],
}
EXPORTER: Manifest = {
    **manifest("apps/v1", "DaemonSet", "gpu-metrics"),
    "spec": {
        "selector": {"matchLabels": {"app": "gpu-metrics"}},
        "template": {
            "metadata": {"labels": {"app": "gpu-metrics"}},
            "spec": {
                "nodeSelector": {READY: ""},
                "containers": [CONTAINER],
                "volumes": [{"name": "sys", "hostPath": {"path": "/sys"}}],
            },
        },
    },
}
SERVER = {
    "uid": "5f0c1a0e-0000-4000-8000-000000000001",
    "resourceVersion": "4711",
    "generation": 3,
    "creationTimestamp": "2026-01-01T00:00:00Z",
}
P = "spec.template.spec"
C = f"{P}.containers[0]"
DUMPED_GPU = edited(
    GPU,
    *((f"metadata.{name}", value) for name, value in SERVER.items()),
    (("metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"), "{}"),
    ("metadata.finalizers", ["kmm.node.kubernetes.io/module-finalizer"]),
    ("spec.moduleLoader.container.modprobe.dirName", "/opt"),
    ("status", {"moduleLoader": {"availableNumber": 1}}),
)
DUMPED_EXPORTER = edited(
    EXPORTER,
    *((f"metadata.{name}", value) for name, value in SERVER.items()),
    (("metadata", "annotations", "deprecated.daemonset.template.generation"), "1"),
    ("spec.template.metadata.creationTimestamp", None),
    ("spec.revisionHistoryLimit", 10),
    ("spec.updateStrategy", {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}),
    (f"{P}.dnsPolicy", "ClusterFirst"),
    (f"{P}.restartPolicy", "Always"),
    (f"{P}.schedulerName", "default-scheduler"),
    (f"{P}.securityContext", {}),
    (f"{P}.terminationGracePeriodSeconds", 30),
    (f"{P}.volumes[0].hostPath.type", ""),
    (f"{C}.imagePullPolicy", "IfNotPresent"),
    (f"{C}.resources", {}),
    (f"{C}.terminationMessagePath", "/dev/termination-log"),
    (f"{C}.terminationMessagePolicy", "File"),
    (f"{C}.ports[0].protocol", "TCP"),
    *((f"{C}.livenessProbe.{name}", value) for name, value in (("timeoutSeconds", 1), ("periodSeconds", 10))),
    *((f"{C}.livenessProbe.{name}", value) for name, value in (("successThreshold", 1), ("failureThreshold", 3))),
    (f"{C}.livenessProbe.httpGet.scheme", "HTTP"),
    ("status", {"currentNumberScheduled": 1}),
)
