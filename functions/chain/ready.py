"""The link to KMM's ready label, which says that a driver is loaded."""

from . import names
from .link import IS_LOADED, Link, Subject, holds, known_to_operator
from .loaded import unsure


def judge(subject: Subject) -> Link:
    """Return whether the node has the ready label."""
    label = subject.driver.ready
    if not subject.driver.loads:
        return holds()
    if subject.is_ready:
        return holds(f"label {label}: there")
    if not subject.live.configured:
        return Link("broken", (f"label {label}: not there",), unsure(subject))
    head = (IS_LOADED, "the node lacks ") if subject.is_done else ("lacks ",)
    return known_to_operator(subject, (f"label {label}: not there",), (*head, names.ready_label(subject)))
