"""What KMM makes of a driver: its images, modprobe, kernel mappings, build and signature, device plugin and DRA."""

from __future__ import annotations

from schema_nodes import ENABLED, Node, elsewhere, flag, form, listed, opened, record, same, text
from schema_pods import CONTAINER, ONE_IMAGE

ONE_DRIVER_IMAGE = (
    "!(has(self.driverImage) && has(self.driverImageParts))",
    "leave out one of driverImage and driverImageParts",
)
NAME_OR_RAW = (
    "!has(self.moduleName) || !(has(self.rawLoadArgs) || has(self.rawUnloadArgs))",
    "leave out moduleName, or rawLoadArgs and rawUnloadArgs",
)
_SECRET = {"name": text("the Secret, in the same namespace", "subdomain")}
_TLS = {
    "insecure": flag("speak HTTP, without TLS"),
    "insecureSkipTLSVerify": flag("accept any certificate"),
}
_BUILD = {
    "dockerfileConfigMap": record(
        "the ConfigMap with the Dockerfile, under the key dockerfile",
        {"name": text("the ConfigMap, in the same namespace", "subdomain to fill in")},
        ["name"],
    ),
    "buildArgs": listed(
        record(
            "one argument",
            {"name": text("the argument's name", "build argument"), "value": text("its value")},
            ["name", "value"],
        ),
        "build arguments; KMM adds KERNEL_FULL_VERSION and others by itself",
    ),
    "secrets": listed(
        record("one Secret", _SECRET, ["name"]), "Secrets that the build sees below /run/secrets", most=64
    ),
    "kanikoParams": record("how kaniko builds", {"tag": text("the tag of the kaniko image", "tag")}),
    "selector": same("selector", "labels of the nodes on which to build"),
    "baseImageRegistryTLS": same("registryTLS", "how to reach the registry of the Dockerfile's FROM image"),
}
_SIGN = {
    "keySecret": record("the Secret with the private key, under the key key", _SECRET, ["name"]),
    "certSecret": record("the Secret with the public certificate, under the key cert", _SECRET, ["name"]),
    "filesToSign": listed(
        text("the file's path in the image; may hold KMM's $ variables", "path"), "the kernel modules to sign"
    ),
    "unsignedImage": text("the image to sign, when it is not built here", "image"),
    "unsignedImageRegistryTLS": same("registryTLS", "how to reach the registry of the unsigned image"),
}
_MAPPING = {
    "regexp": text("RE2 expression for kernel versions, matched anywhere in them", minLength=1, maxLength=4096),
    "literal": text("one kernel version", "word"),
    "image": text("the image for these kernels; default: made from driverImage and driverVersion", "image"),
    "build": same("build"),
    "sign": same("sign"),
    "registryTLS": same("registryTLS"),
    "inTreeModulesToRemove": same("kernelModules", "kernel modules to unload first, in place of the config's list"),
}
_PLUGIN_POD = {
    "volumes": same("volumes"),
    "initContainer": same("initContainer"),
    "serviceAccountName": text("the plugin's ServiceAccount", "subdomain"),
    "serviceAccount": same("account"),
    **ENABLED,
    "automountServiceAccountToken": flag("false keeps the ServiceAccount's token out of the pod (KMM 2.6)"),
    "startupProbe": opened("when the container counts as started (core/v1 Probe; after KMM 2.6)"),
    "livenessProbe": opened("when the container has to be restarted (core/v1 Probe; after KMM 2.6)"),
    "securityContext": opened("the rights, in place of a privileged container (core/v1; after KMM 2.6)"),
}
_ONE_CONTAINER = (
    "KMM's Module has one container and one init container here, and no room for more of a pod; run what else "
    "belongs to it as an entry of daemonSets"
)
_NO_PLACE = dict.fromkeys(("containers", "initContainers", "podSpec"), _ONE_CONTAINER)
_CEL = record(
    "a CEL selector",
    {"expression": text("true for the devices of this class", minLength=1, maxLength=10240)},
    ["expression"],
)
_OPAQUE = record(
    "settings that the driver alone understands",
    {
        "driver": text("the driver they are for", "driver name"),
        "parameters": opened("the settings: any object that the driver knows"),
    },
    ["driver", "parameters"],
)
_DEVICE_CLASS = {
    "name": text("the DeviceClass' name", "subdomain"),
    "selectors": listed(record("one selector", {"cel": _CEL}, ["cel"]), "which devices belong to it", most=32),
    "config": listed(record("one setting", {"opaque": _OPAQUE}, ["opaque"]), "settings for the driver", most=32),
    **ENABLED,
}

DEFS: dict[str, Node] = {
    "imageParts": record(
        "an image in parts",
        {
            "registry": text("the registry: host, :port, /path", "registry"),
            "repository": text("the repository in the registry", "repository"),
            "tag": text("the tag, in quotes", "tag"),
            "digest": text("the digest, which pins one image for ever", "digest"),
        },
        ["repository"],
        [("!(has(self.tag) && has(self.digest))", "leave out one of tag and digest")],
    ),
    "kernelModules": listed(text("a kernel module", "kernel module"), "kernel modules", most=64),
    "arguments": listed(text("one argument", "line"), "arguments", most=64),
    "registryTLS": record("how to reach the image's registry", _TLS),
    "build": record("build the image in the cluster where it is missing", {**_BUILD, **ENABLED}) | {"minProperties": 1},
    "sign": record("sign the kernel modules in the image for secure boot", {**_SIGN, **ENABLED}) | {"minProperties": 1},
    "kernelMapping": record(
        "one mapping",
        _MAPPING,
        (),
        [("has(self.regexp) != has(self.literal)", "a kernel mapping has one of regexp and literal")],
    ),
    "initContainer": record("a container that runs to its end first (KMM 2.4)", CONTAINER, (), [ONE_IMAGE]),
    "devicePlugin": elsewhere(
        record(
            "a kubelet device plugin, started by KMM after the kernel module",
            {**CONTAINER, **_PLUGIN_POD},
            (),
            [ONE_IMAGE],
        )
        | {"minProperties": 1},
        **_NO_PLACE,
    ),
    "dra": elsewhere(
        record(
            "a driver for Dynamic Resource Allocation, started by KMM after the kernel module",
            {
                "driverName": text("the driver's name, such as gpu.example.com", "driver name"),
                **CONTAINER,
                **_PLUGIN_POD,
                "deviceClasses": listed(
                    record("one DeviceClass", _DEVICE_CLASS, ["name"]),
                    "DeviceClasses that KMM keeps",
                    most=64,
                    key="name",
                ),
            },
            (),
            [ONE_IMAGE],
        ),
        **_NO_PLACE,
    ),
}
"""Definitions by name."""

IMAGE: dict[str, Node] = {
    "driverImage": text("the kernel module's image; without a tag, <driverVersion>-<kernel> becomes its tag", "image"),
    "driverImageParts": same("imageParts", "the kernel module's image in parts, in place of driverImage"),
    "driverVersion": text("the driver's version, in quotes", "version"),
}
MODPROBE: dict[str, Node] = {
    "moduleName": text("the kernel module to load", "kernel module"),
    "parameters": listed(text("one parameter", "word"), "module parameters, name=value, each one word"),
    "modulesLoadingOrder": listed(
        text("a kernel module", "kernel module"),
        "moduleName and after it the modules it needs, each before those it needs itself",
        least=2,
        most=64,
    ),
    "dirName": text("the directory in the image that holds lib/modules (/opt)", "path"),
    "firmwarePath": text("the firmware's directory in the image", "directory"),
    "modprobedDir": text("the directory of modprobe.d files in the image (after KMM 2.6)", "directory"),
    "loadArgs": listed(
        text("one argument", "line"),
        "arguments for modprobe when it loads; an empty list is written as `args: {}`, which KMM tells from none",
        least=0,
        most=64,
    ),
    "unloadArgs": same("arguments", "arguments for modprobe when it unloads"),
    "rawLoadArgs": same("arguments", "all of modprobe's arguments for loading, in place of moduleName"),
    "rawUnloadArgs": same("arguments", "all of modprobe's arguments for unloading, in place of moduleName"),
    "inTreeModulesToRemove": same("kernelModules", "kernel modules to unload first"),
}
LOADER: dict[str, Node] = {
    "kernelMappings": listed(
        same("kernelMapping"), "which kernels get which image; the first that matches counts", most=128
    ),
    "build": same("build"),
    "sign": same("sign"),
    "registryTLS": same("registryTLS"),
    "imagePullPolicy": same("pullPolicy"),
    "imagePullSecret": text("a Secret in the same namespace that pulls (and pushes) the images", "subdomain"),
    "imagePullSecrets": listed(
        record(
            "a Secret in the same namespace, or an object with its name",
            _SECRET | {"namespace": text("the config's namespace, which kustomize adds to a name it changes", "label")},
            ["name"],
        )
        | form("subdomain")
        | {"type": ["string", "object"]},
        "several of them, in place of imagePullSecret: the DaemonSets get all, the Module the first",
        most=16,
    ),
}
