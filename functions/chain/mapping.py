"""The link from a node's kernel to a mapping of the Module, and what keeps KMM from the node altogether."""

from ..fleet import wording
from ..sentence import Sentence
from . import names
from .link import Link, Subject, holds, kubectl
from .words import of_pod

_KEPT_OUT = ("conflict", "terminating", "kernel unknown", "no mapping", "failure", "not judged", "blocked")
NOUNS = frozenset({"conflict", "failure", "kernel unknown", "no mapping", "not judged"})
"""States whose reason has no verb, so that it cannot follow the name of a Module."""


def judge(subject: Subject) -> Link:
    """Return whether a kernel mapping gives the node an image, and KMM does not fail over it."""
    outcome = subject.outcome
    if outcome.state not in _KEPT_OUT:
        text = wording.mapping(subject.driver, outcome)
        return holds(f"mapping {text}: {subject.image}" if text else "it loads nothing")
    reason = wording.reason(subject.drivers, outcome)
    command = ""
    if outcome.state in NOUNS:
        reason = f"gets no driver: {reason}"
    if outcome.state == "no mapping":
        reason += f" {subject.node.kernel}"
        command = f"krmfn nodes --kernel {subject.node.kernel} --problems"
    if outcome.state == "blocked":
        failure = outcome.problem or outcome.failure
        reason = f"is blocked by node {outcome.blocker}: KMM fails there ({failure}), and so on all nodes"
        command = kubectl("describe", "node", outcome.blocker)
    if outcome.state in ("kernel unknown", "failure"):
        command = kubectl("describe", "node", subject.node.name)
    evidence = [f"mappings {', '.join(map(wording.condition, subject.driver.module.mappings))}"]
    words = (reason, *still_loaded(subject))
    return Link("broken", evidence, words, command, f"{outcome.state} {reason}", shared="reason")


def still_loaded(subject: Subject) -> Sentence:
    """Return that a Module is still loaded on a node that shall not have it, and what its worker pod does; or ()."""
    is_loaded = subject.is_of_this_boot if subject.loaded else subject.is_ready
    suffix = ("; it is still loaded",) if is_loaded else ()
    if (worker := subject.live.workers.get(subject.key)) is None:
        return suffix
    sign = ": " if suffix else "; "
    return (*suffix, sign, names.worker_pod(worker), f" ({worker.action}) ", of_pod(worker.status))
