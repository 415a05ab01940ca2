"""The link to the node's NodeModulesConfig: KMM wants the planned image on the node."""

from .link import Link, Subject, holds, operators_log, unknown
from .words import difference


def judge(subject: Subject) -> Link:
    """Return whether KMM has written the Module into the node's NodeModulesConfig, with the planned image."""
    scheduled, image = subject.scheduled, subject.image
    if not subject.driver.loads or subject.outcome.state != "planned":
        return holds()
    if not subject.live.configured:
        return unknown("nodemodulesconfigs.kmm.sigs.x-k8s.io")
    if scheduled is None:
        exists = subject.live.objects.images.get(subject.module, {}).get(image) == "Exists"
        reason = "is not scheduled by KMM: it has not found the image, or has not got to it yet"
        if exists:
            reason = "is not scheduled by KMM, though its image is there"
        evidence = ["KMM schedules nothing", f"image {image}"]
        if subject.has_pods and not subject.controllers():
            evidence.append("the dump has no pod of KMM's operator: does it run?")
        return Link("broken", evidence, reason, operators_log(subject), "not scheduled")
    if (scheduled.image, scheduled.kernel) != (image, subject.kernel):
        old, new = (
            difference(scheduled.image, image) if scheduled.image != image else (scheduled.kernel, subject.kernel)
        )
        evidence = [f"KMM schedules {scheduled}", f"wanted {image} for {subject.kernel}"]
        reason = f"shall get {new}, but KMM schedules {old}"
        return Link("broken", evidence, reason, operators_log(subject), f"scheduled {old} {new}")
    return holds(f"KMM schedules {scheduled}")
