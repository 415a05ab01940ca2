"""Claims on nodes, and the conflicts between them."""

from collections.abc import Callable, Mapping, Sequence

from krmfn import Place, Ref
from krmfn.results import Severity
from krmfn.typed import Literal, NamedTuple

Kind = Literal["driver", "module", "pool"]
"""Why claims exclude each other: the driver job of one profile, a kernel module, or the pools of one config."""


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
    """Where it stands; in which line the selector does is looked for when a conflict is reported."""
    module: tuple[str, str] = ("", "")
    """Namespace and name of the Module that drives the nodes."""
    of_hub: bool = False
    """The nodes are those of a hub's clusters."""
    theirs: str = ""
    """What it is called where it stands elsewhere (--against): `theirs`; "" for what is here."""

    @property
    def who(self) -> str:
        """Who claims, in words: `pool big of DeviceConfig kmm/a`."""
        return f"pool {self.pool} of {self.ref}" if self.pool else str(self.ref)


Where = Callable[[Claim], Place | None]
"""What returns the place of a claim's selector."""


def place_of(claim: Claim) -> Place | None:
    """Return where a claim stands."""
    return claim.place


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
    """Return the conflict without the pairs of which both claims stand elsewhere (--against); None without any other.

    Its first claim is one that stands here: the finding is about that one.
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
