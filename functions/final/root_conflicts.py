"""Conflicts between the roots of one cluster: a config in two of them, nodes that two claim."""

from collections.abc import Iterator, Sequence

from krmfn import Field, Item, Ref, ResourceList, Result, error
from krmfn.ownership import Id

from .. import exclusivity, oracles
from ..deviceconfig.reading import domain_of
from ..exclusivity import Claim
from ..exclusivity.claim import local_conflict
from ..fleet import cluster
from ..rendering import claims, function_config
from ..rendering.kinds import in_file, owners_among
from ..rule import Rule
from ..run import run_of

Key = tuple[Ref, str, tuple[str, str]]
"""The identity of a claim: the owner, the pool, the Module."""


def check_roots(lists: Sequence[ResourceList], deployed_by: str = "") -> Iterator[Result]:
    """Yield the findings about resources of different roots: a config in both, nodes that both drive.

    The lists are those of the roots after the function has run, each with all nodes of the cluster. A root with an
    error has generated nothing, so its claims on nodes are not known. `deployed_by` says which objects of engines bring
    the roots to one cluster, and what to correct where that is not meant.
    """
    first: dict[Id, tuple[int, Item]] = {}
    remedy = f"remove or rename one, {deployed_by}" if deployed_by else "remove or rename one"
    for number, resources in enumerate(lists):
        for item in owners_among(resources.items):
            root, other = first.setdefault(item.ref.id, (number, item))
            if root != number:
                message = f"another root of this cluster has this {item.kind}, too{in_file(other)}"
                yield item.located(error(message, rule="KRM103", remedy=remedy))
    sound = [resources for resources in lists if not resources.failed]
    if len(sound) > 1:
        yield from conflicts(sound)


def conflicts(lists: Sequence[ResourceList], external: Sequence[Claim] = ()) -> Iterator[Result]:
    """Yield the conflicts about nodes between claims of several roots; those within a root are reported already.

    With `external` claims only the conflicts between these and the claims of the roots.
    """
    roots: dict[Key, int] = {}
    all_claims: list[Claim] = list(external)
    modes: set[str] = set()
    for number, resources in enumerate(lists):
        config = function_config.read(resources)[0]
        if config.exclusivity == "off":
            if external:
                outcome = f"nothing here is compared with the {len(external):,} selectors from --against"
                message = f"is off, so {outcome}"
                field = Field("spec.exclusivity.mode", "off", "auto")
                yield config.source.located(
                    error(message, rule="KRM528", field=field, remedy="set another mode, or leave out --against")
                )
            continue
        modes.add(config.exclusivity)
        for driver in cluster.of_list(resources, domain_of).drivers:
            if driver.owner or driver.module.loads:
                roots[_key(driver.full_claim)] = number
                all_claims.append(driver.full_claim)
        for claim in claims.of_operators(resources, config):
            roots[_key(claim)] = number
            all_claims.append(claim)
    mode = modes.pop() if len(modes) == 1 else "auto"
    of_cluster = [claim for claim in all_claims if not claim.of_hub]
    nodes, errors = claims.nodes(lists[0], of_cluster) if mode in ("auto", "nodes") else ([], [])
    yield from errors
    if not claims.selectors_decide(errors):
        return
    pairs, undecided = exclusivity.conflicts(all_claims, nodes, mode)
    if external:
        pairs = [pair for pair in map(local_conflict, pairs) if pair]
        pairs = [pair for pair in pairs if any(claim.external for claim in pair.first + pair.second)]
    else:
        pairs = [pair for pair in pairs if len({roots[_key(claim)] for claim in pair.first + pair.second}) > 1]
    yield from (*exclusivity.findings(pairs, claims.at_selector(lists), run_of(lists[0]).sources), *undecided)


def _key(claim: Claim) -> Key:
    return claim.ref, claim.pool, claim.module


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
    held=oracles.OUR_EXCLUSIVITY,
)
