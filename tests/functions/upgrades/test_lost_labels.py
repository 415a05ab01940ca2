"""A node that loses its driver by a label of its own: the error stands where the label does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import process
from tests.trees import plant

CONFIG = """\
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {name: gpu, namespace: kmm}
spec:
  driverImage: registry.example.com/gpu
  driverVersion: "1"
  moduleName: gpu
  nodeSelector: {example.com/gpu: "true"}
"""
GROUPS = """\
apiVersion: krmfn.dev/v1alpha1
kind: NodeInventory
metadata: {name: nodes}
spec:
  labelKeys: [example.com/gpu]
  groups:
  - labels:
      example.com/gpu: "true"
    nodes: |
      a 6.1.0-test
  - labels:
      example.com/gpu: "true"
    nodes: |
      b 6.1.0-test
"""
LINES = """\
apiVersion: krmfn.dev/v1alpha1
kind: NodeInventory
metadata: {name: nodes}
spec:
  labelKeys: [example.com/gpu]
  groups:
  - nodes: |
      a 6.1.0-test example.com/gpu=true
      b 6.1.0-test example.com/gpu=true
"""
QUOTED = LINES.replace("|\n      a", '"a').replace("=true\n      b", "=true\\n      b").replace("\\n      ", "\\n")
QUOTED = QUOTED.rstrip("\n") + '\\n"\n'
OBJECTS = """\
apiVersion: v1
kind: Node
metadata: {name: a, labels: {example.com/gpu: "true"}}
status: {nodeInfo: {kernelVersion: 6.1.0-test}}
---
apiVersion: v1
kind: Node
metadata:
  name: b
  labels: {example.com/gpu: "true"}
status: {nodeInfo: {kernelVersion: 6.1.0-test}}
"""
AGAIN = "give it example.com/gpu=true again, or change the selector"


def _last(text: str, old: str, new: str) -> str:
    head, _, tail = text.rpartition(old)
    return head + new + tail


@pytest.mark.parametrize(
    ("nodes", "old", "new", "place", "found"),
    [
        (GROUPS, '"true"', '"yes"', "12:7", "has example.com/gpu=yes"),
        (LINES, "=true", "=yes", "9:1", "has example.com/gpu=yes"),
        (LINES, " example.com/gpu=true", "", "9:1", "lacks example.com/gpu"),
        (QUOTED, "=true", "=yes", "7:5", "has example.com/gpu=yes"),
        (OBJECTS, 'gpu: "true"', 'gpu: "yes"', "10:3", "has example.com/gpu=yes"),
    ],
)
def test_the_error_stands_at_the_label(tmp_path: Path, nodes: str, old: str, new: str, place: str, found: str) -> None:
    plant(tmp_path, {"old/gpu.yaml": CONFIG, "old/nodes.yaml": nodes})
    plant(tmp_path, {"new/gpu.yaml": CONFIG, "new/nodes.yaml": _last(nodes, old, new)})
    done = process("krmfn", "diff", "old", "new", "--fail-on", "lost", cwd=tmp_path).ended(1)
    assert f"new/nodes.yaml:{place}: error: Module kmm/gpu: lost by 1 node (b): no longer selected" in done.text
    assert f"b {found} now: {AGAIN}" in done.text


def test_a_selector_that_has_changed_is_the_cause(tmp_path: Path) -> None:
    plant(tmp_path, {"old/gpu.yaml": CONFIG, "old/nodes.yaml": LINES})
    plant(tmp_path, {"new/gpu.yaml": CONFIG.replace('"true"', '"yes"'), "new/nodes.yaml": LINES})
    done = process("krmfn", "diff", "old", "new", "--fail-on", "lost", cwd=tmp_path).ended(1)
    assert "nodes.yaml" not in done.text
    assert "new/gpu.yaml:8:" in done.text
    assert AGAIN not in done.text
