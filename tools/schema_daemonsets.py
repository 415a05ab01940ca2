"""The DaemonSets beside a Module: workloads that run where the kernel module is loaded."""

from __future__ import annotations

from schema_nodes import ENABLED, Node, choice, flag, listed, number, number_or_text, opened, record, same, text
from schema_pods import CONTAINER, ONE_IMAGE
from schema_services import SERVICE

_SECURITY = {
    "envFrom": same("envFrom"),
    "privileged": flag("run with all rights on the node"),
    "securityContext": opened("the container's rights in detail (core/v1 SecurityContext)"),
    "workingDir": text("the directory in which the command runs", "line"),
}
_PORT = {
    "name": text("the port's name", "port name"),
    "containerPort": number("the port", 1, 65535),
    "hostPort": number("the port of the node that leads to it", 1, 65535),
    "protocol": choice("the protocol (TCP)", "TCP", "UDP", "SCTP"),
}
_HOW_MANY = "how many nodes at a time, a number or a percentage"
_ROLLING = {
    "maxUnavailable": number_or_text(f"{_HOW_MANY}, are without a pod", "percentage", minimum=0),
    "maxSurge": number_or_text(f"{_HOW_MANY}, have the new pod beside the old one", "percentage", minimum=0),
}
_UPDATE = {
    "type": choice(
        "RollingUpdate, or OnDelete: a pod is replaced when somebody deletes it", "RollingUpdate", "OnDelete"
    ),
    "rollingUpdate": record("how fast a rolling update goes", _ROLLING),
}
_RUNNING = {
    "ports": same("ports"),
    "livenessProbe": opened("when to restart the container (core/v1 Probe)"),
    "readinessProbe": opened("when the container counts as ready (core/v1 Probe)"),
    "startupProbe": opened("when the container counts as started (core/v1 Probe)"),
    "lifecycle": opened("what runs after its start and before its end (core/v1 Lifecycle)"),
}
_POD = {
    "serviceAccountName": text("its ServiceAccount, in place of the config's", "subdomain"),
    "imagePullSecrets": listed(
        record("a Secret", {"name": text("its name", "subdomain")}, ["name"]),
        "its pull secrets, in place of the config's; [] for none",
        least=0,
    ),
    "serviceAccount": same("account"),
    "priorityClassName": text("its PriorityClass", "subdomain"),
    "runtimeClassName": text("its RuntimeClass", "subdomain"),
    "hostNetwork": flag("use the node's network"),
    "hostPID": flag("see the node's processes"),
    "hostIPC": flag("share the node's IPC"),
    "dnsPolicy": choice("how names are looked up", "ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"),
    "terminationGracePeriodSeconds": number("seconds between SIGTERM and SIGKILL"),
    "nodeSelector": same("selector", "labels a node must have beside those of the config"),
    "tolerations": same("tolerations", "taints to tolerate beside those of the config"),
}
_ROLLOUT = {
    "updateStrategy": record("how its pods are replaced", _UPDATE),
    "rollOnConfigChange": flag("its pods are replaced when a ConfigMap of extraObjects that they use changes"),
    "minReadySeconds": number("seconds a new pod must be ready before it counts"),
    "revisionHistoryLimit": number("how many old revisions are kept"),
}
_ADOPTED = {
    "objectName": text(
        "the name of a DaemonSet that is there already, in place of <DeviceConfig's name>-<name>",
        "subdomain to fill in",
    ),
    "matchLabels": same(
        "labels", "the labels by which a DaemonSet that is there already knows its pods: they never change"
    )
    | {"minProperties": 1},
    "keepPodTemplate": flag(
        "true adds nothing to its pods: no labels, and no nodeSelector, tolerations, account or pull secrets of the "
        "config, so that none is replaced when a DaemonSet that is there already is taken over; remove it afterwards"
    ),
}
_WAITING = {
    "waitsForModule": flag("false runs it on all nodes of the config, also where the kernel module is not loaded"),
    "perVersion": flag(
        "false makes one DaemonSet for all versions of an ordered upgrade, which loaded nodes of each run"
    ),
}
_LABELS = {
    "labels": same("labels", "labels for the DaemonSet and its pods"),
    "annotations": same("annotations", "annotations for the DaemonSet"),
    "podLabels": same("labels", "labels for its pods"),
    "podAnnotations": same("annotations", "annotations for its pods"),
}

DEFS: dict[str, Node] = {
    "ports": listed(record("one port", _PORT | ENABLED, ["containerPort"]), "the container's ports", most=64),
    "initContainers": listed(
        record(
            "one container",
            {"name": text("the container's name", "label"), **CONTAINER, **_SECURITY, **ENABLED},
            ["name"],
            [ONE_IMAGE],
        ),
        "containers that run to their end first, one after the other",
        most=32,
        key="name",
    ),
    "containers": listed(
        record(
            "one container beside the main one",
            {"name": text("the container's name", "label"), **CONTAINER, **_SECURITY, **_RUNNING, **ENABLED},
            ["name"],
            [ONE_IMAGE],
        ),
        "further containers (sidecars), beside the one that this entry itself describes",
        most=32,
        key="name",
    ),
    "daemonSet": record(
        "one DaemonSet",
        {
            "name": text("the DaemonSet is called <DeviceConfig's name>-<name>", "label"),
            **_ADOPTED,
            **_WAITING,
            "containerName": text("the main container's name, in place of `name`", "label"),
            **CONTAINER,
            **_SECURITY,
            "volumes": same("volumes"),
            "hostDevices": listed(
                text("a path of the node", "path"),
                "paths of the node, mounted in the container at the same place",
                most=64,
            ),
            "initContainers": same("initContainers"),
            "containers": same("containers"),
            **_RUNNING,
            **_POD,
            "podSpec": opened("what else a pod has that no field here is named for (core/v1 PodSpec)")
            | {"minProperties": 1},
            **_ROLLOUT,
            **_LABELS,
            "service": SERVICE,
            **ENABLED,
        },
        ["name"],
        [ONE_IMAGE],
    ),
}
"""Definitions by name."""
