"""What the list says about nodes beside our own kinds: its Node objects, and Modules written by hand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from krmfn import Item, Place, ResourceList, Result
from krmfn.typed import TYPE_CHECKING

from .. import exclusivity
from ..exclusivity import Claim, Node
from ..exclusivity.claim import FindPlace
from ..kmm.module import Module
from ..run import note, run_of
from .function_config import FunctionConfig
from .generated import Finding, Written
from .kinds import has_nodes

if TYPE_CHECKING:
    from ..fleet.nodes import Fleet


def nodes(
    resources: ResourceList, claims: Iterable[Claim], fleet: Fleet | None = None
) -> tuple[list[Node], list[Result]]:
    """Return every node in the list, by name and by those labels that some claim selects by, and errors about them.

    With an error not all nodes are there, or not all labels: then none is returned. `fleet` is what is known of them
    all, where it has been read already.
    """
    if not has_nodes(resources):
        return [], []
    from ..fleet import nodes as fleet_nodes  # here, for the start-up of lists without nodes

    claims = list(claims)
    keys = {key for claim in claims for key in claim.selector}
    known = fleet or fleet_nodes.read(resources, keys)
    errors = list(known.findings)
    errors += [finding for claim in claims for finding in known.check_labels(claim, claim.selector)]
    if errors:
        return [], [advised(resources, one) for one in errors]
    return [node for node in known.nodes if node.cluster is None], []


def selectors_decide(errors: Iterable[Result]) -> bool:
    """Return True when nothing is wrong but what is known of nodes, which stops no render: as without any node."""
    return all(one.rule.startswith("KRM6") for one in errors)


def advised(resources: ResourceList, finding: Result) -> Result:
    """Return an error about nodes as a warning where the command only warns of them (`render`, `diff`)."""
    is_advice = run_of(resources).settings.intent.warns_of_nodes and finding.rule.startswith("KRM6")
    return finding._replace(severity="warning") if is_advice and finding.severity == "error" else finding


def check(
    resources: ResourceList, own: Sequence[Claim], written: Written, config: FunctionConfig, fleet: Fleet | None = None
) -> list[Finding]:
    """Return the conflicts about nodes here, and on a hub's clusters, where only selectors and labels decide.

    A hand-written Module whose name is about to be generated claims nothing: it makes way when it is adopted, and is
    an error of its own when it is not. `fleet`: see `nodes`.
    """
    generated = {claim.module for claim in own} if written else set()
    others = [claim for pair in written for claim in of_module(*pair) if claim.module not in generated]
    here = [*(claim for claim in own if not claim.of_hub), *others]
    of_hub = [claim for claim in own if claim.of_hub]
    if max(len(here), len(of_hub)) < 2:
        return []
    run, mode = run_of(resources), config.exclusivity
    if mode == "off":
        if not run.settings.intent.judges_nodes:
            return []
        mode = "auto"  # to say how many conflicts nobody is told of
    known, errors = nodes(resources, here, fleet) if here and mode in ("auto", "nodes") else ([], [])
    decided = [*here, *of_hub] if selectors_decide(errors) else of_hub
    results = exclusivity.check(decided, known, mode, at_selector([resources]))
    if config.exclusivity == "off":
        note(resources, turned_off=run.turned_off + len(results))
        return []
    return [(result.ref, result) for result in (*errors, *results)]


def at_selector(lists: Iterable[ResourceList]) -> FindPlace:
    """Return what finds the line of a claim's selector in the files of these lists."""
    items: dict[Place | None, Item] = {}

    def where(claim: Claim) -> Place | None:
        if not items:  # few lists have a conflict
            items.update((item.place, item) for resources in lists for item in resources.items)
        item = items.get(claim.place) if claim.place else None
        return item.field_place(claim.field) if item else claim.place

    return where


def of_module(item: Item, module: Module) -> Iterator[Claim]:
    """Yield the claim of a KMM Module that loads something."""
    if module.selector is not None and module.loads:
        named = (item.ref.namespace, item.ref.name)
        yield Claim(item.ref, module.selector, "spec.selector", None, module.loads, "", item.place, named)
