"""A vendor's config with its Profile, and the cluster as the vendor's operator has left it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import yaml

Manifest = dict[str, Any]

PROFILE = """\
apiVersion: krmfn.dev/v1alpha1
kind: Profile
metadata: {name: npu}
spec:
  version: 2.0.0
  for: {group: npu.example.org, versions: [v1], kind: NpuPolicy, keep: true}
  schema:
    type: object
    required: [spec]
    properties:
      spec:
        type: object
        required: [image]
        properties:
          image: {type: string}
          plugin: {type: string}
  config:
    nodeSelector: {example.org/npu: "true"}
    moduleName: npu
    kernelMappings: [{regexp: ^.+$, image: "${spec.image}:$KERNEL_FULL_VERSION"}]
    daemonSets:
    - name: plugin
      image: ${spec.plugin}
      resources: {limits: {cpu: 500m, memory: 1Gi}}
    extraObjects:
    - {apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {mode: fast}}
"""
CR = """\
apiVersion: npu.example.org/v1
kind: NpuPolicy
metadata: {name: main, namespace: npu}
spec: {image: registry.example.com/npu, plugin: "registry.example.com/plugin:1"}
"""
UID = "00000000-0000-4000-8000-000000000001"
OWNER = {"apiVersion": "npu.example.org/v1", "kind": "NpuPolicy", "name": "main", "uid": UID, "controller": True}
MODULE = ("Module", "main")
PLUGIN = ("DaemonSet", "main-plugin")


def write(folder: Path) -> Path:
    """Write the config and its Profile."""
    (folder / "git").mkdir(exist_ok=True)
    (folder / "git/profile.yaml").write_text(PROFILE)
    (folder / "git/cr.yaml").write_text(CR)
    return folder / "git"


@cache
def _rendered() -> str:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        git = write(Path(folder))
        command = [sys.executable, "-m", "krmfn_functions", "render", str(git)]
        return subprocess.run(command, capture_output=True, check=True, text=True).stdout


def made(owned: bool = True) -> list[Manifest]:
    """Return what the operator has made, as the API server returns it: without krmfn's marks, with its own fields."""
    objects = [deepcopy(manifest) for manifest in yaml.safe_load_all(_rendered()) if manifest["kind"] != "NpuPolicy"]
    for number, manifest in enumerate(objects):
        metadata = manifest["metadata"]
        manifest["metadata"] = {
            **{key: metadata[key] for key in ("name", "namespace")},
            "uid": f"00000000-0000-4000-8000-0000000001{number:02}",
            "resourceVersion": "5",
            "managedFields": [
                {"manager": "npu-operator", "operation": "Update", "fieldsType": "FieldsV1", "fieldsV1": {}},
                {"manager": "kubelet", "operation": "Update", "subresource": "status"},
            ],
        }
        if owned:
            manifest["metadata"]["ownerReferences"] = [dict(OWNER)]
    plugin = named(objects, PLUGIN)
    plugin["spec"]["updateStrategy"] = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}}
    pod = plugin["spec"]["template"]["spec"]
    pod |= {"dnsPolicy": "ClusterFirst", "restartPolicy": "Always", "securityContext": {}}
    pod["containers"][0] |= {"terminationMessagePath": "/dev/termination-log", "imagePullPolicy": "IfNotPresent"}
    plugin["status"] = {"numberReady": 1}
    return objects


def named(objects: list[Manifest], key: tuple[str, str]) -> Manifest:
    """Return the object of this kind and name."""
    return next(one for one in objects if (one["kind"], one["metadata"]["name"]) == key)


def config(*finalizers: str) -> Manifest:
    """Return the operator's config on the cluster."""
    manifest: Manifest = yaml.safe_load(CR)
    manifest["metadata"] |= {"uid": UID, "resourceVersion": "9", "finalizers": list(finalizers)}
    return manifest


def node(name: str = "w1") -> Manifest:
    """Return a node that the Module selects and that has it loaded."""
    labels = {"example.org/npu": "true", "kmm.node.kubernetes.io/npu.main.ready": ""}
    info = {"kernelVersion": "6.1.0", "architecture": "amd64", "osImage": "Linux"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {"nodeInfo": info},
    }


def dump(folder: Path, *objects: Manifest, edit: Callable[[list[Manifest]], None] = lambda _: None) -> Path:
    """Write a dump of these objects and a node, after `edit` has changed them."""
    items = [*objects, node()]
    edit(items)
    path = folder / "dump.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return path
