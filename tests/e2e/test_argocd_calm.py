"""What Argo CD has synced stays as it is: neither the API server's defaults nor what KMM writes is a difference."""

from __future__ import annotations

import shutil
from typing import Any

import pytest

from .argo_loop import APPS, KMM, Loop
from .engines import EXAMPLES
from .kube import install_crd
from .test_argocd_loop import settled

FINALIZER = "kmm.node.kubernetes.io/module-finalizer"
SERVICE_MONITORS = b"""\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: servicemonitors.monitoring.coreos.com}
spec:
  group: monitoring.coreos.com
  scope: Namespaced
  names: {kind: ServiceMonitor, plural: servicemonitors, singular: servicemonitor, listKind: ServiceMonitorList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
"""


def metadata(loop: Loop, name: str) -> dict[str, dict[str, Any]]:
    """Return the metadata of all that an Application has made, from the server; any change is in it."""
    by_name = {}
    for resource in loop.status(name)["resources"]:
        api = "/".join(filter(None, (resource.get("group"), resource["version"])))
        manifest = loop.get(api, resource["kind"], resource.get("namespace", ""), resource["name"])
        by_name[f"{resource['kind']} {resource['name']}"] = manifest["metadata"]
    return by_name


def names_of(loop: Loop, name: str, kind: str) -> list[str]:
    return [resource["name"] for resource in loop.status(name).get("resources", []) if resource["kind"] == kind]


def existing(loop: Loop, name: str, api_version: str, kind: str) -> list[str]:
    """Wait until all that an Application has made of a kind is there; return their names."""
    names = names_of(loop, name, kind)
    loop.until(f"each {kind} is there", name, lambda: all(loop.get(api_version, kind, name, item) for item in names))
    return names


def observe(loop: Loop, namespace: str, name: str) -> None:
    """Write what KMM writes into a Module: its finalizer, and a status with all counters."""
    counters = {"nodesMatchingSelectorNumber": 3, "desiredNumber": 3, "availableNumber": 3}
    loop.patch(KMM, "Module", namespace, name, {"metadata": {"finalizers": [FINALIZER]}})
    status = {"moduleLoader": counters, "devicePlugin": counters}
    loop.patch(KMM, "Module", namespace, name, {"status": status}, "/status")


@pytest.mark.parametrize("options", [["ServerSideApply=true"], []], ids=["server-side", "client-side"])
def test_two_syncs_of_four_vendors_change_nothing(loop: Loop, options: list[str]) -> None:
    """With self-heal: four operators' worth of fields, and nothing for Argo CD to say, heal or write."""
    name = "calm-server" if options else "calm-client"
    install_crd(loop.cluster, SERVICE_MONITORS, "servicemonitors.monitoring.coreos.com")
    folder = shutil.copytree(EXAMPLES / "inline-profiles", loop.repository / name)
    for path in folder.glob("*.yaml"):
        path.write_text(path.read_text().replace("namespace: kmm\n", f"namespace: {name}\n"))
    loop.commit("four vendors")
    policy = {"automated": {"prune": True, "selfHeal": True}, "syncOptions": options}
    source = {"repoURL": f"file://{loop.repository}", "targetRevision": "main", "path": name}
    loop.create(name, {"project": "default", "source": source | {"plugin": {"name": "krmfn"}}, "syncPolicy": policy})

    loop.until("the Modules are known", name, lambda: len(names_of(loop, name, "Module")) == 4)
    for module in existing(loop, name, KMM, "Module"):
        observe(loop, name, module)
    for daemon_set in existing(loop, name, APPS, "DaemonSet"):
        loop.roll_out(name, daemon_set)
    loop.until("all is healthy", name, lambda: settled(loop, name))

    before = metadata(loop, name)
    assert len(before) > 20
    for _ in range(2):
        loop.sync(name)
        loop.refresh(name)
        loop.until("all is healthy again", name, lambda: settled(loop, name))
    assert metadata(loop, name) == before
