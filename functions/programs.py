"""What the command line must know of our functions: their resources, their inputs, their options."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from krmfn import Item, ResourceList, Result
from krmfn.rule import Rule

from . import all_kinds
from .command_line.main import Command, Printed, Program
from .commands import schema
from .kmm.module import MODULE_GROUP, MODULE_KIND
from .kmm.versions import DEFAULT, TARGETS
from .plan import Effect, Plan
from .rendering.kinds import DEVICECONFIG, PTEMPLATE

# Imports wait until it is known which command is called: a check of one small file takes as long as all of them.

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


STAGES = ("before", "modules", "consumers")
"""The folders of `render --split stages`, in the order in which they are applied (see `final.stages`)."""
SCHEMAS = {
    "DeviceConfig": "deviceconfig",
    "DeviceConfig.example.com": "deviceconfig-example.com",
    "Ptemplate": "ptemplate",
    "RenderDeviceConfigs": "renderdeviceconfigs",
    "NodeInventory": "nodeinventory",
}
"""Our kinds by the names that `schema` takes, with the schema of each."""
CRDS = ("deviceconfigs.krmfn.dev", "deviceconfigs.example.com", "ptemplates.pt.example.com")


def judge(resources: ResourceList, deployed: Sequence[Item]) -> Iterable[Result]:
    """Return the findings about the final list of a cluster: all resources, and those that reach it."""
    from .final.judge import judge

    return judge(resources, deployed)


def between(lists: Sequence[ResourceList]) -> Iterable[Result]:
    """Return the findings about resources of different roots of one cluster."""
    from .final.between import between

    return between(lists)


def against(
    lists: Sequence[ResourceList], theirs: ResourceList, before: Sequence[ResourceList] = ()
) -> tuple[ResourceList, Iterable[Result]]:
    """Return what of the resources from elsewhere is not made here, and what is wrong between the two."""
    from .final.against import against

    return against(lists, theirs, before)


def stage_of(item: Item) -> str:
    """Return the stage in which Flux applies an object, one of STAGES."""
    from .final.order import stage_of

    return stage_of(item)


def notes(plan: Plan, resources: ResourceList) -> Iterable[Result]:
    """Return the risks of a plan on the cluster."""
    from .upgrades.notes import notes

    return notes(plan, resources)


def effects(old: ResourceList, new: ResourceList) -> tuple[Sequence[Effect], Sequence[Result]]:
    """Return what a change does on the nodes, and why that is not known."""
    from .upgrades import node_effects

    return node_effects.effects(old, new)


def program() -> Program:
    """Return the program, for a command that renders paths of its own."""
    return KRMFN


def rules() -> Sequence[Rule]:
    """Return every rule that findings name."""
    from .commands.catalogue import rules

    return rules()


def _nodes() -> Command:
    from .commands.nodes import NODES

    return NODES


def _images() -> Command:
    from .commands.images import IMAGES

    return IMAGES


def _report() -> Command:
    from .commands.report import REPORT

    return REPORT


def _resolve() -> Command:
    from .commands.resolve import RESOLVE

    return RESOLVE


def _inventory() -> Printed:
    from .commands import inventory

    return inventory.command(program)


def _import() -> Command:
    from .commands.import_ import IMPORT

    return IMPORT


def _rules() -> Printed:
    from .commands.catalogue import CATALOGUE

    return CATALOGUE


def _explain() -> Printed:
    from .commands import explain

    return explain.command(program)


KRMFN: Program = Program(
    name="krmfn",
    description="Render DeviceConfigs and Ptemplates to KMM Modules and DaemonSets, "
    "and check what a cluster would refuse.",
    function=all_kinds.krmfn,
    inputs=INPUTS,
    config=("krmfn.dev", "RenderDeviceConfigs"),
    options=OPTIONS,
    commands={
        "nodes": _nodes,
        "images": _images,
        "report": _report,
        "resolve": _resolve,
        "inventory": _inventory,
        "import": _import,
        "rules": _rules,
        "explain": _explain,
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
    rules=rules,
    entry_points={name: f"krmfn_functions.__main__:{name}" for name in ("krmfn", "deviceconfig", "ptemplate")},
)
