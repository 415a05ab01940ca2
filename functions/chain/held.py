"""What holds a kernel module on a node, so that KMM cannot unload it."""

from collections.abc import Sequence

from krmfn.printing import counted, some

from ..fleet.live_pods import Pod
from ..kmm.lookup import has, table, text
from ..kmm.module import NAME_LABEL, PLUGINS
from ..sentence import Sentence
from . import names
from .kernel_words import meaning
from .link import Link, Subject, holds, kubectl, on_the_node, unknown, versions
from .words import difference, of_pod

_SHOWN = 20
"""The names of pods in one line of evidence."""


def holders(subject: Subject) -> list[Pod]:
    """Return the pods on a node that may use the kernel module of a Module.

    These select nodes by the labels that KMM sets for it, or have a device of its DRA driver or a resource of its
    device plugin. A resource does not say which plugin serves it: where some are named after the kernel module or the
    Module, only these count. Without ResourceClaims in the dump each pod that has one counts.
    """
    driver = subject.driver
    keys = {*driver.set_by_kmm}
    pods = [pod for pod in subject.on_node() if NAME_LABEL not in pod.labels]
    selecting = [pod for pod in pods if pod.selects & keys]
    using = [pod for pod in pods if pod.devices] if any(has(driver.module.spec, field) for field in PLUGINS) else []
    names = {*driver.module.loads, driver.module.ref.name}
    named = [pod for pod in using if any(name in device.lower() for device in pod.devices for name in names)]
    claiming = [pod for pod in pods if pod.claims and _claims(subject, pod)]
    others = [pod for pod in pods if pod in claiming or pod in (named or using)]
    return [*selecting, *(pod for pod in others if pod not in selecting)]


def _claims(subject: Subject, pod: Pod) -> bool:
    """Return whether a pod has, or may have, a device of the Module's DRA driver."""
    name, objects = text(table(subject.driver.module.spec, "dra"), "driverName"), subject.live.objects
    if not name or "ResourceClaim" not in objects.kinds:
        return bool(name)
    return any(name in objects.claims.get((pod.namespace, claim), ()) for claim in pod.claims)


def holding(pods: Sequence[Pod]) -> str:
    """Return which pods hold something, as the beginning of a sentence: `team/a holds`, `team/a and 2 more pods hold`.

    The first is the one that a command below is about.
    """
    others = f" and {counted(len(pods) - 1, 'more pod')}" if pods[1:] else ""
    return f"{pods[0].full_name}{others} {'hold' if others else 'holds'}"


def all_of(pods: Sequence[Pod]) -> list[str]:
    """Return the names of several pods that hold something, in a sentence; [] for one, whose name stands above."""
    names = (pod.full_name for pod in pods)
    return [f"held by {some(names, len(pods), _SHOWN)}"] if pods[1:] else []


def judge(subject: Subject) -> Link:
    """Return whether KMM is free to unload what has to go: a pod that unloads and cannot is a broken link."""
    worker = subject.live.workers.get(subject.key)
    if worker is None or worker.action == "Load":
        return holds() if subject.has_pods else unknown("pods")
    held = holders(subject)
    name = worker.pod.rpartition("/")[2]
    namespace, _ = subject.module
    command = kubectl("logs", "-n", namespace, name, "-c", "worker", "--previous")
    evidence = [f"the pod {worker.pod} (Unload) {worker.status.sentence()}"]
    culprits = f"{holding(held)} the kernel module" if held else ""
    if held:
        command = kubectl("get", "pod", "-n", held[0].namespace, held[0].name, "-o", "wide")
        evidence += [*all_of(held), *(ending(pod) for pod in held if pod.deleted)]
    is_stuck = not worker.status.is_to_come
    words: Sentence = (names.worker_pod(worker), " (Unload) ", of_pod(worker.status))
    if (diagnosis := subject.diagnosis) and not held:
        words, command = (diagnosis.word.sense,), on_the_node(subject, diagnosis)
        evidence = [diagnosis.word.remedy, f"the log: {diagnosis.line}", *evidence]
    cause = (culprits,) if is_stuck and culprits else words
    if sense := meaning(worker.status.words):
        evidence.append(sense)
    elif is_stuck and not held and not subject.log:
        evidence.append("only the log of that pod says what uses it: pass it with --log FILE")
    if subject.is_done:
        return Link("broken", evidence, ("is loaded, and about to be unloaded: ", *cause), command)
    if subject.loaded and subject.image and subject.outcome.state == "planned":
        pair = difference(subject.loaded.image, subject.image)
        old, new = (names.image(subject, image) for image in pair)
        reason = (*versions(old, new), *cause)
        return Link("broken", evidence, reason, command, "", not is_stuck)
    return Link("broken", evidence, ("is still loaded: ", *cause), command, "", not is_stuck)


def ending(pod: Pod) -> str:
    """Return that a pod that is deleted does not go, with the finalizers that keep it."""
    since = pod.deleted[:16].replace("T", " ")
    keepers = f": finalizer {some(pod.finalizers, len(pod.finalizers))}" if pod.finalizers else ""
    return f"the pod {pod.full_name} is being deleted since {since}, and does not go{keepers}"
