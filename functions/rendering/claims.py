"""Nodes as the list shows them: its Node objects, which claims select them, and the conflicts between claims."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from krmfn import Item, Place, ResourceList, Result
from krmfn.typed import TYPE_CHECKING

from .. import exclusivity
from ..exclusivity import Claim, Node
from ..exclusivity.claim import FindPlace
from ..kmm.module import HUB_KIND, Module
from ..run import note, run_of
from .function_config import FunctionConfig
from .generated import Finding, Written
from .kinds import has_nodes

if TYPE_CHECKING:
    from ..fleet.nodes import Fleet


def nodes(
    resources: ResourceList, claims: Sequence[Claim], fleet: Fleet | None = None
) -> tuple[list[Node], list[Result]]:
    """Return every node in the list, with the labels that some claim selects by, and the errors about nodes.

    With an error some nodes or labels are unknown, so no node is returned. `fleet` holds the nodes where the caller
    has read them already.
    """
    if not has_nodes(resources):
        return [], []
    from ..fleet import nodes as fleet_nodes  # here, for the start-up of lists without nodes

    keys = {key for claim in claims for key in claim.selector}
    known = fleet or fleet_nodes.read(resources, keys)
    errors = list(known.findings)
    find = at_selector([resources])
    for claim in claims:
        # what the nodes get is judged with the same finding, so it has the same place
        errors += [error._replace(place=find(claim)) for error in known.check_labels(claim, claim.selector)]
    if errors:
        return [], [as_advice(resources, error) for error in errors]
    return [node for node in known.nodes if node.cluster is None], []


def selectors_decide(errors: Iterable[Result]) -> bool:
    """Return True when the errors are about nodes alone (KRM6xx): conflicts are then judged as without any node."""
    return all(error.rule.startswith("KRM6") for error in errors)


def as_advice(resources: ResourceList, finding: Result) -> Result:
    """Return an error about nodes as a warning for the commands that only warn of them (`render`, `diff`)."""
    is_advice = run_of(resources).settings.intent.warns_of_nodes and finding.rule.startswith("KRM6")
    return finding._replace(severity="warning") if is_advice and finding.severity == "error" else finding


def check(
    resources: ResourceList, claims: Sequence[Claim], written: Written, config: FunctionConfig, fleet: Fleet | None
) -> list[Finding]:
    """Return the conflicts about the nodes of this cluster, and about those of a hub's clusters.

    `claims` are those of configs. The nodes of a hub's clusters are unknown, so selectors alone decide there. A
    hand-written Module with the name of a generated one claims nothing: it is replaced when it is adopted, and an error
    of its own otherwise. `fleet`: see `nodes`.
    """
    modules = {(claim.of_hub, *claim.module) for claim in claims} if written else set()
    handwritten = [claim for pair in written for claim in of_module(*pair) if _key(claim) not in modules]
    driven = of_operators(resources, config)
    local = [claim for claim in (*claims, *handwritten, *driven) if not claim.of_hub]
    of_hub = [claim for claim in (*claims, *handwritten) if claim.of_hub]
    if max(len(local), len(of_hub)) < 2:
        return []
    run, mode = run_of(resources), config.exclusivity
    if mode == "off":
        if not run.settings.intent.judges_nodes:
            return []
        mode = "auto"  # to count the conflicts that are not reported
    known, errors = nodes(resources, local, fleet) if local and mode in ("auto", "nodes") else ([], [])
    judged = [*local, *of_hub] if selectors_decide(errors) else of_hub
    results = exclusivity.check(judged, known, mode, at_selector([resources]), run.sources)
    if config.exclusivity == "off":
        note(resources, turned_off=run.turned_off + len(results))
        return []
    return [(result.ref, result) for result in (*errors, *results)]


def of_operators(resources: ResourceList, config: FunctionConfig) -> list[Claim]:
    """Return the claims of configs that operators of the cluster act on."""
    if not config.selectors:
        return []
    from . import operator_claims  # here, since few functionConfigs have one

    return [*operator_claims.claims(resources, config)]


def at_selector(lists: Iterable[ResourceList]) -> FindPlace:
    """Return a function that finds the line of a claim's selector in the files of these lists."""
    items: dict[Place | None, Item] = {}

    def place(claim: Claim) -> Place | None:
        if not items:  # few lists have a conflict
            items.update((item.place, item) for resources in lists for item in resources.items)
        item = items.get(claim.place) if claim.place else None
        return item.field_place(claim.field) if item else claim.place

    return place


def _key(claim: Claim) -> tuple[bool, str, str]:
    """Return the Module of a claim; one that a hub brings is of the same namespace as the config it is made from."""
    return (claim.of_hub, *claim.module)


def of_module(item: Item, module: Module) -> Iterator[Claim]:
    """Yield the claim of a KMM Module, or of a ManagedClusterModule, that loads something."""
    if item.kind == HUB_KIND and module.selector is not None and module.loads:
        from ..fleet import drivers  # here, since few lists have one

        claim, mark = drivers.driver(item.manifest, None, item.place).full_claim, item.mark
        yield claim._replace(module=(mark.owner[2] if mark else item.ref.namespace, item.ref.name))
    elif module.selector is not None and module.loads:
        name = (item.ref.namespace, item.ref.name)
        yield Claim(item.ref, module.selector, "spec.selector", None, module.loads, "", item.place, name)
