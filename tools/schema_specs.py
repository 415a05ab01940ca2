"""The `spec` of each kind, field by field."""

from __future__ import annotations

import schema_daemonsets
import schema_drivers
import schema_pods
import schema_rights
from schema_drivers import IMAGE, LOADER, MODPROBE, NAME_OR_RAW, ONE_DRIVER_IMAGE
from schema_nodes import ENABLED, Node, choice, elsewhere, flag, listed, mapped, opened, record, same, text

_SELECTED_ALL = (
    "!has(self.nodeSelector) || size(self.nodeSelector) > 0 || (has(self.allNodes) && self.allNodes)",
    "a nodeSelector of {} is every node of the cluster; confirm it with allNodes: true",
)
_ALL_OR_SOME = (
    "!has(self.nodeSelector) || size(self.nodeSelector) == 0 || !has(self.allNodes) || !self.allNodes",
    "allNodes: true and a nodeSelector with labels exclude each other; leave out one of the two",
)


def _off(field: str, holder: str = "self") -> str:
    """Return the CEL expression that is true when a field is not there, or switched off."""
    it = f"{holder}.{field}"
    return f"(!has({it}) || (has({it}.enabled) && !{it}.enabled))"


_SPEC_RULES = [
    ONE_DRIVER_IMAGE,
    NAME_OR_RAW,
    _SELECTED_ALL,
    _ALL_OR_SOME,
    (f"{_off('devicePlugin')} || {_off('dra')}", "leave out one of devicePlugin and dra"),
    (
        f"{_off('dra')} || !has(self.nodePools) || self.nodePools.all(pool, {_off('devicePlugin', 'pool')})",
        "a devicePlugin in nodePools and dra exclude each other; leave out one of the two",
    ),
    ("!(has(self.nodeSelector) && has(self.nodePools))", "leave out one of nodeSelector and nodePools"),
    (
        "!has(self.inTreeDriver) || !self.inTreeDriver"
        " || !(has(self.driverImage) || has(self.driverImageParts) || has(self.kernelMappings))",
        "inTreeDriver: true loads nothing; leave it out, or driverImage, driverImageParts and kernelMappings",
    ),
    (
        "!has(self.hub) || !has(self.daemonSets) || self.daemonSets.all(entry, has(entry.enabled) && !entry.enabled)",
        "a hub carries no DaemonSets; leave out one of hub and daemonSets",
    ),
    (
        "!has(self.hub) || !has(self.inTreeDriver) || !self.inTreeDriver",
        "a hub needs a kernel module to load; leave out one of hub and inTreeDriver",
    ),
]

_SHARED: dict[str, Node] = {
    "tolerations": same("tolerations"),
    "loaderTolerations": same("tolerations", "taints to tolerate for the Module alone, beside `tolerations`"),
    "devicePlugin": same("devicePlugin"),
    "labels": same("labels"),
    "annotations": same("annotations"),
}


def _unset(*names: str) -> Node:
    """Return the field that takes away what weaker layers give, for these fields and what is in them."""
    says = "a field, or one in it by its path, such as devicePlugin.env or daemonSets.NAME.args"
    form: Node = {"pattern": f"^({'|'.join(names)})([.[].+)?$", "maxLength": 1024, "x-says": says, "examples": [*names]}
    return listed(
        text("a field, or a part of one", **form),
        "fields, or parts of them by their paths (devicePlugin.env, daemonSets.NAME.args), to do without: what the "
        "profile and the defaults give for them does not count",
        most=64,
    )


_POOL = {
    "name": text("the pool's name; its Module is called <DeviceConfig's name>-<name>", "label"),
    "nodeSelector": same("selector", "labels a node of this pool must have, all of them"),
    "allNodes": flag("confirms a nodeSelector of {}, which is every node"),
    **IMAGE,
    **MODPROBE,
    **LOADER,
    **_SHARED,
    "unset": _unset(*MODPROBE, *LOADER, *IMAGE, *_SHARED),
}
_UPGRADE = {
    "ordered": flag("nodes change version one by one, as an administrator labels them (KMM's ordered upgrade)"),
    "retain": listed(
        text("a version", "version"), "older versions whose DaemonSets stay while nodes still run them", most=16
    ),
}
_RETAIN = (
    "!has(self.retain) || (has(self.ordered) && self.ordered)",
    "retain keeps DaemonSets of earlier versions, which only ordered: true has",
)
_SERVICE_ACCOUNT = {
    "create": flag("generate the ServiceAccount, too"),
    "openshift": schema_rights.ACCOUNT["openshift"],
    "podSecurity": choice("the Pod Security level that the namespace enforces", "privileged", "baseline", "restricted"),
    **ENABLED,
}
_HUB = {
    "spokeNamespace": text("the namespace on the spoke clusters", "label"),
    "clusterSelector": same("selector", "labels a managed cluster must have, all of them"),
}

_PROFILE = text("the platform profile whose fields are this config's defaults", minLength=1, maxLength=253)
SPEC: dict[str, Node] = {
    **IMAGE,
    "imageRegistry": text("a registry that takes the place of every image's own, such as a mirror", "registry"),
    "nodeSelector": same("selector"),
    "allNodes": flag("confirms a nodeSelector of {}, which is every node"),
    "nodePools": listed(
        elsewhere(
            record(
                "one pool",
                _POOL,
                ["name", "nodeSelector"],
                [ONE_DRIVER_IMAGE, NAME_OR_RAW, _SELECTED_ALL, _ALL_OR_SOME],
            ),
            extraObjects="they are there for a config as a whole, in its profile or in the defaults",
        ),
        "groups of nodes with a Module each, in place of nodeSelector; fields here go before those of the config",
        most=32,
        key="name",
    ),
    **MODPROBE,
    "inTreeDriver": flag("the driver is in the nodes' kernels: load nothing, start plugins and DaemonSets only"),
    **LOADER,
    "upgrade": record("how a new version reaches the nodes", _UPGRADE, (), [_RETAIN]),
    "tolerations": _SHARED["tolerations"],
    "loaderTolerations": _SHARED["loaderTolerations"],
    "serviceAccountName": text("for the loader and the DaemonSets", "subdomain"),
    "serviceAccount": elsewhere(
        record("what is generated for the ServiceAccount", _SERVICE_ACCOUNT),
        **dict.fromkeys(schema_rights.RULES, schema_rights.REFUSED),
    ),
    "devicePlugin": same("devicePlugin"),
    "dra": same("dra"),
    "daemonSets": listed(
        same("daemonSet"), "workloads that run where the kernel module is loaded", most=64, key="name"
    ),
    "labels": same("labels"),
    "annotations": same("annotations"),
    "hub": record(
        "generate a ManagedClusterModule for an Open Cluster Management hub, in place of the Module",
        _HUB,
        ["spokeNamespace", "clusterSelector"],
    ),
}
SPEC["unset"] = _unset(*SPEC)
"""The fields of a DeviceConfig's spec, but for `profile`."""
_OPTIONS = opened("the options of a Profile that `profile` names, as its schema has them below `spec`")
DEVICECONFIG = elsewhere(
    record("what is wanted", {"profile": _PROFILE, "options": _OPTIONS, **SPEC}, (), _SPEC_RULES),
    extraObjects=schema_rights.REFUSED,
)
_RIGHTS = record("what is generated for the ServiceAccount", {**_SERVICE_ACCOUNT, **schema_rights.RULES})
VENDOR = record(
    "any field of a DeviceConfig's spec but profile, and what only profiles and defaults may hold",
    {
        **SPEC,
        "serviceAccount": _RIGHTS,
        "devicePlugin": same("devicePluginWithRights"),
        "dra": same("draWithRights"),
        "daemonSets": {**SPEC["daemonSets"], "items": same("daemonSetWithRights")},
        "extraObjects": schema_rights.EXTRA_OBJECTS,
        "unset": _unset(*(name for name in SPEC if name != "unset"), "extraObjects"),
    },
)
SEED = record(
    "what is wanted",
    {name: SPEC[name] for name in ("driverImage", "driverVersion", "nodeSelector")},
    ["driverImage", "driverVersion"],
)

_VENDOR = {
    "versions": listed(
        same("release"),
        "what changes with a version of the driver, for configs of exactly this driverVersion",
        key="version",
    ),
    "versionsComplete": flag("these are all versions: a driverVersion that is not among them is an error"),
    "locked": mapped(
        "fields that no config, pool or default may write (moduleName, devicePlugin.image), each with the reason",
        text("why", "reason"),
        most=256,
    ),
}
_OF_CONFIG = "it is the same in all versions; write it in the profile, or in the config"
_FIXED = ("nodePools", "nodeSelector", "allNodes", "upgrade", "hub", "imageRegistry", "serviceAccount")
_KEPT = (*_FIXED, "driverVersion", "unset", "extraObjects")
_CHANGING = {name: node for name, node in VENDOR["properties"].items() if name not in _KEPT}
_CHANGING["unset"] = _unset(*_CHANGING)


def _notes(description: str) -> Node:
    """Return labels or annotations, which the API server checks."""
    return {"type": ["object", "null"], "description": description, "additionalProperties": text("the value")}


DEFS: dict[str, Node] = {
    **schema_pods.DEFS,
    **schema_drivers.DEFS,
    **schema_daemonsets.DEFS,
    **schema_rights.DEFS,
    "devicePluginWithRights": schema_rights.with_rights(schema_drivers.DEFS["devicePlugin"]),
    "draWithRights": schema_rights.with_rights(schema_drivers.DEFS["dra"]),
    "daemonSetWithRights": schema_rights.with_rights(schema_daemonsets.DEFS["daemonSet"]),
    "vendor": VENDOR,
    "profile": record(
        "a vendor's profile: any field of a DeviceConfig's spec but profile, and", {**VENDOR["properties"], **_VENDOR}
    ),
    "release": elsewhere(
        record(
            "what changes with a version of the driver",
            {"version": text("the driver's version, in quotes", "version"), **_CHANGING},
            ["version"],
        ),
        **dict.fromkeys((*_FIXED, "extraObjects"), _OF_CONFIG),
        driverVersion="the entry is for the driverVersion that its `version` names",
    ),
    "metadata": {
        "type": "object",
        "description": "the object's name and its like",
        "required": ["name"],
        "properties": {
            "name": text("the name", "subdomain"),
            "namespace": text("the namespace", "label"),
            "labels": _notes("the object's own labels"),
            "annotations": _notes("the object's own annotations"),
        },
    },
}
"""All definitions by name."""
