"""The table of the command `nodes`: a row for each Module on each node."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from krmfn import Ref, printing
from krmfn.results import reference
from krmfn.typed import Any, NamedTuple

from .. import terminal
from ..exclusivity.node import Node
from . import wording
from .coverage import Group, Outcome
from .drivers import Driver, Drivers
from .explanation import LiveNodes
from .row_lines import compact

_COMPARED = 100
"""The most Modules among which the nearest one to a node that none of them selects is looked for."""
DRIVEN, ASSUMED, COMMITTED = "planned", "other version", "committed"
"""States: the node gets a driver; it keeps one if it had one; only the committed inventory plans one."""


class Row(NamedTuple):
    """A Module on a node; without a Module, a node that no selector selects."""

    node: Node
    driver: Driver | None = None
    outcome: Outcome | None = None
    mapping: str = ""
    reason: str = ""
    cluster: str = ""
    """The cluster's name, where there are several."""
    hint: str = ""
    """The nearest Module to a node that no selector selects, and the labels that the node lacks."""
    loaded: bool | None = None
    """Whether a live node has KMM's ready label; None where nodes are not live, and for a plugin only."""
    runs: str = ""
    """The image that is loaded on a live node, whichever Git plans; "" where that is not known."""
    agrees: bool | None = None
    """Whether that is the planned one, as `why` says; None where that is not known."""
    holds: bool | None = None
    """Whether a live node has what is planned, or gets it while a driver runs, as `why` says; None: not known."""
    doubt: str = ""
    """Why it is not known whether what runs on a live node is what Git plans, though nothing is broken there."""
    is_unsynced: bool = False
    """Whether nothing is broken on a live node but that the Module on the cluster is not what Git renders."""
    short_reason: str = ""
    """The reason on a live node without what runs there and what is wanted, for who says that before."""
    is_lost: bool = False
    """Whether the committed inventory plans the Module, which does not select the live node."""

    @property
    def state(self) -> str:
        """The state of the outcome, or what stands for it without one."""
        if self.is_lost:
            return COMMITTED
        return self.outcome.state if self.outcome else "not known" if self.reason else "not selected"

    @property
    def is_problem(self) -> bool:
        """Whether the node lacks a driver that some selector brings, may bring, or brought when it was committed."""
        if self.holds is not None:
            return not self.holds
        if self.state == ASSUMED and self.loaded:  # it runs, and waits for its turn in an ordered upgrade
            return False
        return bool(self.reason) if self.state == DRIVEN else self.state != "not selected"


class Filter(NamedTuple):
    """The conditions that a row must meet; the default is none."""

    labels: Mapping[str, str] = {}  # read only
    """Labels that a node must have."""
    owner: str = ""
    """Name, or namespace/name, of the config or of the Module."""
    names: Sequence[str] = ()
    """Names that a node may have, perhaps with `*`; empty: any name."""
    problems: bool = False
    """Whether a row must be a problem."""
    os: str = ""
    """The osImage that a node must have, perhaps with `*`, as in the next two fields."""
    kernel: str = ""
    state: str = ""

    def matches(self, row: Row) -> bool:
        """Return True when a row meets all conditions."""
        facts = ((self.os, row.node.os_image), (self.kernel, row.node.kernel), (self.state, row.state))
        return (
            self.labels.items() <= row.node.labels.items()
            and (not self.names or any(fnmatchcase(row.node.name, name) for name in self.names))
            and all(fnmatchcase(value, pattern) for pattern, value in facts if pattern)
            and (row.is_problem or not self.problems)
            and (not self.owner or (row.driver is not None and row.driver.is_called(self.owner)))
        )


def rows(
    groups: Iterable[Group], drivers: Drivers, name: str = "", doubt: str = "", live: LiveNodes | None = None
) -> Iterator[Row]:
    """Yield the rows of a cluster, given its name and coverage, in the order of the nodes' names.

    `doubt` says why further selectors may select nodes. `live` is set where the nodes are live.
    """
    pairs: list[tuple[Node, list[Row]]] = []
    for group in groups:
        group_rows = [_row(group.nodes[0], drivers, outcome) for outcome in group.outcomes]
        pairs += ((node, group_rows) for node in group.nodes)
    if live:
        for node, outcome, reason in live.losses:
            row = _row(node, drivers, outcome)._replace(reason=reason, is_lost=True)
            pairs.append((node, [row]))
    for node, group_rows in sorted(pairs, key=lambda pair: pair[0].name):
        of_hub = next((value for key, value in node.cluster or () if not key), "")
        for row in group_rows or [_unselected_row(node, drivers, doubt)]:
            yield row._replace(node=node, cluster=of_hub or name)


def _row(node: Node, drivers: Drivers, outcome: Outcome) -> Row:
    driver = drivers[outcome.driver]
    return Row(node, driver, outcome, wording.mapping(driver, outcome), wording.reason(drivers, outcome))


def _unselected_row(node: Node, drivers: Drivers, doubt: str) -> Row:
    local = [driver for driver in drivers if driver.cluster == node.cluster and not driver.claim.external]
    return Row(node, reason=doubt, hint=wording.nearest(node, local) if 0 < len(local) <= _COMPARED else "")


LOADED = {None: "", True: "yes", False: "no"}
HEAD = ("CLUSTER", "NODE", "KERNEL", "STATE", "LOADED", "CONFIG", "MODULE", "MAPPING", "IMAGE OR REASON")


def cells(row: Row, is_narrow: bool = False) -> tuple[str, ...]:
    """Return the cells of a row, in the order of HEAD; a narrow one names an image without its registry."""
    facts = (row.cluster, row.node.name, row.node.kernel or "-", row.state, LOADED[row.loaded])
    if not row.driver or not row.outcome:
        reason = row.reason or f"no selector selects this node{f': {row.hint}' if row.hint else ''}"
        return (*facts, "-", "-", "-", reason)
    _, image, in_tree = row.outcome.resolution
    owner, details = row.driver.owner, ", ".join(filter(None, (row.driver.claim.pool, row.driver.product)))
    config = f"{_short_name(owner)}{f' ({details})' if details else ''}" if owner else "-"
    image = _without_registry(image or "") if is_narrow and not row.reason else image or ""
    last = wording.image_or_reason(row.reason, image, in_tree, row.doubt)
    return (*facts, config, _short_name(row.driver.ref), row.mapping or "-", last)


STYLES = {
    **dict.fromkeys(("conflict", "failure", "no mapping", "blocked", "committed"), "error"),
    **dict.fromkeys(("terminating", "taint", "not labelled", "waiting"), "warning"),
    **dict.fromkeys(("kernel unknown", "not judged", "not known"), "warning"),
    "planned": "clean",
    "other version": "info",
    "not selected": "idle",
}
"""The style of each state on a terminal."""


def markdown(rows: Sequence[Row], paint: terminal.Paint = terminal.plain) -> str:
    """Return a table for a pull request."""
    head, *body = compact([HEAD, *map(cells, rows)])
    lines = [f"| {' | '.join(cell.capitalize() for cell in head)} |", f"|{'---|' * len(head)}"]
    lines += [f"| {' | '.join(map(_escaped, line))} |" for line in body]
    return "".join(f"{line}\n" for line in lines)


def record(row: Row) -> dict[str, Any]:
    """Return a row as JSON data; what does not apply is null or empty."""
    driver, outcome = row.driver, row.outcome
    resolution = outcome.resolution if outcome else None
    return {
        "cluster": row.cluster or None,
        "node": row.node.name,
        "kernel": row.node.kernel or None,
        "state": row.state,
        "loaded": row.loaded,
        "runs": row.runs or None,
        "wanted": (resolution.image if resolution else None) if row.loaded is not None else None,
        "agrees": row.agrees,
        "config": reference(driver.owner) if driver and driver.owner else None,
        "pool": driver.claim.pool or None if driver else None,
        **({"profile": driver.product} if driver and driver.product else {}),
        "module": reference(driver.ref) if driver else None,
        "mapping": resolution.mapping if resolution else None,
        "mappingText": row.mapping or None,
        "image": resolution.image if resolution else None,
        "inTreeModulesToRemove": list(resolution.in_tree) if resolution else [],
        "taints": [str(taint) for taint in outcome.taints] if outcome else [],
        "reason": row.reason or row.hint or None,
        "doubt": row.doubt or None,
    }


def _without_registry(image: str) -> str:
    """Return an image without its registry: `.../gpu/driver:1.0`."""
    registry, slash, path = image.partition("/")
    return f".../{path}" if slash and "." in registry else image


def _short_name(ref: Ref) -> str:
    return f"{ref.namespace}/{ref.name}" if ref.namespace else ref.name


def _escaped(cell: str) -> str:
    """Return text for a cell of a table in Markdown: nothing in it is markup."""
    escaped = "".join(f"\\{char}" if char in "\\`*_[]<>|~#" else char for char in printing.printable(cell))
    return escaped.replace("&", "&amp;")
