"""Patches of the SDK beside those of kustomize: the same data."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
import yaml

from krmfn import KrmfnError
from krmfn.item import Item
from krmfn.yamltext import load
from tests.trees import plant

from .engines import run

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: web}
spec:
  replicas: 2
  template:
    spec:
      containers:
      - name: page
        image: page:1
        args: [a]
        env: [{name: MODE, value: fast}]
        ports: [{containerPort: 80, protocol: TCP}]
        volumeMounts: [{name: v, mountPath: /v}]
      - name: log
        image: log:1
      volumes:
      - name: v
        emptyDir: {}
      tolerations: [{key: spot, operator: Exists}]
      hostAliases: [{ip: 10.0.0.1, hostnames: [a]}]
"""
CUSTOM = """\
apiVersion: example.com/v1
kind: Panel
metadata: {name: web}
spec:
  containers: [{name: page, image: page:1}]
  rows: {a: 1, b: {c: [1, 2]}}
"""
COUNT = 60


def entry(draw: random.Random) -> dict[str, Any]:
    """A container of a patch, at random."""
    parts: dict[str, Any] = {
        "image": "page:2",
        "args": ["b", "c"],
        "env": [{"name": draw.choice(["MODE", "LEVEL"]), "value": "3"}],
        "ports": [{"containerPort": draw.choice([80, 81]), "protocol": "TCP", "name": "web"}],  # kustomize goes by both
        "volumeMounts": [{"name": "v", "mountPath": draw.choice(["/v", "/w"])}],
    }
    chosen = draw.sample(sorted(parts), draw.randint(0, 3))
    return {"name": draw.choice(["page", "log", "new"]), **{key: parts[key] for key in chosen}}


def patch(draw: random.Random) -> dict[str, Any]:
    """A merge patch of the Deployment, at random."""
    pod: dict[str, Any] = {
        "containers": [entry(draw)],
        "volumes": [{"name": draw.choice(["v", "w"]), "emptyDir": {"medium": "Memory"}}],
        "tolerations": [{"key": "gpu"}],
        "hostAliases": [{"ip": draw.choice(["10.0.0.1", "10.0.0.2"]), "hostnames": ["b"]}],
    }
    if draw.random() < 0.2:
        pod["containers"] = [{"name": draw.choice(["page", "log"]), "$patch": "delete"}]
    spec = {key: pod[key] for key in draw.sample(sorted(pod), draw.randint(1, 3))}
    others: list[dict[str, Any]] = [{"replicas": None}, {"replicas": 5}, {}, {"strategy": {"type": "Recreate"}}]
    return {"spec": {**draw.choice(others), "template": {"spec": spec}}}


def operations(draw: random.Random) -> list[dict[str, Any]]:
    """A JSON patch of the Deployment, at random; some fit nothing."""
    containers = "/spec/template/spec/containers"
    known: list[dict[str, Any]] = [
        {"op": "replace", "path": "/spec/replicas", "value": 7},
        {"op": "remove", "path": "/spec/replicas"},
        {"op": "add", "path": f"{containers}/-", "value": {"name": "x"}},
        {"op": "add", "path": f"{containers}/0", "value": {"name": "y"}},
        {"op": "remove", "path": f"{containers}/1"},
        {"op": "move", "from": f"{containers}/1", "path": f"{containers}/0"},
        {"op": "copy", "from": f"{containers}/0", "path": f"{containers}/-"},
        {"op": "test", "path": "/spec/replicas", "value": draw.choice([2, 3])},
        {"op": "add", "path": "/metadata/annotations", "value": {}},
    ]
    chosen = draw.sample(known, draw.randint(1, 3))
    has_annotations = any(operation["path"] == "/metadata/annotations" for operation in chosen)
    key = {"op": "add", "path": "/metadata/annotations/a.b~1c", "value": "x"}  # else kustomize makes what holds it
    return [*chosen, key] if has_annotations else chosen


def settled(value: Any) -> Any:
    """Data in which the order of mappings in a list does not count; kustomize drops empty annotations."""
    if isinstance(value, dict):
        return {key: settled(child) for key, child in value.items() if (key, child) != ("annotations", {})}
    if isinstance(value, list):
        rows = [settled(child) for child in value]
        return (
            sorted(rows, key=lambda row: json.dumps(row, sort_keys=True))
            if all(isinstance(row, dict) for row in rows)
            else rows
        )
    return value


def built(folder: Path, text: str, change: Any) -> Any:
    """What kustomize makes of a resource and a patch; None where it refuses."""
    target = {"kind": yaml.safe_load(text)["kind"], "name": "web"}
    kustomization = {"resources": ["r.yaml"], "patches": [{"patch": json.dumps(change), "target": target}]}
    plant(folder, {"r.yaml": text, "kustomization.yaml": json.dumps(kustomization)})
    done = run("kustomize", "build", folder)
    return yaml.safe_load(done.out) if done.code == 0 else None


def ours(text: str, change: Any) -> Any:
    item = Item(text.encode(), 0, len(text.encode()), -2)
    try:
        (item.patch_json6902 if isinstance(change, list) else item.merge)(change)
    except KrmfnError:
        return None
    return load.read(item.document)


@pytest.mark.parametrize("kind", [patch, operations], ids=["merge", "json"])
def test_a_patch_gives_what_kustomize_gives(kind: Any, tmp_path: Path, kustomize: str) -> None:
    draw = random.Random(5)
    both = 0
    for at in range(COUNT):
        change = kind(draw)
        if kind is patch:  # kustomize wants to know what a merge patch is about
            change = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, **change}
        expected = built(tmp_path / str(at), DEPLOYMENT, change)
        assert settled(ours(DEPLOYMENT, change)) == settled(expected), change
        both += expected is not None
    assert both > COUNT // 3


@pytest.mark.parametrize(
    "change",
    [
        {"spec": {"containers": [{"name": "page", "args": ["a"]}]}},
        {"spec": {"rows": {"a": None, "b": {"c": [3], "d": {"e": 1}}}}},
        {"spec": {"containers": None}},
    ],
    ids=str,
)
def test_a_custom_resource_is_merged_as_kustomize_merges_it(change: Any, tmp_path: Path, kustomize: str) -> None:
    named = {"apiVersion": "example.com/v1", "kind": "Panel", "metadata": {"name": "web"}, **change}
    assert ours(CUSTOM, named) == built(tmp_path, CUSTOM, named) is not None
