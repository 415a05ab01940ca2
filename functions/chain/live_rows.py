"""The rows of `nodes` for live nodes: what runs, what Git plans, and whether they agree, in the words of `why`."""

from collections.abc import Iterable, Iterator, Mapping

from ..fleet import table
from ..fleet.coverage import Group
from ..fleet.drivers import Drivers
from ..fleet.explanation import LiveNodes
from ..fleet.table import ASSUMED, DRIVEN, Row
from ..sentence import Sentence, text, without
from .link import IS_LOADED, VERSIONS, Link, Subject, versions
from .walk import SYNCED, first, headline, is_fine, predicate, walk
from .words import difference


def rows(
    groups: Iterable[Group], drivers: Drivers, name: str = "", doubt: str = "", live: LiveNodes | None = None
) -> Iterator[Row]:
    """Yield the rows of a cluster as `table.rows` does; those of live nodes say what KMM has loaded there."""
    for row in table.rows(groups, drivers, name, doubt, live):
        yield _filled(row, drivers, live) if live else row


def _filled(row: Row, drivers: Drivers, live: LiveNodes) -> Row:
    """Return a row of a live node with what runs there.

    `loaded` is KMM's ready label and nothing else; which image runs stands in `runs`. A dump of nodes alone says that
    label and no more, so nothing is a problem by it.
    """
    driver, outcome = row.driver, row.outcome
    if driver is None or outcome is None:
        return row
    if row.node.name not in live.dump.nodes:
        return row._replace(loaded=False if driver.loads else None)
    subject = Subject(row.node, drivers, outcome, live.dump, live.cluster)
    is_loaded = subject.is_ready if driver.loads else None
    runs = subject.loaded.image if subject.loaded and subject.is_ready else ""
    row = row._replace(loaded=is_loaded, runs=runs)
    if row.is_lost:
        return row
    if live.dump.is_of_nodes:
        return _by_label(row)
    links = walk(subject)
    if not live.dump.configured and (not first(links) or outcome.state != "planned"):
        return _by_label(row)  # then KMM's ready label alone says so
    has_trouble = bool(live.dump.troubles.get(row.node.name))
    is_well = is_fine(subject, links)
    doubt = links[SYNCED].reason if is_well and not headline(links) and links[SYNCED].state == "not known" else ""
    agrees = None
    if driver.loads and live.dump.configured and not doubt:
        agrees = {"planned": subject.is_done, "other version": False}.get(outcome.state)
    reason = _reason(subject, links)
    row = row._replace(agrees=agrees, holds=is_well and not has_trouble, doubt=doubt)
    row = row._replace(reason=text(reason), short_reason=text(without(reason, VERSIONS)))
    return row._replace(is_unsynced=headline(links) == SYNCED and links[SYNCED].is_of_cluster)


def _by_label(row: Row) -> Row:
    """Return a row of a node of which nothing but its labels is known."""
    if row.state != DRIVEN:
        return row._replace(agrees=False if row.state == ASSUMED else None)
    return row._replace(reason=row.reason or ("lacks its ready label" if row.loaded is False else ""))


def _reason(subject: Subject, links: Mapping[str, Link]) -> Sentence:
    """Return the first broken link in words: what runs and what is wanted, where they differ; () for none."""
    name = headline(links)
    trouble = "; ".join(subject.live.troubles.get(subject.node.name, ()))
    if is_fine(subject, links) and (trouble or not name):
        return (trouble,)
    if name == SYNCED and subject.loaded and subject.is_ready and subject.loaded.image != subject.image:
        old, new = difference(subject.loaded.image, subject.image)
        return (*versions(old, new), "not synced yet")
    return without(predicate(subject, links), IS_LOADED.about)
