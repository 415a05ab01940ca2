"""Whether a pod of a dump goes on, and why not, in the cluster's words."""

from krmfn import Manifest
from krmfn.printing import printable
from krmfn.typed import Literal, NamedTuple

from ..kmm.lookup import Table, table, tables, text
from .warned import Events

LONGEST = 1_200
"""Characters of a message from the cluster: a runtime names an image up to five times before it says why."""
PULL_SECRETS = "Unable to retrieve some image pull secrets"
"""How the kubelet says that Secrets are not there, before it pulls without them.

Source: Kubernetes, pkg/kubelet/kubelet_pods.go, getPullSecretsForPod and its event FailedToRetrieveImagePullSecret.
"""


class PodStatus(NamedTuple):
    """How a pod has ended, or why it does not go on."""

    state: Literal["completed", "failed", "stuck", "pending", "at work"] = "at work"
    words: str = ""
    """The cluster's own, of one that failed or is stuck; Kubernetes says why in words alone."""

    @property
    def is_to_come(self) -> bool:
        """Whether nothing is wrong with it so far."""
        return self.state in ("pending", "at work")

    def sentence(self, otherwise: str = "is at work") -> str:
        """Return it with a verb, as a sentence about the pod goes on; `otherwise` for one that is at work."""
        sentences = {
            "completed": "completed, and KMM has not recorded it",
            "failed": f"failed: {self.words}" if self.words else "failed",
            "stuck": f"says {self.words}" if self.words else "says nothing",
            "pending": "is pending",
        }
        return sentences.get(self.state, otherwise)


def condition(manifest: Manifest, kind: str) -> Table:
    """Return a condition of a Node or Pod; {} without it."""
    conditions = tables(table(manifest, "status"), "conditions")
    return next((condition for _, condition in conditions if text(condition, "type") == kind), {})


def is_ready(pod: Manifest) -> bool:
    """Return True for a pod that runs and is not said to be unready."""
    status = table(pod, "status")
    is_running = text(status, "phase") == "Running" and text(condition(pod, "Ready"), "status") in ("", "True")
    return is_running and all(entry.get("ready") is not False for _, entry in tables(status, "containerStatuses"))


def status_of(pod: Manifest, events: Events) -> PodStatus:
    """Return how a pod has ended, or why it does not go on."""
    metadata, status, phase = table(pod, "metadata"), table(pod, "status"), text(table(pod, "status"), "phase")
    if phase == "Succeeded":
        return PodStatus("completed")
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
        return PodStatus("failed", reason)
    if reason:
        return PodStatus("stuck", reason)
    return PodStatus("pending" if phase == "Pending" else "at work")


_PLAIN = ("ContainerCreating", "PodInitializing", "Completed")
"""The reasons of states in which a pod goes on."""
