"""The links behind the kernel module: the device plugin or DRA driver, and the config's own DaemonSets."""

from ..fleet.facts import PASSING, tolerates
from ..fleet.live_engines import Name
from ..fleet.live_pods import ROLES, Pod
from ..kmm.lookup import has, table
from ..kmm.module import NAME_LABEL, PLUGINS
from ..sentence import Sentence
from . import names
from .link import IS_LOADED, Link, Subject, described, holds, kubectl, not_known, unknown
from .words import Quoted, of_pod, shortened

_OWN = "krmfn.dev/daemonset"


def judge(subject: Subject) -> Link:
    """Return whether the device plugin's, or the DRA driver's, pod runs on the node."""
    roles = [role for role, field in ROLES.items() if has(subject.driver.module.spec, field)]
    if not roles:
        return holds()
    states = [_of_role(subject, role) for role in roles]
    for state in states:
        if state and state.state == "broken":
            return state
    if None not in states:
        return holds("its plugin is running")
    return not_known("no pod of its plugin is in the dump") if subject.has_pods else unknown("pods")


def _of_role(subject: Subject, role: str) -> Link | None:
    """Return whether the pod of a role runs on the node; None where it is not known.

    Why no pod can be made counts for more than one that has ended.
    """
    of_role = [pod for pod in subject.live.objects.pods_on.get(subject.node.name, ()) if _is_of(pod, subject, role)]
    if of_role and of_role[0].is_ready:
        return holds()
    if of_role and not of_role[0].has_ended:
        return _of_pod(subject, role, of_role[0])
    if subject.driver.loads and not subject.is_ready and not of_role:
        return None
    if refusal := _refusal(subject, role):
        command = kubectl("describe", "daemonset", "-n", subject.module[0], refusal[0])
        reason: Sentence = (*_head(subject, role), ": ", Quoted(shortened(refusal[1])))
        return Link("broken", (refusal[1],), reason, command)
    if of_role:
        return _of_pod(subject, role, of_role[0])
    namespace, name = subject.module
    command = kubectl("get", "pods", "-n", namespace, "-l", f"{NAME_LABEL}={name}", "-o", "wide")
    reason = (*_head(subject, role), ": its pods are on other nodes, and none on this one")
    return Link("broken", (), reason, command) if any(pod.role == role for pod in subject.of_module()) else None


def _is_of(pod: Pod, subject: Subject, role: str) -> bool:
    return pod.role == role and (pod.namespace, pod.labels.get(NAME_LABEL)) == subject.module


def _head(subject: Subject, role: str) -> Sentence:
    head = IS_LOADED if subject.driver.loads else "loads nothing, and "
    return head, f"its {PLUGINS[ROLES[role]]} is not running"


def _of_pod(subject: Subject, role: str, pod: Pod) -> Link:
    """Return the link to a plugin's pod that is not ready."""
    status = pod.status
    words, code = status.sentence("is not ready"), status._replace(words=status.words.partition(": ")[0])
    short = Quoted(code.sentence()) if pod.has_ended else of_pod(status, "is not ready")
    evidence = (f"the pod {pod.full_name} {words}",) if short.words != words else ()
    command = _log(pod) if pod.restarts else described(pod)
    waits = _is_starting(subject, pod)
    reason = (*_head(subject, role), ": ", names.a_pod(pod), " ", short)
    return Link("broken", evidence, reason, command, waits=waits)


def _refusal(subject: Subject, role: str) -> tuple[str, str] | None:
    """Return the name of a role's DaemonSet, and why no pod of it can be made; None where none is refused.

    Source of the names of DaemonSets: KMM v2.6.0, internal/controllers/device_plugin_reconciler.go.
    """
    namespace, name = subject.module
    for (space, daemon_set), words in subject.live.objects.refused.items():
        if space == namespace and daemon_set.startswith(f"{name}-{role}-"):
            return daemon_set, words[1]
    return None


def _is_starting(subject: Subject, pod: Pod) -> bool:
    """Return True for a pod that starts, and nothing keeps it; without the dump's events that is not known."""
    return pod.status.state == "pending" and "Event" in subject.live.objects.kinds


def judge_workloads(subject: Subject) -> Link:
    """Return whether the pods of the config's own DaemonSets get on."""
    keys = {*subject.driver.set_by_kmm}
    if not subject.has_pods:
        return unknown("pods")
    for pod in subject.on_node():
        is_own = _OWN in pod.labels or (pod.is_daemon and pod.namespace == subject.module[0])
        is_behind = pod.status.state != "at work" and not pod.is_ready
        if is_own and pod.selects & keys and NAME_LABEL not in pod.labels and is_behind:
            command, waits = _log(pod) if pod.restarts else described(pod), _is_starting(subject, pod)
            evidence = f"the pod {pod.full_name} of its DaemonSet {pod.status.sentence()}"
            reason: Sentence = (IS_LOADED, names.a_pod(pod), " of its DaemonSet ", of_pod(pod.status))
            return Link("broken", (evidence,), reason, command, waits=waits)
    if name := _unmade(subject):
        words, full_name = subject.live.objects.refused[name][1], "/".join(name)
        reason = (IS_LOADED, f"its DaemonSet {full_name} has no pod here: ", Quoted(shortened(words)))
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
