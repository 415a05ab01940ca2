"""The link to KMM's worker pod, which loads the kernel module on the node."""

from ..sentence import Sentence, text
from . import names
from .kernel_words import meaning
from .link import Link, Subject, account_of, holds, known_to_operator, kubectl, on_the_node, unknown
from .words import missing_secret, of_pod


def judge(subject: Subject) -> Link:
    """Return whether the worker pod is there, or done, and gets on."""
    live = subject.live
    if subject.is_done or not subject.driver.loads or subject.outcome.state != "planned" or not live.configured:
        return holds()
    worker = live.workers.get(subject.key)
    if worker is None:
        return _without_pod(subject)
    if worker.action != "Load":
        return holds(f"the pod {worker.pod} ({worker.action}) {worker.status.sentence()}")
    namespace, pod = subject.module[0], worker.pod.rpartition("/")[2]
    status = of_pod(worker.status)
    reason: Sentence = (f"{_head(subject)}: ", names.worker_pod(worker), f" ({worker.action}) ", status)
    kept = next((pod for pod in live.objects.pods if pod.full_name == worker.pod), None)
    code = f" (exit code {kept.exit_code})" if kept and kept.exit_code else ""
    evidence = [f"the pod {worker.pod} ({worker.action}) {worker.status.sentence()}{code}"]
    if diagnosis := subject.diagnosis:
        evidence = [diagnosis.word.remedy, f"the log: {diagnosis.line}", *evidence]
        reason = (f"{_head(subject)}: {diagnosis.word.sense}",)
        return Link("broken", evidence, reason, on_the_node(subject, diagnosis))
    if worker.status.is_to_come:
        return Link("broken", evidence, reason, "", "", True)
    if sense := meaning(worker.status.words):
        evidence.append(sense)
    is_crash = kept is not None and (kept.restarts or bool(kept.exit_code))
    if secret := missing_secret(worker.status):
        reason = (f"{_head(subject)}: ", names.worker_pod(worker), f" lacks the pull secret {secret}")
        return Link("broken", evidence, reason, kubectl("get", "secret", "-n", namespace, secret))
    if not is_crash:
        return Link("broken", evidence, reason, kubectl("describe", "pod", "-n", namespace, pod))
    command = kubectl("logs", "-n", namespace, pod, "-c", "worker", "--previous")
    if not subject.log and not sense:
        evidence.append("only its log says why it fails: pass it with --log FILE")
    words = f"{worker.action} {status}"
    return Link("broken", evidence, reason, command, words, shared="words of the worker pod")


def _without_pod(subject: Subject) -> Link:
    """Return why KMM has made no worker pod, as far as the dump says."""
    if subject.scheduled is None:
        return holds()
    if not subject.has_pods:
        return unknown("pods")
    namespace, objects = subject.module[0], subject.live.objects
    account, cause = account_of(subject), Sentence()
    level, is_ending = objects.namespaces.get(namespace, ("", False))
    if "ServiceAccount" in objects.kinds and (namespace, account) not in objects.accounts:
        cause = ("its ", names.account(subject, account), " is not there")
        command = kubectl("get", "sa", "-n", namespace)
    elif is_ending:
        cause = (names.namespace(subject), " is being deleted, so no pod can be made in it")
        command = kubectl("get", "namespace", namespace, "-o", "yaml")
    elif level in ("baseline", "restricted"):
        cause = (names.namespace(subject), f" enforces Pod Security {level}, which refuses KMM's worker pods")
        label = "pod-security.kubernetes.io/enforce=privileged"
        command = kubectl("label", "namespace", namespace, label, "--overwrite")
    elif namespace in objects.full_quotas:
        cause = (f"the quota {objects.full_quotas[namespace]} of ", names.namespace(subject), " is used up")
        command = kubectl("describe", "quota", "-n", namespace)
    else:
        pods = "no worker pod is in the dump" + ("" if subject.controllers() else ", and none of KMM's operator")
        return known_to_operator(subject, (), (f"{_head(subject)}: {pods}",), pods, "cause")
    return Link("broken", (), (f"{_head(subject)}: ", *cause), command, text(cause), shared="cause")


def _head(subject: Subject) -> str:
    """Return that a driver is not loaded, or not any more."""
    is_former = subject.loaded is not None and not subject.is_of_this_boot
    return "is not loaded since the node's last boot" if is_former else "is not loaded"
