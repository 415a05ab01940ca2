"""The findings about the final list of a cluster: all rules KRM7xx, and those of them that are turned off."""

from collections.abc import Iterable, Sequence
from itertools import chain

from krmfn import Item, ResourceList, Result

from ..rendering import function_config, ignoring
from ..rendering.generated import Finding
from ..rendering.kinds import OWNERS
from ..rule import apply
from ..run import run_of
from . import (
    applied,
    device_classes,
    dockerfiles,
    hub_images,
    made_images,
    namespaces,
    neighbours,
    objects,
    operator_objects,
    order,
    passed_over,
    ready,
    resolved,
    tools,
    workloads,
)
from .stream import FinalList, modules_of

RULES = (
    *(ready.RULES + resolved.RULES + order.RULES + objects.RULES),
    *(passed_over.RULES + tools.RULES + applied.RULES + workloads.RULES + neighbours.RULES),
    *(device_classes.RULES + namespaces.RULES + made_images.RULES + dockerfiles.RULES),
    *(operator_objects.RULES + hub_images.RULES),
)
"""The rules about the final list of a cluster: KRM7xx, and what KMM makes of several Modules."""


def judge(resources: ResourceList, deployed: Sequence[Item]) -> Iterable[Result]:
    """Return the findings about the final list of a cluster; `deployed` are the resources that reach it.

    An annotation on a resource, or on its owner, turns warnings off, and so does the functionConfig.
    """
    config, errors = function_config.read(resources)
    if errors:
        return  # reported when the list was rendered
    ids = {id(item) for item in deployed}
    inputs = [item for item in resources.items if id(item) not in ids]
    created = frozenset(ref for change, ref in resources.changes if change == "created")
    run = run_of(resources)
    owners = {item.ref.id: item for item in (*inputs, *deployed)}
    final = FinalList(deployed, inputs, owners, modules_of(deployed), run, created)
    by_ref = {item.ref: item for item in resources.items}
    # KRM708 repeats what the function in a kustomization has reported as KRM104
    reported = {finding.ref for finding in resources.results if finding.rule == "KRM104"}
    findings: list[Finding] = []
    for finding in chain(apply(RULES, final), neighbours.removals(final)):
        if finding.rule != "KRM708" or finding.ref not in reported:
            item = by_ref.get(finding.ref) if finding.ref else None
            owner = (final.owner(item) or item) if item else None
            findings.append((owner.ref if owner else None, finding))
    yield from ignoring.visible(resources, (findings, by_ref), config, OWNERS | run.driven, of_final=True)
