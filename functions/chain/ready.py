"""The link to KMM's ready label, which says that a driver is loaded."""

from .link import Link, Subject, holds, known_to_operator
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
    reason = f"is loaded, but the node lacks the label {label}" if subject.is_done else f"lacks the label {label}"
    return known_to_operator(subject, (f"label {label}: not there",), reason)
