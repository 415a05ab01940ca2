"""The stage of an object: it follows from the object alone, and never comes before what the object waits for."""

from __future__ import annotations

import pytest
from krmfn_functions.final.order import stage_of
from krmfn_functions.paths import manifests

HOLDER = "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: x}\nspec: {template: {spec: {%s}}}\n"
AFFINITY = (
    "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
    "[{matchExpressions: [{key: kmm.node.kubernetes.io/a.b.ready, operator: Exists}]}]}}}"
)

JOB = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: x, annotations: {config.kubernetes.io/depends-on: %s}}\n"


def wave(kind: str, number: str, group: str = "v1") -> str:
    return (
        f"apiVersion: {group}\nkind: {kind}\n"
        f'metadata: {{name: x, annotations: {{argocd.argoproj.io/sync-wave: "{number}"}}}}\n'
    )


@pytest.mark.parametrize(
    ("text", "stage"),
    [
        (wave("Module", "7", "kmm.sigs.x-k8s.io/v1beta1"), "modules"),
        (wave("ManagedClusterModule", "-7", "hub.kmm.sigs.x-k8s.io/v1beta1"), "modules"),
        (wave("Module", "1", "example.com/v1"), "consumers"),
        (wave("Service", "1"), "consumers"),
        (wave("Service", "0"), "before"),
        (wave("Service", "soon"), "before"),
        (wave("ServiceAccount", "1"), "before"),
        (wave("Namespace", "3"), "before"),
        (HOLDER % "", "before"),
        (HOLDER % 'nodeSelector: {kmm.node.kubernetes.io/a.b.ready: ""}', "consumers"),
        (HOLDER % AFFINITY, "consumers"),
        (HOLDER % 'nodeSelector: {example.com/kmm.node.kubernetes.io: ""}', "before"),
        (HOLDER.replace("Daemon", "Stateful") % AFFINITY, "consumers"),
        (JOB % "'/namespaces/a/ConfigMap/b, kmm.sigs.x-k8s.io/namespaces/a/Module/b'", "consumers"),
        (JOB % "'/namespaces/a/ConfigMap/b'", "before"),
        (
            'apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: x\n  annotations:\n    ? "config.kubernetes.io/\\\r'
            '      depends-on"\n    : kmm.sigs.x-k8s.io/namespaces/a/Module/b\n',
            "consumers",
        ),
    ],
)
def test_stage(text: str, stage: str) -> None:
    [item] = manifests.read_stream(text.encode()).items
    assert stage_of(item) == stage
