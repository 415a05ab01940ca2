"""The first line of an answer: names that the lines below it have whole are shortened, where it would be long."""

import re
from collections.abc import Iterator

from .link import Subject

FITS = 125
"""Characters of a line: about 120, as a terminal shows them in two rows."""
_POD = r"(?:[\w.-]+/)?[a-z0-9][\w.]*-[\w.-]*"
"""The name of a pod that something has made: it has a hyphen, as no word of ours has in that place."""


def fitted(subject: Subject, head: str, reason: str) -> str:
    """Return what is said of a Module on a node behind `head`, which names both and stays as it is.

    What says least goes first, and nothing goes from a line that fits.
    """
    for pattern, short in _shorter(subject):
        if len(head) + len(reason) <= FITS:
            break
        reason = re.sub(pattern, short, reason)
    return f"{head}{reason}"


def _shorter(subject: Subject) -> Iterator[tuple[str, str]]:
    """Yield patterns of names, and what stands in their place; the command or the evidence has the whole name."""
    worker = subject.live.workers.get(subject.key)
    if worker:
        yield re.escape(f"the pod {worker.pod}"), "its worker pod"
    yield re.escape(f"the label {subject.driver.ready}"), "its ready label"
    yield re.escape(f"the namespace {subject.module[0]}"), "its namespace"
    yield re.escape(f"ServiceAccount {subject.module[0]}/"), "ServiceAccount "
    yield re.escape(" (node.kubernetes.io/unschedulable:NoSchedule)"), ""
    loaded = subject.loaded.image if subject.loaded else ""
    for image in filter(None, (subject.image, loaded)):
        yield re.escape(image), image.rpartition("/")[2]
    yield r'\bpods "[^"]*" is forbidden', "pods are forbidden"
    yield r"\bpod [\w.-]+/", "pod "
    yield rf" \(pod {_POD}\)", ""
    yield rf": the pod {_POD}(?=:)", ""
    yield rf"\b(the (?:build |signing |pull )?pod) {_POD}", r"\1"
