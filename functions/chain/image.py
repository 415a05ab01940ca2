"""The link to the image: KMM looks for it, builds it or signs it before it schedules anything."""

import re
from collections.abc import Hashable

from ..fleet.live_pods import IMAGE_OWNER, Pod
from ..kmm.lookup import table, text
from ..kmm.module import LABELS, NAME_LABEL
from ..sentence import Sentence
from . import names
from .link import Link, Subject, described, holds, is_openshift, known_to_operator, kubectl, unknown
from .words import Quoted, missing_secret, of_pod, shortened

_KERNEL = f"{LABELS}target-kernel"
_KINDS = (f"{LABELS}resource-type", f"{LABELS}pod-type")
"""The labels that say what a pod does for an image: the first in KMM main, the second in older versions and forks."""
_UNSIGNED = "NeedsSigning"
"""The state of an image that is built and not signed. Source: KMM main, api/v1beta1/moduleimagesconfig_types.go."""
_SECRET = re.compile(r'secrets? "([^"]+)" not found')
_REFUSED = re.compile(r"unauthorized|denied|forbidden|authentication required|no basic auth", re.IGNORECASE)


def judge(subject: Subject) -> Link:
    """Return whether the image for the node's kernel is there: what is said of it has the image as its subject."""
    return _judged(subject)._replace(has_subject=True)


def _judged(subject: Subject) -> Link:
    """Return whether the image for the node's kernel is there, as KMM found out (ModuleImagesConfig).

    Five situations of an image that is not: its build or signing failed, waits, or goes on; none has begun; or it is
    not built at all, and the pod that looks for it does not find it.
    """
    image, objects = subject.image, subject.live.objects
    if subject.outcome.state not in ("planned", "not labelled", "waiting") or not image:
        return holds()
    state = objects.images.get(subject.module, {}).get(image, "")
    entry = subject.scheduled
    if state == "Exists" or subject.is_done or (entry and entry.image == image and state == ""):
        return holds(f"the image {image} is there")
    makers = [pod for pod in subject.of_module() if _makes(pod, subject)]
    if makers:
        return _in_the_making(subject, sorted(makers, key=_urgency)[0])
    action, result = objects.builds.get(subject.module, {}).get(image, ("", ""))
    if result == "Failure":
        noun = "signed" if action == "SignImage" else "built"
        gone = "the pod that tried is gone (ModuleBuildSignConfig: Failure)"
        reason: Sentence = (f"its image could not be {noun}, and {gone}",)
        return known_to_operator(subject, (f"image {image}",), reason, f"{action} {image}", "image")
    pulls = [pod for pod in subject.of_module() if _looks_for(pod, subject)]
    if pulls and (pulls[0].status.state != "at work" or state != "DoesNotExist"):
        return _looked_for(subject, pulls[0])
    if verb := _recipe(subject):
        if entry is None and (state or subject.outcome.state == "planned"):
            return _not_begun(subject, "signed" if state == _UNSIGNED else verb)
    elif state == "DoesNotExist":
        reason = ("its image ", names.image(subject, image), " is not there: KMM asked the registry")
        command = kubectl("get", "moduleimagesconfigs.kmm.sigs.x-k8s.io", "-n", *subject.module, "-o", "yaml")
        return Link("broken", (f"image {image}: {state}",), reason, command, image, shared="image")
    return unknown("moduleimagesconfigs.kmm.sigs.x-k8s.io") if not state else holds(f"image {image}: {state}")


def _makes(pod: Pod, subject: Subject) -> bool:
    """Return True for a pod that builds or signs the image for the node's kernel."""
    namespace, name = subject.module
    is_of_module = (pod.namespace, pod.labels.get(NAME_LABEL)) == (namespace, name)
    kernels = {subject.kernel, re.sub(r"[^A-Za-z0-9_.-]", "_", subject.kernel)}
    return is_of_module and pod.labels.get(_KERNEL) in kernels and pod.phase != "Succeeded"


def _urgency(pod: Pod) -> tuple[bool, bool, str]:
    return pod.phase != "Failed", pod.status.state == "at work", pod.name


def _in_the_making(subject: Subject, pod: Pod) -> Link:
    """Return the link to an image that a pod builds or signs, or has failed to."""
    is_signed = any("sign" in pod.labels.get(label, "").lower() for label in _KINDS)
    noun, verb = ("signing", "signed") if is_signed else ("build", "built")
    command = kubectl("logs", "-n", pod.namespace, pod.name)
    evidence = (f"image {subject.image}", f"the {noun} pod {pod.full_name} {pod.status.sentence()}")
    cause, pod_name = pod.full_name, names.a_pod(pod, f"{noun} pod")
    if pod.phase == "Failed" or pod.restarts:
        code = f" with exit code {pod.exit_code}" if pod.exit_code else ""
        words = shortened(pod.status.words)
        detail = (": ", Quoted(words)) if words and not words.startswith("Error") else ()
        reason: Sentence = (f"its image was not {verb}: ", pod_name, f" failed{code}", *detail)
        return Link("broken", evidence, reason, command, cause, shared=f"{noun} pod")
    if not pod.status.is_to_come:
        because: Hashable = Quoted(shortened(pod.status.words))
        match = _SECRET.search(pod.status.words)
        if secret := match[1] if match else missing_secret(pod.status):
            because = f"secret {secret} not found"
            command = kubectl("get", "secret", "-n", pod.namespace, secret)
        else:
            command = described(pod)
        gerund = "signing" if is_signed else "building"
        reason = (f"its image is not there: {gerund} waits: ", because, names.pod_beside(pod))
        return Link("broken", evidence, reason, command, cause, shared=f"{noun} pod")
    since = f" since {pod.since[:16].replace('T', ' ')}" if pod.since else ""
    reason = (f"its image is being {verb}{since}: ", pod_name, f" {pod.status.sentence('runs')}")
    command = kubectl("logs", "-f", "-n", pod.namespace, pod.name)
    return Link("broken", evidence, reason, command, cause, True, f"{noun} pod")


def _looks_for(pod: Pod, subject: Subject) -> bool:
    """Return True for the pod with which KMM looks for the image."""
    namespace, name = subject.module
    return (pod.namespace, pod.labels.get(IMAGE_OWNER)) == (namespace, name) and subject.image in pod.images


def _looked_for(subject: Subject, pod: Pod) -> Link:
    """Return the link to an image that KMM looks for by a pod that pulls it."""
    evidence = [f"image {subject.image}", f"the pull pod {pod.full_name} {pod.status.sentence()}"]
    pod_name = names.a_pod(pod, "pull pod")
    if pod.status.is_to_come:
        reason: Sentence = ("its image is being looked for: ", pod_name, f" {pod.status.sentence()}")
        return Link("broken", evidence, reason, described(pod), pod.full_name, True, "pull pod")
    reason = ("its image is not checked: ", pod_name, " ", of_pod(pod.status))
    command = described(pod)
    if secret := missing_secret(pod.status):
        reason = (f"its image is not checked: the pull secret {secret} is not there", names.pod_beside(pod))
        command = kubectl("get", "secret", "-n", pod.namespace, secret)
        return Link("broken", evidence, reason, command, pod.full_name, shared="pull pod")
    if "untolerated taint" in pod.status.words:
        evidence.insert(0, "KMM up to 2.6 gives its pull pod no tolerations: it needs a node without such a taint")
    if _REFUSED.search(pod.status.words):
        secret = text(table(subject.driver.module.spec, "imageRepoSecret"), "name")
        where = (
            f"the pull secret {secret} (imageRepoSecret)" if secret else "the pull secret: imageRepoSecret names none"
        )
        evidence.insert(0, f"the registry refuses KMM: look at {where}")
        command = kubectl("get", "secret", "-n", pod.namespace, secret) if secret else command
    return Link("broken", evidence, reason, command, pod.full_name, shared="pull pod")


def _recipe(subject: Subject) -> str:
    """Return `built` or `signed` for an image that KMM makes here; "" for one that somebody pushes, or a hub makes."""
    if subject.driver.through_hub:
        return ""
    at, module = subject.outcome.resolution.mapping, subject.driver.module
    holders = (module.container, *([module.mappings[at]] if at is not None else []))
    return next(
        (verb for field, verb in (("build", "built"), ("sign", "signed")) if any(field in h for h in holders)), ""
    )


def _not_begun(subject: Subject, verb: str) -> Link:
    """Return the link to an image that has to be made, and that nobody makes."""
    evidence = [f"image {subject.image}"]
    if is_openshift(subject):
        evidence.append(
            "KMM may not know the driver toolkit of the node's OS: look for `OS --> DTK mapping` in the log"
        )
    reason = (f"its image has to be {verb}, and no pod does it: look into the operator's log",)
    return known_to_operator(subject, evidence, reason, f"no pod for {subject.image}", "image")
