"""Each rule about a DeviceConfig: what it refuses, at which field, with which message; and what it accepts."""

from __future__ import annotations

from typing import Any

import pytest
from krmfn_functions.deviceconfig import deviceconfig
from krmfn_functions.kmm.checks import check
from krmfn_functions.kmm.module import Module

from krmfn import ResourceList
from tests.builders import AGENT, PLUGIN, SPEC, applied, device_config, function_config

MOUNT = {"name": "v", "mountPath": "/v"}
ORDERED = {"daemonSets": [AGENT], "upgrade": {"ordered": True}}
HUB = {"hub": {"spokeNamespace": "spoke-kmm", "clusterSelector": {"gpu": "true"}}, "serviceAccountName": "sa"}
BUILD_ONLY = {"devicePlugin": PLUGIN, "driverImage": None, "moduleName": None}


def findings(
    change: dict[str, Any], namespace: str = "kmm", name: str = "dc", **config: Any
) -> list[tuple[str, str, str]]:
    """(rule, field, message) of all findings about the base config with `change` (None takes a field away)."""
    results = answer(change, namespace, name, **config).results
    return [(result.rule, result.field.path if result.field else "", result.message) for result in results]


def answer(change: dict[str, Any], namespace: str = "kmm", name: str = "dc", **config: Any) -> ResourceList:
    functions = function_config(kmm={"version": "main"}, **config)
    return applied(deviceconfig, device_config(SPEC | change, name, namespace), function_config=functions)


REFUSED: list[tuple[dict[str, Any], str, str, str]] = [
    ({"moduleName": None}, "KRM121", "spec.moduleName", "the kernel module's name is missing"),
    ({"driverImage": None}, "KRM122", "spec.driverImage", "driverImage is missing: no image is named"),
    ({"driverVersion": None}, "KRM122", "spec.driverVersion", "driverVersion is missing: driverImage has no tag"),
    ({"nodeSelector": None}, "KRM123", "spec.nodeSelector", "nodeSelector is missing"),
    ({"nodeSelector": {}}, "KRM123", "spec.nodeSelector", "nodeSelector is {}, which is every node"),
    ({"allNodes": True}, "KRM123", "spec.allNodes", "allNodes: true and a nodeSelector with labels exclude"),
    ({"kernelMappings": [{"regexp": "^a$", "literal": "a"}]}, "KRM124", "spec.kernelMappings[0]", "has both"),
    ({"kernelMappings": [{"image": "x/y:1"}]}, "KRM124", "spec.kernelMappings[0]", "has neither"),
    ({"daemonSets": [AGENT, AGENT]}, "KRM125", "spec.daemonSets[1].name", "the name 'agent' appears twice"),
    ({"daemonSets": [AGENT | {"name": "a" * 63}]}, "KRM125", "spec.daemonSets[0].name", "has 66 characters"),
    (
        {"daemonSets": [AGENT | {"volumeMounts": [{"name": "v", "mountPath": "/v"}]}]},
        "KRM126",
        "spec.daemonSets[0].volumeMounts[0].name",
        "but the volumes are: none; add it to volumes",
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
        "nodeSelector and nodePools exclude each other",
    ),
    (
        {"nodeSelector": None, "nodePools": [{"name": "p", "nodeSelector": {"a": value}} for value in "bc"]},
        "KRM129",
        "spec.nodePools[1].name",
        "the pool name 'p' appears twice",
    ),
    *(
        (
            {kind: {"image": "x/y:1", field: []} | more},
            "KRM101",
            f"spec.{kind}.{field}",
            "KMM's Module has one container and one init container here",
        )
        for kind, more in (("devicePlugin", {}), ("dra", {"driverName": "a.example.com"}))
        for field in ("containers", "initContainers", "podSpec")
    ),
    (
        {"imagePullSecret": "a", "imagePullSecrets": ["b"]},
        "KRM128",
        "spec.imagePullSecret",
        "imagePullSecret and imagePullSecrets exclude each other",
    ),
    ({"imagePullSecrets": ["a", "a"], "daemonSets": [AGENT]}, "KRM162", "spec.imagePullSecrets[1]", "names 'a' twice"),
    (
        {"imagePullSecrets": ["a", "b"], "daemonSets": [AGENT]},
        "KRM162",
        "spec.imagePullSecrets",
        "the Module gets the first, a,",
    ),
    ({"imagePullSecrets": ["a", "b"]}, "KRM142", "spec.imagePullSecrets[1]", "a Module takes one pull secret"),
    *(
        (
            {"daemonSets": [AGENT | {"initContainers": [{"name": "i", "image": "x/y:1"}], "containers": sidecars}]},
            "KRM135",
            f"spec.daemonSets[0].containers[{len(sidecars) - 1}].name",
            message,
        )
        for sidecars, message in (
            ([{"name": "agent", "image": "x/y:1"}], "is already used by the main container"),
            ([{"name": "i", "image": "x/y:1"}], "is already used by an init container"),
            ([{"name": "s", "image": "x/y:1"}] * 2, "appears twice"),
        )
    ),
    (
        {"daemonSets": [AGENT | {"containers": [{"name": "s"}]}]},
        "KRM133",
        "spec.daemonSets[0].containers[0].image",
        "has no image",
    ),
    *(
        ({"daemonSets": [AGENT | {"service": service}]}, rule, f"spec.daemonSets[0].service.{field}", message)
        for service, rule, field, message in (
            ({"targetPort": 1, "ports": [{"port": 1}]}, "KRM140", "targetPort", "belongs to `port`"),
            ({"port": 1, "ports": [{"name": "b", "port": 2}]}, "KRM160", "port", "has no name"),
            (
                {"port": 1, "name": "a", "ports": [{"name": "a", "port": 2}]},
                "KRM160",
                "ports[0]",
                "has the same name as",
            ),
            (
                {"port": 1, "name": "a", "ports": [{"name": "b", "port": 1}]},
                "KRM160",
                "ports[0]",
                "has the same port as",
            ),
            ({"ports": [{"port": 1, "nodePort": 30000}]}, "KRM161", "ports[0].nodePort", "type ClusterIP has no port"),
            ({"ports": [{"port": 1, "targetPort": "x"}]}, "KRM142", "ports[0].targetPort", "leads nowhere"),
        )
    ),
    *(
        ({"daemonSets": [AGENT | {"podSpec": pod}]}, rule, f"spec.daemonSets[0].podSpec{field}", message)
        for pod, rule, field, message in (
            (
                {"nodeSelector": {"a": "b"}},
                "KRM163",
                ".nodeSelector",
                "its own place in the config: write `nodeSelector`",
            ),
            ({"serviceAccount": "a"}, "KRM163", ".serviceAccount", "write `serviceAccountName`"),
            ({"imagePullSecrets": []}, "KRM163", ".imagePullSecrets", "write `imagePullSecrets` of the whole config"),
            ({"dnsPolicy": "None"}, "KRM163", ".dnsPolicy", "write `dnsPolicy`"),
            ({"nodeName": "a"}, "KRM163", ".nodeName", "cannot be set: it bypasses the scheduler"),
            ({"restartPolicy": "Never"}, "KRM163", ".restartPolicy", "pods always restart"),
            ({}, "KRM101", "", "must not be empty"),
            ({"hostName": "a"}, "KRM164", ".hostName", "did you mean 'hostname'?"),
            ({"hostAliases": [{"ip": 1}]}, "KRM164", ".hostAliases[0].ip", 'write it in quotes, "1"'),
        )
    ),
    ({"driverImage": None, "inTreeDriver": True}, "KRM130", "spec.inTreeDriver", "nothing would run"),
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
        "the name 'agent' is already used by the main container",
    ),
    (
        {"daemonSets": [AGENT | {"hostDevices": ["/dev/a"], "volumes": [{"name": "host-device-0", "emptyDir": {}}]}]},
        "KRM135",
        "spec.daemonSets[0].volumes[0].name",
        "the name 'host-device-0' is already used by the host device /dev/a",
    ),
    (
        {"devicePlugin": PLUGIN | {"volumes": [{"name": "v", "hostPath": {"path": f"/dev/{x}"}} for x in "ab"]}},
        "KRM135",
        "spec.devicePlugin.volumes[1].name",
        "the name 'v' appears twice",
    ),
    (
        {"daemonSets": [AGENT | {"initContainers": [{"name": "i", "image": "x/y:1", "volumeMounts": [MOUNT]}]}]},
        "KRM126",
        "spec.daemonSets[0].initContainers[0].volumeMounts[0].name",
        "but the volumes are: none",
    ),
    (
        {"devicePlugin": PLUGIN | {"initContainer": {"image": "x/y:1", "volumeMounts": [MOUNT]}}},
        "KRM126",
        "spec.devicePlugin.initContainer.volumeMounts[0].name",
        "but the volumes are: none",
    ),
    (
        {"daemonSets": [AGENT | {"volumes": [{"name": "w", "emptyDir": {}}], "volumeMounts": [MOUNT]}]},
        "KRM126",
        "spec.daemonSets[0].volumeMounts[0].name",
        "but the volumes are: w; add it",
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


@pytest.mark.parametrize(("change", "rule", "field", "text"), REFUSED)
def test_a_rule_reports_what_is_wrong_and_where(change: dict[str, Any], rule: str, field: str, text: str) -> None:
    reported = findings(change)
    assert [(one, path) for one, path, _ in reported if one == rule and path == field], reported
    assert any(text in message for one, path, message in reported if (one, path) == (rule, field)), reported


def test_a_missing_namespace_is_one_finding() -> None:
    reported = findings({}, namespace="")
    assert [(rule, field) for rule, field, _ in reported] == [("KRM120", "metadata.namespace")]
    assert findings({}, namespace="", defaults={"imagePullPolicy": "Always"}) == reported


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
    (finding,) = answer({"firmwarePath": "fw/updates"}).results
    written = answer({"firmwarePath": "fw/updates"}).select("Module")[0].manifest
    written["metadata"] = {"name": "dc", "namespace": "kmm"}
    (lint,) = check(Module(written))
    assert (finding.rule, finding.severity) == (lint.rule, lint.severity) == ("KRM208", "warning")
    assert finding.field == (lint.field and lint.field._replace(path="spec.firmwarePath"))
    assert finding.message == f"in the generated Module: {lint.message}"
    assert [rule for rule, _, _ in findings({"firmwarePath": "$(id)"})] == ["KRM101"]
    assert findings({"firmwarePath": "/fw"}) == []


def test_the_images_of_daemonsets_are_looked_at() -> None:
    latest = {"image": "x/y:latest"}
    entry = AGENT | latest | {"initContainers": [latest | {"name": "init"}], "containers": [latest | {"name": "side"}]}
    results = answer({"daemonSets": [AGENT | {"name": "first"}, entry]}).results
    assert [(one.rule, str(one.ref), one.field.path) for one in results if one.field] == [
        ("KRM225", "DeviceConfig kmm/dc", f"spec.daemonSets[1].{part}image")
        for part in ("initContainers[0].", "", "containers[0].")
    ]
    assert all(one.message.startswith("in the generated DaemonSet: ") for one in results)


@pytest.mark.parametrize(
    "service",
    [
        {"type": "NodePort", "ports": [{"port": 1, "nodePort": 30000}]},
        {"port": 1, "name": "a", "ports": [{"name": "b", "port": 1, "protocol": "UDP"}]},
        {"port": 1, "targetPort": "side"},
    ],
)
def test_services_that_are_fine(service: dict[str, Any]) -> None:
    sidecar = {"name": "s", "image": "x/y:1", "ports": [{"name": "side", "containerPort": 1}]}
    assert findings({"daemonSets": [AGENT | {"containers": [sidecar], "service": service}]}) == []


def test_the_pull_secret_of_a_plugin_without_a_loader_is_used() -> None:
    in_tree = BUILD_ONLY | {"driverVersion": None, "inTreeDriver": True}
    assert [rule for rule, _, _ in findings(in_tree | {"imagePullSecret": "a"})] == []


@pytest.mark.parametrize("name", ["1dc", "d.c"])
def test_a_service_s_name_is_a_label_that_begins_with_a_letter(name: str) -> None:
    served = {"daemonSets": [AGENT | {"service": {"port": 80}}]}
    assert [finding[:2] for finding in findings(served, name=name)] == [("KRM136", "spec.daemonSets[0].service")]
    assert findings({"daemonSets": [AGENT]}, name=name) == []


def test_what_every_spoke_gets_is_judged_as_a_module() -> None:
    hub = {key: value for key, value in HUB.items() if key != "serviceAccountName"}
    (finding,) = answer(hub | {"kernelMappings": [{"regexp": "["}]}).results
    assert (finding.rule, str(finding.ref)) == ("KMM023", "DeviceConfig kmm/dc")
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
def test_pod_security_is_checked_where_kmm_runs_privileged_pods(change: dict[str, Any], level: str) -> None:
    results = answer({"serviceAccountName": "sa"} | change).results
    assert [finding.severity for finding in results if finding.rule == "KRM132"] == ([level] if level else [])


def test_what_is_generated_is_not_kept_from_the_cluster() -> None:
    """`check` said "no findings" about a config of which `render` left everything out."""
    ((rule, path, message),) = findings({"annotations": {"config.kubernetes.io/local-config": "true"}})
    assert (rule, path) == ("KRM118", "metadata.annotations[config.kubernetes.io/local-config]")
    assert "keeps the generated objects off the cluster" in message


def test_pull_secrets_may_be_written_as_in_a_pod() -> None:
    twice = [{"name": "one"}, "two", {"name": "two"}]
    resources = applied(deviceconfig, device_config(SPEC | {"imagePullSecrets": twice, "daemonSets": [AGENT]}))
    (finding,) = [one for one in resources.results if one.severity == "error"]
    assert finding.field and finding.field.path == "spec.imagePullSecrets[2]" and "'two' twice" in finding.message
    plain, objects = (
        applied(deviceconfig, device_config(SPEC | {"imagePullSecrets": own, "daemonSets": [AGENT]})).items[1:]
        for own in (["one", "two"], [{"name": "one"}, "two"])
    )
    assert [item.manifest for item in plain] == [item.manifest for item in objects]


def test_an_external_traffic_policy_needs_traffic_from_outside() -> None:
    service = {"port": 1, "externalTrafficPolicy": "Local"}
    resources = applied(deviceconfig, device_config(SPEC | {"daemonSets": [AGENT | {"service": service}]}))
    found = [(one.rule, one.field.path) for one in resources.results if one.field]
    assert found == [("KRM161", "spec.daemonSets[0].service.externalTrafficPolicy")]


def test_a_finding_about_a_toleration_stands_where_it_is_written() -> None:
    """The Module has those of the config and then those of its own."""
    spec = SPEC | {"tolerations": [{"operator": "Exists"}], "loaderTolerations": [{"key": "a b", "operator": "Exists"}]}
    found = [one.field.path for one in applied(deviceconfig, device_config(spec)).results if one.field]
    assert found == ["spec.loaderTolerations[0].key"]
