"""Modules of one cluster that disturb each other: by their version labels, by the kernel modules that they remove."""

from __future__ import annotations

from collections.abc import Iterator

from krmfn import Field, Item, ResourceList, Result
from krmfn.printing import some
from krmfn.resource import Ref

from .. import exclusivity, oracles
from ..exclusivity import Claim, Conflict
from ..exclusivity.claim import local_conflict
from ..finding import node_facts
from ..fleet.drivers import driver
from ..grouping import grouped
from ..kmm.lints import neighbours
from ..kmm.module import MODULE_KIND, Module
from ..rendering import claims
from ..rule import Rule
from .stream import FinalList, modules_of

_SHOWN = 3
"""The Modules and nodes that a message names before it counts the rest."""


def removals(final: FinalList) -> Iterator[Result]:
    """Yield the lints about Modules of this cluster that meet on a node (KRM231), at the Module that removes."""
    items = {module.ref: item for item, module in final.modules if item.kind == MODULE_KIND}
    others = [module for item, module in modules_of(final.external) if item.kind == MODULE_KIND]
    modules = [module for item, module in final.modules if item.kind == MODULE_KIND]
    for finding in neighbours.check([*modules, *others], {module.ref for module in others}):
        yield final.located(items[finding.ref], finding) if finding.ref else finding


def version_labels_are_told_apart(final: FinalList) -> Iterator[Result]:
    """Yield a finding per ordered Module whose version labels KMM mixes with another's, on a node that both select.

    KMM collects the version labels of a node by a text that it makes of their Modules' namespaces and names, joined by
    a dash: `a-b` and `c` give the text of `a` and `b-c`. It is an error on a known node or where no node is known, and
    a warning where none of the known nodes is selected by both.
    Source: KMM v2.0.0 to main (de3f8c9), internal/controllers/node_label_module_version_reconciler.go.
    """
    ordered = [(item, module) for item, module in (*final.modules, *modules_of(final.external)) if module.version]
    external = set(map(id, final.external))
    by_key = grouped((_key(module), _claim(final, item, module, id(item) in external)) for item, module in ordered)
    rivals = [claim for members in by_key.values() if len(members) > 1 for claim in members]
    if not rivals:
        return
    local = [claim for claim in rivals if not claim.of_hub]
    nodes, _ = claims.nodes(ResourceList(final.inputs), local)  # what is wrong with the nodes is reported with them
    decided, undecided = exclusivity.conflicts(rivals, nodes)
    items = {item.ref: item for item, _ in final.modules}
    for conflict in filter(None, map(local_conflict, decided)):
        yield _finding(final, items, conflict)
    for finding in undecided:
        yield finding._replace(message=f"whether KMM mixes version labels is not known: {finding.message}")


def _key(module: Module) -> str:
    """Return the text by which KMM knows a Module's version labels: the last two parts of their keys, with a dash."""
    return "-".join(f"{module.ref.namespace}.{module.ref.name}".split(".")[-2:])


def _claim(final: FinalList, item: Item, module: Module, is_external: bool) -> Claim:
    """Return the claim of a Module on the nodes where its version labels may stand; those of one text are rivals."""
    member = driver(item.manifest, None, item.place)
    if is_external and final.is_brought(item):
        member = member._replace(cluster=None)
    origin = final.origin(item) if is_external else ""
    return member.full_claim._replace(domain=_key(module), kernel_modules=frozenset(), external=origin)


def _finding(final: FinalList, items: dict[Ref, Item], conflict: Conflict) -> Result:
    """Return the finding about Modules that meet, at the first of them."""
    first, *others = (*conflict.first, *conflict.second)
    names = [" ".join(filter(None, (str(claim.ref), claim.external))) for claim in others]
    nodes = sorted({name for group in conflict.nodes for name in group})
    where = f" on {some(nodes, len(nodes), _SHOWN)}" if nodes else " on a node that they select"
    others_text = some(names, len(names), _SHOWN)
    message = (
        f"is {first.domain} to KMM, as is {others_text}: it mixes their version labels and loads none of them{where}"
    )
    facts = (("modules", tuple(names)), *node_facts(nodes))
    field = Field("metadata.name", first.ref.name)
    result = Result(message, conflict.severity, field=field, facts=facts, remedy="rename one")
    return final.located(items[first.ref], result)


KMM080 = Rule(
    "KMM080",
    "two ordered Modules must not share a label: KMM joins namespace and name, and `a-b`, `c` is also `a`, `b-c`",
    good="""\
metadata: {namespace: lab, name: a-gpu}
spec: {moduleLoader: {container: {version: "1.0", modprobe: {moduleName: gpu}}}}
---
metadata: {namespace: lab, name: gpu}
spec: {moduleLoader: {container: {version: "1.0", modprobe: {moduleName: gpu_rdma}}}}
""",
    bad="""\
metadata: {namespace: lab, name: a-gpu}
spec: {moduleLoader: {container: {version: "1.0", modprobe: {moduleName: gpu}}}}
---
metadata: {namespace: lab-a, name: gpu}
spec: {moduleLoader: {container: {version: "1.0", modprobe: {moduleName: gpu_rdma}}}}
""",
    remedy="Rename one of the Modules, or remove its version, or select other nodes. If the Module is on the cluster "
    "already, follow KRM406.",
    held=oracles.LABEL_CONTROLLER,
    check=version_labels_are_told_apart,
    severities=("error", "warning"),
    advice=True,
)

RULES = (KMM080,)
"""The rules about Modules that KMM takes for one."""
