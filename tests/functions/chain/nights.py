"""Nights: each link of the chain broken in each way, with what a person is told and types."""

from __future__ import annotations

from typing import Any, NamedTuple

from tests.builders import manifest, module
from tests.functions.chain.clusters import (
    KERNEL,
    KMM,
    OPERATOR,
    OWNED,
    READY,
    VERSION,
    Break,
    Objects,
    drop,
    find,
    healthy,
    image_of,
    pod,
    waiting,
    worker,
)

TARGET = {**OWNED, "kmm.node.kubernetes.io/target-kernel": KERNEL}
CRASH = waiting("CrashLoopBackOff", "back-off", lastState={"terminated": {"exitCode": 1, "reason": "Error"}})


def unload_image(objects: Objects, state: str = "") -> None:
    """KMM has not found the image: nothing is scheduled or loaded on n1."""
    image = find(objects, "ModuleImagesConfig", "simple")
    image["status"]["imagesStates"][0]["status"] = state
    unscheduled(objects)


def unscheduled(objects: Objects) -> None:
    config = find(objects, "NodeModulesConfig", "n1")
    config["spec"]["modules"] = []
    unloaded(objects)


def unloaded(objects: Objects) -> None:
    find(objects, "NodeModulesConfig", "n1")["status"]["modules"] = []
    find(objects, "Node", "n1")["metadata"]["labels"].pop(READY, None)


def after(edit: Any, *more: Any) -> Break:
    """Return a break that is an edit and then others, or objects that are added."""

    def apply(objects: Objects) -> None:
        edit(objects)
        for one in more:
            objects.append(one) if isinstance(one, dict) else one(objects)

    return apply


def added(*more: Any) -> Break:
    return after(lambda objects: None, *more)


def field(kind: str, name: str, *path: Any) -> Break:
    """Return a break that sets a field: the last of `path` is its value."""
    *keys, last, value = path

    def apply(objects: Objects) -> None:
        holder = find(objects, kind, name)
        for key in keys:
            holder = holder[key]
        holder[last] = value

    return apply


def maker(kind: str, label: str = "resource-type", **status: Any) -> dict[str, Any]:
    return pod("simple-make", {**TARGET, f"kmm.node.kubernetes.io/{label}": kind}, "n2", **status)


def puller(**status: Any) -> dict[str, Any]:
    made = pod("simple-pull", {"kmm.node.kubernetes.io/image-owner": "simple"}, "n2", **status)
    made["spec"]["containers"] = [{"name": "puller", "image": image_of()}]
    return made


def warned(name: str) -> dict[str, Any]:
    """Return the kubelet's event about a pod whose pull secret is not there."""
    words = "Unable to retrieve some image pull secrets (reg); attempting to pull the image may not succeed."
    involved = {"kind": "Pod", "namespace": "kmm", "name": name}
    event = {"type": "Warning", "reason": "FailedToRetrieveImagePullSecret", "message": words}
    return {**manifest("v1", "Event", f"{name}.1"), **event, "involvedObject": involved}


def unschedulable(message: str) -> dict[str, Any]:
    """Return the status of a pod that the scheduler finds no node for."""
    text = f"0/2 nodes are available: {message}. preemption: 0/2 nodes are available: 2 No preemption victims found."
    return {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": text}]}


NO_MANIFEST = (
    'Back-off pulling image "x": ErrImagePull: initializing source docker://registry.example.com/team/driver:1-6.1.0: '
    "reading manifest 1-6.1.0 in registry.example.com/team/driver: manifest unknown"
)


_DRIVER = f"registry.example.com/{'team/' * 8}driver:1.0-6.1.0-1.x86_64"
UNAUTHORIZED = (
    f'Back-off pulling image "{_DRIVER}": ErrImagePull: failed to pull and unpack image "{_DRIVER}": failed to resolve '
    f'reference "{_DRIVER}": failed to authorize: status from GET request to https://x/token: 401 Unauthorized'
)


def rival(**spec: Any) -> dict[str, Any]:
    return module({"regexp": "^.+$", "containerImage": "x:1"}, name="other", namespace="vendor", selector={"gpu": "a"})


def user(name: str, **spec: Any) -> dict[str, Any]:
    made = pod(name, {}, "n1", namespace="team")
    made["spec"] |= spec
    return made


TRAINING = user("train", containers=[{"name": "t", "resources": {"limits": {"example.com/simple": "1"}}}])
WATCHER = user("watcher", nodeSelector={READY: ""})
ATTRACTED = user(
    "w",
    affinity={
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [{"key": READY, "operator": "Exists"}]}]
            }
        }
    },
)
QUOTA = {**manifest("v1", "ResourceQuota", "q"), "status": {"hard": {"pods": "3"}, "used": {"pods": "3"}}}
APPLICATION = {
    **manifest("argoproj.io/v1alpha1", "Application", "lab", "argocd"),
    "status": {"operationState": {"phase": "Failed", "message": "no endpoints"}},
}
FLUX = {
    **manifest("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "lab", "flux-system"),
    "status": {"inventory": {"entries": [{"id": "kmm_simple_kmm.sigs.x-k8s.io_Module"}]}},
    "spec": {"suspend": True},
}
OLD_SPEC = field(
    "Module",
    "simple",
    "spec",
    "moduleLoader",
    "container",
    "kernelMappings",
    0,
    "containerImage",
    "example.com/simple:0-$KERNEL_FULL_VERSION",
)
DELETED = field("Module", "simple", "metadata", "deletionTimestamp", "2026-11-28T01:02:00Z")
REFUSED = {
    **manifest("v1", "Event", "refused"),
    "type": "Warning",
    "reason": "FailedCreate",
    "message": 'Error creating: pods "simple-device-plugin-" is forbidden: unable to validate against any security '
    "context constraint",
    "involvedObject": {"kind": "DaemonSet", "namespace": "kmm", "name": "simple-device-plugin-x7k2p"},
}
"""An event about the DaemonSet of the device plugin."""
IN_USE = waiting("CrashLoopBackOff", "back-off", lastState={"terminated": {"message": "Module simple is in use."}})
OPERATOR_LOG = f"kubectl logs -n kmm-operator-system {OPERATOR}"


EVICTED = {"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory."}
EVICTED_PLUGIN = pod("plugin-0", {**OWNED, "kmm.node.kubernetes.io/role": "device-plugin"}, "n1", **EVICTED)


def without_roles(objects: Objects) -> None:
    """KMM up to 2.6 puts no role on the device plugin's pods, which a DaemonSet makes."""
    for item in objects:
        if item["kind"] == "Pod" and item["metadata"]["labels"].pop("kmm.node.kubernetes.io/role", ""):
            owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "simple-device-plugin-x7k2p", "uid": "1"}
            item["metadata"]["ownerReferences"] = [owner]


class Night(NamedTuple):
    """Something that is broken: the link, what the first line says, and what is typed."""

    edit: Break
    link: str
    reason: str
    command: str


def night(link: str, reason: str, command: str, edit: Break) -> Night:
    return Night(edit, link, reason, command)


NIGHTS = {
    "no Module": night(
        "synced", "has it been synced?", "kubectl get modules", after(lambda o: drop(o, "Module", "simple"), rival())
    ),
    "old Module": night("synced", "0 there, 1 here", "kubectl get modules", OLD_SPEC),
    "not synced": night(
        "synced",
        "0 there, 1 here",
        "kubectl describe applications.argoproj.io -n argocd lab",
        after(OLD_SPEC, APPLICATION),
    ),
    "suspended": night("synced", "0 there, 1 here", "kubectl describe kustomizations.kustomize", after(OLD_SPEC, FLUX)),
    "deleted": night("synced", "since 2026-11-28 01:02, though Git has it", "kubectl get modules", DELETED),
    "deleted, held": night(
        "synced", "team/watcher holds it", "kubectl describe pod -n team watcher", after(DELETED, WATCHER)
    ),
    "deleted, let go": night(
        "synced",
        "though Git has it; finalizer example.com/audit keeps it",
        "kubectl get modules",
        after(DELETED, field("Module", "simple", "metadata", "finalizers", ["example.com/audit"]), unscheduled),
    ),
    "webhook": night(
        "synced",
        "0 there, 1 here",
        "kubectl describe pod -n kmm-operator-system kmm-operator-webhook-1",
        after(OLD_SPEC, pod("kmm-operator-webhook-1", {}, namespace="kmm-operator-system", **CRASH)),
    ),
    "deleted, no account": night(
        "synced",
        "its ServiceAccount kmm/default is gone",
        "kubectl create serviceaccount -n kmm default",
        after(DELETED, lambda o: drop(o, "ServiceAccount"), manifest("v1", "ServiceAccount", "x", "y")),
    ),
    "operator": night(
        "operator",
        f"the pod kmm-operator-system/{OPERATOR}: OOMKilled",
        "kubectl describe pod -n kmm-operator-system",
        after(
            unloaded,
            field(
                "Pod",
                OPERATOR,
                "status",
                {
                    "phase": "Running",
                    **waiting("CrashLoopBackOff", "", lastState={"terminated": {"reason": "OOMKilled"}}),
                },
            ),
        ),
    ),
    "pull refused": night(
        "image",
        "the pull pod kmm/simple-pull says ImagePullBackOff: unauthorized",
        "kubectl describe pod -n kmm simple-pull",
        after(
            unload_image,
            puller(
                phase="Pending",
                **waiting(
                    "ImagePullBackOff",
                    f'Back-off pulling image "{image_of()}": rpc error: code = Unknown desc = unauthorized',
                ),
            ),
        ),
    ),
    "pull goes on": night(
        "image",
        "its image is being looked for",
        "kubectl describe pod -n kmm simple-pull",
        after(unload_image, puller()),
    ),
    "no image": night(
        "image",
        "is not there: KMM asked the registry",
        "kubectl get moduleimagesconfigs",
        lambda o: unload_image(o, "DoesNotExist"),
    ),
    "pull secret": night(
        "image",
        "the pull secret reg is not there (pod kmm/simple-pull)",
        "kubectl get secret -n kmm reg",
        after(unload_image, puller(phase="Pending", **waiting("ErrImagePull", "denied")), warned("simple-pull")),
    ),
    "pull secret of a worker": night(
        "worker",
        "the pod kmm/kmm-worker-n1-simple lacks the pull secret reg",
        "kubectl get secret -n kmm reg",
        after(unloaded, worker("Load", phase="Pending", **waiting("ErrImagePull")), warned("kmm-worker-n1-simple")),
    ),
    "pull secret of a build": night(
        "image",
        "building waits: secret reg not found (pod kmm/simple-make)",
        "kubectl get secret -n kmm reg",
        after(unload_image, maker("BuildImage", phase="Pending"), warned("simple-make")),
    ),
    "pull by containerd": night(
        "image",
        "says ImagePullBackOff: 401 Unauthorized",
        "kubectl describe pod -n kmm simple-pull",
        after(unload_image, puller(phase="Pending", **waiting("ImagePullBackOff", UNAUTHORIZED))),
    ),
    "build is pending": night(
        "image",
        "is being built: the build pod kmm/simple-make is pending",
        "kubectl logs -f -n kmm simple-make",
        after(unload_image, maker("BuildImage", phase="Pending", **waiting("ContainerCreating"))),
    ),
    "image not looked for": night("scheduled", "it has not looked for its image yet", OPERATOR_LOG, unload_image),
    "no ModuleImagesConfig": night(
        "scheduled",
        "it has made no ModuleImagesConfig, by which it looks for its image",
        OPERATOR_LOG,
        after(unscheduled, lambda o: find(o, "ModuleImagesConfig", "simple")["metadata"].update(name="other")),
    ),
    "dump without images": night(
        "scheduled",
        "its image is not known: add `moduleimagesconfigs` to the dump",
        OPERATOR_LOG,
        after(unscheduled, lambda o: drop(o, "ModuleImagesConfig")),
    ),
    "held by many": night(
        "unload",
        "about to be unloaded: team/w0 and 6 more pods hold the kernel module",
        "kubectl get pod -n team w0",
        added(worker("Unload", **CRASH), *(user(f"w{at}", nodeSelector={READY: ""}) for at in range(7))),
    ),
    "held by affinity": night(
        "unload",
        "about to be unloaded: team/w",
        "kubectl get pod -n team w",
        added(worker("Unload", **CRASH), ATTRACTED),
    ),
    "deleted, held by two": night(
        "synced",
        "team/other and 1 more pod hold it",
        "kubectl describe pod -n team other",
        after(DELETED, WATCHER, user("other", nodeSelector={READY: ""})),
    ),
    "build failed": night(
        "image",
        "was not built: the build pod kmm/simple-make failed with exit code 2",
        "kubectl logs -n kmm simple-make",
        after(
            unload_image,
            maker(
                "BuildImage",
                phase="Failed",
                containerStatuses=[{"state": {"terminated": {"exitCode": 2, "reason": "Error"}}}],
            ),
        ),
    ),
    "build runs": night(
        "image",
        "is being built: the build pod kmm/simple-make runs",
        "kubectl logs -f -n kmm simple-make",
        after(unload_image, maker("build", "pod-type")),
    ),
    "sign failed": night(
        "image",
        "was not signed: the signing pod",
        "kubectl logs -n kmm simple-make",
        after(unload_image, maker("sign", "pod-type", phase="Failed")),
    ),
    "sign waits": night(
        "image",
        "signing waits: secret key not found (pod kmm/simple-make)",
        "kubectl get secret -n kmm key",
        after(
            unload_image,
            maker(
                "SignImage",
                phase="Pending",
                reason="FailedMount",
                message='MountVolume.SetUp failed for volume "v" : secret "key" not found',
            ),
        ),
    ),
    "build result": night(
        "image",
        "ModuleBuildSignConfig: Failure",
        OPERATOR_LOG,
        after(
            unload_image,
            {
                **manifest(KMM, "ModuleBuildSignConfig", "simple"),
                "status": {"images": [{"image": image_of(), "action": "BuildImage", "status": "Failure"}]},
            },
        ),
    ),
    "no label": night(
        "version",
        "is not loaded: the node has no version label; wanted 2",
        f"kubectl label node n1 {VERSION}=2",
        after(unscheduled, lambda o: find(o, "Node", "n1")["metadata"]["labels"].pop(VERSION, None)),
    ),
    "unknown label": night(
        "version",
        "its version label says 22, not 2",
        f"kubectl label node n1 {VERSION}=2 --overwrite",
        after(unscheduled, field("Node", "n1", "metadata", "labels", VERSION, "22")),
    ),
    "cordon": night(
        "taints",
        "while the node is cordoned",
        "kubectl uncordon n1",
        after(
            unscheduled,
            field(
                "Node", "n1", "spec", "taints", [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]
            ),
        ),
    ),
    "taint": night(
        "taints",
        "does not tolerate team=a:NoSchedule",
        "kubectl describe node n1",
        after(
            unscheduled, field("Node", "n1", "spec", "taints", [{"key": "team", "value": "a", "effect": "NoSchedule"}])
        ),
    ),
    "not scheduled": night(
        "scheduled", "is not scheduled by KMM, though its image is there", OPERATOR_LOG, unscheduled
    ),
    "other image scheduled": night(
        "scheduled",
        "shall get 1, but KMM schedules 0",
        OPERATOR_LOG,
        field("NodeModulesConfig", "n1", "spec", "modules", 0, "config", "containerImage", image_of("0")),
    ),
    "rival": night(
        "alone",
        "Module vendor/other loads simple on this node, too",
        "kubectl get modules.kmm.sigs.x-k8s.io -n vendor other",
        after(unloaded, rival()),
    ),
    "held by a resource": night(
        "unload",
        "is loaded, and about to be unloaded: team/train holds",
        "kubectl get pod -n team train",
        added(worker("Unload", **IN_USE), TRAINING),
    ),
    "unload fails": night(
        "unload",
        "about to be unloaded: the pod kmm/kmm-worker-n1-simple (Unload)",
        "kubectl logs -n kmm kmm-worker-n1-simple -c worker --previous",
        added(worker("Unload", **CRASH)),
    ),
    "no plugin is made": night(
        "plugin",
        "its device plugin is not running: FailedCreate: ",
        "kubectl describe daemonset -n kmm simple-device-plugin-x7k2p",
        after(lambda o: drop(o, "Pod", "plugin-1"), lambda o: drop(o, "Pod", "plugin-2"), REFUSED),
    ),
    "no worker": night("worker", "no worker pod is in the dump", OPERATOR_LOG, unloaded),
    "no worker, no operator": night(
        "worker",
        "no worker pod is in the dump, and none of KMM's operator",
        "kubectl get deployments,pods -n kmm-operator-system",
        after(unloaded, lambda o: drop(o, "Pod", OPERATOR)),
    ),
    "not scheduled, no operator": night(
        "scheduled",
        "is not scheduled by KMM",
        "kubectl get deployments,pods -n kmm-operator-system",
        after(unscheduled, lambda o: drop(o, "Pod", OPERATOR)),
    ),
    "no account": night(
        "worker",
        "its ServiceAccount kmm/default is not there",
        "kubectl get sa -n kmm",
        after(unloaded, lambda o: drop(o, "ServiceAccount"), manifest("v1", "ServiceAccount", "x", "y")),
    ),
    "pod security": night(
        "worker",
        "enforces Pod Security restricted",
        "kubectl label namespace kmm",
        after(
            unloaded,
            field("Namespace", "kmm", "metadata", "labels", {"pod-security.kubernetes.io/enforce": "restricted"}),
        ),
    ),
    "namespace goes": night(
        "worker",
        "the namespace kmm is being deleted",
        "kubectl get namespace kmm",
        after(unloaded, field("Namespace", "kmm", "metadata", "deletionTimestamp", "2026-11-28T01:02:00Z")),
    ),
    "quota": night("worker", "the quota q: 3 of 3 pods", "kubectl describe quota -n kmm", after(unloaded, QUOTA)),
    "worker crashes": night(
        "worker",
        "(Load) says CrashLoopBackOff",
        "kubectl logs -n kmm kmm-worker-n1-simple -c worker --previous",
        after(unloaded, worker("Load", **CRASH)),
    ),
    "worker cannot pull": night(
        "worker",
        "(Load) says ImagePullBackOff",
        "kubectl describe pod -n kmm kmm-worker-n1-simple",
        after(unloaded, worker("Load", phase="Pending", **waiting("ImagePullBackOff", "manifest unknown"))),
    ),
    "worker runs": night("worker", "(Load) is at work", "", after(unloaded, worker("Load"))),
    "other boot": night(
        "loaded",
        "was loaded before the node's last boot",
        "kubectl get nodemodulesconfigs",
        after(field("Node", "n1", "status", "nodeInfo", "bootID", "b9"), lambda objects: drop(objects, "Pod")),
    ),
    "ready label": night(
        "ready",
        "is loaded, but the node lacks the label",
        OPERATOR_LOG,
        lambda o: find(o, "Node", "n1")["metadata"]["labels"].pop(READY),
    ),
    "plugin crashes": night(
        "plugin",
        "its device plugin is not running",
        "kubectl logs -n kmm plugin-1",
        field("Pod", "plugin-1", "status", {"phase": "Running", **CRASH}),
    ),
    "plugin of KMM 2.6 crashes": night(
        "plugin",
        "its device plugin is not running: the pod kmm/plugin-1 says CrashLoopBackOff",
        "kubectl logs -n kmm plugin-1",
        after(without_roles, field("Pod", "plugin-1", "status", {"phase": "Running", **CRASH})),
    ),
    "no plugin of KMM 2.6": night(
        "plugin",
        "and none on this one",
        "kubectl get pods -n kmm",
        after(without_roles, lambda o: drop(o, "Pod", "plugin-1")),
    ),
    "plugin crashes after it was evicted": night(
        "plugin",
        "the pod kmm/plugin-1 says CrashLoopBackOff",
        "kubectl logs -n kmm plugin-1",
        after(field("Pod", "plugin-1", "status", {"phase": "Running", **CRASH}), EVICTED_PLUGIN),
    ),
    "plugin was evicted": night(
        "plugin",
        "the pod kmm/plugin-0 failed: Evicted",
        "kubectl describe pod -n kmm plugin-0",
        after(lambda o: drop(o, "Pod", "plugin-1"), EVICTED_PLUGIN),
    ),
    "operator waits after it was evicted": night(
        "operator",
        "the pod kmm-operator-system/kmm-operator-controller-2: Unschedulable: 1 Insufficient memory",
        "kubectl describe pod -n kmm-operator-system kmm-operator-controller-2",
        after(
            unloaded,
            field("Pod", OPERATOR, "status", EVICTED),
            pod(
                "kmm-operator-controller-2",
                {},
                namespace="kmm-operator-system",
                phase="Pending",
                **unschedulable("1 Insufficient memory"),
            ),
        ),
    ),
    "pull pod finds no node": night(
        "image",
        "the pull pod kmm/simple-pull says Unschedulable: untolerated taint {gpu: a}",
        "kubectl describe pod -n kmm simple-pull",
        after(unload_image, puller(phase="Pending", **unschedulable("2 node(s) had untolerated taint {gpu: a}"))),
    ),
    "worker's image": night(
        "worker",
        "(Load) says ImagePullBackOff: manifest unknown",
        "kubectl describe pod -n kmm kmm-worker-n1-simple",
        after(unloaded, worker("Load", phase="Pending", **waiting("ImagePullBackOff", NO_MANIFEST))),
    ),
    "evicted": night(
        "worker",
        "(Load) failed: Evicted: The node was low on resource",
        "kubectl describe pod -n kmm kmm-worker-n1-simple",
        after(
            unloaded,
            worker("Load", phase="Failed", reason="Evicted", message="The node was low on resource: memory. " * 4),
        ),
    ),
    "blocked": night(
        "mapping",
        "is blocked by node n2: KMM fails there (invalid kernel version 6.8), and so on all nodes",
        "kubectl describe node n2",
        after(unscheduled, field("Node", "n2", "status", "nodeInfo", {"kernelVersion": "6.8", "bootID": "b2"})),
    ),
    "tolerations": night(
        "synced",
        "is not what Git renders: tolerations only there",
        "kubectl get modules",
        field("Module", "simple", "spec", "tolerations", [{"operator": "Exists"}]),
    ),
    "plugin finds no node": night(
        "plugin",
        "its device plugin is not running: the pod kmm/plugin-1 says Unschedulable: 1 Too many pods",
        "kubectl describe pod -n kmm plugin-1",
        field("Pod", "plugin-1", "status", {"phase": "Pending", **unschedulable("1 Too many pods, 9 others. " * 4)}),
    ),
    "no plugin": night(
        "plugin", "and none on this one", "kubectl get pods -n kmm", lambda o: drop(o, "Pod", "plugin-1")
    ),
    "own DaemonSet": night(
        "workloads",
        "the pod kmm/exporter of its DaemonSet says CrashLoopBackOff",
        "kubectl logs -n kmm exporter",
        added(
            {
                **pod("exporter", {"krmfn.dev/daemonset": "simple-exporter"}, "n1", **CRASH),
                "spec": {"nodeName": "n1", "nodeSelector": {READY: ""}},
            }
        ),
    ),
}
VERSIONED = ("no label", "unknown label")
"""Nights of an ordered upgrade."""
PLANS: dict[str, Any] = {
    name: healthy()[0] for name in ("no Module", "old Module", "not synced", "suspended", "tolerations", "webhook")
}
"""What Git renders, where the cluster has something else."""


def played(name: str, number: int = 2) -> Objects:
    objects = healthy(number, "2" if name in VERSIONED else "")
    NIGHTS[name].edit(objects)
    return objects
