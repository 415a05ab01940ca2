"""Whether a pod of a dump goes on, and why not, in the cluster's words."""

from krmfn import Manifest
from krmfn.printing import printable

from ..kmm.lookup import Table, table, tables, text
from .warned import Events

LONGEST = 1_200
"""Characters of a message from the cluster: a runtime names an image up to five times before it says why."""
PULL_SECRETS = "Unable to retrieve some image pull secrets"
"""How the kubelet says that Secrets are not there, before it pulls without them.

Source: Kubernetes, pkg/kubelet/kubelet_pods.go, getPullSecretsForPod and its event FailedToRetrieveImagePullSecret.
"""


def condition(manifest: Manifest, kind: str) -> Table:
    """Return a condition of a Node or Pod; {} without it."""
    conditions = tables(table(manifest, "status"), "conditions")
    return next((condition for _, condition in conditions if text(condition, "type") == kind), {})


def is_ready(pod: Manifest) -> bool:
    """Return True for a pod that runs and is not said to be unready."""
    status = table(pod, "status")
    is_running = text(status, "phase") == "Running" and text(condition(pod, "Ready"), "status") in ("", "True")
    return is_running and all(entry.get("ready") is not False for _, entry in tables(status, "containerStatuses"))


def status_of(pod: Manifest, events: Events) -> str:
    """Return how a pod has ended, or why it does not go on; "" for one that does."""
    metadata, status, phase = table(pod, "metadata"), table(pod, "status"), text(table(pod, "status"), "phase")
    if phase == "Succeeded":
        return "completed, and KMM has not recorded it"
    containers = [*tables(status, "initContainerStatuses"), *tables(status, "containerStatuses")]
    paths = (("lastState", "terminated"), ("state", "waiting"), ("state", "terminated"))
    states = [status, condition(pod, "PodScheduled")]
    states += [table(entry, *path) for _, entry in containers for path in paths]
    pairs = ((text(state, "reason"), text(state, "message").strip()) for state in states)
    reasons = [": ".join(filter(None, pair)) for pair in pairs if pair[0] not in _PLAIN]
    distinct = dict.fromkeys(reason for reason in reasons if reason not in ("", "Error"))
    reason = "; ".join(distinct) or max(reasons, default="")
    key = text(metadata, "namespace"), text(metadata, "name"), text(metadata, "uid")
    warned = events.get(key, ("", ""))[1]
    if phase != "Running" and (not reason or PULL_SECRETS in warned):
        reason = "; ".join(filter(None, (reason, warned)))
    reason = printable(reason)[:LONGEST]
    if phase == "Failed":
        return f"failed: {reason}" if reason else "failed"
    return f"says {reason}" if reason else "is pending" if phase == "Pending" else ""


_PLAIN = ("ContainerCreating", "PodInitializing", "Completed")
"""The reasons of states in which a pod goes on."""
