"""The link to KMM's operator, which has to run for all that comes after it."""

from . import names
from .link import Link, Subject, described, holds, not_known, unknown
from .words import Quoted, of_pod, shortened


def judge(subject: Subject) -> Link:
    """Return whether a pod of KMM's controller runs; a driver that is loaded as planned does not need it."""
    if not subject.has_pods:
        return unknown("pods")
    pods = subject.controllers()
    if not pods:
        return not_known("the dump has no pod of KMM's operator")
    if subject.is_done or subject.keeps or any(pod.is_ready for pod in pods):
        return holds("KMM's operator runs")
    pod = pods[0]
    is_stuck = pod.status.state == "stuck"
    words = Quoted(shortened(pod.status.words)) if is_stuck else of_pod(pod.status, "is not ready")
    reason = ("waits for KMM's operator", names.pod_behind(pod), ": ", words)
    return Link(
        "broken",
        (f"the pod {pod.full_name} {pod.status.sentence('is not ready')}",),
        reason,
        described(pod),
        "operator",
        shared="operator",
    )
