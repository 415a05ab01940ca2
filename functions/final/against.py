"""Conflicts between the roots of a cluster and the resources of --against."""

from collections.abc import Iterable, Iterator, Sequence

from krmfn import Item, Ref, ResourceList, Result, error
from krmfn.ownership import Id

from .. import oracles
from ..cluster_dump import is_dumped
from ..deviceconfig.reading import domain_of
from ..exclusivity import Claim
from ..fleet import cluster
from ..identity import object_id
from ..kmm.lookup import table, tables, text
from ..kmm.module import HUB_KIND, MODULE_KINDS, module_of
from ..rendering import function_config
from ..rendering.kinds import COUNTING, OWNERS, owners_among
from ..rule import Rule
from .root_conflicts import KRM528, conflicts


def check_external(
    lists: Sequence[ResourceList], external: ResourceList, before: Sequence[ResourceList] = ()
) -> tuple[ResourceList, list[Result]]:
    """Return the external resources that are not generated here, and the conflicts between the two sides.

    `lists` are those of the cluster's roots after the function has run. An external resource that they generate, also
    as a dump of the cluster gives it back, is the same resource: a claim never conflicts with itself. An object that
    was generated from one of their configs, and is not any more, is external until it is removed. `before` are the
    lists that these replace: their resources are replaced or removed with them, so they are not external.
    """
    local, former = _Local(lists), _Local(before)
    findings: list[Result] = []
    foreign: list[Item] = []
    for item in external.items:
        kind = (item.group, item.kind)
        if kind in COUNTING or (kind not in OWNERS and item.is_local):
            continue
        key = object_id(item.ref)
        predecessor, twin = former.items.get(key), local.items.get(key)
        if predecessor is not None and former.is_same(predecessor, item):
            continue
        if twin is not None:
            findings += [] if local.is_same(twin, item) else [_on_both_sides(twin, item)]
        elif not (local.is_failed and local.has_owner(item)):  # with an error it is unknown what is generated
            foreign.append(item)
    rest = ResourceList(foreign)
    findings += _unknown(foreign)
    drivers = cluster.external_drivers(rest, domain_of)
    claims = [driver.full_claim for driver in drivers if driver.owner or driver.module.loads]
    if claims and not local.is_failed:
        findings += conflicts(lists, list(_with_origin(claims, foreign, local)))
    return rest, findings


class _Local:
    """The resources of the cluster's roots, by their ids."""

    def __init__(self, lists: Sequence[ResourceList]) -> None:
        items = (item for resources in lists for item in resources.items)
        self.items: dict[Id, Item] = {object_id(item.ref): item for item in items}
        self.is_failed = any(resources.failed for resources in lists)
        """Whether there is an error, so that it is unknown what is generated."""
        configs = [item.ref.id for item in owners_among(self.items.values())]
        self.configs = {*configs, *((group, kind, "", name) for group, kind, _, name in configs)}
        self.adopts = any(function_config.read(resources)[0].adopt for resources in lists)

    def has_owner(self, item: Item) -> bool:
        """Return True for an object that was generated, under its own name, from one of the configs."""
        mark = item.mark
        return mark is not None and mark.owner in self.configs and mark.made == item.ref.id

    def is_same(self, twin: Item, item: Item) -> bool:
        """Return True when both are the same resource: our earlier render, the same file, or our live object."""
        lines = [(copy.place.path, copy.place.line) for copy in (twin, item) if copy.place and copy.place.line]
        is_same_line = len(lines) == 2 and lines[0] == lines[1] and lines[0][0] not in ("", "stdin")
        if self.has_owner(item) or is_same_line:
            return True
        return is_dumped(item.manifest) and (self.adopts or not (twin.mark or item.mark))


def _on_both_sides(twin: Item, item: Item) -> Result:
    """Return the error about a resource that both sides have."""
    if is_dumped(item.manifest):
        problem = "it was not generated from anything here: somebody else applies it"
        remedy = "rename this one, or set `adopt: true` in the functionConfig to take it over"
        message = f"the cluster already has it{_in_line(item)}, but {problem}"
    else:
        remedy = "remove or rename one of the two"
        message = f"is both here and in --against{_in_line(item)}: whoever applies it last wins"
    return twin.located(error(message, rule="KRM527", remedy=remedy))


def _in_line(item: Item) -> str:
    """Return ` (a.yaml:1)` for an item that starts in that line; "" for one of a stream."""
    place = item.place
    return f" ({place.path}:{place.line})" if place and place.path else ""


def _unknown(items: Sequence[Item]) -> Iterator[Result]:
    """Yield an error per Module and per config whose nodes are not known."""
    for item in items:
        is_module = (item.group, item.kind) in MODULE_KINDS
        module = module_of(item.manifest) if is_module else None
        selector = module.spec.get("selector") if module else None
        has_labels = isinstance(selector, dict) and all(isinstance(value, str) for value in selector.values())
        if is_module and not has_labels:
            path = "spec.moduleSpec.selector" if item.kind == HUB_KIND else "spec.selector"
            problem = f"{path} is not a mapping of labels to strings, so the nodes that it selects are not known"
            yield error(f"--against{_in_line(item)}: {problem}", rule="KRM526", ref=item.ref)
    configs = owners_among(items)
    owners = {owner for item in items if configs for owner in _owners(item)}
    for item in configs:
        if owners.isdisjoint((item.ref.id, (item.kind, item.ref.name))):
            problem = "nothing there was generated from it, so the nodes that it selects are not known"
            message = f"--against{_in_line(item)}: {problem}; dump the Modules, too, or pass the folder that it is in"
            yield error(message, rule="KRM526", ref=item.ref)


def _owners(item: Item) -> Iterator[tuple[str, ...]]:
    """Yield the owners of an object: that of our mark as an id, those of owner references as (kind, name)."""
    if item.mark:
        yield item.mark.owner
    if item.mentions("ownerReferences"):
        for _, owner in tables(table(item.manifest, "metadata"), "ownerReferences"):
            yield text(owner, "kind"), text(owner, "name")


def _with_origin(claims: Iterable[Claim], items: Iterable[Item], local: _Local) -> Iterator[Claim]:
    """Yield the claims; that of an object which was generated earlier from a config of the roots says so."""
    marks = {(item.ref.namespace, item.ref.name): item.mark for item in items if local.has_owner(item)}
    for claim in claims:
        if mark := marks.get(claim.module):
            group, kind, namespace, name = mark.owner
            owner = Ref(f"{group}/v1alpha1", kind, namespace, name)
            claim = claim._replace(external=f"from --against, generated from {owner} earlier but not now")
        yield claim


KRM527 = Rule(
    "KRM527",
    "a resource must not be applied from both sides: from here, and from what --against names",
    good="""\
kind: DeviceConfig
---
# theirs/nic.yaml
kind: DeviceConfig
metadata: {name: nic}
spec: {moduleName: nic, nodeSelector: {example.com/gpu: "false"}}
""",
    bad="""\
kind: DeviceConfig
---
# theirs/gpu.yaml
kind: DeviceConfig
""",
    remedy="Remove or rename one of the two; what a dump contains because it was generated here does not count.",
    held=oracles.OUR_FILES,
)

RULES = (KRM527, KRM528)
"""The rules about the resources of both sides."""
