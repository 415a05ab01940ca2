"""How many Modules are planned on live nodes, how many are loaded there, and where not: the last lines of `nodes`."""

from collections.abc import Iterable, Iterator

from krmfn import Ref
from krmfn.printing import some

from ..fleet.explanation import LiveNodes
from ..fleet.table import COMMITTED, DRIVEN, Row
from ..grouping import grouped
from .progress import progress


def sentences(rows: Iterable[Row], live: LiveNodes) -> Iterator[str]:
    """Yield how many Modules are planned on the nodes of a dump, which are not loaded or only committed, and the slips.

    In an ordered upgrade each node that the Module selects counts as planned, whatever its version label says.
    """
    rows = [row for row in rows if row.driver and row.driver.loads]
    slips = list(progress(rows))
    upgraded = {_module(row) for row in rows if row.driver and row.driver.version_label} if slips else set()
    planned = [row for row in rows if row.state == DRIVEN or (_module(row) in upgraded and not row.is_lost)]
    missing = _names(row for row in planned if not row.loaded)
    plain = [row for row in rows if _module(row) not in upgraded]
    others = _names(row for row in plain if row.is_problem and row.state not in (DRIVEN, COMMITTED))
    differing = _names(row for row in plain if row.state == DRIVEN and row.loaded and row.agrees is False)
    lost = _names(row for row in rows if row.state == COMMITTED)
    text = f"planned {len(planned):,}, loaded {len(planned) - len(missing):,}"
    text += f", not loaded: {some(missing, len(missing))}" if missing else ""
    text += f"; loaded, and not as planned: {some(differing, len(differing))}" if differing else ""
    text += f"; selected and not planned: {some(others, len(others))}" if others else ""
    if lost:
        text += f"; {live.kept:,} of {live.kept + len(lost):,} committed are selected"
        text += f", not these: {some(lost, len(lost))}"
    if planned and not live.dump.configured:
        text += "; KMM's ready labels alone say so: add `nodemodulesconfigs` to the dump"
    yield text
    for doubt, names in grouped((row.doubt, row) for row in rows if row.doubt).items():
        yield f"{some(_names(names), len(names))}: {doubt}"
    yield from slips


def _module(row: Row) -> Ref | None:
    return row.driver.module.ref if row.driver else None


def _names(rows: Iterable[Row]) -> list[str]:
    """Return the Module and the node of each row, sorted."""
    return sorted(f"{row.driver.module.ref.name} on {row.node.name}" for row in rows if row.driver)
