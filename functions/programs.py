"""What the command line must know of our functions: their resources, their inputs, their options."""

from __future__ import annotations

from collections.abc import Sequence

from krmfn import ResourceList, Result
from krmfn.cli.main import Printed, Program
from krmfn.cluster_dump import Defaults
from krmfn.plan import Effect

from . import all_kinds
from .commands import catalogue, explain, inventory, schema
from .commands.images import IMAGES
from .commands.import_ import IMPORT
from .commands.nodes import NODES
from .commands.report import REPORT
from .commands.resolve import RESOLVE
from .final.against import against
from .final.between import between
from .final.judge import judge
from .final.stages import STAGES, stage_of
from .kmm.module import HUB_GROUP, HUB_KIND, MODULE_GROUP, MODULE_KIND
from .kmm.versions import DEFAULT, TARGETS
from .rendering.kinds import DEVICECONFIG, PTEMPLATE
from .upgrades.notes import notes

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

KINDS = frozenset({(MODULE_GROUP, MODULE_KIND)})
"""What is checked beside the resources that are rendered."""

OPTIONS = {
    "namespace": "for resources that name none (default: ARGOCD_APP_NAMESPACE)",
    "prune": "generated objects whose owner is not in the input: auto (default), always or never removed",
    "kmm-version": f"the KMM version of the cluster: {', '.join(TARGETS)} (default {DEFAULT})",
}


SCHEMAS = {
    "DeviceConfig": "deviceconfig",
    "DeviceConfig.example.com": "deviceconfig-example.com",
    "Ptemplate": "ptemplate",
    "RenderDeviceConfigs": "renderdeviceconfigs",
    "NodeInventory": "nodeinventory",
}
"""Our kinds by the names that `schema` takes, with the schema of each."""
CRDS = ("deviceconfigs.krmfn.dev", "deviceconfigs.example.com", "ptemplates.pt.example.com")


def defaults() -> Defaults:
    """Return what the CRDs of KMM fill in."""
    from .kmm.crd.defaults import of_hub_module, of_module

    return {(MODULE_GROUP, MODULE_KIND): of_module(), (HUB_GROUP, HUB_KIND): of_hub_module()}


def effects(old: ResourceList, new: ResourceList) -> tuple[Sequence[Effect], Sequence[Result]]:
    """Return what a change does on the nodes, and why that is not known."""
    from .upgrades import node_effects

    return node_effects.effects(old, new)


def program() -> Program:
    """Return the program, for a command that renders paths of its own."""
    return KRMFN


KRMFN: Program = Program(
    name="krmfn",
    description="Render DeviceConfigs and Ptemplates to KMM Modules and DaemonSets, "
    "and check what a cluster would refuse.",
    function=all_kinds.krmfn,
    inputs=INPUTS,
    config=("krmfn.dev", "RenderDeviceConfigs"),
    options=OPTIONS,
    commands={
        "nodes": NODES,
        "images": IMAGES,
        "report": REPORT,
        "resolve": RESOLVE,
        "inventory": inventory.command(program),
        "import": IMPORT,
        "rules": Printed(
            *("print every rule with its id", catalogue.arguments, catalogue.Args, catalogue.run),
            ("", "--format json"),
        ),
        "explain": explain.command(program),
        **schema.commands(SCHEMAS, CRDS),
    },
    owners=DEVICECONFIG.owners | PTEMPLATE.owners,
    kinds=KINDS,
    notes=notes,
    effects=effects,
    final=judge,
    between=between,
    against=against,
    stages=STAGES,
    stage_of=stage_of,
    defaults=defaults,
    rules=catalogue.rules,
    entry_points={name: f"krmfn_functions.__main__:{name}" for name in ("krmfn", "deviceconfig", "ptemplate")},
)
