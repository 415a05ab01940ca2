"""What the command line must know of each function: its resources, its inputs, its options."""

from __future__ import annotations

from collections.abc import Callable

from krmfn import Function
from krmfn.cli import Program

from .resolve import RESOLVE

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

OPTIONS = {
    "namespace": "for resources that name none (default: ARGOCD_APP_NAMESPACE)",
    "kmm-version": "the KMM version of the cluster: 2.4, 2.5, 2.6, main or openshift (default 2.6)",
}


CONFIG = ("krmfn.dev", "RenderDeviceConfigs")
COMMANDS = {"resolve": RESOLVE}


def _deviceconfig(function: Function) -> Program:
    about = "Render DeviceConfigs to KMM Modules and DaemonSets."
    return Program("deviceconfig", about, function, INPUTS, CONFIG, OPTIONS, COMMANDS)


def _ptemplate(function: Function) -> Program:
    about = "Render Ptemplates to KMM Modules and consumer DaemonSets."
    return Program("ptemplate", about, function, INPUTS, CONFIG, OPTIONS, COMMANDS)


PROGRAMS: dict[str, Callable[[Function], Program]] = {"deviceconfig": _deviceconfig, "ptemplate": _ptemplate}
