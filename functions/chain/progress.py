"""How far an ordered upgrade is on live nodes: what runs the new version, what waits for its turn, and what slipped."""

from collections.abc import Iterable, Iterator, Sequence

from krmfn.printing import closest, some

from ..fleet.table import ASSUMED, DRIVEN, Row
from ..grouping import grouped


def progress(rows: Iterable[Row]) -> Iterator[str]:
    """Yield a sentence about each Module with a version of which some node does not run that version."""
    versioned = ((row.driver.module.ref, row) for row in rows if row.driver and row.driver.version_label)
    for of_module in grouped(versioned).values():
        parts = list(_parts(of_module))
        done = [row for row in of_module if row.state == DRIVEN and row.loaded and not row.reason]
        driver = of_module[0].driver
        if parts and driver:
            name = f"{driver.module.ref.namespace}/{driver.module.ref.name}"
            head = f"{name} {driver.module.version}: {len(done):,} of {len(of_module):,}"
            yield "; ".join((head, *parts))


def _parts(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the slips by name, and how many nodes wait for their turn."""
    stuck = [f"{row.node.name} ({_short(row.reason)})" for row in rows if row.state == DRIVEN and row.reason]
    if stuck:
        yield f"stuck: {some(stuck, len(stuck))}"
    if bare := [row.node.name for row in rows if row.state == "not labelled"]:
        yield f"without label, so unloaded: {some(bare, len(bare))}"
    waiting = [row for row in rows if row.state == ASSUMED and row.loaded]
    known = {row.outcome.failure for row in waiting if row.outcome}
    slips = [
        (row.outcome.failure, row.node.name)
        for row in rows
        if row.state == ASSUMED and row.loaded is False and row.outcome
    ]
    for value, names in grouped(slips).items():
        target = rows[0].driver.module.version if rows[0].driver else ""
        guess = "" if value in known else closest(value, [*known, target])
        word = "version" if value in known else "unknown version"
        yield f"{word} {value} on {some(names, len(names))}" + (f", did you mean {guess}?" if guess else "")
    if waiting:
        yield f"waiting: {len(waiting):,}"


def _short(reason: str) -> str:
    """Return what is stuck without the versions, which the sentence has said."""
    return reason.partition(": ")[2] if reason.startswith("runs ") else reason
