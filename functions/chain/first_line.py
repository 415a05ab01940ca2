"""The first line of an answer: names that the lines below it have whole are shortened, where it would be long."""

import re
from collections.abc import Iterator
from functools import partial

from .link import Subject

FITS = 125
"""Characters of a line: about 120, as a terminal shows them in two rows."""
_POD = r"(?P<name>(?:[\w.-]+/)?[a-z0-9][\w.]*-[\w.-]*)"
"""The name of a pod that something has made: it has a hyphen, as no word of ours has in that place."""


def fitted(subject: Subject, head: str, reason: str, below: str) -> str:
    """Return what is said of a Module on a node behind `head`, which names both and stays as it is.

    What says least goes first, and nothing goes from a line that fits. `below` is what stands under the line, or under
    `--verbose`: a name that is not in it stays.
    """
    for pattern, short in _shorter(subject):
        if len(head) + len(reason) <= FITS:
            break
        reason = re.sub(pattern, partial(_short, short, below), reason)
    return f"{head}{reason}"


def _short(short: str, below: str, match: re.Match[str]) -> str:
    name = match.groupdict().get("name", "").rpartition("/")[2]
    return match.expand(short) if name in below else match[0]


def _shorter(subject: Subject) -> Iterator[tuple[str, str]]:
    """Yield patterns of names, and what stands in their place."""
    if worker := subject.live.workers.get(subject.key):
        yield rf"the pod (?P<name>{re.escape(worker.pod)})", "its worker pod"
    yield re.escape(f"the label {subject.driver.ready}"), "its ready label"
    yield re.escape(f"the namespace {subject.module[0]}"), "its namespace"
    yield re.escape(f"ServiceAccount {subject.module[0]}/"), "ServiceAccount "
    yield re.escape(" (node.kubernetes.io/unschedulable:NoSchedule)"), ""
    loaded = subject.loaded.image if subject.loaded else ""
    for image in filter(None, (subject.image, loaded)):
        host, slash, name = image.rpartition("/")
        yield rf"{re.escape(host + slash)}(?P<name>{re.escape(name)})", r"\g<name>"
    yield r'\bpods "[^"]*" is forbidden', "pods are forbidden"
    yield r"\bpod [\w.-]+/(?P<name>[\w.-]+)", r"pod \g<name>"
    yield rf" \(pod {_POD}\)", ""
    yield rf": the pod {_POD}(?=:)", ""
    yield rf"\b(the (?:build |signing |pull )?pod) {_POD}", r"\1"
