"""The messages of conflicts about nodes: the rule, the claims, and the nodes where they meet."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from krmfn import Field, Place, Result
from krmfn.results import NODES, Facts, Related, Severity

from ..sentence import Nodes, Sentence, Topic, text
from ..sources import Sources
from .claim import Claim, Conflict, FindPlace
from .remedies import remedy_of

SHOWN = 5
"""Owners, nodes or labels that a message names before it counts the rest."""


def to_result(conflict: Conflict, where: FindPlace, sources: Sources) -> Result:
    """Return the finding, at the selector of the first owner; the selectors of others are related places.

    Its topic is the remedy without what the rule says.
    """
    rule, law = law_of(conflict)
    places = _Places(where, sources)
    owner, *rest = islice(chain(conflict.first, conflict.second), SHOWN + 1)
    nodes = sorted({name for names in conflict.nodes for name in names[:SHOWN]})[:SHOWN]
    count = ("nodeCount", sum(map(len, conflict.nodes)))
    others = tuple(claim.claimant for claim in rest)
    values: Facts = (("claimants", others), ("modules", conflict.modules), (NODES, tuple(nodes)), count)
    message, *messages = (_sentence(conflict, places, claim) for claim in (owner, *rest))
    texts = map(text, messages)
    pairs = ((places.of(claim), words) for claim, words in zip(rest, texts, strict=True) if not claim.external)
    related = tuple(Related(place, words) for place, words in pairs if place and place.path)
    remedy, advice = remedy_of(conflict, law), Topic(remedy_of(conflict))
    about = (conflict.severity, rule, owner.ref, Field(owner.field), where(owner))
    return Result(text(message), *about, facts=values, related=related, remedy=remedy, sentence=(*message, advice))


class _Places:
    """The places of claims in files, each looked up once."""

    def __init__(self, where: FindPlace, sources: Sources) -> None:
        self._where, self._sources = where, sources
        self._known: dict[tuple[object, ...], Place | None] = {}

    def of(self, claim: Claim) -> Place | None:
        """Return the place of a claim's selector; None without one."""
        key = (claim.ref, claim.field, claim.claimant, claim.place)
        if key not in self._known:
            self._known[key] = place_of(claim, self._where(claim), self._sources)
        return self._known[key]


def place_of(claim: Claim, place: Place | None, sources: Sources) -> Place | None:
    """Return the place of a claim's selector in the files, given the claim's place."""
    return sources.located(Result("", ref=claim.ref, field=Field(claim.field), place=place)).place


def _sentence(conflict: Conflict, places: _Places, at_claim: Claim) -> Sentence:
    """Return what is wrong, for a finding at the selector of the claim `at_claim`."""
    return _on_nodes(conflict, places, at_claim) if conflict.nodes else (_on_some_node(conflict, places, at_claim),)


def law_of(conflict: Conflict) -> tuple[str, str]:
    """Return the id of the rule that a conflict breaks, and what the rule says about its claims.

    About driver jobs there are two rules, for real and for possible nodes.
    """
    if conflict.kind == "pool":
        return "KRM303", "a node can be in only one pool of a config"
    if conflict.kind == "driver":
        rule = "KRM301" if conflict.nodes else "KRM302"
        return rule, f"a node can be managed by only one {conflict.first[0].ref.kind}"
    names = _listing(conflict.modules, len(conflict.modules))
    subject = "both" if len(conflict.first) + len(conflict.second) == 2 else "all"
    modules, pronoun = ("modules", "each") if len(conflict.modules) > 1 else ("module", "it")
    return "KRM304", f"{subject} load the kernel {modules} {names}, but a node can load {pronoun} from only one of them"


def unlisted(listed: int, rest: Sequence[Conflict]) -> Result:
    """Return the finding that the `rest` of the conflicts is not listed after the first `listed` ones (KRM306)."""
    severity: Severity = "error" if any(conflict.severity == "error" for conflict in rest) else "warning"
    number = f"{len(rest):,} more are not" if len(rest) > 1 else "1 more is not"
    text = f"{listed:,} conflicts about nodes are listed, {number}"
    return Result(text, severity, "KRM306", remedy="correct these, then run again")


def _on_nodes(conflict: Conflict, places: _Places, at_claim: Claim) -> Sentence:
    """Return `node gpu-1 is selected by DeviceConfig kmm/a (a.yaml, spec.nodeSelector) and ...`."""
    number = sum(map(len, conflict.nodes))
    first = sorted({name for names in conflict.nodes for name in names[:SHOWN]})
    owners = _listing(_owners(conflict.first, places, at_claim), len(conflict.first))
    if number == 1:
        return (f"node {first[0]} is selected by {owners}",)
    names = _listing(first, number)
    return f"nodes {names}" if number <= SHOWN else Nodes(number, names), f" are selected by {owners}"


def _on_some_node(conflict: Conflict, places: _Places, at_claim: Claim) -> str:
    """Return `DeviceConfig kmm/a (...) and DeviceConfig kmm/b (...) can select the same node, for example ...`."""
    sides = (conflict.first, conflict.second)
    owners, others = (_listing(_owners(side, places, at_claim), len(side)) for side in sides)
    # one node can have the labels of a whole group, and of any two from a first and a second one
    claims = [*conflict.first[:1], *conflict.second[:1]] if conflict.second else conflict.first
    labels = sorted({pair for claim in claims for pair in claim.selector.items()})
    texts = (f"{key}={value or chr(34) * 2}" for key, value in labels)
    noun = "labels" if len(labels) > 1 else "label"
    example = f"for example one with the {noun} {_listing(texts, len(labels))}" if labels else "any node at all"
    unseen = " (no node in the input has such labels)" if conflict.unseen else ""
    if others:
        prefix = "each of " if len(conflict.first) > 1 else ""
        return f"{prefix}{owners} can select the same node as each of {others}{unseen}, {example}"
    return f"{owners} can select the same node{unseen}, {example}"


def _owners(claims: Iterable[Claim], places: _Places, at_claim: Claim) -> Iterator[str]:
    """Return each claim in words with its place, except for the one at whose place the finding is reported."""
    return (_owner(claim, None if claim is at_claim else places.of(claim)) for claim in claims)


def line_of(place: Place | None) -> str:
    """Return file and line of a place: `a.yaml:3`; "" without a file."""
    path, line = (place.path, place.line) if place else ("", 0)
    return f"{path}:{line}" if path and line else path


def _owner(claim: Claim, place: Place | None) -> str:
    """Return `pool big of DeviceConfig kmm/a (a.yaml:3, spec.nodePools[0].nodeSelector)`."""
    field = claim.field if claim.selector else f"{claim.field} is {{}}, every node"
    side = f"{claim.external}: " if claim.external else ""
    return f"{claim.claimant} ({side}{', '.join(filter(None, (line_of(place), field)))})"


def _listing(names: Iterable[str], number: int) -> str:
    """Return the names as `a`, `a and b` or `a, b, c, d, e and 7 more`; there are `number` in all."""
    first = list(islice(names, SHOWN))
    *rest, last = [*first, f"{number - len(first):,} more"] if number > len(first) else (first or [""])
    return f"{', '.join(rest)} and {last}" if rest else last
