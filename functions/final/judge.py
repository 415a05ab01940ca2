"""Judge what reaches one cluster: the hook of the command line."""

from collections.abc import Iterable, Sequence

from krmfn import Item, ResourceList, Result
from krmfn.results import apply

from ..rendering import function_config, ignoring
from ..rendering.generated import Finding
from ..rendering.kinds import OWNERS
from ..run import run_of
from . import objects, order, passed_over, ready, resolved, tools
from .stream import Final, modules_of

RULES = (*(ready.RULES + resolved.RULES + order.RULES + objects.RULES + passed_over.RULES + tools.RULES),)
"""The rules about the final list of a cluster (KRM7xx)."""


def judge(resources: ResourceList, deployed: Sequence[Item]) -> Iterable[Result]:
    """Return the findings about the final list of a cluster: all resources, and those that reach it.

    An annotation on a resource, or on what it was made from, turns warnings off, and so does the functionConfig.
    """
    config, wrong = function_config.read(resources)
    if wrong:
        return  # reported when the list was rendered
    there = {id(item) for item in deployed}
    inputs = [item for item in resources.items if id(item) not in there]
    created = frozenset(ref for change, ref in resources.changes if change == "created")
    run = run_of(resources)
    owners = {item.ref.id: item for item in (*inputs, *deployed)}
    whole = Final(deployed, inputs, owners, modules_of(deployed), run, created)
    by_ref = {item.ref: item for item in resources.items}
    # the function inside a kustomization has said it of an input already, which stands beside what was made from it
    said = {one.ref for one in resources.reported if one.rule == "KRM104"}
    owned: list[Finding] = []
    for finding in apply(RULES, whole):
        if finding.rule != "KRM708" or finding.ref not in said:
            item = by_ref.get(finding.ref) if finding.ref else None
            owner = (whole.owner(item) or item) if item else None
            owned.append((owner.ref if owner else None, finding))
    yield from ignoring.visible(resources, (owned, by_ref), config, OWNERS | run.driven, of_final=True)
