"""The link to the kernel: the planned image is loaded in the node's present boot."""

from ..sentence import Sentence
from . import names
from .link import Link, Subject, holds, kubectl, unknown
from .words import Quoted, difference


def judge(subject: Subject) -> Link:
    """Return whether the status of the node's NodeModulesConfig has the planned image and the present boot."""
    loaded, image = subject.loaded, subject.image
    if not subject.driver.loads or subject.outcome.state not in ("planned", "other version", "waiting", "not labelled"):
        return holds()
    if not subject.live.configured:
        return unknown("nodemodulesconfigs.kmm.sigs.x-k8s.io", unsure(subject))
    command = kubectl("get", "nodemodulesconfigs.kmm.sigs.x-k8s.io", subject.node.name, "-o", "yaml")
    evidence = [f"KMM has loaded {loaded or 'nothing'}"]
    if loaded is None:
        reason = "is not loaded" if subject.has_pods else "is not loaded: why is not known, add `pods` to the dump"
        return Link("broken", evidence, (reason,), command)
    boot = subject.live.boots.get(subject.node.name, "")
    if subject.keeps:
        return holds(*evidence)
    if loaded.image != image or loaded.kernel != subject.kernel:
        pair = difference(loaded.image, image) if loaded.image != image else (loaded.kernel, subject.kernel)
        old, new = (names.image(subject, words) for words in pair)
        return Link("broken", evidence, ("runs ", old, ", wanted ", new), command)
    if not loaded.boot or not boot:
        gap = "but whether since the node's last boot is not known: the dump has no boot"
        return Link("not known", evidence, ("was loaded as ", names.image(subject, image), f", {gap}"))
    if loaded.boot != boot:
        return Link("broken", evidence, ("was loaded before the node's last boot, and not since",), command)
    return holds(*evidence)


def unsure(subject: Subject) -> Sentence:
    """Return what is known of a driver by labels alone, where the dump has no NodeModulesConfig."""
    label = "has its ready label" if subject.is_ready else "lacks its ready label"
    worker = subject.live.workers.get(subject.key)
    head = f"{label}; the loaded image is not known: add `nodemodulesconfigs` to the dump"
    if worker is None:
        return (head,)
    return head, "; ", names.worker_pod(worker), f" ({worker.action}) ", Quoted(worker.status.sentence())
