"""DaemonSets made at random: a right one with a few fields written over, rightly and wrongly."""

from __future__ import annotations

import copy
import random
from typing import Any

from krmfn import Manifest
from tests.builders import manifest

POD = ("spec", "template", "spec")
FIRST = (*POD, "containers", 0)
_REQUIRED, _PREFERRED = (f"{word}DuringSchedulingIgnoredDuringExecution" for word in ("required", "preferred"))
Edit = tuple[tuple[Any, ...], Any]
"""A path, and what is written there; None takes the field away."""


def base() -> Manifest:
    """Return a DaemonSet without a mistake."""
    labels = {"app": "agent"}
    mounts = [{"name": "run", "mountPath": "/run/a"}, {"name": "conf", "mountPath": "/etc/a", "subPath": "a"}]
    container: dict[str, Any] = {
        "name": "agent",
        "image": "registry.example.com/agent:1",
        "env": [{"name": "A", "value": "1"}],
        "ports": [{"name": "metrics", "containerPort": 9000, "hostPort": 9000}],
        "volumeMounts": mounts,
        "resources": {"limits": {"memory": "1Gi"}, "requests": {"memory": "1Gi"}},
        "livenessProbe": {"httpGet": {"path": "/", "port": 9000}},
    }
    spec = {
        "containers": [container, {"name": "other", "image": "registry.example.com/other:1"}],
        "volumes": [{"name": "run", "hostPath": {"path": "/run/a"}}, {"name": "conf", "configMap": {"name": "conf"}}],
        "tolerations": [{"key": "a", "operator": "Equal", "value": "b"}],
    }
    template = {"metadata": {"labels": {**labels, "part": "x"}}, "spec": spec}
    return {
        **manifest("apps/v1", "DaemonSet", "agent"),
        "spec": {"selector": {"matchLabels": labels}, "template": template},
    }


def _at(start: tuple[Any, ...], *path: Any, values: list[Any]) -> list[Edit]:
    return [((*start, *path), value) for value in values]


_PROBE: list[Any] = [
    *({"exec": {"command": ["x"]}}, {"exec": {"command": []}}, {"exec": {"command": ["x"]}, "httpGet": {"port": 1}}),
    *({"periodSeconds": 5}, {"tcpSocket": {"port": 0}}, {"tcpSocket": {"port": 70000}}, {"tcpSocket": {"port": "web"}}),
    *({"httpGet": {"port": "UPPER"}}, {"httpGet": {"port": 1, "scheme": "FTP"}}, {"grpc": {"port": 9}}, None),
    *({"grpc": {"port": 0}}, {"httpGet": {"port": 80, "path": ""}}, {"httpGet": {"port": "9"}}),
    *({"exec": {"command": ["x"]}, "successThreshold": 2}, {"exec": {"command": ["x"]}, "timeoutSeconds": -1}),
    *({"exec": {"command": ["x"]}, "timeoutSeconds": 0}, {"exec": {"command": ["x"]}, "periodSeconds": -3}),
    *(
        {"exec": {"command": ["x"]}, "terminationGracePeriodSeconds": 5},
        {"exec": {"command": ["x"]}, "terminationGracePeriodSeconds": 0},
    ),
]
_ENTRIES: list[Edit] = [
    *((("spec", *path), None) for path in [(), ("selector",), ("template",), ("template", "spec")]),
    *((("spec", "template", "metadata", *path), None) for path in [(), ("labels",)]),
    *(((*POD, *path), None) for path in [("containers",), ("containers", 1, "name"), ("containers", 1, "image")]),
    *(((*FIRST, *path), None) for path in [("name",), ("image",)]),
    (("spec",), {}),
    (("spec", "template"), {}),
    (POD, {}),
    ((*POD, "containers", 1), {}),
    ((*POD, "containers"), [None]),
    ((*POD, "initContainers"), [{}]),
    ((*POD, "tolerations"), [None]),
    ((*FIRST, "ports"), [{}]),
    ((*FIRST, "env"), [{}]),
    ((*FIRST, "volumeMounts"), [{}]),
    ((*POD, "volumes", 0), {}),
]
"""What is not written at all."""
_OF_VARIABLES: list[Any] = [
    *({word: {}} for word in ("configMapKeyRef", "secretKeyRef", "fieldRef", "resourceFieldRef")),
    *({"configMapKeyRef": {"name": name, "key": "k"}} for name in ("", "a.b", "A")),
    *({"secretKeyRef": {"name": "a", "key": key}} for key in ("", "K_1.x", "a/b", "..", "..a", ".", "a" * 254)),
    *({"secretKeyRef": {"name": "a"}}, {"configMapKeyRef": {"key": "k", "optional": True}}),
    *({"fieldRef": {"fieldPath": f"{start}{end}"}} for start in ("metadata.", "spec.") for end in ("name", "nodeName")),
    *({"fieldRef": {"fieldPath": f"status.{name}"}} for name in ("hostIP", "podIP", "hostIPs", "podIPs", "phase")),
    *({"fieldRef": {"fieldPath": f"metadata.{name}"}} for name in ("uid", "namespace", "labels", "annotations")),
    *({"fieldRef": {"fieldPath": f"metadata.{name}['a/b']"}} for name in ("labels", "annotations", "name", "other")),
    *({"fieldRef": {"fieldPath": f"metadata.labels['{key}']"}} for key in ("", "A/b", "a b", "a'b")),
    *({"fieldRef": {"fieldPath": f"metadata.annotations['{key}']"}} for key in ("", "A/b", "a b", "A")),
    *({"fieldRef": {"fieldPath": name}} for name in ("spec.host", "spec.serviceAccountName", "metadata.labels['a'")),
    *({"fieldRef": {"fieldPath": "metadata.name", "apiVersion": version}} for version in ("v1", "v2", "")),
    *({"resourceFieldRef": {"resource": f"limits.{name}"}} for name in ("cpu", "memory", "ephemeral-storage", "gpu")),
    *({"resourceFieldRef": {"resource": f"requests.{name}"}} for name in ("cpu", "hugepages-2Mi", "hugepages-", "")),
    {"resourceFieldRef": {"resource": "limits.memory", "containerName": "gone"}},
]
_REF = {"configMapKeyRef": {"name": "a", "key": "b"}}
_OF_NODES: list[Any] = [
    *({"matchExpressions": [{"key": "a", "operator": name}]} for name in ("In", "NotIn", "Exists", "Gt", "Near")),
    *({"matchExpressions": [{"key": "a", "operator": "In", "values": values}]} for values in (["b"], ["b c"], [])),
    *({"matchExpressions": [{"key": "a", "operator": "Lt", "values": values}]} for values in (["1"], ["1", "2"])),
    {"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["b"]}]},
    {"matchExpressions": [{"key": "a b", "operator": "Exists"}]},
    *({"matchFields": [{"key": key, "operator": "In", "values": ["b"]}]} for key in ("metadata.name", "spec.name", "")),
    *(
        {"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": values}]}
        for values in ([], ["a", "b"], ["A"])
    ),
    {"matchFields": [{"key": "metadata.name", "operator": "Exists"}]},
    {},
]
_ADDRESSES = (
    *("05.0.0.1", "0010.0.000.1", "10.0.0.300", "10.0.0.0x4", "1.2.3", "1.2.3.4.5", "10.0.0.1/8", " 10.0.0.1", "a"),
    *("::1", "::", "::0ffff:1", "::00000", "FE80::00A", "1:2:3:4:5:6:7:00008", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7::"),
    *("1::2:3:4:5:6:7:8", "1::2::3", ":1::", "1::g", "::12345", "::012345", "fe80::1%eth0", "::ffff:010.0.0.1"),
    *("1:2:3:4:5:6:1.2.3.04", "1:2:3:4:5:6:7:1.2.3.4", "::1.2.3.4:5", "::1.2.3.0a"),
)
"""Texts that are addresses of IP to some reader."""
_PROFILES: list[Any] = [
    *({"type": kind} for kind in ("RuntimeDefault", "Unconfined", "Localhost", "Other")),
    *({"type": "Localhost", "localhostProfile": path} for path in ("a", "/a", "../a", "", " a")),
    {"type": "Unconfined", "localhostProfile": "a"},
    {},
]
_OF_PODS: list[Edit] = [
    *_at(POD, "affinity", "nodeAffinity", values=[{_REQUIRED: {"nodeSelectorTerms": [term]}} for term in _OF_NODES]),
    *_at(
        POD,
        "affinity",
        "nodeAffinity",
        values=[
            *({_PREFERRED: [{"weight": 1, "preference": term}]} for term in _OF_NODES),
            *({_PREFERRED: [{"weight": weight, "preference": {}}]} for weight in (0, 100, 101)),
            {_REQUIRED: {"nodeSelectorTerms": []}},
            {_REQUIRED: {}},
        ],
    ),
    *_at(
        POD,
        "tolerations",
        values=[
            [{"key": "a", "operator": "Exist"}],
            [{"operator": "exists"}],
            *([{"operator": "Exists", "effect": effect}] for effect in ("NoSchedule", "PreferNoSchedule", "NoRun", "")),
            [{"operator": "Exists", "effect": "NoRun", "tolerationSeconds": 5}],
        ],
    ),
    *_at(POD, "nodeName", values=["a.b", "A"]),
    *_at(POD, "hostname", values=["a", "a.b"]),
    *_at(POD, "subdomain", values=["a", "A"]),
    *_at(POD, "priorityClassName", values=["a", "A"]),
    *_at(POD, "preemptionPolicy", values=["Never", "Always", ""]),
    *_at(POD, "serviceAccount", values=["a", "A"]),
    *_at(POD, "runtimeClassName", values=[""]),
    *_at(POD, "hostUsers", values=[True, False]),
    *_at(POD, "hostIPC", values=[True]),
    *_at(POD, "overhead", values=[{"cpu": "1"}, {"cpu": "-1"}, {"gpu": "1"}, {"hugepages-2Mi": "2Mi"}]),
    *_at(POD, "hostAliases", values=[[{"ip": address, "hostnames": ["a"]}] for address in _ADDRESSES]),
    *_at(POD, "hostAliases", values=[[{"ip": "10.0.0.1", "hostnames": ["a.b", "A"]}]]),
    *_at(POD, "readinessGates", values=[[{"conditionType": name}] for name in ("a/b", "a b", "")]),
    *_at(POD, "schedulingGates", values=[[{"name": "a/b"}], [{"name": "a b"}]]),
    *(
        edit
        for name in ("seccompProfile", "appArmorProfile")
        for edit in _at(POD, "securityContext", name, values=_PROFILES)
    ),
    *(
        edit
        for name in ("seccompProfile", "appArmorProfile")
        for edit in _at(FIRST, "securityContext", name, values=_PROFILES)
    ),
    *_at(POD, "securityContext", values=[{"fsGroup": -1}, {"runAsUser": 2**31}, {"supplementalGroups": [1, -1]}]),
    *_at(POD, "securityContext", values=[{"fsGroupChangePolicy": "Always"}, {"fsGroupChangePolicy": "always"}]),
    *_at(POD, "securityContext", values=[{"supplementalGroupsPolicy": "Strict"}, {"supplementalGroupsPolicy": "Mix"}]),
    *_at(FIRST, "securityContext", "procMount", values=["Default", "Unmasked", "Other"]),
    *_at(FIRST, "imagePullPolicy", values=["Always", "Sometimes", ""]),
    *_at(FIRST, "terminationMessagePolicy", values=["File", "Log"]),
    *_at(FIRST, "lifecycle", values=[{"preStop": {"sleep": {"seconds": seconds}}} for seconds in (0, 30, 31, -1)]),
    *_at(POD, "terminationGracePeriodSeconds", values=[0, 60]),
    *_at(
        FIRST,
        "resources",
        values=[
            {"limits": {"hugepages-2Mi": "4Mi"}},
            {"requests": {"hugepages-2Mi": "2Mi"}, "limits": {"hugepages-2Mi": "2Mi", "cpu": "1"}},
            *({"limits": {name: "4Mi", "cpu": "1"}} for name in ("hugepages-1Gi", "hugepages-2M", "hugepages-0")),
            *({"limits": {name: "4Mi", "cpu": "1"}} for name in ("hugepages-", "hugepages-x", "hugepages-1m")),
            {"limits": {"hugepages-2Mi": "3Mi", "memory": "1Gi"}},
            {"requests": {"hugepages-2Mi": "2Mi", "memory": "1Gi"}},
            *(
                {"limits": {name: "1"}}
                for name in ("requests.example.com/a", "example.com/requests.a", "kubernetes.io/a")
            ),
            *({"limits": {"cpu": quantity}, "requests": {"cpu": "1"}} for quantity in (".", "Gi", "+", "1.")),
        ],
    ),
    *_at(
        ("spec", "selector", "matchExpressions"),
        values=[
            [{"key": "a b", "operator": "DoesNotExist"}],
            [{"key": "app", "operator": "In", "values": ["agent", "-"]}],
        ],
    ),
]
"""What is judged of a pod and of its nodes beside its containers."""
EDITS: list[Edit] = [
    *_ENTRIES,
    *_OF_PODS,
    *_at(FIRST, "env", 0, values=[{"name": "B", "valueFrom": source} for source in _OF_VARIABLES]),
    *_at(("spec", "selector"), values=[{}, {"matchLabels": {"app": "other"}}, {"matchLabels": {"app": "a b"}}]),
    *_at(("spec", "selector", "matchExpressions"), values=[[], [{"key": "app", "operator": "Exists"}]]),
    *_at(
        ("spec", "selector", "matchExpressions"),
        values=[
            [{"key": "app", "operator": "In", "values": ["agent", "b"]}],
            [{"key": "app", "operator": "In"}],
            [{"key": "app", "operator": "NotIn", "values": ["agent"]}],
            [{"key": "part", "operator": "DoesNotExist"}],
            [{"key": "app", "operator": "Exists", "values": ["a"]}],
            [{"key": "app", "operator": "Near"}],
        ],
    ),
    *_at(("spec", "template", "metadata", "labels", "more"), values=["", "x", "-x", "x" * 64, "a/b"]),
    *_at(("spec", "template", "metadata", "labels"), values=[{"app": "agent", "a/b/c": "x"}, {"app": "z"}]),
    *_at(("spec", "updateStrategy", "type"), values=["OnDelete", "RollingUpdate", "Recreate"]),
    *_at(("spec", "minReadySeconds"), values=[0, 5, -1]),
    *_at(("spec", "revisionHistoryLimit"), values=[0, 5, -1]),
    *_at(POD, "restartPolicy", values=["Always", "Never", "OnFailure"]),
    *_at(POD, "activeDeadlineSeconds", values=[5]),
    *_at(POD, "serviceAccountName", values=["a", "a.b", "A", "a_b", ""]),
    *_at(POD, "runtimeClassName", values=["nvidia", "Nv"]),
    *_at(POD, "dnsPolicy", values=["Default", "ClusterFirstWithHostNet", "None", "Other"]),
    *_at(POD, "hostNetwork", values=[True, False]),
    *_at(POD, "hostPID", values=[True]),
    *_at(POD, "shareProcessNamespace", values=[True]),
    *_at(POD, "imagePullSecrets", values=[[{"name": "a"}], [{"name": ""}], [{}]]),
    *_at(POD, "nodeSelector", values=[{"a": "b"}, {"a/b": ""}, {"a b": "c"}, {"a": "-"}, {"": "x"}]),
    *_at(
        POD,
        "tolerations",
        values=[
            [{"operator": "Exists"}],
            [{"key": "a", "operator": "Exists", "value": "b"}],
            [{"key": "a", "value": "b c"}],
            [{"value": "b"}],
            [{"key": "a b", "operator": "Exists"}],
            [{"key": "a", "operator": "Exists", "tolerationSeconds": 5}],
            [{"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}],
            [{"key": "a", "operator": "Exists", "effect": "NoSchedule", "tolerationSeconds": 5}],
            [{"key": "a"}],
            [{}],
        ],
    ),
    *_at(
        POD,
        "volumes",
        0,
        values=[
            {"name": "run"},
            {"name": "run", "emptyDir": {}},
            {"name": "run", "emptyDir": {}, "hostPath": {"path": "/a"}},
            {"name": "run", "hostPath": {"path": "/a/../b"}},
            {"name": "run", "hostPath": {"path": "a", "type": "Directory"}},
            {"name": "run", "hostPath": {"path": "/a", "type": "Dir"}},
            {"name": "run", "hostPath": {"path": ""}},
            {"name": "Run", "emptyDir": {}},
            {"name": "conf", "emptyDir": {}},
            {"name": "run", "secret": {"secretName": "a", "defaultMode": 511}},
            {"name": "run", "secret": {"secretName": "a", "defaultMode": 512}},
            {"name": "run", "secret": {}},
            {"name": "run", "configMap": {"items": []}},
            {"name": "run", "configMap": {"name": "a", "items": [{"key": "k", "path": "/p"}]}},
            {"name": "run", "configMap": {"name": "a", "items": [{"key": "k", "path": "..p"}]}},
            {"name": "run", "configMap": {"name": "a", "items": [{"key": "", "path": "p/q"}]}},
            {"name": "run", "configMap": {"name": "a", "items": [{"key": "k", "path": "p/q"}]}},
            {"name": "run", "persistentVolumeClaim": {"claimName": ""}},
            {"name": "run", "persistentVolumeClaim": {"claimName": "a"}},
        ],
    ),
    *_at(FIRST, "name", values=["Agent", "other", "", "a.b", "x" * 64]),
    *_at(FIRST, "image", values=["", " registry.example.com/a:1"]),
    *_at((*POD, "containers"), values=[[]]),
    *_at(FIRST, "env", values=[[{"name": "A"}], [{"name": ""}], [{"name": "a=b"}], [{"name": "a b-c."}]]),
    *_at(
        FIRST,
        "env",
        0,
        values=[
            {"name": "B", "valueFrom": _REF},
            {"name": "B", "value": "x", "valueFrom": _REF},
            {"name": "B", "value": "", "valueFrom": _REF},
            {"name": "B", "valueFrom": {}},
            {"name": "B", "valueFrom": {**_REF, "fieldRef": {"fieldPath": "spec.nodeName"}}},
            {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
        ],
    ),
    *_at(
        FIRST,
        "envFrom",
        values=[
            [{"configMapRef": {"name": "a"}}],
            [{}],
            [{"configMapRef": {"name": "a"}, "secretRef": {"name": "a"}}],
            [{"configMapRef": {}}],
            [{"secretRef": {"name": "A"}, "prefix": "="}],
            [{"secretRef": {"name": "a"}, "prefix": "a-b."}],
        ],
    ),
    *_at(
        FIRST,
        "ports",
        values=[
            [{"containerPort": 1}, {"containerPort": 2}],
            [{"containerPort": 0}],
            [{"containerPort": 70000}],
            [{"containerPort": 1, "hostPort": 70000}],
            [{"containerPort": 1, "hostPort": -1}],
            [{"containerPort": 1, "hostPort": 9}, {"containerPort": 2, "hostPort": 9}],
            [{"containerPort": 1, "hostPort": 9}, {"containerPort": 2, "hostPort": 9, "protocol": "UDP"}],
            [{"containerPort": 1, "hostPort": 9}, {"containerPort": 2, "hostPort": 9, "hostIP": "192.0.2.1"}],
            [{"containerPort": 1, "name": "a"}, {"containerPort": 2, "name": "a"}],
            [{"containerPort": 1, "name": "A"}],
            [{"containerPort": 1, "name": "a-very-long-name"}],
            [{"containerPort": 1, "name": "123"}],
            [{"containerPort": 1, "name": "a--b"}],
            [{"containerPort": 1, "protocol": "HTTP"}],
        ],
    ),
    *_at(
        (*POD, "containers", 1), "ports", values=[[{"containerPort": 9000}], [{"containerPort": 8, "hostPort": 9000}]]
    ),
    *_at(
        FIRST,
        "volumeMounts",
        1,
        values=[
            {"name": "gone", "mountPath": "/x"},
            {"name": "conf", "mountPath": "/run/a"},
            {"name": "conf", "mountPath": ""},
            {"name": "conf", "mountPath": "x"},
            {"name": "conf", "mountPath": "/x", "subPath": "/a"},
            {"name": "conf", "mountPath": "/x", "subPath": "a/../b"},
            {"name": "conf", "mountPath": "/x", "subPath": "a", "subPathExpr": "b"},
            {"name": "run", "mountPath": "/x", "mountPropagation": "Bidirectional"},
            {"name": "run", "mountPath": "/x", "mountPropagation": "HostToContainer"},
            {"name": "run", "mountPath": "/x", "mountPropagation": "Both"},
        ],
    ),
    *_at(
        FIRST,
        "securityContext",
        values=[
            {"privileged": True},
            {"privileged": True, "allowPrivilegeEscalation": False},
            {"allowPrivilegeEscalation": False, "capabilities": {"add": ["SYS_ADMIN"]}},
            {"allowPrivilegeEscalation": False, "capabilities": {"add": ["CAP_SYS_ADMIN"]}},
            {"runAsUser": -1},
            {"runAsGroup": 2**31},
            {"runAsUser": 0},
        ],
    ),
    *_at(
        FIRST,
        "resources",
        values=[
            {"requests": {"memory": "2Gi"}, "limits": {"memory": "1Gi"}},
            {"requests": {"memory": "1024Mi"}, "limits": {"memory": "1Gi"}},
            {"requests": {"cpu": "500m"}, "limits": {"cpu": 0.5}},
            {"requests": {"cpu": "501m"}, "limits": {"cpu": "0.5"}},
            {"requests": {"example.com/gpu": 1}},
            {"requests": {"example.com/gpu": 1}, "limits": {"example.com/gpu": 2}},
            {"limits": {"example.com/gpu": 1}},
            {"limits": {"example.com/gpu": "1500m"}},
            {"limits": {"cpu": "-1"}},
            {"limits": {"gpu": 1}},
            {"limits": {"a b": 1}},
            {"limits": {"hugepages-2Mi": "4Mi", "memory": "1Gi"}},
            {"requests": {"hugepages-2Mi": "2Mi"}, "limits": {"hugepages-2Mi": "4Mi", "memory": "1Gi"}},
            {"limits": {"cpu": "1e3", "memory": "1E"}},
        ],
    ),
    *(edit for name in ("livenessProbe", "readinessProbe", "startupProbe") for edit in _at(FIRST, name, values=_PROBE)),
    *_at(
        FIRST,
        "lifecycle",
        values=[{"preStop": {"exec": {"command": ["x"]}}}, {"preStop": {}}, {"postStart": {"sleep": {"seconds": 1}}}],
    ),
    *_at(
        POD,
        "initContainers",
        values=[
            [{"name": "first", "image": "x"}],
            [{"name": "agent", "image": "x"}],
            [{"name": "first", "image": "x", "livenessProbe": {"exec": {"command": ["x"]}}}],
            [{"name": "first", "image": "x", "livenessProbe": {"exec": {"command": ["x"]}}, "restartPolicy": "Always"}],
            [{"name": "first", "image": "x", "lifecycle": {"preStop": {"exec": {"command": ["x"]}}}}],
            [{"name": "first", "image": "x", "volumeMounts": [{"name": "gone", "mountPath": "/x"}]}],
            [{"name": "first", "image": "x", "ports": [{"containerPort": 8, "hostPort": 9000}]}],
        ],
    ),
]
"""What is written over, each as right or wrong as it is."""


def edited(edits: list[Edit]) -> Manifest:
    """Return the right DaemonSet with these edits, without those below what is not there any more."""
    result: Any = copy.deepcopy(base())
    for path, value in edits:
        parent: Any = result
        for part in path[:-1]:
            if isinstance(part, str):
                parent = parent.setdefault(part, {})
            elif part < len(parent):
                parent = parent[part]
            else:
                break
        else:
            if value is None:
                parent.pop(path[-1], None)
            elif not isinstance(path[-1], int) or path[-1] < len(parent):
                parent[path[-1]] = copy.deepcopy(value)
    return dict(result)


def drawn(seed: int) -> list[Edit]:
    """Return edits made at random, the same for one seed; the first seeds have one edit each, in their order."""
    if seed < len(EDITS):
        return [EDITS[seed]]
    source = random.Random(seed)
    return source.sample(EDITS, source.choice([1, 2, 2, 3]))
