"""The link of taints: the node lets KMM's pods on it, and is not cordoned."""

from ..exclusivity.node import Taint
from ..fleet import wording
from ..sentence import without
from .held import all_of, holders, holding
from .link import Link, Subject, holds, kubectl
from .mapping import still_loaded

_CORDON = "node.kubernetes.io/unschedulable"


def judge(subject: Subject) -> Link:
    """Return whether the Module tolerates the node's taints."""
    outcome, node = subject.outcome, subject.node
    evidence = f"taints {', '.join(map(str, node.taints)) or 'none'}"
    if outcome.state not in ("waiting", "taint"):
        return holds(evidence)
    reason, worker = wording.because(subject.drivers, outcome), subject.live.workers.get(subject.key)
    if worker and worker.action != "Load" and (held := holders(subject)):
        reason = without(wording.waits(outcome), *outcome.taints) if outcome.state == "waiting" else reason
        reason = (*reason, f"; it is still loaded: {holding(held)} the kernel module")
        lines = (evidence, f"the pod {worker.pod} ({worker.action}) {worker.status.sentence()}", *all_of(held))
        return Link("broken", lines, reason, _command(subject, outcome.taints))
    return Link("broken", (evidence,), (*reason, *still_loaded(subject)), _command(subject, outcome.taints))


def _command(subject: Subject, taints: tuple[Taint, ...]) -> str:
    """Return what mends it: uncordon; any other taint has somebody who has put it there."""
    name = subject.node.name
    if [taint.key for taint in taints] == [_CORDON]:
        return kubectl("uncordon", name)
    return kubectl("describe", "node", name)
