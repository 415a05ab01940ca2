"""A real API server merges two layers as we do: one manager per layer, the stronger one applies with force.

Each row of our table that has a twin in Kubernetes is proved here, those of a podSpec in test_pods.py, too. One thing
differs on purpose: where the stronger layer names several inherited entries in another order, the server takes its
order, and ours keeps that of the weaker one (`keyed.KEYS`).
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from krmfn_functions.deviceconfig.keyed import ATOMIC, KEYS, WHOLE
from krmfn_functions.deviceconfig.merging import merged
from krmfn_functions.importing.normal import normal

from tests.functions.deviceconfig.test_merging import OF_PODS, ROWS

from .kube import APPLY, Cluster

NAMED = {"name": "main", "image": "registry.example.com/main:1"}
LABELS = {"app": "merged"}
PLACE = "/apis/apps/v1/namespaces/merging/daemonsets/merged"
Layer = dict[str, Any]


def pod(**main: Any) -> Layer:
    """Return a pod whose container has these fields."""
    return {"containers": [{"name": "main", **main}]}


def source(**of: Any) -> Layer:
    """Return a pod with a variable that comes from somewhere."""
    return pod(env=[{"name": "A", "valueFrom": of}])


def spread(**fields: Any) -> Layer:
    key = {"topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 1}
    return {"topologySpreadConstraints": [{**key, **fields}]}


def affinity(*labels: str) -> Layer:
    terms = [{"matchExpressions": [{"key": label, "operator": "Exists"}]} for label in labels]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    return {"affinity": {"nodeAffinity": required}}


def pods(**fields: Any) -> Layer:
    term = {"topologyKey": "zone", **fields}
    return {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


def claims(*names: str) -> Layer:
    references = [{"name": name, "resourceClaimName": name} for name in names]
    return {**pod(resources={"claims": [{"name": name} for name in names]}), "resourceClaims": references}


def tolerated(key: str) -> Layer:
    return {"tolerations": [{"key": key, "operator": "Exists"}]}


A, B = {"matchLabels": {"a": "1", "b": "2"}}, {"matchLabels": {"a": "3"}}
MOUNT = {"mountPath": "/a", "name": "x"}
TWINS: dict[str, tuple[Layer, Layer]] = {
    "containers": (pod(args=["x"]), {"containers": [{"name": "main", "tty": True}, {"name": "b", "image": "b:1"}]}),
    "initContainers": (
        {"initContainers": [{"name": "a", "image": "a:1"}, {"name": "b", "image": "b:1"}]},
        {"initContainers": [{"name": "b", "image": "b:2"}, {"name": "c", "image": "c:1"}]},
    ),
    "env": (
        pod(env=[{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]),
        pod(env=[{"name": "B", "value": "3"}, {"name": "C", "value": "4"}]),
    ),
    "volumeMounts": (
        {**pod(volumeMounts=[{**MOUNT, "readOnly": True}]), "volumes": [{"name": "x", "emptyDir": {}}]},
        pod(volumeMounts=[{**MOUNT, "subPath": "s"}, {"mountPath": "/b", "name": "x"}]),
    ),
    "ports": (
        pod(ports=[{"containerPort": 1, "name": "a"}, {"containerPort": 1, "protocol": "UDP"}]),
        pod(ports=[{"containerPort": 1, "protocol": "TCP", "name": "b"}, {"containerPort": 2}]),
    ),
    "claims": (claims("a"), claims("a", "b")),
    "resources": (
        pod(resources={"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "1"}}),
        pod(resources={"limits": {"cpu": "2"}}),
    ),
    "nodeSelector": ({"nodeSelector": {"a": "1", "b": "2"}}, {"nodeSelector": {"a": "3"}}),
    "tolerations": (tolerated("a"), tolerated("b")),
    "args": (pod(args=["a", "b"]), pod(args=["c"])),
    "command": (pod(command=["a", "b"]), pod(command=["c"])),
    "fieldRef": (
        source(fieldRef={"fieldPath": "spec.nodeName", "apiVersion": "v1"}),
        source(fieldRef={"fieldPath": "metadata.name"}),
    ),
    "resourceFieldRef": (
        source(resourceFieldRef={"resource": "limits.cpu", "containerName": "main", "divisor": "1m"}),
        source(resourceFieldRef={"resource": "limits.memory", "containerName": "main"}),
    ),
    "configMapKeyRef": (
        source(configMapKeyRef={"name": "a", "key": "a", "optional": True}),
        source(configMapKeyRef={"name": "b", "key": "b"}),
    ),
    "secretKeyRef": (
        source(secretKeyRef={"name": "a", "key": "a", "optional": True}),
        source(secretKeyRef={"name": "b", "key": "b"}),
    ),
    "labelSelector": (spread(labelSelector=A), spread(labelSelector=B)),
    "matchLabels": (spread(labelSelector=A), spread(labelSelector=B)),
    "namespaceSelector": (pods(namespaceSelector=A, labelSelector=A), pods(namespaceSelector=B, labelSelector=B)),
    "requiredDuringSchedulingIgnoredDuringExecution": (affinity("a", "b"), affinity("c")),
    "securityContext": (pod(securityContext={"runAsUser": 1}), pod(securityContext={"runAsGroup": 2})),
    "livenessProbe": (
        pod(livenessProbe={"tcpSocket": {"port": 1}, "periodSeconds": 5}),
        pod(livenessProbe={"tcpSocket": {"port": 2}, "failureThreshold": 2}),
    ),
    "terminationGracePeriodSeconds": ({"terminationGracePeriodSeconds": 5}, {"terminationGracePeriodSeconds": 6}),
}
"""Rows of the table in a pod: the weaker layer, and the stronger one."""
OWN = {
    **dict.fromkeys(("nodePools", "daemonSets", "extraObjects", "clusterSelector", "driverVersion"), "ours"),
    **dict.fromkeys(("buildArgs", "secrets", "selector", "kernelMappings"), "KMM's, whose lists are atomic in its CRD"),
    "deviceClasses": "KMM's, whose lists are atomic in its CRD",
    "parameters": "of a driver, which alone knows them",
    "podSpec": "what is in it: test_pods.py",
    "volumes": "an exception: one that is named again is replaced whole",
    "labels": "of all objects: see below",
}
"""Rows without a twin in a pod, and why."""


@pytest.fixture(scope="module")
def place(cluster: Cluster) -> Cluster:
    """The cluster, with a namespace for these."""
    cluster.namespace("merging")
    return cluster


def daemon_set(spec: Layer, **labels: str) -> bytes:
    metadata = {"name": "merged", "namespace": "merging", **({"labels": labels} if labels else {})}
    template = {"metadata": {"labels": LABELS}, "spec": spec}
    manifest = {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": metadata}
    return json.dumps({**manifest, "spec": {"selector": {"matchLabels": LABELS}, "template": template}}).encode()


def applied(cluster: Cluster, *layers: bytes) -> Layer:
    """Apply the layers, the weakest first, each by a manager of its own; return what the server has then."""
    cluster.request("DELETE", PLACE)
    answer: Layer = {}
    for number, layer in enumerate(layers):
        code, answer = cluster.request("PATCH", f"{PLACE}?fieldManager=layer-{number}&force=true", layer, APPLY)
        assert code in (200, 201), answer
    return answer


def form(spec: Layer) -> Any:
    """A pod without what the server fills in."""
    return normal(json.loads(daemon_set(spec)))["spec"]["template"]["spec"]


def both(cluster: Cluster, below: Layer, above: Layer) -> tuple[Any, Any]:
    """The two layers as we merge them, and as the server does."""
    below = merged([below, {"containers": [NAMED]}])
    served = applied(cluster, daemon_set(below), daemon_set(above))["spec"]["template"]["spec"]
    return form(merged([above, below])), form(served)


@pytest.mark.parametrize("name", TWINS)
def test_a_row_merges_as_server_side_apply_does(place: Cluster, name: str) -> None:
    ours, served = both(place, *TWINS[name])
    assert ours == served


def test_labels_merge_as_server_side_apply_does(place: Cluster) -> None:
    below, above = {"a": "1", "b": "2"}, {"a": "3", "c": "4"}
    spec = {"containers": [NAMED]}
    answer = applied(place, daemon_set(spec, **below), daemon_set(spec, **above))
    assert answer["metadata"]["labels"] == merged([{"labels": above}, {"labels": below}])["labels"]


def test_every_row_has_a_twin_here_or_a_reason() -> None:
    assert {*ROWS, *KEYS, *ATOMIC, *WHOLE} <= {*TWINS, *OWN, *OF_PODS}
    assert set(OWN) & set(TWINS) == set()


NAMES = st.sampled_from("abc")
VARIABLE = st.fixed_dictionaries({"name": NAMES, "value": NAMES})
PORT = st.fixed_dictionaries({"containerPort": st.integers(1, 2), "protocol": st.sampled_from(("TCP", "UDP"))})
FIELDS = {
    "env": st.lists(VARIABLE, unique_by=lambda entry: entry["name"], min_size=1, max_size=3),
    "ports": st.lists(PORT, unique_by=lambda port: (port["containerPort"], port["protocol"]), min_size=1, max_size=3),
    "args": st.lists(NAMES, min_size=1, max_size=3),
}
CONTAINERS = st.fixed_dictionaries({}, optional=FIELDS).map(lambda fields: pod(**fields))


def test_two_containers_merge_as_server_side_apply_does(place: Cluster) -> None:
    @settings(max_examples=60, derandomize=True, suppress_health_check=list(HealthCheck), deadline=None)
    @given(CONTAINERS, CONTAINERS)
    def judge(below: Layer, above: Layer) -> None:
        ours, served = both(place, below, above)
        for name in ("env", "ports"):
            lists = [spec["containers"][0].get(name, []) for spec in (ours, served)]
            texts = [sorted(json.dumps(entry, sort_keys=True) for entry in entries) for entries in lists]
            assert texts[0] == texts[1]
        for spec in (ours, served):
            spec["containers"][0] |= {"env": [], "ports": []}
        assert ours == served

    judge()
