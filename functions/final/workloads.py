"""Workloads of the final list that wait for a driver or are generated: what the kubelet or the API server refuses."""

from collections.abc import Iterator

from krmfn import Field, Item, Result, error
from krmfn.fieldpaths import MISSING, read
from krmfn.resource import join, split
from krmfn.typed import Any

from .. import oracles
from ..image_reference import REMEDY, mistake, shortened, without_variables
from ..kmm.module import LABELS, MODULE_KINDS
from ..pods import daemon_set, rolling_update
from ..rendering.generated import DISABLED, SUBSTITUTE
from ..rendering.kinds import of_kinds
from ..rule import Rule
from .stream import FinalList, images, labels_of_kmm

_DAEMON_SET = {("apps", "DaemonSet")}
_POLICY = "kustomize.toolkit.fluxcd.io/ssa"
_VARIABLE = "${"
"""How a text begins that Flux writes in before the API server sees it."""


def images_are_references(final: FinalList) -> Iterator[Result]:
    """Yield an error per image that no runtime takes, in pods that belong to a driver; those of Modules are KRM224."""
    for item in of_drivers(final):
        for path, image in images(item):
            if problem := mistake(without_variables(image)):
                message = f"{shortened(image)!r} {problem}, so no runtime can pull it"
                yield final.located(item, error(message, field=Field(join(path), image), remedy=REMEDY))


def pods_can_be_replaced(final: FinalList) -> Iterator[Result]:
    """Yield an error per DaemonSet whose rolling update the API server refuses, among what belongs to a driver."""
    for item in _daemon_sets(final):
        if item.mentions("rollingUpdate"):
            for finding in rolling_update.check(item.manifest):
                if not _is_written_in(item, finding):
                    yield final.located(item, finding)


def pods_are_taken(final: FinalList) -> Iterator[Result]:
    """Yield an error per field of a DaemonSet that the API server refuses, among what belongs to a driver."""
    for item in _daemon_sets(final):
        is_part = _is_part(item)
        for finding in daemon_set.check(item.manifest):
            if not (_is_written_in(item, finding) or (is_part and _may_be_elsewhere(item, finding))):
                yield final.located(item, finding)


def _is_part(item: Item) -> bool:
    """Return True for what is merged into an object that is there: the rest of it is not known.

    Source: Flux's kustomize-controller (annotation or label `ssa: Merge`), strategic merge patches (`$patch`).
    """
    metadata: Any = item.manifest.get("metadata")
    places = (metadata.get(name) for name in ("annotations", "labels")) if isinstance(metadata, dict) else ()
    merges = any(isinstance(place, dict) and str(place.get(_POLICY)).lower() == "merge" for place in places)
    return merges or (item.mentions("$patch") and _has_directive(item.manifest))


def _has_directive(value: Any) -> bool:
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return (isinstance(value, dict) and "$patch" in value) or any(map(_has_directive, children))


def _may_be_elsewhere(item: Item, finding: Result) -> bool:
    """Return True for a finding about a field that is not written, or about a mount, whose volume may be elsewhere."""
    path = finding.field.path if finding.field else ""
    is_written = read(item.manifest, split(path)) is not MISSING
    return not is_written or daemon_set.is_mount(path)


def _is_written_in(item: Item, finding: Result) -> bool:
    """Return True for a finding about a text, or a key, that Flux makes of its variables before the API server."""
    if not item.mentions(_VARIABLE) or DISABLED in (item.annotations.get(SUBSTITUTE), item.labels.get(SUBSTITUTE)):
        return False
    path = split(finding.field.path) if finding.field else ()
    return _VARIABLE in str(read(item.manifest, path)) or any(_VARIABLE in str(part) for part in path)


def of_drivers(final: FinalList) -> Iterator[Item]:
    """Yield what is generated, and what runs only where a Module is ready."""
    yield from filter(_is_of_driver, final.deployed)


def _daemon_sets(final: FinalList) -> list[Item]:
    """Return the DaemonSets among these; the kind is looked at first, since most resources have another."""
    return [item for item in of_kinds(final.deployed, _DAEMON_SET) if _is_of_driver(item)]


def _is_of_driver(item: Item) -> bool:
    if (item.group, item.kind) in MODULE_KINDS:
        return False
    return bool(item.mark) or (item.mentions(LABELS) and any(labels_of_kmm(item)))


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
    held=oracles.IMAGE_NAMES,
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
    held=oracles.KUBERNETES_APPS,
    check=pods_can_be_replaced,
)

KRM191 = Rule(
    daemon_set.RULE,
    "a DaemonSet must have pods that the API server takes: names, ports, probes, mounts, resources, nodes, rights",
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
    held=oracles.APISERVER_DAEMONSETS,
    check=pods_are_taken,
)

RULES = (KRM715, KRM716, KRM191)
"""The rules about workloads of drivers."""
