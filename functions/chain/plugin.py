"""The links behind the kernel module: the device plugin or DRA driver, and the config's own DaemonSets."""

from ..fleet.facts import PASSING, tolerates
from ..fleet.live import ROLES
from ..fleet.live_engines import Name
from ..fleet.live_pods import Pod
from ..kmm.lookup import has, table
from ..kmm.module import NAME_LABEL, PLUGINS
from .link import Link, Subject, described, holds, kubectl, unknown
from .words import of_pod, shortened

_OWN = "krmfn.dev/daemonset"


def judge(subject: Subject) -> Link:
    """Return whether the device plugin's, or the DRA driver's, pod runs on the node."""
    fields = {role: field for role, field in ROLES.items() if has(subject.driver.module.spec, field)}
    if not fields:
        return holds()
    problems = {role: _problem(subject, role) for role in fields}
    for role, problem in problems.items():
        if problem:
            return _broken(subject, role, f"its {PLUGINS[fields[role]]} is not running: {problem}")
    if None not in problems.values():
        return holds("its plugin is running")
    return (
        Link("not known", ("not known: no pod of its plugin is in the dump",)) if subject.has_pods else unknown("pods")
    )


def _problem(subject: Subject, role: str) -> str | None:
    """Return why the pod of a role does not run on the node; "" for one that does, None where it is not known."""
    problem = subject.live.plugins.get((*subject.key, role))
    if problem is not None:
        return problem
    if subject.driver.loads and not subject.is_ready:
        return None
    if refusal := _refusal(subject, role):
        return shortened(refusal[1])
    is_elsewhere = (*subject.module, role) in subject.live.roles
    return "its pods are on other nodes, and none on this one" if is_elsewhere else None


def _refusal(subject: Subject, role: str) -> tuple[str, str] | None:
    """Return the name of a role's DaemonSet, and why no pod of it can be made; None where none is refused.

    Source of the names of DaemonSets: KMM v2.6.0, internal/controllers/device_plugin_reconciler.go.
    """
    namespace, name = subject.module
    for (space, daemon_set), words in subject.live.objects.refused.items():
        if space == namespace and daemon_set.startswith(f"{name}-{role}-"):
            return daemon_set, words[1]
    return None


def _broken(subject: Subject, role: str, problem: str) -> Link:
    head = "is loaded, but" if subject.driver.loads else "loads nothing, and"
    evidence = (problem.partition(": ")[2],) if of_pod(problem) != problem else ()
    namespace, name = subject.module
    command = kubectl("get", "pods", "-n", namespace, "-l", f"{NAME_LABEL}={name}", "-o", "wide")
    if (*subject.key, role) not in subject.live.plugins and (refusal := _refusal(subject, role)):
        command, evidence = kubectl("describe", "daemonset", "-n", namespace, refusal[0]), (refusal[1],)
    waits = False
    for pod in subject.on_node():
        if pod.full_name in problem:
            command, waits = described(pod) if not pod.restarts else _log(pod), _is_starting(subject, pod)
    return Link("broken", evidence, f"{head} {of_pod(problem)}", command, waits=waits)


def _is_starting(subject: Subject, pod: Pod) -> bool:
    """Return True for a pod that starts, and nothing keeps it; without the dump's events that is not known."""
    return pod.status == "is pending" and "Event" in subject.live.objects.kinds


def judge_workloads(subject: Subject) -> Link:
    """Return whether the pods of the config's own DaemonSets get on."""
    keys = {*subject.driver.set_by_kmm}
    if not subject.has_pods:
        return unknown("pods")
    for pod in subject.on_node():
        is_own = _OWN in pod.labels or (pod.is_daemon and pod.namespace == subject.module[0])
        if is_own and pod.selects & keys and NAME_LABEL not in pod.labels and pod.status and not pod.is_ready:
            sentence = f"the pod {pod.full_name} of its DaemonSet {pod.status}"
            command, waits = _log(pod) if pod.restarts else described(pod), _is_starting(subject, pod)
            return Link("broken", (sentence,), f"is loaded, but {of_pod(sentence)}", command, waits=waits)
    if name := _unmade(subject):
        words, full_name = subject.live.objects.refused[name][1], "/".join(name)
        reason = f"is loaded, but its DaemonSet {full_name} has no pod here: {shortened(words)}"
        return Link("broken", (words,), reason, kubectl("describe", "daemonset", "-n", *name))
    return holds()


def _unmade(subject: Subject) -> Name | None:
    """Return the first of the DaemonSets that wait for the driver whose pods are refused, and that has none on a node.

    One that does not select the node, or does not tolerate a taint of it, has none there anyway.
    """
    labels, pods = subject.node.labels.items(), subject.on_node()
    for (namespace, name), spec in subject.driver.consumers.items():
        has_pod = any(pod.is_daemon and pod.namespace == namespace and pod.name.startswith(f"{name}-") for pod in pods)
        lasting = (taint for taint in subject.node.taints if taint.key not in PASSING)
        is_selected = table(spec, "nodeSelector").items() <= labels
        is_wanted = is_selected and all(tolerates(spec.get("tolerations"), taint) for taint in lasting)
        if (namespace, name) in subject.live.objects.refused and is_wanted and not has_pod:
            return namespace, name
    return None


def _log(pod: Pod) -> str:
    return kubectl("logs", "-n", pod.namespace, pod.name, "--all-containers", "--previous")
