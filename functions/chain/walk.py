"""KMM's chain, link by link: from the Module in Git to the pods that use the driver."""

from collections.abc import Callable, Iterable, Mapping

from ..sentence import Sentence
from . import (
    controller,
    held,
    image,
    loaded,
    mapping,
    names,
    plugin,
    ready,
    rival,
    schedule,
    synced,
    taints,
    version,
    worker,
)
from .link import Link, Subject

LINKS: Mapping[str, Callable[[Subject], Link]] = {
    "synced": synced.judge,
    "mapping": mapping.judge,
    "operator": controller.judge,
    "image": image.judge,
    "version": version.judge,
    "taints": taints.judge,
    "scheduled": schedule.judge,
    "alone": rival.judge,
    "unload": held.judge,
    "worker": worker.judge,
    "loaded": loaded.judge,
    "ready": ready.judge,
    "plugin": plugin.judge,
    "workloads": plugin.judge_workloads,
}
"""The links in KMM's order. The link from the node's labels to the selector stands before them all: without it there is
no Module on the node (`selected`)."""
_OF_IMAGE = ("operator", "image", "scheduled", "worker", "loaded")
"""The links that a node has no need of that has the image of Git's."""
_UNTOUCHED, _BESIDE = ("image", "plugin", "workloads"), ("alone", "plugin", "workloads")
"""Links that may be on their way while the loaded driver stays as it is, and those that are about what runs then."""
SELECTED, SYNCED = "selected", "synced"
"""The name of that link, and of the one that goes before it where the Module on the cluster selects by other labels."""


def walk(subject: Subject) -> dict[str, Link]:
    """Return each link of the chain for a Module on a node, by its name, in order.

    Where the Module on the cluster is not what Git renders, the links behind that are about the one on the cluster; but
    a node that has the image of Git's has nothing to load.
    """
    link, actual = synced.judge(subject), subject
    if link.state == "broken":
        actual = synced.on_cluster(subject)
        link = link._replace(is_of_cluster=actual is not subject)
    subjects = dict.fromkeys(LINKS, actual) | (dict.fromkeys(_OF_IMAGE, subject) if subject.is_done else {})
    return {SYNCED: link, **{name: judge(subjects[name]) for name, judge in LINKS.items() if name != SYNCED}}


def first(links: Mapping[str, Link]) -> str:
    """Return the name of the first broken link; "" without one.

    A node that keeps its version until its label changes runs it, so whatever else is broken comes before that. What
    runs while a new image is made, or a plugin starts, is told before that, too.
    """
    broken = [name for name, link in links.items() if link.state == "broken"]
    if not broken or not links[broken[0]].waits:
        return broken[0] if broken else ""
    if broken[1:] and broken[0] == "version":
        return broken[1]
    is_running = broken[0] in _UNTOUCHED and links["ready"].state == "holds"
    beside = [name for name in broken if is_running and name in _BESIDE and not links[name].waits]
    return beside[0] if beside else broken[0]


def headline(links: Mapping[str, Link]) -> str:
    """Return the name of the broken link that is told first; "" without one.

    A Module that is not synced is broken on all nodes alike; what is broken on a node beside that is told before it.
    Where the Module is not on the cluster, another one that loads its kernel module there is: a sync changes nothing.
    """
    name = first(links)
    if name != SYNCED:
        return name
    if not links[SYNCED].is_of_cluster:
        return "alone" if links["alone"].state == "broken" else name
    others = {other: link for other, link in links.items() if other != SYNCED}
    nearest = first(others)
    return nearest if nearest and not others[nearest].waits else name


def is_fine(subject: Subject, links: Mapping[str, Link]) -> bool:
    """Return whether a node has what is planned, or gets it without anybody's help while a driver runs."""
    name = first(links)
    if not subject.driver.loads:
        return not name and links["plugin"].state == "holds"
    if not subject.is_ready:
        return False
    if name == SYNCED and any(link.state == "broken" and not link.waits for link in links.values()):
        return False
    return links[name].waits if name else links["loaded"].state == "holds"


def gaps(links: Iterable[Link]) -> str:
    """Return which kinds the dump lacks, by which some links are not known; "" for none."""
    kinds = dict.fromkeys(link.lacks.partition(".")[0] for link in links if link.lacks)
    return f"not known: the dump has no {', '.join(kinds)}" if kinds else ""


def predicate(subject: Subject, links: Mapping[str, Link]) -> Sentence:
    """Return what is said of a Module on a node, behind its name: the first break, what is not known, or that it runs.

    It has a subject of its own where the link has (`Link.has_subject`).
    """
    if name := headline(links):
        is_unsynced = name != first(links) and first(links) == SYNCED
        return (*links[name].sentence, *(("; not synced yet",) if is_unsynced else ()))
    if not subject.driver.loads:
        unsure = "whether its plugin is running is not known: add `pods` to the dump"
        return (f"loads nothing, and {'its plugin is running' if is_fine(subject, links) else unsure}",)
    if is_fine(subject, links):
        doubts = [links[SYNCED].reason if links[SYNCED].state == "not known" else "", gaps(links.values())]
        return "is loaded: ", names.image(subject, subject.image), *(f"; {doubt}" for doubt in doubts if doubt)
    reasons = (links[name].sentence for name in ("loaded", "ready") if links[name].state == "not known")
    return next(filter(None, reasons), ("is not known to be loaded",))
