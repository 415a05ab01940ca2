"""One row per node and Module: what the command `nodes` prints."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from krmfn import Ref, printing
from krmfn.results import reference
from krmfn.typed import Any, NamedTuple

from ..exclusivity.node import Node
from ..formats.columns import aligned
from . import explanation, wording
from .coverage import Group, Outcome
from .drivers import Driver
from .explanation import LiveNodes

_COMPARED = 100
"""Modules up to which those that do not select a node are compared with its labels."""
DRIVEN, ASSUMED, COMMITTED = "planned", "other version", "committed"
"""States: the node has a driver; it has one if it had one before; only the committed inventory plans one."""


class Row(NamedTuple):
    """A node and one Module on it; without a Module, a node that no selector selects."""

    node: Node
    driver: Driver | None = None
    outcome: Outcome | None = None
    mapping: str = ""
    reason: str = ""
    cluster: str = ""
    """The cluster's name, where there are several."""
    lacks: str = ""
    """Which labels a node lacks that nothing selects."""
    loaded: bool | None = None
    """Whether a live node has the driver, as `why` says; None where that is not known, and for a plugin alone."""
    is_lost: bool = False
    """Whether the committed inventory plans the Module, and nothing selects the live node for it."""

    @property
    def state(self) -> str:
        """What becomes of the Module on the node."""
        if self.is_lost:
            return COMMITTED
        return self.outcome.state if self.outcome else "not known" if self.reason else "not selected"

    @property
    def is_problem(self) -> bool:
        """Whether the node lacks a driver that some selector brings, may bring, or brought when it was committed."""
        return bool(self.reason) if self.state == DRIVEN else self.state != "not selected"


class Filter(NamedTuple):
    """The rows that are wanted; the default is all."""

    labels: Mapping[str, str] = {}  # read only
    """Labels that a node must have."""
    owner: str = ""
    """Name, or namespace/name, of the config or of the Module."""
    names: Sequence[str] = ()
    """Names that a node may have, perhaps with `*`; none: any."""
    problems: bool = False
    """Whether only rows are wanted that are a problem."""
    os: str = ""
    """The osImage that a node must have, perhaps with `*`, as the next two."""
    kernel: str = ""
    state: str = ""

    def matches(self, row: Row) -> bool:
        """Return True when a row is wanted."""
        facts = ((self.os, row.node.os_image), (self.kernel, row.node.kernel), (self.state, row.state))
        return (
            self.labels.items() <= row.node.labels.items()
            and (not self.names or any(fnmatchcase(row.node.name, name) for name in self.names))
            and all(fnmatchcase(value, pattern) for pattern, value in facts if pattern)
            and (row.is_problem or not self.problems)
            and (not self.owner or (row.driver is not None and row.driver.is_called(self.owner)))
        )


def rows(
    groups: Iterable[Group],
    drivers: Sequence[Driver],
    cluster: str = "",
    doubt: str = "",
    live: LiveNodes | None = None,
) -> Iterator[Row]:
    """Yield the rows in the order of the nodes' names; `doubt` says why more selectors may select nodes.

    `live` is what a dump says, where the nodes are live.
    """
    pairs: list[tuple[Node, list[Row]]] = []
    for group in groups:
        made = [Row(group.nodes[0], *_facts(drivers, one), wording.reason(drivers, one)) for one in group.outcomes]
        pairs += ((node, made) for node in group.nodes)
    if live:
        for node, outcome, why in live.losses:
            is_left = explanation.is_still_loaded(node, drivers[outcome.driver], live.dump)
            pairs.append((node, [Row(node, *_facts(drivers, outcome), why, loaded=is_left, is_lost=True)]))
    for node, made in sorted(pairs, key=lambda pair: pair[0].name):
        of_hub = ",".join(f"{key}={value}" for key, value in node.cluster or ())
        for row in made or [_unselected(node, drivers, doubt)]:
            row = row._replace(node=node, cluster=of_hub or cluster)
            if live and row.outcome and not row.is_lost:
                is_loaded, why = explanation.loaded(node, drivers, row.outcome, live.dump)
                row = row._replace(loaded=is_loaded, reason=row.reason or why)
            yield row


def _facts(drivers: Sequence[Driver], outcome: Outcome) -> tuple[Driver, Outcome, str]:
    driver = drivers[outcome.driver]
    return driver, outcome, wording.mapping(driver, outcome)


def _unselected(node: Node, drivers: Sequence[Driver], doubt: str) -> Row:
    here = [driver for driver in drivers if driver.cluster == node.cluster and not driver.claim.external]
    return Row(node, reason=doubt, lacks=wording.nearest(node, here) if 0 < len(here) <= _COMPARED else "")


LOADED = {None: "", True: "yes", False: "no"}
HEAD = ("CLUSTER", "NODE", "KERNEL", "STATE", "LOADED", "CONFIG", "MODULE", "MAPPING", "IMAGE OR REASON")
_OPTIONAL = ("CLUSTER", "LOADED")
"""Columns that are shown where a row has something there."""


def cells(row: Row) -> tuple[str, ...]:
    """Return a row for people."""
    known = (row.cluster, row.node.name, row.node.kernel or "-", row.state, LOADED[row.loaded])
    if not row.driver or not row.outcome:
        why = row.reason or f"no selector selects this node{f': {row.lacks}' if row.lacks else ''}"
        return (*known, "-", "-", "-", why)
    _, image, first = row.outcome.resolution
    owner, beside = row.driver.owner, ", ".join(filter(None, (row.driver.claim.pool, row.driver.product)))
    config = f"{_short(owner)}{f' ({beside})' if beside else ''}" if owner else "-"
    what = wording.image_or_reason(row.reason, image or "", first)
    return (*known, config, _short(row.driver.ref), row.mapping or "-", what)


STYLES = {
    **dict.fromkeys(("conflict", "failure", "no mapping", "blocked", "committed"), "error"),
    **dict.fromkeys(("terminating", "taint", "kernel unknown", "not labelled", "waiting", "not known"), "warning"),
    "planned": "clean",
    "other version": "info",
    "not selected": "idle",
}
"""The style of each state on a terminal."""


def text(found: Sequence[Row], paint: printing.Paint = printing.plain) -> str:
    """Return a line per node and Module."""
    return _painted([HEAD, *map(cells, found)], paint)


def summary(found: Sequence[Row], paint: printing.Paint = printing.plain) -> str:
    """Return a line per config, kernel, image and state: on how many nodes, and in which clusters where there are any.

    A reason that names a node, or differs for each, stands by itself.
    """
    from ..formats.grouped import where  # here: rows need no names of several clusters

    numbers: dict[tuple[str, ...], dict[str, set[str]]] = {}
    for row in found:
        cluster, name, kernel, state, loaded, config, module, _, what = cells(row)
        key = (module if config == "-" else config, kernel, state, loaded, what)
        numbers.setdefault(key, {}).setdefault(cluster, set()).add(name)
    fleet = dict.fromkeys(row.cluster for row in found)
    named = [*fleet] != [""]
    lines = [("CONFIG", "KERNEL", "STATE", "LOADED", "NODES", *["CLUSTERS"] * named, "IMAGE OR REASON")]
    for (*facts, what), clusters in sorted(numbers.items()):
        number = f"{sum(map(len, clusters.values())):,}"
        lines.append((*facts, number, *[where(list(clusters), fleet)] * named, what))
    return _painted(lines, paint)


def _painted(rows: Sequence[Sequence[str]], paint: printing.Paint) -> str:
    """Return aligned columns, the state in its colour."""
    lines = [tuple(map(printing.printable, line)) for line in _shown(rows)]
    at, padded = lines[0].index("STATE"), aligned(lines)
    for line, cells_of_line in zip(lines[1:], padded[1:], strict=True):
        cells_of_line[at] = paint(line[at], STYLES[line[at]]) + cells_of_line[at][len(line[at]) :]
    return "".join(f"{'  '.join(line).rstrip()}\n" for line in padded)


def _shown(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return rows without the optional columns in which no row has anything."""
    columns = [at for at, name in enumerate(rows[0]) if name not in _OPTIONAL or any(row[at] for row in rows[1:])]
    return [[row[at] for at in columns] for row in rows]


def markdown(found: Sequence[Row], paint: printing.Paint = printing.plain) -> str:
    """Return a table for a pull request."""
    head, *body = _shown([HEAD, *map(cells, found)])
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
        "config": reference(driver.owner) if driver and driver.owner else None,
        "pool": driver.claim.pool or None if driver else None,
        **({"profile": driver.product} if driver and driver.product else {}),
        "module": reference(driver.ref) if driver else None,
        "mapping": resolution.mapping if resolution else None,
        "mappingText": row.mapping or None,
        "image": resolution.image if resolution else None,
        "inTreeModulesToRemove": list(resolution.in_tree) if resolution else [],
        "taints": [str(taint) for taint in outcome.taints] if outcome else [],
        "reason": row.reason or row.lacks or None,
    }


FORMATS: dict[str, Callable[[Sequence[Row], printing.Paint], str]] = {"text": summary, "markdown": markdown}


def _short(ref: Ref) -> str:
    return f"{ref.namespace}/{ref.name}" if ref.namespace else ref.name


def _escaped(cell: str) -> str:
    """Return text for a cell of a table in Markdown: nothing in it is markup."""
    escaped = "".join(f"\\{char}" if char in "\\`*_[]<>|~#" else char for char in printing.printable(cell))
    return escaped.replace("&", "&amp;")
