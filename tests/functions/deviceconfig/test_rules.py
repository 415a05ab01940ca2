"""Each rule about a DeviceConfig: what it refuses, at which field, with which message; and what it accepts."""

from __future__ import annotations

from typing import Any

import pytest
from krmfn_functions.deviceconfig import deviceconfig
from krmfn_functions.kmm.module import Module
from krmfn_functions.rendering.module_checks import of_written as check

from krmfn import ResourceList
from tests.builders import AGENT, PLUGIN, SPEC, applied, device_config, function_config, places
from tests.tables import table

HUB = {"hub": {"spokeNamespace": "spoke-kmm", "clusterSelector": {"gpu": "true"}}, "serviceAccountName": "sa"}
BUILD_ONLY = {"devicePlugin": PLUGIN, "driverImage": None, "moduleName": None}


def findings(
    change: dict[str, Any], namespace: str = "kmm", name: str = "dc", **config: Any
) -> list[tuple[str, str, str]]:
    """Return rule, field and message of all findings about the base config with `change` (None drops a field)."""
    results = answer(change, namespace, name, **config).results
    return [(result.rule, result.field.path if result.field else "", result.text) for result in results]


def answer(change: dict[str, Any], namespace: str = "kmm", name: str = "dc", **config: Any) -> ResourceList:
    functions = function_config(kmm={"version": "main"}, **config)
    return applied(deviceconfig, device_config(SPEC | change, name, namespace), function_config=functions)


REFUSED = table(__file__, "refused.yaml")
ACCEPTED = table(__file__, "accepted.yaml")


@pytest.mark.parametrize(("change", "rule", "field", "text"), [row.values() for row in REFUSED])
def test_a_rule_reports_what_is_wrong_and_where(change: dict[str, Any], rule: str, field: str, text: str) -> None:
    reported = findings(change)
    assert any(finding[:2] == (rule, field) and text in finding[2] for finding in reported), reported


@pytest.mark.parametrize("field", ["moduleName", "driverImage"])
def test_a_config_without_a_driver_is_told_what_profiles_there_are(field: str) -> None:
    profiles = {"b": {"imagePullPolicy": "Always"}, "a": {"imagePullPolicy": "Never"}}
    (message,) = [text for rule, _, text in findings({field: None}, profiles=profiles) if rule in ("KRM121", "KRM122")]
    assert "; it names no profile (there are: a, b)" in message


def test_a_missing_namespace_is_one_finding() -> None:
    reported = findings({}, namespace="")
    assert [(rule, field) for rule, field, _ in reported] == [("KRM120", "metadata.namespace")]
    assert findings({}, namespace="", defaults={"imagePullPolicy": "Always"}) == reported


def test_a_missing_version_of_an_ordered_upgrade_is_one_finding() -> None:
    reported = findings({"driverImage": "x/y", "driverVersion": None, "upgrade": {"ordered": True}})
    assert [(rule, field) for rule, field, _ in reported] == [("KRM131", "spec.driverVersion")]


@pytest.mark.parametrize("change", ACCEPTED)
def test_what_is_right_has_no_finding(change: dict[str, Any]) -> None:
    assert [finding for finding in findings(change) if not finding[0].startswith("KRM2")] == []


def test_a_relative_firmware_path_is_the_same_in_a_config_and_in_a_module() -> None:
    (finding,) = answer({"firmwarePath": "fw/updates"}).results
    written = answer({"firmwarePath": "fw/updates"}).where(kind="Module")[0].manifest
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
    assert places(results) == [
        ("KRM225", f"spec.daemonSets[1].{part}image") for part in ("initContainers[0].", "", "containers[0].")
    ]
    assert {str(result.ref) for result in results} == {"DeviceConfig kmm/dc"}
    assert all(result.message.startswith("in the generated DaemonSet: ") for result in results)


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
    hub = {"hub": HUB["hub"]}
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
    rules = [rule for rule, _, _ in findings({"kernelMappings": [{"regexp": "["}]}, ignore=ignored)]
    assert rules == ["KRM119", "KMM023"]


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
    results = answer({"imagePullSecrets": twice, "daemonSets": [AGENT]}).results
    ((_, path),) = places(results, "error")
    assert path == "spec.imagePullSecrets[2]" and any("'two' twice" in result.message for result in results)
    texts, objects = (
        answer({"imagePullSecrets": secrets, "daemonSets": [AGENT]}).items[1:]
        for secrets in (["one", "two"], [{"name": "one"}, "two"])
    )
    assert [item.manifest for item in texts] == [item.manifest for item in objects]


def test_an_external_traffic_policy_needs_traffic_from_outside() -> None:
    service = {"port": 1, "externalTrafficPolicy": "Local"}
    results = answer({"daemonSets": [AGENT | {"service": service}]}).results
    assert places(results) == [("KRM161", "spec.daemonSets[0].service.externalTrafficPolicy")]


def test_a_finding_about_a_toleration_stands_where_it_is_written() -> None:
    """The Module has those of the config and then those of its own."""
    everything, loaders = [{"operator": "Exists"}], [{"key": "a b", "operator": "Exists"}]
    results = answer({"tolerations": everything, "loaderTolerations": loaders}).results
    assert [path for _, path in places(results)] == ["spec.loaderTolerations[0].key"]
