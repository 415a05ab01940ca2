"""Every field of a DeviceConfig changes exactly the fields of the generated objects that it should.

The table below names, for each field, the paths that differ from what the base config gives. A field of the schema
that is not in the table fails the test.
"""

from __future__ import annotations

from typing import Any

import pytest
from krmfn_functions.deviceconfig import deviceconfig
from krmfn_functions.rendering.schemas import schema

from krmfn.fieldpath import join
from tests.builders import AGENT, PLUGIN, SPEC, applied, device_config, function_config, generated, leaves

BASE: dict[str, Any] = SPEC | {"devicePlugin": PLUGIN, "daemonSets": [AGENT]}
M, D = "Module dc: spec.", "DaemonSet dc-agent: spec.template.spec."
C, K = f"{M}moduleLoader.container.", f"{M}moduleLoader.container.kernelMappings[0]."
P, A = f"{M}devicePlugin.", f"{D}containers[0]."
IMAGES = {f"{K}containerImage", f"{P}container.image", f"{A}image"}
TOLERATION = [{"key": "a", "operator": "Exists"}]
TLS = {"insecure": True}
BUILD = {"dockerfileConfigMap": {"name": "file"}}
SIGN = {"keySecret": {"name": "k"}, "certSecret": {"name": "c"}, "filesToSign": ["/opt/a.ko"]}


def note(kind: str, key: str) -> str:
    return f"{kind}: metadata.annotations[{key}]"


def passed_on(*objects: str) -> set[str]:
    return {note(name, "krmfn.dev/passed-on") for name in objects}


BOTH = ("Module dc", "DaemonSet dc-agent")

FIELDS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "driverImage": ({"driverImage": "other/driver"}, {f"{K}containerImage"}),
    "driverImageParts": (
        {"driverImage": None, "driverImageParts": {"repository": "drv", "digest": "sha256:" + "a" * 64}},
        {f"{K}containerImage"},
    ),
    "driverVersion": ({"driverVersion": "2.0"}, {f"{K}containerImage"}),
    "imageRegistry": ({"imageRegistry": "mirror.example.com"}, IMAGES),
    "nodeSelector": ({"nodeSelector": {"gpu": "b"}}, {f"{M}selector.gpu", f"{D}nodeSelector.gpu"}),
    "allNodes": (
        {"nodeSelector": {}, "allNodes": True},
        {f"{M}selector", f"{M}selector.gpu", f"{D}nodeSelector.gpu"},
    ),
    "moduleName": ({"moduleName": "other"}, {f"{C}modprobe.moduleName"}),
    "parameters": ({"parameters": ["a=1"]}, {f"{C}modprobe.parameters[0]"}),
    "modulesLoadingOrder": (
        {"modulesLoadingOrder": ["drv", "dep"]},
        {f"{C}modprobe.modulesLoadingOrder[0]", f"{C}modprobe.modulesLoadingOrder[1]"},
    ),
    "dirName": ({"dirName": "/srv"}, {f"{C}modprobe.dirName"}),
    "firmwarePath": ({"firmwarePath": "/fw"}, {f"{C}modprobe.firmwarePath"}),
    "loadArgs": ({"loadArgs": ["-v"]}, {f"{C}modprobe.args.load[0]"}),
    "unloadArgs": ({"unloadArgs": ["-r"]}, {f"{C}modprobe.args.unload[0]"}),
    "rawLoadArgs": (
        {"moduleName": None, "rawLoadArgs": ["drv"], "rawUnloadArgs": ["-r", "drv"]},
        {f"{C}modprobe.{path}" for path in ("moduleName", "rawArgs.load[0]", "rawArgs.unload[0]", "rawArgs.unload[1]")},
    ),
    "rawUnloadArgs": (
        {"moduleName": None, "rawLoadArgs": ["drv"], "rawUnloadArgs": ["drv"]},
        {f"{C}modprobe.{path}" for path in ("moduleName", "rawArgs.load[0]", "rawArgs.unload[0]")},
    ),
    "inTreeModulesToRemove": ({"inTreeModulesToRemove": ["old"]}, {f"{C}inTreeModulesToRemove[0]"}),
    "inTreeDriver": (
        {"inTreeDriver": True, "driverImage": None},
        {f"{C}modprobe.moduleName", f"{C}modprobe.dirName", f"{K}regexp", f"{K}containerImage"}
        | {f"{D}nodeSelector[kmm.node.kubernetes.io/kmm.dc.ready]"},
    ),
    "kernelMappings": ({"kernelMappings": [{"literal": "6.1.0"}]}, {f"{K}regexp", f"{K}literal"}),
    "build": ({"build": BUILD}, {f"{C}build.dockerfileConfigMap.name"}),
    "sign": ({"sign": SIGN}, {f"{C}sign.keySecret.name", f"{C}sign.certSecret.name", f"{C}sign.filesToSign[0]"}),
    "registryTLS": ({"registryTLS": TLS}, {f"{C}registryTLS.insecure"}),
    "upgrade": (
        {"upgrade": {"ordered": True}},
        {f"{C}version", "DaemonSet dc-agent-1-0", "DaemonSet dc-agent"},
    ),
    "imagePullPolicy": ({"imagePullPolicy": "Always"}, {f"{C}imagePullPolicy"}),
    "imagePullSecret": ({"imagePullSecret": "pull"}, {f"{M}imageRepoSecret.name", f"{D}imagePullSecrets[0].name"}),
    "imagePullSecrets": (
        {"imagePullSecrets": ["one", "two"]},
        {f"{M}imageRepoSecret.name", f"{D}imagePullSecrets[0].name", f"{D}imagePullSecrets[1].name"},
    ),
    "serviceAccountName": (
        {"serviceAccountName": "sa"},
        {f"{M}moduleLoader.serviceAccountName", f"{D}serviceAccountName"},
    ),
    "serviceAccount": (
        {"serviceAccountName": "sa", "serviceAccount": {"create": True, "openshift": True}},
        {f"{M}moduleLoader.serviceAccountName", f"{D}serviceAccountName"}
        | {"ServiceAccount sa", "RoleBinding sa-privileged"},
    ),
    "tolerations": (
        {"tolerations": TOLERATION},
        {f"{place}tolerations[0].{key}" for place in (M, D) for key in ("key", "operator")},
    ),
    "devicePlugin": ({"devicePlugin": {"image": "registry.example.com/plugin:2"}}, {f"{P}container.image"}),
    "dra": (
        {"devicePlugin": None, "dra": {"driverName": "gpu.example.com", "image": "registry.example.com/dra:1"}},
        {f"{P}container.image", f"{M}dra.driverName", f"{M}dra.container.image"},
    ),
    "loaderTolerations": (
        {"loaderTolerations": TOLERATION},
        {f"{M}tolerations[0].{key}" for key in ("key", "operator")},
    ),
    "daemonSets": ({"daemonSets": [{"name": "agent", "image": "other/agent:2"}]}, {f"{A}image"}),
    "labels": (
        {"labels": {"team": "x"}},
        {f"{name}: metadata.labels.team" for name in BOTH}
        | passed_on(*BOTH)
        | {"DaemonSet dc-agent: spec.template.metadata.labels.team"},
    ),
    "annotations": (
        {"annotations": {"contact": "x"}},
        {f"{name}: metadata.annotations.contact" for name in BOTH} | passed_on(*BOTH),
    ),
    "nodePools": (
        {"nodeSelector": None, "nodePools": [{"name": "p", "nodeSelector": {"gpu": "a"}}]},
        {"Module dc", "Module dc-p", "DaemonSet dc-agent", "DaemonSet dc-p-agent"},
    ),
    "hub": (
        {"daemonSets": None, "hub": {"spokeNamespace": "kmm", "clusterSelector": {"region": "eu"}}},
        {"Module dc", "DaemonSet dc-agent", "ManagedClusterModule dc"},
    ),
    "profile": ({"profile": "vendor"}, {f"{C}modprobe.firmwarePath"}),
}

PROBE = {"httpGet": {"path": "/", "port": 1}}
VOLUME = {"name": "v", "hostPath": {"path": "/dev"}}
MOUNT = {"name": "v", "mountPath": "/v"}
CONTAINER_FIELDS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "image": ({"image": "x/y:2"}, {"image"}),
    "imageParts": ({"image": None, "imageParts": {"repository": "x/y", "tag": "3"}}, {"image"}),
    "command": ({"command": ["run"]}, {"command[0]"}),
    "args": ({"args": ["-v"]}, {"args[0]"}),
    "env": ({"env": [{"name": "A", "value": "1"}]}, {"env[0].name", "env[0].value"}),
    "resources": ({"resources": {"limits": {"cpu": "1"}}}, {"resources.limits.cpu"}),
    "imagePullPolicy": ({"imagePullPolicy": "Never"}, {"imagePullPolicy"}),
    "volumeMounts": (
        {"volumes": [VOLUME], "volumeMounts": [MOUNT]},
        {"volumeMounts[0].name", "volumeMounts[0].mountPath", "^volumes[0].name", "^volumes[0].hostPath.path"},
    ),
    "volumes": ({"volumes": [VOLUME]}, {"^volumes[0].name", "^volumes[0].hostPath.path"}),
    "serviceAccountName": ({"serviceAccountName": "sa"}, {"^serviceAccountName"}),
}
PLUGIN_FIELDS = CONTAINER_FIELDS | {
    "serviceAccount": (
        {"serviceAccount": {"create": True}},
        {"^serviceAccountName", "!ServiceAccount dc-device-plugin"},
    ),
    "initContainer": ({"initContainer": {"image": "x/init:1"}}, {"^initContainer.image"}),
    "automountServiceAccountToken": ({"automountServiceAccountToken": False}, {"^automountServiceAccountToken"}),
}
DRA_FIELDS = PLUGIN_FIELDS | {
    "serviceAccount": ({"serviceAccount": {"create": True}}, {"^serviceAccountName", "!ServiceAccount dc-dra"}),
    "driverName": ({"driverName": "b.example.com"}, {"^driverName"}),
    "deviceClasses": ({"deviceClasses": [{"name": "gpu"}]}, {"^deviceClasses[0].name"}),
}
DAEMONSET_FIELDS = CONTAINER_FIELDS | {
    "name": ({"name": "other"}, {"!DaemonSet dc-agent", "!DaemonSet dc-other"}),
    "objectName": ({"objectName": "other"}, {"!DaemonSet dc-agent", "!DaemonSet other"}),
    "matchLabels": (
        {"matchLabels": {"app": "x"}},
        {
            f"!DaemonSet dc-agent: spec.{place}{key}"
            for place in ("selector.matchLabels", "template.metadata.labels")
            for key in (".app", "[krmfn.dev/daemonset]")
        },
    ),
    "serviceAccount": (
        {"serviceAccount": {"create": True, "openshift": "hostaccess"}},
        {"^serviceAccountName", "!ServiceAccount dc-agent"}
        | {f"!{kind} dc-agent-hostaccess" for kind in ("Role", "RoleBinding")},
    ),
    "waitsForModule": (
        {"waitsForModule": False},
        {"^nodeSelector[kmm.node.kubernetes.io/kmm.dc.ready]", "!" + note(BOTH[1], "config.kubernetes.io/depends-on")},
    ),
    "containerName": ({"containerName": "main"}, {"name"}),
    "envFrom": ({"envFrom": [{"configMapRef": {"name": "c"}}]}, {"envFrom[0].configMapRef.name"}),
    "privileged": ({"privileged": True}, {"securityContext.privileged"}),
    "securityContext": ({"securityContext": {"runAsUser": 0}}, {"securityContext.runAsUser"}),
    "hostDevices": (
        {"hostDevices": ["/dev/x"]},
        {"volumeMounts[0].name", "volumeMounts[0].mountPath", "^volumes[0].name", "^volumes[0].hostPath.path"},
    ),
    "initContainers": (
        {"initContainers": [{"name": "i", "image": "x/init:1"}]},
        {"^initContainers[0].name", "^initContainers[0].image"},
    ),
    "containers": (
        {"containers": [{"name": "c", "image": "x/side:1", "ports": [{"containerPort": 1}]}]},
        {"^containers[1].name", "^containers[1].image", "^containers[1].ports[0].containerPort"},
    ),
    "workingDir": ({"workingDir": "/srv"}, {"workingDir"}),
    "ports": ({"ports": [{"containerPort": 1}]}, {"ports[0].containerPort"}),
    "livenessProbe": ({"livenessProbe": PROBE}, {"livenessProbe.httpGet.path", "livenessProbe.httpGet.port"}),
    "readinessProbe": ({"readinessProbe": PROBE}, {"readinessProbe.httpGet.path", "readinessProbe.httpGet.port"}),
    "startupProbe": ({"startupProbe": PROBE}, {"startupProbe.httpGet.path", "startupProbe.httpGet.port"}),
    "lifecycle": ({"lifecycle": {"preStop": {"sleep": {"seconds": 1}}}}, {"lifecycle.preStop.sleep.seconds"}),
    "priorityClassName": ({"priorityClassName": "p"}, {"^priorityClassName"}),
    "runtimeClassName": ({"runtimeClassName": "r"}, {"^runtimeClassName"}),
    "hostNetwork": ({"hostNetwork": True}, {"^hostNetwork"}),
    "hostPID": ({"hostPID": True}, {"^hostPID"}),
    "hostIPC": ({"hostIPC": True}, {"^hostIPC"}),
    "dnsPolicy": ({"dnsPolicy": "Default"}, {"^dnsPolicy"}),
    "imagePullSecrets": ({"imagePullSecrets": [{"name": "own"}]}, {"^imagePullSecrets[0].name"}),
    "terminationGracePeriodSeconds": ({"terminationGracePeriodSeconds": 5}, {"^terminationGracePeriodSeconds"}),
    "nodeSelector": ({"nodeSelector": {"x": "y"}}, {"^nodeSelector.x"}),
    "tolerations": ({"tolerations": TOLERATION}, {"^tolerations[0].key", "^tolerations[0].operator"}),
    "podSpec": (
        {"podSpec": {"hostAliases": [{"ip": "192.0.2.1", "hostnames": ["a"]}], "enableServiceLinks": False}},
        {"^hostAliases[0].ip", "^hostAliases[0].hostnames[0]", "^enableServiceLinks"},
    ),
    "updateStrategy": ({"updateStrategy": {"type": "OnDelete"}}, {"!DaemonSet dc-agent: spec.updateStrategy.type"}),
    "minReadySeconds": ({"minReadySeconds": 1}, {"!DaemonSet dc-agent: spec.minReadySeconds"}),
    "revisionHistoryLimit": ({"revisionHistoryLimit": 1}, {"!DaemonSet dc-agent: spec.revisionHistoryLimit"}),
    "labels": (
        {"labels": {"a": "b"}},
        {"!DaemonSet dc-agent: metadata.labels.a", "!DaemonSet dc-agent: spec.template.metadata.labels.a"}
        | {"!" + path for path in passed_on("DaemonSet dc-agent")},
    ),
    "annotations": (
        {"annotations": {"a": "b"}},
        {"!DaemonSet dc-agent: metadata.annotations.a", *("!" + path for path in passed_on("DaemonSet dc-agent"))},
    ),
    "podLabels": ({"podLabels": {"a": "b"}}, {"!DaemonSet dc-agent: spec.template.metadata.labels.a"}),
    "podAnnotations": ({"podAnnotations": {"a": "b"}}, {"!DaemonSet dc-agent: spec.template.metadata.annotations.a"}),
    "service": (
        {"service": {"port": 1}},
        {"!Service dc-agent", "!DaemonSet dc-agent: spec.template.metadata.labels[krmfn.dev/served-by]"},
    ),
}


FUNCTION_CONFIG = function_config(profiles={"vendor": {"firmwarePath": "/fw"}}, kmm={"version": "main"})


def rendered(spec: dict[str, Any]) -> dict[str, Any]:
    """All scalars of the generated objects by `Kind name: path`, and each object by `Kind name`."""
    made = generated(applied(deviceconfig, device_config(spec), function_config=FUNCTION_CONFIG))
    names = [f"{one['kind']} {one['metadata']['name']}" for one in made]
    fields = (
        (f"{name}: {join(path)}", leaf) for name, one in zip(names, made, strict=True) for path, leaf in leaves(one)
    )
    return {**dict.fromkeys(names, "exists"), **dict(fields)}


def changed(spec: dict[str, Any], base: dict[str, Any]) -> set[str]:
    """The paths that differ; an object that comes or goes counts once."""
    before, after = rendered(base), rendered(spec)
    moved = {name for name in before.keys() ^ after.keys() if ": " not in name}
    both = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    return moved | {path for path in both if path.partition(":")[0] not in moved}


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_changes_what_it_should(field: str) -> None:
    change, expected = FIELDS[field]
    assert changed(BASE | change, BASE) == expected


def within(prefix: str, outer: str, paths: set[str]) -> set[str]:
    """`x` is a container's path, `^x` its section's, `!x` one of the whole run."""
    return {
        path[1:] if path.startswith("!") else outer + path[1:] if path.startswith("^") else prefix + path
        for path in paths
    }


@pytest.mark.parametrize("field", PLUGIN_FIELDS)
def test_a_field_of_the_device_plugin(field: str) -> None:
    change, expected = PLUGIN_FIELDS[field]
    spec = BASE | {"devicePlugin": merged(BASE["devicePlugin"], change)}
    assert changed(spec, BASE) == within(f"{P}container.", P, expected)


@pytest.mark.parametrize("field", DRA_FIELDS)
def test_a_field_of_the_dra_driver(field: str) -> None:
    change, expected = DRA_FIELDS[field]
    base = {key: value for key, value in BASE.items() if key != "devicePlugin"}
    base["dra"] = {"driverName": "a.example.com", "image": "registry.example.com/dra:1"}
    spec = base | {"dra": merged(base["dra"], change)}
    assert changed(spec, base) == within(f"{M}dra.container.", f"{M}dra.", expected)


@pytest.mark.parametrize("field", DAEMONSET_FIELDS)
def test_a_field_of_a_daemon_set(field: str) -> None:
    change, expected = DAEMONSET_FIELDS[field]
    spec = BASE | {"daemonSets": [merged(BASE["daemonSets"][0], change)]}
    assert changed(spec, BASE) == within(A, D, expected)


SERVICE_FIELDS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "type": ({"type": "NodePort"}, {"type"}),
    "port": ({"port": 2}, {"ports[0].port", "ports[0].targetPort"}),
    "targetPort": ({"targetPort": 3}, {"ports[0].targetPort"}),
    "name": ({"name": "metrics"}, {"ports[0].name"}),
    "ports": (
        {"name": "a", "ports": [{"name": "b", "port": 2, "targetPort": 3}]},
        {"ports[0].name", *(f"ports[1].{key}" for key in ("name", "port", "targetPort", "protocol"))},
    ),
    "internalTrafficPolicy": ({"internalTrafficPolicy": "Local"}, {"internalTrafficPolicy"}),
    "externalTrafficPolicy": (
        {"type": "NodePort", "externalTrafficPolicy": "Local"},
        {"type", "externalTrafficPolicy"},
    ),
    "labels": (
        {"labels": {"a": "b"}},
        {"!Service dc-agent: metadata.labels.a"} | {"!" + path for path in passed_on("Service dc-agent")},
    ),
    "annotations": (
        {"annotations": {"a": "b"}},
        {"!Service dc-agent: metadata.annotations.a"} | {"!" + path for path in passed_on("Service dc-agent")},
    ),
}


@pytest.mark.parametrize("field", SERVICE_FIELDS)
def test_a_field_of_a_service(field: str) -> None:
    change, expected = SERVICE_FIELDS[field]
    base = BASE | {"daemonSets": [AGENT | {"service": {"port": 1}}]}
    spec = BASE | {"daemonSets": [AGENT | {"service": {"port": 1} | change}]}
    assert changed(spec, base) == within("Service dc-agent: spec.", "", expected)


def merged(base: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in (base | change).items() if value is not None}


def test_the_tables_know_every_field_of_the_schema() -> None:
    whole = schema("deviceconfig")

    def fields(node: dict[str, Any]) -> dict[str, Any]:
        if "$ref" in node:
            node = whole["$defs"][node["$ref"].rpartition("/")[2]]
        return fields(node["items"]) if "items" in node else node["properties"]

    spec = fields(whole["properties"]["spec"])
    # `unset` takes away what is inherited: see test_merging.py; options: see tests/functions/profile
    assert spec.keys() - {"unset", "options"} == FIELDS.keys()
    switch = {"enabled"}  # takes the whole of it away: see test_merging.py
    assert fields(spec["devicePlugin"]).keys() - switch == PLUGIN_FIELDS.keys()
    assert fields(spec["dra"]).keys() - switch == DRA_FIELDS.keys()
    daemon_set = fields(spec["daemonSets"])
    elsewhere = {"perVersion", "rollOnConfigChange"}  # see test_versions.py and test_rights.py
    assert daemon_set.keys() - switch - elsewhere == DAEMONSET_FIELDS.keys()
    assert fields(daemon_set["service"]).keys() - switch == SERVICE_FIELDS.keys()
