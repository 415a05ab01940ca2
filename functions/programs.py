"""What the command line must know of our functions: their resources, their inputs, their options."""

from __future__ import annotations

from krmfn.cli.main import Printed, Program

from . import all_kinds, deviceconfig, ptemplate
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


SCHEMAS = {
    "DeviceConfig": "deviceconfig",
    "DeviceConfig.example.com": "deviceconfig-example.com",
    "Ptemplate": "ptemplate",
    "RenderDeviceConfigs": "renderdeviceconfigs",
}
"""Our kinds by the names that `schema` takes, with the schema of each."""
CRDS = ("deviceconfigs.krmfn.dev", "deviceconfigs.example.com", "ptemplates.pt.example.com")

KRMFN = Program(
    name="krmfn",
    description="Render DeviceConfigs and Ptemplates to KMM Modules and DaemonSets, "
    "and check what a cluster would refuse.",
    function=all_kinds.krmfn,
    inputs=INPUTS,
    config=("krmfn.dev", "RenderDeviceConfigs"),
    options=OPTIONS,
    commands={
        "resolve": RESOLVE,
        "rules": Printed("print every rule with its id", catalogue.arguments, catalogue.run, ("", "--format json")),
        **schema.commands(SCHEMAS, CRDS),
    },
    owners=deviceconfig.OWNERS | ptemplate.OWNERS,
    kinds=KINDS,
    notes=notes,
)
