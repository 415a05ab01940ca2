"""DeviceClasses, which a cluster has once: KMM makes those of a Module's `dra`, and takes over any of their name.

Source: KMM main (de3f8c9), internal/controllers/dra_reconciler.go. Each reconcile of a Module writes the spec of each
class, and labels with the Module's name and namespace; when that goes, the classes with its labels are deleted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from krmfn import Field, Item, Result, error, warning
from krmfn.printing import some

from .. import exclusivity, oracles
from ..cluster_dump import is_dumped
from ..exclusivity import Claim
from ..exclusivity.claim import local_conflict
from ..grouping import grouped
from ..kmm.lookup import table, tables, text
from ..kmm.module import HUB_KIND, LABELS, NAME_LABEL, Module
from ..rule import Rule
from .stream import DEVICE_CLASS, FinalList, modules_of

_NAMESPACE_LABEL = f"{LABELS}module.namespace"
_SHOWN = 3
"""The Modules that a message names before it counts the rest."""


def classes_have_one_maker(final: FinalList) -> Iterator[Result]:
    """Yield an error per DeviceClass that several Modules of one cluster make, at the first of them.

    A hub brings two Modules to one cluster where one can have the labels of both selectors of clusters.
    """
    local = chain.from_iterable(_claims(item, module) for item, module in final.modules)
    makers = [*local, *_external_claims(final)]
    shared = [claim for claims in _by_class(makers).values() if len(claims) > 1 for claim in claims]
    decided, undecided = exclusivity.conflicts(shared, None, "selectors")
    items = {item.ref: item for item, _ in final.modules}
    for conflict in filter(None, map(local_conflict, decided)):
        first, *others = (*conflict.first, *conflict.second)
        names = [" ".join(filter(None, (str(claim.ref), claim.external))) for claim in others]
        verb, whose = ("does", "the other's") if len(names) == 1 else ("do", "the others'")
        message = (
            f"makes the DeviceClass {first.domain}, as {verb} {some(names, len(names), _SHOWN)}: KMM labels it by "
            f"turns, and deletes {whose} with the first Module that goes"
        )
        facts = ("modules", tuple(names)), ("deviceClass", str(first.domain))
        yield final.located(
            items[first.ref],
            error(message, field=Field(first.field, first.domain), facts=facts, remedy="list it in one Module only"),
        )
    for finding in undecided:
        yield finding._replace(message=f"whether Modules share a DeviceClass is not known: {finding.message}")


def _by_class(claims: Iterable[Claim]) -> dict[str, list[Claim]]:
    """Return the claims of each DeviceClass by its name."""
    return grouped((str(claim.domain), claim) for claim in claims)


def _claims(item: Item, module: Module, external: str = "") -> Iterator[Claim]:
    """Yield the claims of a Module on the DeviceClasses that it makes, in each cluster that it reaches."""
    is_of_hub = item.kind == HUB_KIND
    clusters = table(item.manifest, "spec", "selector") if is_of_hub else {}
    start = "spec.moduleSpec" if is_of_hub else "spec"
    for index, entry in tables(table(module.spec, "dra"), "deviceClasses"):
        if name := text(entry, "name"):
            field = f"{start}.dra.deviceClasses[{index}].name"
            labels = {str(key): str(value) for key, value in clusters.items()}
            yield Claim(item.ref, labels, field, name, place=item.place, of_hub=is_of_hub, external=external)


def _external_claims(final: FinalList) -> Iterator[Claim]:
    """Yield the claims of Modules from elsewhere."""
    for item, module in modules_of(final.external):
        of_item = _claims(item, module, final.origin(item))
        is_brought = final.is_brought(item)
        yield from (claim._replace(selector={}, of_hub=False) if is_brought else claim for claim in of_item)


def classes_are_not_made_twice(final: FinalList) -> Iterator[Result]:
    """Yield an error per DeviceClass that is written as an object and that a Module of the cluster makes, too.

    And yield a warning for one that stands on the cluster. One that KMM has made for a Module that is known here is
    that Module's own.
    """
    local = chain.from_iterable(_claims(item, module) for item, module in final.modules)
    makers = _by_class(claim for claim in local if not claim.of_hub)
    other_makers = _by_class(claim for claim in _external_claims(final) if not claim.of_hub)
    if not (makers or other_makers):
        return
    items = {item.ref: item for item, _ in final.modules}
    known = {(module.ref.namespace, module.ref.name) for _, module in (*final.modules, *modules_of(final.external))}
    for item in _classes(final.deployed):
        claims = makers.get(item.name) or other_makers.get(item.name, [])
        if is_dumped(item.manifest) and _owner(item) in known:
            continue
        for claim in claims[:1]:
            maker = " ".join(filter(None, (str(claim.ref), claim.external)))
            outcome = "KMM overwrites it, and deletes it with the Module"
            message = f"{maker} makes it, too: {outcome}"
            yield final.located(
                item, error(message, field=Field("metadata.name", item.name), remedy="write it in one place")
            )
    for item in _classes(final.external):
        owner = _owner(item)
        for claim in makers.get(item.name, [])[:1]:
            if owner not in known:
                origin = f"there, for Module {'/'.join(owner)}" if owner[1] else "there, and not of KMM"
                problem = f"makes the DeviceClass {item.name}, which is already {origin} (--against)"
                message = f"{problem}: KMM overwrites it, and deletes it with the Module"
                yield final.located(
                    items[claim.ref],
                    warning(message, field=Field(claim.field, item.name), remedy="choose another name"),
                )


def _classes(items: Iterable[Item]) -> list[Item]:
    """Return the DeviceClasses among some items."""
    return [item for item in items if (item.group, item.kind) == DEVICE_CLASS]


def _owner(item: Item) -> tuple[str, str]:
    """Return namespace and name of the Module that KMM has labelled a DeviceClass with; "" where it has not."""
    labels = table(item.manifest, "metadata", "labels")
    return text(labels, _NAMESPACE_LABEL), text(labels, NAME_LABEL)


RULES = (
    Rule(
        "KMM081",
        "a DeviceClass must be made by one Module: a cluster has it once, and KMM deletes it with each of its Modules",
        good="""\
# kmm: main
metadata: {name: gpu}
spec:
  dra:
    driverName: gpu.example.com
    container: {image: "registry.example.com/dra:1.0"}
    deviceClasses: [{name: gpu.example.com}]
---
metadata: {name: nic}
spec:
  moduleLoader: {container: {modprobe: {moduleName: nic}}}
  dra:
    driverName: nic.example.com
    container: {image: "registry.example.com/dra:1.0"}
    deviceClasses: [{name: nic.example.com}]
""",
        bad="""\
# kmm: main
metadata: {name: gpu}
spec:
  dra:
    driverName: gpu.example.com
    container: {image: "registry.example.com/dra:1.0"}
    deviceClasses: [{name: fast}]
---
metadata: {name: nic}
spec:
  moduleLoader: {container: {modprobe: {moduleName: nic}}}
  dra:
    driverName: nic.example.com
    container: {image: "registry.example.com/dra:1.0"}
    deviceClasses: [{name: fast}]
""",
        remedy="List the class in one of the Modules only, or give each its own name. Or write one DeviceConfig with "
        "nodePools: its classes are made once.",
        held=oracles.DRA_CONTROLLER,
        check=classes_have_one_maker,
    ),
    Rule(
        "KMM082",
        "a DeviceClass must not be an object of its own if a Module makes it: KMM overwrites it, and deletes it",
        good="""\
# kmm: main
spec:
  dra:
    driverName: gpu.example.com
    container: {image: "registry.example.com/dra:1.0"}
    deviceClasses: [{name: fast}]
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: slow}
""",
        bad="""\
# kmm: main
spec:
  dra:
    driverName: gpu.example.com
    container: {image: "registry.example.com/dra:1.0"}
    deviceClasses: [{name: fast}]
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: fast}
""",
        remedy="Remove the object, or remove the class from the Module.",
        held=oracles.DRA_CONTROLLER,
        check=classes_are_not_made_twice,
        severities=("error", "warning"),
        advice=True,
    ),
)
"""The rules about DeviceClasses."""
