"""Claims on nodes, conflicts between them, and the message of each: one function per rule."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Literal, NamedTuple

from krmfn.resource import Place, Ref
from krmfn.results import Field, Result, Severity, placed
from krmfn.rule import Rule

Kind = Literal["driver", "module", "pool"]
"""What is done twice: the driver job of one profile, a kernel module, or nothing but a pool of one config."""

SHOWN = 5
"""Owners, nodes or labels that a message names before it counts the rest."""

REMEDY = "give their selectors a common label key with different values"


class Claim(NamedTuple):
    """The nodes that a resource selects; none for a generated Module, since its config claims them."""

    ref: Ref
    """Who claims: a DeviceConfig, a Ptemplate or a hand-written Module."""
    selector: Mapping[str, str]
    """Labels a node must have with these values; {} is every node."""
    field: str = "spec.nodeSelector"
    """Where the selector is written."""
    domain: str | None = None
    """Which driver job: DeviceConfigs of one profile (or all of none) have one, and exclude each other; None: no such
    job, it can only be in the way of others by its kernel modules."""
    kernel_modules: frozenset[str] = frozenset()
    """What it loads; `-` and `_` are equal in these names, as modprobe has it."""
    pool: str = ""
    """The node pool's name, where one config has several."""
    place: Place | None = None
    module: tuple[str, str] = ("", "")
    """Namespace and name of the Module that drives the nodes."""
    of_hub: bool = False
    """The nodes are those of a hub's clusters."""
    theirs: str = ""
    """What it is called where it stands elsewhere (--against): `theirs`; "" for what is here."""


class Conflict(NamedTuple):
    """Claims that exclude each other and meet: all of `left`, or each of `left` with each of `right`."""

    kind: Kind
    left: tuple[Claim, ...]
    right: tuple[Claim, ...] = ()
    modules: tuple[str, ...] = ()
    """The kernel modules that all of them load (kind module)."""
    nodes: Sequence[Sequence[str]] = ()
    """Real nodes they meet on, as sorted lists without common names; none: they could meet on some node."""
    unseen: bool = False
    """No node at hand shows it, although there are some."""

    @property
    def severity(self) -> Severity:
        """An error on a real node; a possible conflict is an error only when no nodes are given."""
        return "error" if self.nodes or not (self.unseen or self.kind == "pool") else "warning"


def across(conflict: Conflict) -> Conflict | None:
    """Return the conflict without pairs of which both stand elsewhere; what is here comes first, and has the finding.

    None when nothing here is in it.
    """
    sides = [tuple(sorted(side, key=lambda claim: bool(claim.theirs))) for side in (conflict.left, conflict.right)]
    own = [tuple(claim for claim in side if not claim.theirs) for side in sides]
    if not any(own):
        return None
    left, right = sides
    if right and not own[0]:
        left, right = own[1], left
    elif right and not own[1]:
        left = own[0]
    return conflict._replace(left=left, right=right)


def to_result(conflict: Conflict) -> Result:
    """Return the finding, at the selector of the first owner."""
    rule, law = law_of(conflict)
    facts = _on_nodes(conflict) if conflict.nodes else _on_some_node(conflict)
    owner = conflict.left[0]
    return Result(f"{facts}; {law}: {REMEDY}", conflict.severity, rule, owner.ref, Field(owner.field), owner.place)


def law_of(conflict: Conflict) -> tuple[str, str]:
    """Return the id of the rule that a conflict breaks, and what that says of those who are in it."""
    return {"driver": _driver, "module": _module, "pool": _pool}[conflict.kind](conflict)


def _driver(conflict: Conflict) -> tuple[str, str]:
    """Return the rule about driver jobs, on real nodes or on any possible one, and what it says."""
    kind = conflict.left[0].ref.kind
    return "KRM301" if conflict.nodes else "KRM302", f"one node may be driven by one {kind} only"


def _pool(conflict: Conflict) -> tuple[str, str]:
    """Return the rule about pools, and what it says."""
    return "KRM303", "one node may be in one pool of a config only"


def _module(conflict: Conflict) -> tuple[str, str]:
    """Return the rule about kernel modules, and what it says of those of the conflict."""
    names = _listing(conflict.modules, len(conflict.modules))
    both = "both" if len(conflict.left) + len(conflict.right) == 2 else "all"
    modules, it = ("modules", "each") if len(conflict.modules) > 1 else ("module", "it")
    return "KRM304", f"{both} load the kernel {modules} {names}, and a node may load {it} from one of them only"


def undecided(what: str, remedy: str, severity: Severity) -> Result:
    """Return the finding that node exclusivity is not decided for all nodes or selectors (KRM305)."""
    return Result(f"node exclusivity could not be decided for {what}: {remedy}", severity, "KRM305")


def unlisted(listed: int, rest: Sequence[Conflict]) -> Result:
    """Return the finding that `rest` is not listed beside the first `listed` conflicts (KRM306)."""
    severity: Severity = "error" if any(conflict.severity == "error" for conflict in rest) else "warning"
    more = f"{len(rest):,} more are not" if len(rest) > 1 else "1 more is not"
    text = f"{listed:,} conflicts about nodes are listed, {more}: correct these, then run again"
    return Result(text, severity, "KRM306")


def _on_nodes(conflict: Conflict) -> str:
    """Return `node gpu-1 is selected by DeviceConfig kmm/a (a.yaml, spec.nodeSelector) and ...`."""
    number = sum(map(len, conflict.nodes))
    first = sorted({name for names in conflict.nodes for name in names[:SHOWN]})
    owners = _listing(_owners(conflict, conflict.left), len(conflict.left))
    if number == 1:
        return f"node {first[0]} is selected by {owners}"
    counted = f"nodes {_listing(first, number)}" if number <= SHOWN else f"{number:,} nodes ({_listing(first, number)})"
    return f"{counted} are selected by {owners}"


def _on_some_node(conflict: Conflict) -> str:
    """Return `DeviceConfig kmm/a (...) and DeviceConfig kmm/b (...) can select the same node, for example ...`."""
    left, right = (_listing(_owners(conflict, claims), len(claims)) for claims in (conflict.left, conflict.right))
    # All of a group meet on one node, since no label has two values among them; a left and a right only in pairs.
    example = [*conflict.left[:1], *conflict.right[:1]] if conflict.right else conflict.left
    labels = sorted({pair for claim in example for pair in claim.selector.items()})
    shown = (f"{key}={value or chr(34) * 2}" for key, value in labels)
    many = "labels" if len(labels) > 1 else "label"
    witness = f"for example one with the {many} {_listing(shown, len(labels))}" if labels else "any node at all"
    unseen = " (no node in the input shows it)" if conflict.unseen else ""
    if right:
        each = "each of " if len(conflict.left) > 1 else ""
        return f"{each}{left} can select the same node as each of {right}{unseen}, {witness}"
    return f"{left} can select the same node{unseen}, {witness}"


def _owners(conflict: Conflict, claims: Iterable[Claim]) -> Iterator[str]:
    """Return each claim with its place, except for the one at whose place the finding is reported."""
    return (_owner(claim, None if claim is conflict.left[0] else claim.place) for claim in claims)


def _owner(claim: Claim, place: Place | None) -> str:
    """Return `pool big of DeviceConfig kmm/a (a.yaml:3, spec.nodePools[0].nodeSelector)`."""
    if place and place.finder:
        (found,) = placed([Result("", ref=claim.ref, field=Field(claim.field), place=place)])
        place = found.place
    path, line = (place.path, place.line) if place else ("", 0)
    file = [f"{path}:{line}" if line else path] if path else []
    field = claim.field if claim.selector else f"{claim.field} is {{}}, every node"
    pool = f"pool {claim.pool} of " if claim.pool else ""
    side = f"{claim.theirs}: " if claim.theirs else ""
    return f"{pool}{claim.ref} ({side}{', '.join([*file, field])})"


def _listing(names: Iterable[str], number: int) -> str:
    """Return the names as `a`, `a and b` or `a, b, c, d, e and 7 more`; there are `number` in all."""
    shown = list(islice(names, SHOWN))
    *rest, last = [*shown, f"{number - len(shown):,} more"] if number > len(shown) else (shown or [""])
    return f"{', '.join(rest)} and {last}" if rest else last


RULES = (
    Rule(
        "KRM301",
        "a node is driven by one DeviceConfig per profile only (exact, on nodes in the input)",
        good="""\
metadata: {name: east}
spec: {nodeSelector: {site: east}}
---
metadata: {name: west}
spec: {nodeSelector: {site: west}}
---
kind: Node
metadata: {name: node-1, labels: {site: east, gpu: "true"}}
""",
        bad="""\
metadata: {name: east}
spec: {nodeSelector: {site: east}}
---
metadata: {name: all-gpus}
spec: {nodeSelector: {gpu: "true"}}
---
kind: Node
metadata: {name: node-1, labels: {site: east, gpu: "true"}}
""",
        remedy="Give the node selectors a common label key with different values, or take a label off the node. Give "
        "drivers of different devices a profile each: then only the same kernel module excludes.",
    ),
    Rule(
        "KRM302",
        "the selectors of two DeviceConfigs of one profile cannot select the same node",
        good="""\
metadata: {name: east}
spec: {nodeSelector: {site: east}}
---
metadata: {name: west}
spec: {nodeSelector: {site: west}}
""",
        bad="""\
metadata: {name: east}
spec: {nodeSelector: {site: east}}
---
metadata: {name: all-gpus}
spec: {nodeSelector: {gpu: "true"}}
""",
        remedy="Give the node selectors a common label key with different values. Or add the Node objects to the "
        "input: what no real node shows is a warning then.",
    ),
    Rule(
        "KRM303",
        "a node is in one pool of a config only",
        good="""\
spec:
  nodeSelector: null
  nodePools:
  - {name: big, nodeSelector: {memory: 128g}}
  - {name: small, nodeSelector: {memory: 64g}}
""",
        bad="""\
spec:
  nodeSelector: null
  nodePools:
  - {name: big, nodeSelector: {memory: 128g}}
  - {name: new, nodeSelector: {generation: "3"}}
""",
        remedy="Give the pools' node selectors a common label key with different values.",
    ),
    Rule(
        "KRM304",
        "a kernel module is loaded on a node by one Module only (KMM itself does not check across Modules)",
        good="""\
kind: Module
metadata: {name: east}
spec: {selector: {site: east}}
---
kind: Module
metadata: {name: west}
spec: {selector: {site: west}}
""",
        bad="""\
kind: Module
metadata: {name: east}
spec: {selector: {site: east}}
---
kind: Module
metadata: {name: all-gpus}
spec: {selector: {gpu: "true"}}
""",
        remedy="Give the selectors a common label key with different values, or remove one of the Modules.",
    ),
    Rule(
        "KRM305",
        "node exclusivity is decided for all nodes and selectors, within a bound on the work",
        good="""\
kind: RenderDeviceConfigs
spec: {exclusivity: {mode: nodes}}
---
metadata: {name: east}
spec: {nodeSelector: {site: east}}
---
metadata: {name: west}
spec: {nodeSelector: {site: west}}
---
kind: Node
metadata: {name: node-1, labels: {site: east}}
""",
        bad="""\
kind: RenderDeviceConfigs
spec: {exclusivity: {mode: nodes}}
---
metadata: {name: east}
spec: {nodeSelector: {site: east}}
---
metadata: {name: west}
spec: {nodeSelector: {site: west}}
""",
        remedy="Add the Node objects where the mode is `nodes`. Where there is too much to compare, tell the selectors "
        "apart by one common label key, or check fewer configs at once.",
    ),
    Rule(
        "KRM306",
        "the conflicts about nodes are few enough to list them all",
        good="""\
# 1001 of these, NUMBER from 1
metadata: {name: first-NUMBER}
spec: {nodeSelector: {rack: "NUMBER"}}
""",
        bad="""\
# 1001 of these, NUMBER from 1
metadata: {name: first-NUMBER}
spec: {nodeSelector: {rack: "NUMBER"}}
---
# 1001 of these, NUMBER from 1
metadata: {name: second-NUMBER}
spec: {nodeSelector: {rack: "NUMBER"}}
""",
        remedy="Correct the conflicts that are listed, then run again.",
    ),
)
"""The rules of node exclusivity: steps of one comparison."""
