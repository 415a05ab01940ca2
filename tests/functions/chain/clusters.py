"""A cluster in which a driver is loaded on every node, as a dump shows it, and the chain of a node in it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from krmfn_functions.chain.link import Link, Subject
from krmfn_functions.chain.walk import first, is_fine, walk
from krmfn_functions.fleet import live, nodes
from krmfn_functions.fleet.coverage import coverage
from krmfn_functions.fleet.drivers import driver

from krmfn import Manifest, ResourceList
from krmfn.item import Item
from krmfn.yamltext import emit
from tests.builders import manifest, module

KMM = "kmm.sigs.x-k8s.io/v1beta1"
KERNEL = "6.1.0-1.x86_64"
READY = "kmm.node.kubernetes.io/kmm.simple.ready"
VERSION = "kmm.node.kubernetes.io/version-module.kmm.simple"
OWNED = {"kmm.node.kubernetes.io/module.name": "simple"}
OPERATOR = "kmm-operator-controller-1"
Objects = list[Manifest]


def planned(version: str = "", **spec: Any) -> Manifest:
    """Return the Module that Git renders, perhaps of an ordered upgrade."""
    image = f"example.com/simple:{version or '1'}-$KERNEL_FULL_VERSION"
    mapping = {"regexp": "^.+$", "containerImage": image}
    made = module(mapping, selector={"gpu": "a"}, version=version or None)
    made["spec"] |= {"devicePlugin": {"container": {"image": "example.com/plugin:1"}}, **spec}
    return made


def image_of(version: str = "") -> str:
    return f"example.com/simple:{version or '1'}-{KERNEL}"


def pod(name: str, labels: dict[str, str], node: str = "", namespace: str = "kmm", **status: Any) -> Manifest:
    """Return a pod that runs, or has this status."""
    made = manifest("v1", "Pod", name, namespace, labels=labels)
    return {**made, "spec": {"nodeName": node} if node else {}, "status": {"phase": "Running", **status}}


def waiting(reason: str, message: str = "", **more: Any) -> dict[str, Any]:
    """Return the status of a pod whose container waits."""
    return {
        "containerStatuses": [{"ready": False, "state": {"waiting": {"reason": reason, "message": message}}, **more}]
    }


def worker(action: str, node: str = "n1", **status: Any) -> Manifest:
    """Return a worker pod of KMM's."""
    labels = {**OWNED, "kmm.node.kubernetes.io/worker-action": action}
    return pod(f"kmm-worker-{node}-simple", labels, node, **status)


def healthy(number: int = 2, version: str = "") -> Objects:
    """Return a dump in which KMM has done all that a Module asks for."""
    config = {"containerImage": image_of(version), "kernelVersion": KERNEL}
    entry = {"namespace": "kmm", "name": "simple", "config": config}
    images = {"spec": {"images": [{"image": image_of(version)}]}}
    images["status"] = {"imagesStates": [{"image": image_of(version), "status": "Exists"}]}
    objects = [
        planned(version),
        {**manifest(KMM, "ModuleImagesConfig", "simple"), **images},
        manifest("v1", "ServiceAccount", "default"),
        manifest("v1", "Namespace", "kmm", ""),
        pod(OPERATOR, {"control-plane": "controller"}, namespace="kmm-operator-system"),
    ]
    for at in range(1, number + 1):
        name = f"n{at}"
        labels = {"gpu": "a", READY: "", **({VERSION: version} if version else {})}
        info = {"kernelVersion": KERNEL, "bootID": f"b{at}"}
        objects += [
            {**manifest("v1", "Node", name, "", labels=labels), "spec": {}, "status": {"nodeInfo": info}},
            {
                **manifest(KMM, "NodeModulesConfig", name, ""),
                "spec": {"modules": [copy.deepcopy(entry)]},
                "status": {"modules": [{**copy.deepcopy(entry), "bootId": f"b{at}"}]},
            },
            pod(f"plugin-{at}", {**OWNED, "kmm.node.kubernetes.io/role": "device-plugin"}, name),
        ]
    return objects


def find(objects: Objects, kind: str, name: str) -> Manifest:
    """Return an object of a dump."""
    return next(item for item in objects if (item["kind"], item["metadata"]["name"]) == (kind, name))


def drop(objects: Objects, kind: str, name: str = "") -> None:
    """Remove an object of a dump, or all of a kind."""
    objects[:] = [item for item in objects if item["kind"] != kind or name not in ("", item["metadata"]["name"])]


def seen(objects: Objects, name: str = "n1", wanted: Manifest | None = None) -> tuple[dict[str, Link], str, bool]:
    """Return the chain of the Module on a node, the name of its first broken link, and whether it is fine."""
    dump = live.read(copy.deepcopy(objects), "")
    drivers = [driver(wanted or planned(version_of(objects)))]
    texts = (emit.dump(item).encode() for item in dump.nodes.values())
    known = nodes.read(ResourceList([Item(text, 0, len(text), -2) for text in texts])).nodes
    for group in coverage(known, drivers, True):
        for node in group.nodes:
            if node.name == name and group.outcomes:
                subject = Subject(node, drivers, group.outcomes[0], dump)
                links = walk(subject)
                return links, first(links), is_fine(subject, links)
    raise AssertionError(f"nothing selects {name}")


def version_of(objects: Objects) -> str:
    """Return the version of the Module in a dump; "" without one."""
    modules = [item for item in objects if (item["kind"], item["metadata"]["name"]) == ("Module", "simple")]
    version: str = modules[0]["spec"]["moduleLoader"]["container"].get("version", "") if modules else ""
    return version


Break = Callable[[Objects], None]
"""Breaks something on n1, or in the whole cluster."""
