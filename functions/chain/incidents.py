"""The incidents of a driver, a row for each way in which a link breaks: for docs/operate/incident.md and `explain`.

What is told of each (`reason`) and typed (`command`) is what the link itself says: a test breaks the links.
"""

from collections.abc import Sequence

from krmfn.typed import NamedTuple


class Incident(NamedTuple):
    """What a person sees, what it is, and what to type."""

    link: str
    words: Sequence[str]
    """What stands in the output of kubectl, of a log or of KMM; the first is what it is called."""
    reason: str
    """Words of the link's reason, as `why` tells it."""
    sense: str
    """What it is, for a person who does not know KMM: an imperative or a statement."""
    command: str
    """How the command begins that `why` prints; capitals stand for names."""


_DESCRIBED = "kubectl describe pod -n NAMESPACE POD"
_OPERATOR = "kubectl logs -n kmm-operator-system OPERATOR"
_MODULES = "kubectl get modules.kmm.sigs.x-k8s.io -n NAMESPACE NAME -o yaml"
INCIDENTS = (
    Incident(
        "selected",
        ("DESIRED 0", "label lost", "pci-....present", "is not planned any more"),
        "is not planned any more: the node has lost",
        "The node lost a label that the Module selects by. Where node feature discovery sets it, look at its worker: a "
        "label that is set by hand hides that.",
        "kubectl label node NODE KEY=VALUE",
    ),
    Incident(
        "synced",
        (
            *("OutOfSync", "not synced", "not been synced", "ComparisonError", "SyncFailed", "SyncError"),
            *("objects failed to apply", "failed calling webhook", "no endpoints available", "ReconciliationFailed"),
            *("BuildFailed", "ArtifactFailed", "HealthCheckFailed", "DependencyNotReady", "not what Git renders"),
            *("has it been synced", "webhook", "its engine is at work", "has not applied all of Git"),
        ),
        "is not what Git renders",
        "Argo CD or Flux has not applied what Git has; the old driver runs. Look at the Application or Kustomization.",
        "kubectl describe applications.argoproj.io -n argocd APPLICATION",
    ),
    Incident(
        "synced",
        ("deletionTimestamp", "Terminating", "being deleted", "module-finalizer", "finalizer"),
        "is being deleted since",
        "Somebody deleted the Module, and KMM unloads it; a pod that uses the driver holds it.",
        "kubectl describe pod -n NAMESPACE POD",
    ),
    Incident(
        "mapping",
        ("no kernel mapping", "no mapping"),
        "gets no driver: no kernel mapping matches",
        "The node booted a kernel that no mapping is for. Add one, and build its image.",
        "krmfn nodes --kernel KERNEL --problems",
    ),
    Incident(
        "mapping",
        ("is blocked by node", "invalid kernel version", "at least three components", "KMM fails"),
        "is blocked by node",
        "KMM fails on the kernel of one node, and then does nothing with the Module on any node.",
        "kubectl describe node NODE",
    ),
    Incident(
        "operator",
        ("OOMKilled", "kmm-operator", "kmm-operator-controller", "waits for KMM's operator"),
        "waits for KMM's operator",
        "KMM's operator does not run, so nothing is loaded or unloaded on any node.",
        "kubectl describe pod -n kmm-operator-system OPERATOR",
    ),
    Incident(
        "image",
        (
            *("ImagePullBackOff", "ErrImagePull", "manifest unknown", "unauthorized", "pull pod", "access denied"),
            *("authentication required", "no basic auth", "forbidden", "toomanyrequests", "InvalidImageName"),
            *("ErrImageNeverPull", "RegistryUnavailable", "no such host", "connection refused", "i/o timeout"),
            *(
                "certificate signed by unknown authority",
                "no match for platform",
                "Failed to pull image",
                "x509",
                "pull secret",
                "FailedToRetrieveImagePullSecret",
            ),
        ),
        "its image is not checked: the pull pod",
        "KMM looks for each image with a pod of its own before it schedules anything: the image is not pushed, or the "
        "pull secret (imageRepoSecret) is wrong.",
        _DESCRIBED,
    ),
    Incident(
        "image",
        ("DoesNotExist", "ModuleImagesConfig", "KMM asked the registry"),
        "is not there: KMM asked the registry",
        "The image for the node's kernel is not in the registry. Build and push it.",
        "kubectl get moduleimagesconfigs.kmm.sigs.x-k8s.io -n NAMESPACE NAME -o yaml",
    ),
    Incident(
        "image",
        ("build pod", "BuildImage", "was not built", "being built", "build failed"),
        "its image was not built: the build pod",
        "The build in the cluster failed: its log has the compiler's words.",
        "kubectl logs -n NAMESPACE POD",
    ),
    Incident(
        "image",
        (
            *("SignImage", "signing", "FailedMount", "MountVolume", "MountVolume.SetUp failed"),
            *('secret "..." not found', "was not signed", "being signed", "references non-existent secret key"),
        ),
        "signing waits: secret",
        "The pod that signs the image lacks the Secret with the key.",
        "kubectl get secret -n NAMESPACE SECRET",
    ),
    Incident(
        "image",
        (
            *("ModuleBuildSignConfig", "OS --> DTK mapping", "DTK", "driver toolkit", "NeedsBuilding", "NeedsSigning"),
            *("has to be built", "has to be signed", "could not be built", "could not be signed"),
        ),
        "(ModuleBuildSignConfig: Failure)",
        "The build or signing failed and its pod is gone, or no pod was made; on OpenShift KMM may not know the driver "
        "toolkit of the node's OS.",
        _OPERATOR,
    ),
    Incident(
        "version",
        ("version-module", "version label"),
        "is not loaded: the node has no version label",
        "In an ordered upgrade the node's version label decides. Without it, or with another version, KMM unloads.",
        "kubectl label node NODE kmm.node.kubernetes.io/version-module.NAMESPACE.NAME=VERSION",
    ),
    Incident(
        "taints",
        ("SchedulingDisabled", "cordoned", "unschedulable"),
        "waits while the node is cordoned",
        "KMM loads nothing on a cordoned node, and unloads there.",
        "kubectl uncordon NODE",
    ),
    Incident(
        "taints",
        ("untolerated taint", "NoSchedule", "NoExecute", "does not tolerate"),
        "does not tolerate",
        "The Module does not tolerate a taint of the node: add `tolerations`, or ask who has put it there.",
        "kubectl describe node NODE",
    ),
    Incident(
        "scheduled",
        ("NodeModulesConfig", "not scheduled", "KMM schedules"),
        "is not scheduled by KMM",
        "KMM has not written the Module into the node's NodeModulesConfig: its operator says why.",
        _OPERATOR,
    ),
    Incident(
        "alone",
        ("File exists", "on this node, too"),
        "on this node, too",
        "Another Module, perhaps of another team, loads the same kernel module on the node.",
        _MODULES,
    ),
    Incident(
        "unload",
        ("in use", "EBUSY", "be unloaded", "holds the kernel module", "still loaded", "(Unload)", "ResourceClaim"),
        "holds the kernel module",
        "A pod uses the driver that has to be unloaded, by its ready label, a resource or a ResourceClaim.",
        "kubectl get pod -n NAMESPACE POD -o wide",
    ),
    Incident(
        "worker",
        ("CrashLoopBackOff", "kmm-worker", "back-off restarting failed container"),
        "(Load) says CrashLoopBackOff",
        "modprobe fails on the node. Only the log of the pod says why: give it to `krmfn why --log`.",
        "kubectl logs -n NAMESPACE POD -c worker --previous",
    ),
    Incident(
        "worker",
        (
            *("CreateContainerConfigError", "CreateContainerError", "RunContainerError", "StartError"),
            *("ContainerCannotRun", "FailedCreatePodSandBox", "DeadlineExceeded", "Evicted", "(Load)"),
            *("Init:ImagePullBackOff", "Init:ErrImagePull", "Init:Error", "Init:CrashLoopBackOff", "ContainerCreating"),
            "lacks the pull secret",
        ),
        "(Load) says",
        "KMM's worker pod does not start on the node: its events say what the kubelet lacks, or why it cannot pull.",
        _DESCRIBED,
    ),
    Incident(
        "worker",
        (
            "FailedCreate",
            'serviceaccount "..." not found',
            "error looking up service account",
            "its ServiceAccount",
            "no worker pod",
        ),
        "its ServiceAccount",
        "KMM cannot make its worker pod: the Module's ServiceAccount is not there.",
        "kubectl get sa -n NAMESPACE",
    ),
    Incident(
        "worker",
        ("violates PodSecurity", "pod-security.kubernetes.io", "Pod Security", "no pod can be made"),
        "enforces Pod Security",
        "The namespace refuses privileged pods, and KMM's worker pods are privileged.",
        "kubectl label namespace NAMESPACE pod-security.kubernetes.io/enforce=privileged --overwrite",
    ),
    Incident(
        "worker",
        ("exceeded quota", "ResourceQuota", "is used up"),
        "is used up",
        "A quota of the namespace leaves no room for the worker pod.",
        "kubectl describe quota -n NAMESPACE",
    ),
    Incident(
        "loaded",
        ("bootId", "reboot", "last boot"),
        "was loaded before the node's last boot, and not since",
        "The node has rebooted, and KMM has not loaded the driver again yet.",
        "kubectl get nodemodulesconfigs.kmm.sigs.x-k8s.io NODE -o yaml",
    ),
    Incident(
        "ready",
        (".ready", "ready label", "lacks the label"),
        "is loaded, but the node lacks the label",
        "The driver is loaded, and KMM has not set its ready label, which everything else waits for.",
        _OPERATOR,
    ),
    Incident(
        "plugin",
        ("Insufficient", "device plugin", "FailedScheduling", "nodes are available", "security context constraint"),
        "its device plugin is not running",
        "The driver is loaded, and the pod that offers its devices crashes or is not there.",
        "kubectl logs -n NAMESPACE POD --all-containers --previous",
    ),
    Incident(
        "workloads",
        ("exporter", "of its DaemonSet", "has no pod here"),
        "of its DaemonSet says CrashLoopBackOff",
        "The driver is loaded, and a pod of a DaemonSet of the config crashes, or is refused (has no pod here).",
        "kubectl logs -n NAMESPACE POD --all-containers --previous",
    ),
)
"""The incidents in the order of the chain."""
