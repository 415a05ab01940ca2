"""Resources that bring others to a cluster inside of themselves: what they wrap is not judged, and that is said."""

import re
from collections.abc import Iterator

from krmfn import Item, Result, warning
from krmfn.printing import counted
from krmfn.results import Rule

from .stream import FinalList

_WRAPPERS = frozenset(
    {
        ("work.open-cluster-management.io", "ManifestWork"),
        ("work.open-cluster-management.io", "ManifestWorkReplicaSet"),
        ("policy.open-cluster-management.io", "Policy"),
        ("policy.open-cluster-management.io", "ConfigurationPolicy"),
        ("policy.open-cluster-management.io", "PolicyGenerator"),
        ("hive.openshift.io", "SyncSet"),
        ("hive.openshift.io", "SelectorSyncSet"),
        ("kubernetes.crossplane.io", "Object"),
        ("kubernetes.m.crossplane.io", "Object"),
        ("helm.toolkit.fluxcd.io", "HelmRelease"),
    }
)
"""(group, kind) of what holds manifests, or the values that a chart makes them of.

Sources: the APIs of Open Cluster Management, Hive, Crossplane's provider-kubernetes and Flux's helm-controller.
"""
_WORDS = re.compile(
    rb"kmm\.(?:sigs\.x-k8s|node\.kubernetes)\.io|krmfn\.dev/v|kind['\"]?[ \t]*:[ \t]*['\"]?DeviceConfig\b"
)
"""What stands in a Module, in a consumer of one, or in a config."""


def wrapped_is_not_judged(final: FinalList) -> Iterator[Result]:
    """Yield one warning for the resources that wrap Modules, configs or consumers."""
    wrapping = [item for item in final.deployed if (item.group, item.kind) in _WRAPPERS and _has_ours(item)]
    if wrapping:
        others = f" (so {'does' if len(wrapping) == 2 else 'do'} {counted(len(wrapping) - 1, 'other')})"
        rest = others if wrapping[1:] else ""
        message = f"wraps Modules, their consumers or configs{rest}, and nothing in it is judged; "
        yield final.located(wrapping[0], warning(f"{message}keep them in files of their own to have them checked"))


def _has_ours(item: Item) -> bool:
    return _WORDS.search(item.text) is not None


_WORK = """\
kind: Module
---
apiVersion: work.open-cluster-management.io/v1
kind: ManifestWork
metadata: {name: site, namespace: site-1}
spec: {workload: {manifests: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: kmm}}]}}
"""
RULES = (
    Rule(
        "KRM546",
        "a resource that wraps others should wrap no Module, consumer or config: what is inside is not judged",
        good=_WORK,
        bad=_WORK.replace("apiVersion: v1, kind: ConfigMap", "apiVersion: kmm.sigs.x-k8s.io/v1beta1, kind: Module"),
        remedy="Check what is inside as files of its own, for example `yq '.spec.workload.manifests[]' FILE | "
        "krmfn check -`.",
        check=wrapped_is_not_judged,
        severities=("warning",),
        advice=True,
    ),
)
"""The rule about wrappers."""
