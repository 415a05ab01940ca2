"""Resources that bring others to a cluster inside of themselves: what they wrap is not judged, and that is said."""

import json
import re
from collections.abc import Collection, Iterable, Iterator

from krmfn import Item, Result, warning
from krmfn.printing import counted

from .. import oracles
from ..grouping import grouped
from ..paths import templates
from ..rule import Rule
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
        ("fluxcd.controlplane.io", "ResourceSet"),
        ("helm.cattle.io", "HelmChart"),
        ("helm.cattle.io", "HelmChartConfig"),
        ("helm.toolkit.fluxcd.io", "HelmRelease"),
    }
)
"""(group, kind) of what holds manifests, or the values that a chart makes them of.

Sources: the APIs of Open Cluster Management, Hive, Crossplane's provider-kubernetes, Flux's helm-controller, the Flux
Operator and the Helm controller of k3s.
"""
_GROUPS = re.compile(rb"kmm\.(?:sigs\.x-k8s|node\.kubernetes)\.io|krmfn\.dev/v")
"""What stands in a Module, in a consumer of one, or in a config."""
_CONFIGS = frozenset({"deviceconfig", "ptemplate"})


def wrapped_is_not_judged(final: FinalList) -> Iterator[Result]:
    """Yield one warning for the resources of each kind that wrap Modules, configs or consumers."""
    wrapping = wrappers(final.deployed, {kind for _, kind in final.run.driven})
    for (_, is_sure), (first, *rest) in grouped(((item.kind, _is_sure(item)), item) for item in wrapping).items():
        others = f" (so {'does' if len(rest) == 1 else 'do'} {counted(len(rest), 'other')})" if rest else ""
        verb = "wraps" if is_sure else "may wrap"
        message = f"{verb} Modules, their consumers or configs{others}, and nothing in it is judged"
        remedy = "keep them in files of their own to have them checked"
        yield final.located(first, warning(message, remedy=remedy))


def wrappers(items: Iterable[Item], kinds: Collection[str]) -> list[Item]:
    """Return the resources that wrap Modules, consumers or configs; `kinds` are those that Profiles are for."""
    return [item for item in items if (item.group, item.kind) in _WRAPPERS and _has_ours(item, kinds)]


def _has_ours(item: Item, kinds: Collection[str]) -> bool:
    """Return True where a resource holds something of ours or a kind that Profiles are for, or may: see `_kinds`."""
    text = _text(item)
    return _GROUPS.search(text) is not None or not _kinds(text).isdisjoint(_CONFIGS.union([""], map(str.lower, kinds)))


def _is_sure(item: Item) -> bool:
    """Return False where a wrapper has only a kind that something else fills in, or that cannot be read."""
    text = _text(item)
    return _GROUPS.search(text) is not None or "" not in _kinds(text)


def _kinds(text: bytes) -> set[str]:
    """Return the kinds in a text, alone or as those of lists, in lower case; "" among them where one may be any."""
    return {kind.removesuffix("list") if kind != "list" else kind for kind in templates.kinds_in(text)}


def _text(item: Item) -> bytes:
    """Return the text of a resource; with escapes in it also what they stand for, and texts of YAML in quotes."""
    if b"\\" not in item.text:
        return item.text
    return item.text + json.dumps(item.manifest, ensure_ascii=False, default=str).replace('\\"', '"').encode()


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
        held=oracles.WRAPPERS,
        check=wrapped_is_not_judged,
        severities=("warning",),
        advice=True,
    ),
)
"""The rule about wrappers."""
