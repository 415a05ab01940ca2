"""What the command line must know of each function: its resources, its inputs, its options."""

from __future__ import annotations

from collections.abc import Callable

from krmfn import Function
from krmfn.cli.main import Command, Printed, Program

from . import deviceconfig, ptemplate
from .commands import catalogue, schema
from .commands.resolve import RESOLVE
from .rendering.kinds import MODULE_GROUP
from .upgrades.change_rules import notes

INPUTS = frozenset(
    {
        ("krmfn.dev", "DeviceConfig"),
        ("krmfn.dev", "RenderDeviceConfigs"),
        ("krmfn.dev", "NodeInventory"),
        ("example.com", "DeviceConfig"),
        ("pt.example.com", "Ptemplate"),
        ("", "Node"),
    }
)
"""What a render reads and does not print: none of it belongs on the cluster (a Node is there already)."""

KINDS = frozenset({(MODULE_GROUP, "Module")})
"""What is checked beside the resources that are rendered."""

OPTIONS = {
    "namespace": "for resources that name none (default: ARGOCD_APP_NAMESPACE)",
    "prune": "generated objects whose owner is not in the input: auto (default), always or never removed",
    "kmm-version": "the KMM version of the cluster: 2.4, 2.5, 2.6, main or openshift (default 2.6)",
}


RULES = Printed("print every rule with its id", catalogue.arguments, catalogue.run)
CONFIG = ("krmfn.dev", "RenderDeviceConfigs")
DEVICECONFIG_SCHEMAS = {
    "DeviceConfig": "deviceconfig",
    "DeviceConfig.example.com": "deviceconfig-example.com",
    "RenderDeviceConfigs": "renderdeviceconfigs",
}
PTEMPLATE_SCHEMAS = {"Ptemplate": "ptemplate", "RenderDeviceConfigs": "renderdeviceconfigs"}
"""The kinds of each function by the names that `schema` takes."""


def _deviceconfig(function: Function) -> Program:
    about = "Render DeviceConfigs to KMM Modules and DaemonSets."
    printed = schema.commands(DEVICECONFIG_SCHEMAS, ["deviceconfigs.krmfn.dev", "deviceconfigs.example.com"])
    commands: dict[str, Command | Printed] = {"resolve": RESOLVE, "rules": RULES, **printed}
    owners = deviceconfig.OWNERS
    return Program("deviceconfig", about, function, INPUTS, CONFIG, OPTIONS, commands, owners, KINDS, notes)


def _ptemplate(function: Function) -> Program:
    about = "Render Ptemplates to KMM Modules and consumer DaemonSets."
    printed = schema.commands(PTEMPLATE_SCHEMAS, ["ptemplates.pt.example.com"])
    commands: dict[str, Command | Printed] = {"resolve": RESOLVE, "rules": RULES, **printed}
    owners = ptemplate.OWNERS
    return Program("ptemplate", about, function, INPUTS, CONFIG, OPTIONS, commands, owners, KINDS, notes)


PROGRAMS: dict[str, Callable[[Function], Program]] = {"deviceconfig": _deviceconfig, "ptemplate": _ptemplate}
