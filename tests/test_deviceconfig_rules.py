"""Each rule about a DeviceConfig: what it refuses, at which field, in which words; and what it lets through."""

from __future__ import annotations

import json
from typing import Any

import pytest
from krmfn_functions import kmm
from krmfn_functions.deviceconfig import deviceconfig, rules

from krmfn import ResourceList

BASE: dict[str, Any] = {
    "driverImage": "registry.example.com/driver",
    "driverVersion": "1.0",
    "moduleName": "drv",
    "nodeSelector": {"gpu": "a"},
}
PLUGIN = {"image": "registry.example.com/plugin:1"}
AGENT = {"name": "agent", "image": "registry.example.com/agent:1"}
MOUNT = {"name": "v", "mountPath": "/v"}
ORDERED = {"daemonSets": [AGENT], "upgrade": {"ordered": True}}
HUB = {"hub": {"spokeNamespace": "spoke-kmm", "clusterSelector": {"gpu": "true"}}, "serviceAccountName": "sa"}
BUILD_ONLY = {"devicePlugin": PLUGIN, "driverImage": None, "moduleName": None}


def findings(
    change: dict[str, Any], namespace: str = "kmm", name: str = "dc", **config: Any
) -> list[tuple[str, str, str]]:
    """(rule, field, message) of all findings about the base config with `change` (None takes a field away)."""
    results = answer(change, namespace, name, **config).results
    return [(found.rule, found.field.path if found.field else "", found.message) for found in results]


def answer(change: dict[str, Any], namespace: str = "kmm", name: str = "dc", **config: Any) -> ResourceList:
    spec = {key: value for key, value in (BASE | change).items() if value is not None}
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    item = {"apiVersion": "krmfn.dev/v1alpha1", "kind": "DeviceConfig", "metadata": metadata, "spec": spec}
    whole = {"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": [item]}
    render = {"apiVersion": "krmfn.dev/v1alpha1", "kind": "RenderDeviceConfigs", "metadata": {"name": "r"}}
    whole["functionConfig"] = render | {"spec": {"kmm": {"version": "main"}, **config}}
    resources = ResourceList.parse(json.dumps(whole).encode())
    deviceconfig(resources)
    return resources


REFUSED: list[tuple[dict[str, Any], str, str, str]] = [
    ({"moduleName": None}, "KRM121", "spec.moduleName", "the kernel module's name is missing"),
    ({"driverImage": None}, "KRM122", "spec.driverImage", "driverImage is missing: no image is named"),
    ({"driverVersion": None}, "KRM122", "spec.driverVersion", "driverVersion is missing: driverImage has no tag"),
    ({"nodeSelector": None}, "KRM123", "spec.nodeSelector", "nodeSelector is missing"),
    ({"nodeSelector": {}}, "KRM123", "spec.nodeSelector", "nodeSelector is {}, which is every node"),
    ({"allNodes": True}, "KRM123", "spec.allNodes", "allNodes: true stands beside a nodeSelector"),
    ({"kernelMappings": [{"regexp": "^a$", "literal": "a"}]}, "KRM124", "spec.kernelMappings[0]", "has both"),
    ({"kernelMappings": [{"image": "x/y:1"}]}, "KRM124", "spec.kernelMappings[0]", "has neither"),
    ({"daemonSets": [AGENT, AGENT]}, "KRM125", "spec.daemonSets[1].name", "the name 'agent' stands twice"),
    ({"daemonSets": [AGENT | {"name": "a" * 63}]}, "KRM125", "spec.daemonSets[0].name", "has 66 characters"),
    (
        {"daemonSets": [AGENT | {"volumeMounts": [{"name": "v", "mountPath": "/v"}]}]},
        "KRM126",
        "spec.daemonSets[0].volumeMounts[0].name",
        "beside it there are: none; add it to volumes",
    ),
    (
        {
            "devicePlugin": PLUGIN
            | {"env": [{"name": "A", "value": "1", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}]}
        },
        "KRM127",
        "spec.devicePlugin.env[0]",
        "has both value and valueFrom",
    ),
    (
        {"driverImageParts": {"repository": "x"}},
        "KRM128",
        "spec.driverImage",
        "driverImage and driverImageParts exclude",
    ),
    (
        {"devicePlugin": PLUGIN, "dra": {"driverName": "a.example.com", "image": "x/y:1"}},
        "KRM128",
        "spec.devicePlugin",
        "devicePlugin and dra exclude each other",
    ),
    ({"inTreeDriver": True, "devicePlugin": PLUGIN}, "KRM128", "spec.inTreeDriver", "inTreeDriver and driverImage"),
    (
        {"hub": {"spokeNamespace": "kmm", "clusterSelector": {"a": "b"}}, "daemonSets": [AGENT]},
        "KRM128",
        "spec.hub",
        "hub and daemonSets exclude each other",
    ),
    ({"rawLoadArgs": ["drv"]}, "KRM128", "spec.moduleName", "moduleName and rawLoadArgs exclude each other"),
    (
        {"driverImage": None, "driverImageParts": {"repository": "x", "tag": "1", "digest": "sha256:" + "a" * 64}},
        "KRM128",
        "spec.driverImageParts",
        "has both tag and digest",
    ),
    (
        {"nodePools": [{"name": "p", "nodeSelector": {"a": "b"}}]},
        "KRM129",
        "spec.nodeSelector",
        "nodeSelector stands beside nodePools",
    ),
    (
        {"nodeSelector": None, "nodePools": [{"name": "p", "nodeSelector": {"a": value}} for value in "bc"]},
        "KRM129",
        "spec.nodePools[1].name",
        "the pool name 'p' stands twice",
    ),
    ({"driverImage": None, "inTreeDriver": True}, "KRM130", "spec.inTreeDriver", "nothing would be generated"),
    (
        {"driverVersion": None, "driverImage": "x/y:1", "upgrade": {"ordered": True}},
        "KRM131",
        "spec.driverVersion",
        "upgrade.ordered needs driverVersion",
    ),
    ({"upgrade": {"retain": ["0.9"]}}, "KRM131", "spec.upgrade.retain", "which only upgrade.ordered has"),
    ({"upgrade": {"ordered": True, "retain": ["1.0"]}}, "KRM131", "spec.upgrade.retain", "names the current version"),
    ({"serviceAccount": {"create": True}}, "KRM132", "spec.serviceAccountName", "needs serviceAccountName"),
    (
        {"serviceAccount": {"podSecurity": "baseline"}},
        "KRM132",
        "spec.serviceAccount.podSecurity",
        "needs the label pod-security.kubernetes.io/enforce: privileged",
    ),
    (
        {"driverImage": None, "inTreeDriver": True, "devicePlugin": PLUGIN, "upgrade": {"ordered": True}},
        "KRM128",
        "spec.upgrade.ordered",
        "inTreeDriver and upgrade.ordered exclude each other",
    ),
    (
        {"daemonSets": [AGENT | {"privileged": False, "securityContext": {"privileged": True}}]},
        "KRM145",
        "spec.daemonSets[0].privileged",
        "contradicts securityContext.privileged",
    ),
    ({"daemonSets": [{"name": "agent"}]}, "KRM133", "spec.daemonSets[0].image", "has no image"),
    (
        {"daemonSets": [AGENT | {"imageParts": {"repository": "x", "tag": "1", "digest": "sha256:" + "a" * 64}}]},
        "KRM133",
        "spec.daemonSets[0].imageParts",
        "has both tag and digest",
    ),
    ({"daemonSets": [AGENT | {"envFrom": [{}]}]}, "KRM134", "spec.daemonSets[0].envFrom[0]", "names no source"),
    (
        {"daemonSets": [AGENT | {"envFrom": [{"configMapRef": {"name": "a"}, "secretRef": {"name": "a"}}]}]},
        "KRM134",
        "spec.daemonSets[0].envFrom[0]",
        "names both",
    ),
    (
        {
            "devicePlugin": PLUGIN
            | {
                "volumes": [{"name": "v", "hostPath": {"path": "/dev"}}],
                "volumeMounts": [{"name": "v", "mountPath": "/v", "subPath": "a", "subPathExpr": "b"}],
            }
        },
        "KRM134",
        "spec.devicePlugin.volumeMounts[0]",
        "has both subPath and subPathExpr",
    ),
    (
        {"daemonSets": [AGENT | {"initContainers": [AGENT]}]},
        "KRM135",
        "spec.daemonSets[0].initContainers[0].name",
        "the name 'agent' is the one of the main container",
    ),
    (
        {"daemonSets": [AGENT | {"hostDevices": ["/dev/a"], "volumes": [{"name": "host-device-0", "emptyDir": {}}]}]},
        "KRM135",
        "spec.daemonSets[0].volumes[0].name",
        "the name 'host-device-0' is the one of the host device /dev/a",
    ),
    (
        {"devicePlugin": PLUGIN | {"volumes": [{"name": "v", "hostPath": {"path": f"/dev/{x}"}} for x in "ab"]}},
        "KRM135",
        "spec.devicePlugin.volumes[1].name",
        "the name 'v' stands twice",
    ),
    (
        {"daemonSets": [AGENT | {"initContainers": [{"name": "i", "image": "x/y:1", "volumeMounts": [MOUNT]}]}]},
        "KRM126",
        "spec.daemonSets[0].initContainers[0].volumeMounts[0].name",
        "beside it there are: none",
    ),
    (
        {"devicePlugin": PLUGIN | {"initContainer": {"image": "x/y:1", "volumeMounts": [MOUNT]}}},
        "KRM126",
        "spec.devicePlugin.initContainer.volumeMounts[0].name",
        "beside it there are: none",
    ),
    (
        {"daemonSets": [AGENT | {"volumes": [{"name": "w", "emptyDir": {}}], "volumeMounts": [MOUNT]}]},
        "KRM126",
        "spec.daemonSets[0].volumeMounts[0].name",
        "beside it there are: w; add it",
    ),
    (
        ORDERED | {"upgrade": {"ordered": True, "retain": ["9" * 60]}},
        "KRM125",
        "spec.upgrade.retain[0]",
        "has 69 characters; 63 fit into its label, so make a part of it shorter by 6",
    ),
    (
        ORDERED | {"driverVersion": "9" * 55, "upgrade": {"ordered": True, "retain": ["9"]}},
        "KRM125",
        "spec.daemonSets[0].name",
        "has 64 characters; 63 fit into its label, so make a part of it shorter by 1",
    ),
    (
        ORDERED | {"upgrade": {"ordered": True, "retain": ["0.9", "1-0"]}},
        "KRM137",
        "spec.upgrade.retain[1]",
        "version '1-0' of daemonSet 'agent' and version '1.0' of daemonSet 'agent' would both be the DaemonSet "
        "dc-agent-1-0; change one of the two (in a name, dots",
    ),
    (
        ORDERED | {"upgrade": {"ordered": True, "retain": ["RC", "rc", "r_c", "r-c"]}},
        "KRM137",
        "spec.upgrade.retain[3]",
        "version 'r-c' of daemonSet 'agent' and version 'r_c'",
    ),
    (
        {
            "nodeSelector": None,
            "nodePools": [{"name": name, "nodeSelector": {"pool": name}} for name in ("a", "a-b")],
            "daemonSets": [AGENT | {"name": "b-c"}, AGENT | {"name": "c"}],
        },
        "KRM137",
        "spec.daemonSets[1].name",
        "daemonSet 'c' of pool 'a-b' and daemonSet 'b-c' of pool 'a' would both be the DaemonSet dc-a-b-c; change",
    ),
    (
        ORDERED | {"upgrade": {"ordered": True, "retain": ["0.9", "0.9"]}},
        "KRM131",
        "spec.upgrade.retain[1]",
        "names the version '0.9' twice",
    ),
    (
        {"serviceAccountName": "a" * 243, "serviceAccount": {"openshift": True, "podSecurity": "privileged"}},
        "KRM136",
        "spec.serviceAccountName",
        "make serviceAccountName shorter by 1",
    ),
    (HUB | {"serviceAccount": {"create": True}}, "KRM138", "spec.serviceAccount.create", "bring the ServiceAccount sa"),
    (
        HUB | {"serviceAccount": {"openshift": True}},
        "KRM138",
        "spec.serviceAccount.openshift",
        "into the namespace spoke-kmm of every spoke",
    ),
    (
        HUB | {"serviceAccount": {"podSecurity": "baseline"}},
        "KRM132",
        "spec.serviceAccount.podSecurity",
        "namespace spoke-kmm on every spoke",
    ),
]


@pytest.mark.parametrize(("change", "rule", "field", "words"), REFUSED)
def test_a_rule_says_what_is_wrong_and_where(change: dict[str, Any], rule: str, field: str, words: str) -> None:
    found = findings(change)
    assert [(one, path) for one, path, _ in found if one == rule and path == field], found
    assert any(words in message for one, path, message in found if (one, path) == (rule, field)), found


def test_a_missing_namespace_is_one_finding() -> None:
    found = findings({}, namespace="")
    assert [(rule, field) for rule, field, _ in found] == [("KRM120", "metadata.namespace")]
    assert findings({}, namespace="", defaults={"imagePullPolicy": "Always"}) == found


def test_a_variable_that_stands_twice_is_a_warning() -> None:
    twice = [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]
    assert [rule for rule, _, _ in findings({"devicePlugin": PLUGIN | {"env": twice}})] == ["KRM127"]


ACCEPTED: list[dict[str, Any]] = [
    {},
    {"nodeSelector": {}, "allNodes": True},
    {"driverImage": "localhost:5000/driver@sha256:" + "a" * 64, "driverVersion": None},
    {"driverImage": "x/y:$KERNEL_FULL_VERSION", "driverVersion": None},
    {"driverImage": None, "driverVersion": None, "kernelMappings": [{"literal": "6.1.0", "image": "x/y:1"}]},
    {"moduleName": None, "rawLoadArgs": ["drv"], "rawUnloadArgs": ["-r", "drv"]},
    BUILD_ONLY | {"driverVersion": None, "inTreeDriver": True},
    BUILD_ONLY
    | {
        "driverVersion": None,
        "inTreeDriver": True,
        "devicePlugin": None,
        "dra": {"driverName": "a.example.com", "image": "x/y:1"},
    },
    {"upgrade": {"ordered": True, "retain": ["0.9", "0.8"]}, "daemonSets": [AGENT]},
    {"serviceAccountName": "sa", "serviceAccount": {"create": True, "openshift": True, "podSecurity": "privileged"}},
    {"serviceAccountName": "a" * 242, "serviceAccount": {"openshift": True, "podSecurity": "privileged"}},
    HUB | {"serviceAccount": {"podSecurity": "privileged"}},
    *(
        {"daemonSets": [AGENT | {"volumes": [{"name": "v", "emptyDir": {}}], "volumeMounts": [MOUNT | {key: "a"}]}]}
        for key in ("subPath", "subPathExpr")
    ),
    ORDERED | {"driverVersion": "9" * 54},
    {"daemonSets": [AGENT | {"service": {"port": 80}}]},
    {"nodeSelector": None, "nodePools": [{"name": value, "nodeSelector": {"a": value}} for value in "bc"]},
]


@pytest.mark.parametrize("change", ACCEPTED)
def test_what_is_right_has_no_finding(change: dict[str, Any]) -> None:
    assert [finding for finding in findings(change) if not finding[0].startswith("KRM2")] == []


def test_a_relative_firmware_path_is_the_same_in_a_config_and_in_a_module() -> None:
    (found,) = answer({"firmwarePath": "fw/updates"}).results
    written = answer({"firmwarePath": "fw/updates"}).select("Module")[0].manifest
    written["metadata"] = {"name": "dc", "namespace": "kmm"}
    (lint,) = kmm.check(written)
    assert (found.rule, found.severity) == (lint.rule, lint.severity) == ("KRM208", "warning")
    assert found.field == (lint.field and lint.field._replace(path="spec.firmwarePath"))
    assert found.message == f"in the generated Module: {lint.message}"
    assert [rule for rule, _, _ in findings({"firmwarePath": "$(id)"})] == ["KRM101"]
    assert findings({"firmwarePath": "/fw"}) == []


def test_the_images_of_daemonsets_are_looked_at() -> None:
    latest = {"image": "x/y:latest"}
    entry = AGENT | latest | {"initContainers": [latest | {"name": "init"}]}
    found = answer({"daemonSets": [entry]}).results
    assert [(one.rule, str(one.ref), one.field.path) for one in found if one.field] == [
        ("KRM225", "DaemonSet kmm/dc-agent", f"spec.template.spec.{part}[0].image")
        for part in ("initContainers", "containers")
    ]


@pytest.mark.parametrize("name", ["1dc", "d.c"])
def test_a_service_s_name_is_a_label_that_begins_with_a_letter(name: str) -> None:
    served = {"daemonSets": [AGENT | {"service": {"port": 80}}]}
    assert [found[:2] for found in findings(served, name=name)] == [("KRM136", "spec.daemonSets[0].service")]
    assert findings({"daemonSets": [AGENT]}, name=name) == []


def test_what_every_spoke_gets_is_judged_as_a_module() -> None:
    hub = {key: value for key, value in HUB.items() if key != "serviceAccountName"}
    (found,) = answer(hub | {"kernelMappings": [{"regexp": "["}]}).results
    assert (found.rule, str(found.ref)) == ("KMM023", "DeviceConfig kmm/dc")
    assert findings(hub, name="d" * 32) == []  # name and spokeNamespace have 41 bytes, which KMM main takes
    (rule, _, message) = findings(hub, name="d" * 33)[0]
    assert rule == "KMM003" and "a combined length of 42 characters" in message


def test_a_rule_is_turned_off_with_a_reason() -> None:
    latest = {"devicePlugin": {"image": "x/y:latest"}}
    assert [rule for rule, _, _ in findings(latest)] == ["KRM225"]
    assert findings(latest, ignore={"KRM225": "the vendor has no other tag"}) == []


def test_a_refusal_of_the_cluster_is_never_turned_off() -> None:
    ignored = {"KMM023": "not with us", "KRM213": "so it is meant"}
    assert [rule for rule, _, _ in findings({"kernelMappings": [{"regexp": "["}]}, ignore=ignored)] == [
        "KRM119",
        "KMM023",
    ]


@pytest.mark.parametrize(
    ("change", "level"),
    [
        ({"serviceAccount": {"openshift": True}}, "info"),
        ({"serviceAccount": {"podSecurity": "baseline"}}, "warning"),
        ({"serviceAccount": {"podSecurity": "restricted"}}, "warning"),
        ({"serviceAccount": {"podSecurity": "privileged"}}, ""),
        ({"serviceAccount": {"openshift": True}} | BUILD_ONLY | {"inTreeDriver": True}, ""),
        ({}, ""),
    ],
)
def test_pod_security_is_asked_where_kmm_runs_privileged_pods(change: dict[str, Any], level: str) -> None:
    found = answer({"serviceAccountName": "sa"} | change).results
    assert [finding.severity for finding in found if finding.rule == "KRM132"] == ([level] if level else [])


def test_every_rule_has_a_docstring_with_its_id() -> None:
    assert all(rule.__doc__ and rule.__doc__.startswith("KRM1") for rule in rules.RULES)
