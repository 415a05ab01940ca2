"""Twins of nights: what looks broken in a dump and is not, a link of the chain each; on n1 all is well."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

from tests.builders import manifest, module
from tests.functions.chain.clusters import (
    KERNEL,
    OPERATOR,
    OWNED,
    READY,
    Break,
    Objects,
    find,
    image_of,
    pod,
    worker,
)
from tests.functions.chain.nights import (
    CRASH,
    EVICTED,
    EVICTED_PLUGIN,
    QUOTA,
    TRAINING,
    WATCHER,
    added,
    after,
    field,
    maker,
    puller,
    rival,
    without_roles,
)

OTHER = {"kmm.node.kubernetes.io/module.name": "other"}
DENIED = {"phase": "Pending", "containerStatuses": [{"state": {"waiting": {"reason": "ErrImagePull"}}}]}


def of_other(kind: str, label: dict[str, str], **status: Any) -> dict[str, Any]:
    """Return a pod that KMM made for another Module."""
    return pod(f"other-{kind}", label, "n1", **status)


def stray(item: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    """Return an object of another name or namespace."""
    return {**item, "metadata": {**item["metadata"], **metadata}}


def with_image(item: dict[str, Any], image: str) -> dict[str, Any]:
    made = copy.deepcopy(item)
    made["spec"]["containers"] = [{"name": "puller", "image": image}]
    return made


def exporter(name: str, node: str, **status: Any) -> dict[str, Any]:
    made = pod(name, {"krmfn.dev/daemonset": "simple-exporter"}, node, **status)
    return {**made, "spec": {"nodeName": node, "nodeSelector": {READY: ""}}}


def tainted(node: str, **taint: str) -> Break:
    def apply(objects: Objects) -> None:
        spec = find(objects, "Node", node)["spec"]
        spec["taints"] = [*spec.get("taints", ()), taint]

    return apply


def with_defaults(objects: Objects) -> None:
    """The API server has added the CRD's defaults, and engines their marks."""
    stored = find(objects, "Module", "simple")
    stored["metadata"] |= {"labels": {"argocd.argoproj.io/instance": "lab"}, "generation": 3, "resourceVersion": "7"}
    stored["metadata"]["finalizers"] = ["kmm.node.kubernetes.io/module-finalizer"]
    stored["spec"]["moduleLoader"]["container"]["modprobe"]["dirName"] = "/opt"
    stored["spec"]["tolerations"] = []
    stored["status"] = {"moduleLoader": {"availableNumber": 2, "desiredNumber": 2, "nodesMatchingSelectorNumber": 2}}


def two_operators(objects: Objects) -> None:
    """One replica of the operator crashes, and the other one runs."""
    objects.append(pod(f"{OPERATOR}-b", {"control-plane": "controller"}, namespace="kmm-operator-system", **CRASH))


def other_image(objects: Objects) -> None:
    """KMM has not found an image for a kernel that no node runs."""
    images = find(objects, "ModuleImagesConfig", "simple")
    images["spec"]["images"].append({"image": "example.com/simple:1-7.0"})
    images["status"]["imagesStates"].append({"image": "example.com/simple:1-7.0", "status": "DoesNotExist"})


def without_mapping(objects: Objects) -> None:
    """Another Module selects the node, and has no mapping for its kernel."""
    mapping = {"regexp": "^7[.]", "containerImage": "x:1"}
    loads = {"moduleName": "new"}
    objects.append(module(mapping, name="new", namespace="vendor", selector={"gpu": "a"}, modprobe=loads))


def other_entry(objects: Objects) -> None:
    """KMM wants another Module on the node, and has not loaded it."""
    entry = {"namespace": "kmm", "name": "other", "config": {"containerImage": "x:1", "kernelVersion": KERNEL}}
    find(objects, "NodeModulesConfig", "n1")["spec"]["modules"].append(entry)


DELETED = {"deletionTimestamp": "2026-11-28T01:02:00Z"}
ELSEWHERE = module(name="elsewhere", namespace="vendor", selector={"gpu": "b"})
HARMLESS = module(name="nic", namespace="vendor", selector={"gpu": "a"}, modprobe={"moduleName": "simple_nic"})
KERNELS = {"kmm.node.kubernetes.io/target-kernel": "7.0", "kmm.node.kubernetes.io/resource-type": "BuildImage"}
REFUSED = {
    **manifest("v1", "Event", "refused"),
    "type": "Warning",
    "reason": "FailedCreate",
    "message": "exceeded quota",
    "involvedObject": {"kind": "DaemonSet", "namespace": "kmm", "name": "simple-device-plugin-x7k2p"},
}


class Twin(NamedTuple):
    """Something that is well: the link that it looks like, and how it comes about."""

    link: str
    edit: Break
    is_alone: bool = False
    """Whether it is well only where nothing else is broken: it may then keep what is to be loaded or unloaded."""


TWINS: dict[str, Twin] = {
    "defaults of the API server": Twin("synced", with_defaults, True),
    "another Module is deleted": Twin("synced", added(stray(ELSEWHERE, name="going", **DELETED))),
    "a Module of this name in another namespace is deleted": Twin(
        "synced", added(stray(ELSEWHERE, name="simple", **DELETED))
    ),
    "the webhook crashes, and nothing has to be applied": Twin(
        "synced", added(pod("kmm-operator-webhook-1", {}, namespace="kmm-operator-system", **CRASH)), True
    ),
    "the operator crashes, and all is loaded": Twin(
        "operator", field("Pod", OPERATOR, "status", {"phase": "Running", **CRASH}), True
    ),
    "the other replica of the operator runs": Twin("operator", two_operators, True),
    "no image for a kernel of no node": Twin("image", other_image, True),
    "a pull pod for another kernel": Twin(
        "image", added(stray(with_image(puller(**DENIED), "example.com/simple:1-7.0"), name="simple-pull-7"))
    ),
    "a pull pod of another Module": Twin(
        "image",
        added(with_image(of_other("pull", {"kmm.node.kubernetes.io/image-owner": "other"}, **DENIED), image_of())),
    ),
    "a build for another kernel failed": Twin("image", added(of_other("build", {**OWNED, **KERNELS}, phase="Failed"))),
    "a build failed before one that did it": Twin(
        "image", added(stray(maker("BuildImage", phase="Failed"), name="first")), True
    ),
    "a version label without a version": Twin(
        "version",
        lambda o: find(o, "Node", "n1")["metadata"]["labels"].update(
            {"kmm.node.kubernetes.io/version-module.kmm.other": "9"}
        ),
    ),
    "a taint that only prefers": Twin("taints", tainted("n1", key="team", value="a", effect="PreferNoSchedule")),
    "a taint that KMM tolerates": Twin(
        "taints", tainted("n1", key="node.kubernetes.io/disk-pressure", effect="NoSchedule")
    ),
    "another node is cordoned": Twin(
        "taints",
        after(
            field("Node", "n2", "spec", "unschedulable", True),
            tainted("n2", key="node.kubernetes.io/unschedulable", effect="NoSchedule"),
        ),
        True,
    ),
    "another Module is scheduled": Twin("scheduled", other_entry),
    "another Module has no mapping": Twin("mapping", without_mapping),
    "another Module is not ready": Twin("ready", other_entry),
    "the same kernel module on other nodes": Twin("alone", added(ELSEWHERE)),
    "another kernel module on this node": Twin("alone", added(HARMLESS)),
    "a Module that has left the node": Twin("alone", added(stray(rival(), name="left", **DELETED))),
    "a training pod, and nothing unloads": Twin("unload", added(TRAINING, WATCHER), True),
    "an unloader of another Module": Twin("unload", added(of_other("u", {**OTHER, "a": ""}, **CRASH), TRAINING), True),
    "a worker on another node": Twin("worker", added(worker("Load", "n2", **CRASH))),
    "a worker of another Module": Twin(
        "worker",
        added(of_other("w", {**OTHER, "kmm.node.kubernetes.io/worker-action": "Load"}, **CRASH)),
    ),
    "a worker that is through": Twin("worker", added(worker("Load", phase="Succeeded")), True),
    "a quota that is used up": Twin("worker", added(QUOTA), True),
    "a namespace that refuses what is not needed": Twin(
        "worker",
        field("Namespace", "kmm", "metadata", "labels", {"pod-security.kubernetes.io/enforce": "restricted"}),
        True,
    ),
    "another boot of another node": Twin(
        "loaded",
        after(
            field("Node", "n2", "status", "nodeInfo", "bootID", "b9"),
            lambda o: find(o, "Node", "n2")["metadata"]["labels"].pop(READY),
        ),
    ),
    "an evicted plugin beside the one that runs": Twin("plugin", added(EVICTED_PLUGIN), True),
    "a plugin of KMM 2.6": Twin("plugin", without_roles),
    "the plugin of another node crashes": Twin(
        "plugin", field("Pod", "plugin-2", "status", {"phase": "Running", **CRASH}), True
    ),
    "pods of the plugin were refused before": Twin("plugin", added(REFUSED), True),
    "an exporter that was evicted": Twin(
        "workloads",
        added(exporter("e-0", "n1", **EVICTED), exporter("e-1", "n1")),
        True,
    ),
    "the exporter of another node crashes": Twin("workloads", added(exporter("e-2", "n2", **CRASH))),
    "somebody's pod crashes": Twin("workloads", added(pod("shop", {"app": "shop"}, "n1", namespace="team", **CRASH))),
}
"""By what is well."""
