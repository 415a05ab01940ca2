"""What Kubernetes' own pods are made of, as far as DaemonSets and device plugins need it (core/v1 names and shapes)."""

from __future__ import annotations

from schema_nodes import ENABLED, Node, choice, flag, listed, mapped, number, number_or_text, opened, record, same, text

ONE_IMAGE = ("!(has(self.image) && has(self.imageParts))", "name the image in one of image and imageParts")
_ONE_VALUE = ("!(has(self.value) && has(self.valueFrom))", "a variable has one of value and valueFrom")

_OPTIONAL = flag("start without it where it is missing")
_MODE = number("permission bits of the files, 0644 is 420", most=0o777)
_ITEMS = listed(
    record(
        "one key",
        {"key": text("the key"), "path": text("the file's path in the volume", "line"), "mode": _MODE},
        ["key", "path"],
    ),
    "which keys appear as which files; without it all of them",
)
_HOST_PATHS = ("", "DirectoryOrCreate", "Directory", "FileOrCreate", "File", "Socket", "CharDevice", "BlockDevice")

SOURCES: dict[str, Node] = {
    "hostPath": record(
        "a path of the node",
        {
            "path": text("the path on the node", "path"),
            "type": choice("what must be there, or is made", *_HOST_PATHS),
        },
        ["path"],
    ),
    "emptyDir": record(
        "an empty directory that lives as long as the pod",
        {
            "medium": choice(
                "where it is kept; Memory is a tmpfs", "", "Memory", "HugePages", "HugePages-2Mi", "HugePages-1Gi"
            ),
            "sizeLimit": number_or_text("its greatest size", "quantity", minimum=0),
        },
    ),
    "configMap": record(
        "the keys of a ConfigMap as files",
        {
            "name": text("the ConfigMap, in the same namespace", "subdomain to fill in"),
            "items": _ITEMS,
            "defaultMode": _MODE,
            "optional": _OPTIONAL,
        },
        ["name"],
    ),
    "secret": record(
        "the keys of a Secret as files",
        {
            "secretName": text("the Secret, in the same namespace", "subdomain"),
            "items": _ITEMS,
            "defaultMode": _MODE,
            "optional": _OPTIONAL,
        },
        ["secretName"],
    ),
    "persistentVolumeClaim": record(
        "a volume that a claim holds",
        {"claimName": text("the claim, in the same namespace", "subdomain"), "readOnly": flag("mount it read-only")},
        ["claimName"],
    ),
    "downwardAPI": opened("facts about the pod as files (core/v1 DownwardAPIVolumeSource)"),
    "projected": opened("several sources in one directory (core/v1 ProjectedVolumeSource)"),
    "csi": opened(
        "an ephemeral volume of a CSI driver (core/v1 CSIVolumeSource)",
        {"driver": text("the CSI driver's name", "word")},
        ["driver"],
    ),
    "ephemeral": opened("a claim that lives as long as the pod (core/v1 EphemeralVolumeSource)"),
    "image": opened("the files of an image (core/v1 ImageVolumeSource)"),
    "nfs": opened(
        "an NFS export (core/v1 NFSVolumeSource)",
        {"server": text("the server's host name", "word"), "path": text("the exported path", "path")},
        ["server", "path"],
    ),
    **{
        name: opened(f"a volume of the node's own plugins (core/v1 {kind}VolumeSource)")
        for name, kind in (
            *(("awsElasticBlockStore", "AWSElasticBlockStore"), ("azureDisk", "AzureDisk"), ("azureFile", "AzureFile")),
            *(("cephfs", "CephFS"), ("cinder", "Cinder"), ("fc", "FC"), ("flexVolume", "Flex"), ("flocker", "Flocker")),
            *(("gcePersistentDisk", "GCEPersistentDisk"), ("glusterfs", "Glusterfs"), ("iscsi", "ISCSI")),
            *(("photonPersistentDisk", "PhotonPersistentDisk"), ("portworxVolume", "Portworx"), ("quobyte", "Quobyte")),
            *(
                ("rbd", "RBD"),
                ("scaleIO", "ScaleIO"),
                ("storageos", "StorageOS"),
                ("vsphereVolume", "VsphereVirtualDisk"),
            ),
        )
    },
}
"""The kinds of volume, by their field."""

_VOLUME_NAME = {"name": text("the name that volumeMounts use", "label")}
_VOLUME = record("one volume", {**_VOLUME_NAME, **SOURCES, **ENABLED}, ["name"])
_VOLUME |= {"minProperties": 2, "maxProperties": 2, "x-says": "a name and one source, such as hostPath"}

_KEY = {"key": text("the key"), "optional": _OPTIONAL}
_FIELD = {
    "fieldPath": text("the field, such as spec.nodeName", "word"),
    "apiVersion": text("the API version of the path (v1)", "word"),
}
_RESOURCE = {
    "resource": text("the resource, such as limits.memory", "word"),
    "containerName": text("the container it is read from", "label"),
    "divisor": number_or_text("the unit it is given in, such as 1Mi", "quantity", minimum=0),
}
_VALUE_FROM = {
    "fieldRef": record("a field of the pod", _FIELD, ["fieldPath"]),
    "resourceFieldRef": record("a resource of a container", _RESOURCE, ["resource"]),
    "configMapKeyRef": record(
        "a key of a ConfigMap", {"name": text("the ConfigMap", "subdomain to fill in"), **_KEY}, ["name", "key"]
    ),
    "secretKeyRef": record("a key of a Secret", {"name": text("the Secret", "subdomain"), **_KEY}, ["name", "key"]),
    "fileKeyRef": record(
        "a variable of a file in a volume (Kubernetes 1.34)",
        {
            "volumeName": text("the volume", "label"),
            "path": text("the file in the volume", "line"),
            "key": text("the variable in the file", "variable"),
            "optional": _OPTIONAL,
        },
        ["volumeName", "path", "key"],
    ),
}
_ENV = record(
    "one variable",
    {
        "name": text("the variable's name", "variable"),
        "value": text("its value"),
        "valueFrom": record("where its value comes from", _VALUE_FROM)
        | {"minProperties": 1, "maxProperties": 1, "x-says": "one source, such as fieldRef"},
        **ENABLED,
    },
    ["name"],
    [_ONE_VALUE],
)
_ENV_FROM = record(
    "one source",
    {
        "prefix": text("what stands before each name", "variable"),
        "configMapRef": record(
            "all keys of a ConfigMap",
            {"name": text("the ConfigMap, in the same namespace", "subdomain to fill in"), "optional": _OPTIONAL},
            ["name"],
        ),
        "secretRef": record(
            "all keys of a Secret",
            {"name": text("the Secret, in the same namespace", "subdomain"), "optional": _OPTIONAL},
            ["name"],
        ),
    },
    (),
    [("has(self.configMapRef) != has(self.secretRef)", "name one of configMapRef and secretRef")],
)
_MOUNT = record(
    "one mount",
    {
        "name": text("the volume", "label"),
        "mountPath": text("where it appears in the container", "line"),
        "readOnly": flag("mount it read-only"),
        "recursiveReadOnly": choice("what holds for mounts below it", "Disabled", "IfPossible", "Enabled"),
        "subPath": text("a path in the volume, in place of its root", "line"),
        "subPathExpr": text("the same, with $(VARIABLES) of the container in it", "line"),
        "mountPropagation": choice("which way later mounts are seen", "None", "HostToContainer", "Bidirectional"),
        **ENABLED,
    },
    ["name", "mountPath"],
    [("!(has(self.subPath) && has(self.subPathExpr))", "leave out one of subPath and subPathExpr")],
)
_TOLERATION = record(
    "one toleration",
    {
        "key": text("the taint's key; absent, with operator Exists, every taint"),
        "operator": choice("Exists asks for the key alone, Equal (the default) for key and value", "Exists", "Equal"),
        "value": text("the taint's value"),
        "effect": choice("the taint's effect; absent, every effect", "NoSchedule", "PreferNoSchedule", "NoExecute"),
        "tolerationSeconds": number("how long a NoExecute taint is tolerated", -(2**53), 2**53),
    },
)
_QUANTITIES = number_or_text("how much", "quantity")

DEFS: dict[str, Node] = {
    "selector": mapped("labels a node must have, all of them", text("the label's value", "label value"), "label key"),
    "labels": mapped(
        "labels for the generated objects", text("the label's value", "label value to fill in"), "label key"
    ),
    "annotations": mapped("annotations for the generated objects", text("the annotation's value"), "annotation key"),
    "env": listed(_ENV, "environment variables"),
    "envFrom": listed(_ENV_FROM, "ConfigMaps and Secrets whose keys become environment variables", most=64),
    "resources": record(
        "what the container asks for, as in a pod",
        {
            "limits": mapped("the most it gets, by resource", _QUANTITIES, most=64),
            "requests": mapped("what is set aside for it, by resource", _QUANTITIES, most=64),
            "claims": listed(
                record(
                    "one claim",
                    {"name": text("the pod's claim", "label"), "request": text("one request of the claim", "label")}
                    | ENABLED,
                    ["name"],
                ),
                "the pod's resource claims that it uses (Dynamic Resource Allocation)",
                most=64,
            ),
        },
    ),
    "tolerations": listed(_TOLERATION, "taints to tolerate, for the Module and the DaemonSets", most=64),
    "volumes": listed(_VOLUME, "volumes, as in a pod", most=64),
    "volumeMounts": listed(_MOUNT, "where the volumes appear in the container", most=64),
    "pullPolicy": choice("when images are pulled", "Always", "IfNotPresent", "Never"),
    "command": listed(text("one word of the command"), "the command, in place of the image's own"),
    "args": listed(text("one argument"), "the command's arguments"),
}
"""Definitions by name."""

CONTAINER: dict[str, Node] = {
    "image": text("the container's image", "image"),
    "imageParts": same("imageParts", "the container's image in parts, in place of image"),
    "command": same("command"),
    "args": same("args"),
    "env": same("env"),
    "resources": same("resources"),
    "imagePullPolicy": same("pullPolicy"),
    "volumeMounts": same("volumeMounts"),
}
"""The fields that KMM's plugin containers have, too."""
