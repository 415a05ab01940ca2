"""What is wrong between lists: the roots of one cluster, and what it gets from elsewhere, held against what is here."""

from collections.abc import Iterable, Iterator, Sequence

from krmfn import Field, Item, Ref, ResourceList, Result, error
from krmfn.ownership import Id
from krmfn.results import Rule

from .. import exclusivity
from ..cluster_dump import is_dumped
from ..deviceconfig.reading import domain_of
from ..exclusivity import Claim
from ..exclusivity.claim import local_conflict
from ..fleet import cluster
from ..kmm.lookup import table, tables, text
from ..kmm.module import HUB_KIND, MODULE_KINDS, module_of
from ..rendering import claims, function_config
from ..rendering.kinds import COUNTING, OWNERS, in_file, owners_among


def against(
    lists: Sequence[ResourceList], theirs: ResourceList, before: Sequence[ResourceList] = ()
) -> tuple[ResourceList, list[Result]]:
    """Return what of the resources from elsewhere is not made here, and what is wrong between the two.

    `lists` are those of the cluster's roots after the function has run. What we make, and what a dump of the cluster
    gives back of it, is ours: a claim of ours never conflicts with itself. An object that was made earlier from a
    config that is here, and is made no longer, is theirs until it is gone from there. `before` are the lists in whose
    place these are put: what they held is replaced or removed with them, so it is not theirs.
    """
    here, former = _Here(lists), _Here(before)
    findings: list[Result] = []
    foreign: list[Item] = []
    for item in theirs.items:
        kind = (item.group, item.kind)
        if kind in COUNTING or (kind not in OWNERS and item.is_local):
            continue
        gone, twin = former.items.get(item.ref.id), here.items.get(item.ref.id)
        if gone is not None and former.is_one(gone, item):
            continue
        if twin is not None:
            findings += [] if here.is_one(twin, item) else [_on_both_sides(twin, item)]
        elif not (here.is_failed and here.is_owner(item)):  # with an error it is not known what is still made
            foreign.append(item)
    left = ResourceList(foreign)
    findings += _unknown(foreign)
    drivers = cluster.external_drivers(left, domain_of)
    claims = [driver.full_claim for driver in drivers if driver.owner or driver.module.loads]
    if claims and not here.is_failed:
        findings += conflicts(lists, list(_with_origin(claims, foreign, here)))
    return left, findings


class _Here:
    """What is here, by what tells it apart."""

    def __init__(self, lists: Sequence[ResourceList]) -> None:
        self.items: dict[Id, Item] = {item.ref.id: item for one in lists for item in one.items}
        self.is_failed = any(one.failed for one in lists)
        """Something has an error: what would be made of it is not known."""
        configs = [item.ref.id for item in owners_among(self.items.values())]
        self.configs = {*configs, *((group, kind, "", name) for group, kind, _, name in configs)}
        self.adopts = any(function_config.read(one)[0].adopt for one in lists)

    def is_owner(self, item: Item) -> bool:
        """Return True for an object that was made, under its own name, from a config that is here."""
        mark = item.mark
        return mark is not None and mark.owner in self.configs and mark.made == item.ref.id

    def is_one(self, own: Item, item: Item) -> bool:
        """Return True when both are one and the same: our own earlier render, the same file, or our live object."""
        here, there = ((one.place.path, one.place.line) if one.place else ("", 0) for one in (own, item))
        if self.is_owner(item) or (here == there and all(here) and here[0] != "stdin"):
            return True
        return is_dumped(item.manifest) and (self.adopts or not (own.mark or item.mark))


def _on_both_sides(own: Item, item: Item) -> Result:
    """Return the error about a resource that both sides have."""
    if is_dumped(item.manifest):
        why = "it was not generated from anything here: somebody else applies it"
        remedy = "rename this one, or set `adopt: true` in the functionConfig to take it over"
        message = f"the cluster already has it{_where(item)}, but {why}; {remedy}"
    else:
        remedy = "remove or rename one of the two"
        message = f"is both here and in --against{_where(item)}: whoever applies it last wins; {remedy}"
    return own.located(error(message, rule="KRM527"))


def _where(item: Item) -> str:
    place = item.place
    return f" ({place.path}:{place.line})" if place and place.path else ""


def _unknown(items: Sequence[Item]) -> Iterator[Result]:
    """Yield an error for a Module, and for a config, of which it is not known which nodes it claims."""
    for item in items:
        is_module = (item.group, item.kind) in MODULE_KINDS
        module = module_of(item.manifest) if is_module else None
        selector = module.spec.get("selector") if module else None
        if is_module and not (isinstance(selector, dict) and all(isinstance(one, str) for one in selector.values())):
            at = "spec.moduleSpec.selector" if item.kind == HUB_KIND else "spec.selector"
            why = f"{at} is not a mapping of labels to strings"
            message = f"--against{_where(item)}: {why}, so the nodes that it selects are not known"
            yield error(message, rule="KRM526", ref=item.ref)
    configs = owners_among(items)
    owners = {owner for item in items if configs for owner in _owners(item)}
    for item in configs:
        if owners.isdisjoint((item.ref.id, (item.kind, item.ref.name))):
            why = "nothing there was generated from it, so the nodes that it selects are not known"
            message = f"--against{_where(item)}: {why}; dump the Modules, too, or pass the folder that it is in"
            yield error(message, rule="KRM526", ref=item.ref)


def _owners(item: Item) -> Iterator[tuple[str, ...]]:
    """Yield whom an object was made from: by our mark in full, by its owner references as (kind, name)."""
    if item.mark:
        yield item.mark.owner
    if item.mentions("ownerReferences"):
        for _, owner in tables(table(item.manifest, "metadata"), "ownerReferences"):
            yield text(owner, "kind"), text(owner, "name")


def _with_origin(claims: Iterable[Claim], items: Iterable[Item], here: _Here) -> Iterator[Claim]:
    """Yield the claims; one of an object that was made earlier from a config that is here says so."""
    marks = {(item.ref.namespace, item.ref.name): item.mark for item in items if here.is_owner(item)}
    for claim in claims:
        if mark := marks.get(claim.module):
            group, kind, namespace, name = mark.owner
            owner = Ref(f"{group}/v1alpha1", kind, namespace, name)
            claim = claim._replace(external=f"from --against, generated from {owner} earlier but not now")
        yield claim


Key = tuple[Ref, str, tuple[str, str]]
"""What tells claims apart: the owner, the pool, the Module."""


def between(lists: Sequence[ResourceList]) -> Iterator[Result]:
    """Yield the findings about resources of different roots: a config that both have, nodes that both drive.

    The lists are those of the roots after the function has run, each with all nodes of the cluster. A root with an
    error has generated nothing, so its claims on nodes are not known.
    """
    first: dict[Id, tuple[int, Item]] = {}
    for number, resources in enumerate(lists):
        for item in owners_among(resources.items):
            at, other = first.setdefault(item.ref.id, (number, item))
            if at != number:
                twin = f"{item.kind}, too{in_file(other)}"
                message = f"another root of this cluster has this {twin}; remove or rename one"
                yield item.located(error(message, rule="KRM103"))
    sound = [resources for resources in lists if not resources.failed]
    if len(sound) > 1:
        yield from conflicts(sound)


def conflicts(lists: Sequence[ResourceList], theirs: Sequence[Claim] = ()) -> Iterator[Result]:
    """Yield the conflicts about nodes in which claims of several roots take part; a root alone has its own already.

    With `theirs`, claims from elsewhere, only the conflicts in which some of those take part with some from here.
    """
    roots: dict[Key, int] = {}
    every: list[Claim] = list(theirs)
    modes: set[str] = set()
    for number, resources in enumerate(lists):
        config = function_config.read(resources)[0]
        if config.exclusivity == "off":
            if theirs:
                why = f"nothing here is compared with the {len(theirs):,} selectors from --against"
                message = f"is off, so {why}; set another mode, or leave out --against"
                field = Field("spec.exclusivity.mode", "off", "auto")
                yield config.source.located(error(message, rule="KRM528", field=field))
            continue
        modes.add(config.exclusivity)
        for driver in cluster.of_list(resources, domain_of).drivers:
            if driver.owner or driver.module.loads:
                # on the nodes of a hub's clusters with the labels of the clusters
                roots[_key(driver.full_claim)] = number
                every.append(driver.full_claim)
    mode = modes.pop() if len(modes) == 1 else "auto"
    here = [claim for claim in every if not claim.of_hub]
    nodes, wrong = claims.nodes(lists[0], here) if mode in ("auto", "nodes") else ([], [])
    yield from wrong
    if not claims.selectors_decide(wrong):
        return
    found, undecided = exclusivity.conflicts(every, nodes, mode)
    if theirs:
        local = filter(None, map(local_conflict, found))
        joint = [one for one in local if any(claim.external for claim in one.left + one.right)]
    else:
        joint = [one for one in found if len({roots[_key(claim)] for claim in one.left + one.right}) > 1]
    yield from (*exclusivity.findings(joint, claims.at_selector(lists)), *undecided)


def _key(claim: Claim) -> Key:
    return claim.ref, claim.pool, claim.module


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
)

KRM528 = Rule(
    "KRM528",
    "node exclusivity must be on if something that --against names selects nodes",
    good="""\
kind: DeviceConfig
---
# theirs/nic.yaml
kind: DeviceConfig
metadata: {name: nic}
spec: {moduleName: nic, nodeSelector: {example.com/gpu: "false"}}
""",
    bad="""\
kind: RenderDeviceConfigs
spec: {exclusivity: {mode: "off"}}
---
kind: DeviceConfig
---
# theirs/nic.yaml
kind: DeviceConfig
metadata: {name: nic}
spec: {moduleName: nic, nodeSelector: {example.com/gpu: "false"}}
""",
    remedy="Set another mode in the functionConfig, or remove --against.",
)

RULES = (KRM527, KRM528)
"""The rules about what is here and what is elsewhere."""
