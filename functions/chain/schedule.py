"""The link to the node's NodeModulesConfig: KMM wants the planned image on the node."""

from ..sentence import Sentence
from . import names
from .link import Link, Subject, holds, known_to_operator, unknown
from .words import difference


def _image_of(subject: Subject) -> str:
    """Return how far KMM has got with the image, without which it schedules nothing."""
    objects = subject.live.objects
    if objects.images.get(subject.module, {}).get(subject.image) == "Exists":
        return ", though its image is there"
    if subject.module in objects.images:
        return ": it has not looked for its image yet"
    if "ModuleImagesConfig" in objects.kinds:
        return ": it has made no ModuleImagesConfig, by which it looks for its image"
    return "; its image is not known: add `moduleimagesconfigs` to the dump"


def judge(subject: Subject) -> Link:
    """Return whether KMM has written the Module into the node's NodeModulesConfig, with the planned image."""
    scheduled, image = subject.scheduled, subject.image
    if not subject.driver.loads or subject.outcome.state != "planned":
        return holds()
    if not subject.live.configured:
        return unknown("nodemodulesconfigs.kmm.sigs.x-k8s.io")
    if scheduled is None:
        reason: Sentence = (f"is not scheduled by KMM{_image_of(subject)}",)
        evidence = ["KMM schedules nothing", f"image {image}"]
        return known_to_operator(subject, evidence, reason, "not scheduled")
    if (scheduled.image, scheduled.kernel) != (image, subject.kernel):
        old, new = (
            difference(scheduled.image, image) if scheduled.image != image else (scheduled.kernel, subject.kernel)
        )
        evidence = [f"KMM schedules {scheduled}", f"wanted {image} for {subject.kernel}"]
        reason = ("shall get ", names.image(subject, new), ", but KMM schedules ", names.image(subject, old))
        return known_to_operator(subject, evidence, reason, f"scheduled {old} {new}")
    return holds(f"KMM schedules {scheduled}")
