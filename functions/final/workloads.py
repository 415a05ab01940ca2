"""Workloads of the final list that wait for a driver or are generated: what the kubelet or the API server refuses."""

from collections.abc import Iterator

from krmfn import Field, Item, Result, error
from krmfn.resource import join
from krmfn.results import Rule

from ..image_reference import mistake, shortened, without_variables
from ..kmm.module import LABELS, MODULE_KINDS
from ..pods import daemon_set, rolling_update
from .stream import FinalList, images, labels_of_kmm


def images_are_references(final: FinalList) -> Iterator[Result]:
    """Yield an error per image that no runtime takes, in pods that belong to a driver; those of Modules are KRM224."""
    for item in of_drivers(final):
        for path, image in images(item):
            if problem := mistake(without_variables(image)):
                message = f"{shortened(image)!r} {problem}; no runtime can pull that"
                yield final.located(item, error(message, field=Field(join(path), image)))


def pods_can_be_replaced(final: FinalList) -> Iterator[Result]:
    """Yield an error per DaemonSet whose rolling update the API server refuses, among what belongs to a driver."""
    for item in of_drivers(final):
        if (item.group, item.kind) == ("apps", "DaemonSet") and item.mentions("rollingUpdate"):
            for finding in rolling_update.check(item.manifest):
                yield final.located(item, finding)


def pods_are_taken(final: FinalList) -> Iterator[Result]:
    """Yield an error per field of a DaemonSet that the API server refuses, among what belongs to a driver."""
    for item in of_drivers(final):
        if (item.group, item.kind) == ("apps", "DaemonSet"):
            for finding in daemon_set.check(item.manifest):
                yield final.located(item, finding)


def of_drivers(final: FinalList) -> Iterator[Item]:
    """Yield what is generated, and what runs only where a Module is ready."""
    for item in final.deployed:
        if (item.group, item.kind) not in MODULE_KINDS and (
            item.mark or (item.mentions(LABELS) and any(labels_of_kmm(item)))
        ):
            yield item


KRM715 = Rule(
    "KRM715",
    "an image of a driver's pods must be a reference that container runtimes parse",
    good="""\
kind: Module
---
apiVersion: v1
kind: Pod
metadata: {name: trial, namespace: kmm}
spec:
  nodeSelector: {kmm.node.kubernetes.io/kmm.gpu.ready: ""}
  containers: [{name: trial, image: "registry.example.com:5000/trial/gpu_a:1.0"}]
""",
    bad="""\
kind: Module
---
apiVersion: v1
kind: Pod
metadata: {name: trial, namespace: kmm}
spec:
  nodeSelector: {kmm.node.kubernetes.io/kmm.gpu.ready: ""}
  containers: [{name: trial, image: "registry.example.com/Trial:1.0+build"}]
""",
    remedy="Write `host:port/path:tag` or `host:port/path@sha256:...`, with small letters in the path and at most 128 "
    "letters, digits, '_', '.' and '-' in the tag.",
    check=images_are_references,
    advice=True,
)

KRM716 = Rule(
    rolling_update.RULE,
    "a DaemonSet must replace its pods by maxUnavailable or by maxSurge: one of the two is 0, the other is not",
    good="""\
kind: DeviceConfig
spec:
  daemonSets:
  - name: agent
    image: registry.example.com/agent:1.0
    updateStrategy: {rollingUpdate: {maxUnavailable: 0, maxSurge: 1}}
""",
    bad="""\
kind: DeviceConfig
spec:
  daemonSets:
  - name: agent
    image: registry.example.com/agent:1.0
    updateStrategy: {rollingUpdate: {maxUnavailable: 0}}
""",
    remedy="Set maxUnavailable to 1 or more, or set maxUnavailable to 0 and maxSurge to 1 or more.",
    check=pods_can_be_replaced,
)

KRM191 = Rule(
    daemon_set.RULE,
    "a DaemonSet must have pods that the API server takes: names, ports, probes, mounts, resources, tolerations",
    good="""\
kind: DeviceConfig
spec:
  daemonSets:
  - name: agent
    image: registry.example.com/agent:1.0
    livenessProbe: {httpGet: {path: /healthz, port: 8080}}
""",
    bad="""\
kind: DeviceConfig
spec:
  daemonSets:
  - name: agent
    image: registry.example.com/agent:1.0
    livenessProbe: {httpGet: {path: /healthz, port: 8080}, exec: {command: [healthy]}}
""",
    remedy="Correct the field as the finding says: the API server refuses the whole DaemonSet.",
    check=pods_are_taken,
)

RULES = (KRM715, KRM716, KRM191)
"""The rules about workloads of drivers."""
