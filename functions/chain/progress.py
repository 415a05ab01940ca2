"""How far an ordered upgrade is on live nodes: what runs the new version, what waits for its turn, and what slipped."""

from collections.abc import Collection, Iterable, Iterator, Sequence

from krmfn.printing import closest, some

from ..fleet.table import ASSUMED, DRIVEN, Row
from ..grouping import grouped


def progress(rows: Iterable[Row]) -> Iterator[str]:
    """Yield a sentence about each Module with a version of which some node does not run that version."""
    versioned = ((row.driver.module.ref, row) for row in rows if row.driver and row.driver.version_label)
    for of_module in grouped(versioned).values():
        slips = list(_slips(of_module))
        done = [row for row in of_module if row.state == DRIVEN and row.loaded and not row.reason]
        driver = of_module[0].driver
        if slips and driver:
            name = f"{driver.module.ref.namespace}/{driver.module.ref.name}"
            head = f"{name} {driver.module.version}: {len(done):,} of {len(of_module):,}"
            yield "; ".join((head, *slips))


def _slips(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the slips by name, and how many nodes wait for their turn; each row that is not done is in one of them."""
    if unsynced := [row.node.name for row in rows if row.is_unsynced]:
        yield f"not synced: {some(unsynced, len(unsynced))}"
    rows = [row for row in rows if not row.is_unsynced]
    if rows:
        yield from _own_slips(rows)


def _own_slips(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the slips of nodes on which more is broken than that their Module is not synced."""
    stuck = [row for row in rows if row.state == DRIVEN and (row.reason or not row.loaded)]
    stuck += [row for row in rows if row.state == ASSUMED and row.loaded and row.is_problem]
    if stuck:
        pairs = ((row.node.name, row.short_reason or row.reason or "not loaded") for row in stuck)
        yield f"stuck: {some((f'{name} ({reason})' for name, reason in pairs), len(stuck))}"
    if bare := [row.node.name for row in rows if row.state == "not labelled"]:
        yield f"without label, so unloaded: {some(bare, len(bare))}"
    waiting = [row for row in rows if row.state == ASSUMED and row.loaded and not row.is_problem]
    versions = {row.outcome.failure for row in rows if row.state == ASSUMED and row.loaded and row.outcome}
    yield from _unloaded(rows, versions)
    others = [(row.state, row.node.name) for row in rows if row.state not in (DRIVEN, ASSUMED, "not labelled")]
    yield from (f"{state}: {some(names, len(names))}" for state, names in grouped(others).items())
    if waiting:
        yield f"waiting: {len(waiting):,}"


def _unloaded(rows: Sequence[Row], versions: Collection[str]) -> Iterator[str]:
    """Yield the nodes without a driver whose label says another version; `versions` are those that run somewhere."""
    pairs = [
        (row.outcome.failure, row.node.name) for row in rows if row.state == ASSUMED and not row.loaded and row.outcome
    ]
    target = rows[0].driver.module.version if rows[0].driver else ""
    for value, names in grouped(pairs).items():
        if value in versions:
            yield f"not loaded in version {value}: {some(names, len(names))}"
            continue
        guess = closest(value, [*versions, target])
        yield f"unknown version {value} on {some(names, len(names))}" + (f", did you mean {guess}?" if guess else "")
