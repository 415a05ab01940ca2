"""The links behind the kernel module: the device plugin or DRA driver, and the config's own DaemonSets."""

from ..fleet.live import ROLES
from ..fleet.live_pods import Pod
from ..kmm.lookup import has
from ..kmm.module import NAME_LABEL, PLUGINS
from .link import Link, Subject, described, holds, kubectl, unknown
from .words import of_pod

_OWN = "krmfn.dev/daemonset"


def judge(subject: Subject) -> Link:
    """Return whether the device plugin's, or the DRA driver's, pod runs on the node."""
    fields = {role: field for role, field in ROLES.items() if has(subject.driver.module.spec, field)}
    if not fields:
        return holds()
    known = False
    for role, field in fields.items():
        absence = "its pods are on other nodes, and none on this one"
        other = absence if (*subject.module, role) in subject.live.roles else ""
        problem = subject.live.plugins.get((*subject.key, role))
        known = known or problem is not None
        if problem := other if problem is None else problem:
            return _broken(subject, f"its {PLUGINS[field]} is not running: {problem}")
    return holds("its plugin is running") if known else unknown("pods")


def _broken(subject: Subject, problem: str) -> Link:
    head = "is loaded, but" if subject.driver.loads else "loads nothing, and"
    evidence = (problem.partition(": ")[2],) if of_pod(problem) != problem else ()
    namespace, name = subject.module
    command = kubectl("get", "pods", "-n", namespace, "-l", f"{NAME_LABEL}={name}", "-o", "wide")
    for pod in subject.on_node():
        if pod.full_name in problem:
            command = described(pod) if not pod.restarts else _log(pod)
    return Link("broken", evidence, f"{head} {of_pod(problem)}", command)


def judge_workloads(subject: Subject) -> Link:
    """Return whether the pods of the config's own DaemonSets get on."""
    keys = {*subject.driver.set_by_kmm}
    if not subject.has_pods:
        return unknown("pods")
    for pod in subject.on_node():
        is_own = _OWN in pod.labels or (pod.is_daemon and pod.namespace == subject.module[0])
        if is_own and pod.selects & keys and NAME_LABEL not in pod.labels and pod.status and not pod.is_ready:
            sentence = f"the pod {pod.full_name} of its DaemonSet {pod.status}"
            command = _log(pod) if pod.restarts else described(pod)
            return Link("broken", (sentence,), f"is loaded, but {of_pod(sentence)}", command)
    return holds()


def _log(pod: Pod) -> str:
    return kubectl("logs", "-n", pod.namespace, pod.name, "--all-containers", "--previous")
