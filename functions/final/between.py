"""What is wrong between the roots of one cluster, each of which was rendered and judged by itself."""

from collections.abc import Iterator, Sequence

from krmfn import Field, Item, Ref, ResourceList, Result, error
from krmfn.ownership import Id

from .. import exclusivity
from ..deviceconfig.reading import domain_of
from ..exclusivity import Claim
from ..exclusivity.claim import across
from ..fleet import cluster
from ..rendering import claims, function_config
from ..rendering.kinds import in_file, owning

Key = tuple[Ref, str, tuple[str, str]]
"""What tells claims apart: the owner, the pool, the Module."""


def between(lists: Sequence[ResourceList]) -> Iterator[Result]:
    """Yield the findings about resources of different roots: a config that both have, nodes that both drive.

    The lists are those of the roots after the function has run, each with all nodes of the cluster. A root with an
    error has generated nothing, so its claims on nodes are not known.
    """
    first: dict[Id, tuple[int, Item]] = {}
    for number, resources in enumerate(lists):
        for item in owning(resources.items):
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
                roots[_key(driver.joint)] = number  # on the nodes of a hub's clusters with the labels of the clusters
                every.append(driver.joint)
    mode = modes.pop() if len(modes) == 1 else "auto"
    here = [claim for claim in every if not claim.of_hub]
    nodes, wrong = claims.nodes(lists[0], here) if mode in ("auto", "nodes") else ([], [])
    yield from wrong
    if not claims.selectors_decide(wrong):
        return
    found, undecided = exclusivity.conflicts(every, nodes, mode)
    if theirs:
        joint = [one for one in map(across, found) if one and any(claim.theirs for claim in one.left + one.right)]
    else:
        joint = [one for one in found if len({roots[_key(claim)] for claim in one.left + one.right}) > 1]
    yield from (*exclusivity.findings(joint, claims.at_selector(lists)), *undecided)


def _key(claim: Claim) -> Key:
    return claim.ref, claim.pool, claim.module
