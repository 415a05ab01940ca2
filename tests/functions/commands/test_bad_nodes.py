"""Nodes that cannot be relied on: no command that looks at nodes passes over them in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import process
from tests.examples import pairs_of
from tests.functions.commands.test_fleets import CONFIG
from tests.trees import plant

NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {gpu: 'yes'}}\n"
INVENTORY = """\
apiVersion: krmfn.dev/v1alpha1
kind: NodeInventory
metadata: {name: nodes, annotations: {config.kubernetes.io/local-config: "true"}}
spec:
  labelKeys: [gpu]
  groups:
  - labels: {gpu: "yes"}
    nodes: |
      n1 5.14.0-503.11.1.el9_5.x86_64
"""
KERNEL = "status:\n  nodeInfo:\n    kernelVersion: {}\n"
BIG = "".join(f"    example.com/label-{number}: {'x' * 63}\n" for number in range(45_000))
BAD = {
    "a Node without a name": (NODE.replace("name: n1, ", ""), "this Node has no metadata.name"),
    "a name twice": (f"{NODE}---\n{NODE}", "node n1 is also in Node n1"),
    "a Node and a line": (f"{NODE}---\n{INVENTORY}", "node n1 is also in Node n1"),
    "two inventories": (f"{INVENTORY}---\n{INVENTORY.replace('name: nodes', 'name: more')}", "node n1 is also in Node"),
    "a label that is no string": (NODE.replace("'yes'", "true"), "its label gpu is True, not a string"),
    "a label of two readings": (NODE.replace("'yes'", "yes"), 'put it in quotes: "yes"'),
    "labels that are none": (NODE.replace("{gpu: 'yes'}", "[gpu]"), "labels"),
    "taints that are none": (NODE + "spec: {taints: {a: b}}\n", "its taints are not a list"),
    "an unknown effect": (NODE + "spec: {taints: [{key: a, effect: Never}]}\n", "none of the effects"),
    "a kernel that is a number": (NODE + KERNEL.format("6.8"), "kernelVersion is 6.8, not a string; put it in quotes"),
    "one behind a comment": (NODE + KERNEL.format("# as typed\n      6.10"), "kernelVersion is 6.1, not a string"),
    "a kernel that is a list": (NODE + KERNEL.format("[6.8.0]"), "kernelVersion is ['6.8.0'], not a string"),
    "an unknown version": (INVENTORY.replace("v1alpha1", "v2"), "krmfn.dev/v1alpha1"),
    "a misspelt field": (INVENTORY.replace("labelKeys", "labelkeys"), "labelkeys"),
    "a truncated dump": (INVENTORY.rpartition(" ")[0], "n1"),
    "half a Node": (NODE[:-10], ""),
    "an old inventory": (INVENTORY.replace("spec:", "spec:\n  validUntil: '2020-01-01'"), "was valid until 2020-01-01"),
    "a label that is not held": (INVENTORY.replace("gpu", "card"), "does not hold the label gpu"),
}


@pytest.mark.parametrize(("case", "command"), pairs_of(BAD, ["check", "nodes", "images", "report"]))
def test_what_is_wrong_is_said(case: str, command: str, tmp_path: Path) -> None:
    text, message = BAD[case]
    plant(tmp_path, {"config.yaml": CONFIG, "nodes.yaml": text})
    done = process("krmfn", command, str(tmp_path))
    assert done.code in (1, 2)
    assert message in done.text + done.err
    if command in ("nodes", "images"):
        assert done.out == b"", "nothing is concluded from the rest"
    if command == "report" and done.code == 1:
        assert 'class="tone-bad"' in done.text
        assert "get no driver" not in done.text.partition("<h1>")[2].partition("</h1>")[0]


@pytest.mark.parametrize("case", BAD)
def test_no_inventory_is_made_of_it(case: str, tmp_path: Path) -> None:
    """Nor of an inventory: what it was made of may be newer."""
    (tmp_path / "nodes.yaml").write_text(BAD[case][0])
    refusal = process("krmfn", "inventory", "nodes.yaml", "--labels", "gpu", cwd=tmp_path).refused()
    assert refusal.startswith("error: nodes.yaml: ")


@pytest.mark.parametrize("command", ["check", "nodes", "images", "report"])
def test_a_node_with_megabytes_of_labels_is_read(command: str, tmp_path: Path) -> None:
    """No API server takes it (1.5 MiB); it is neither skipped nor a crash."""
    (tmp_path / "config.yaml").write_text(CONFIG.replace("el9_5", "el10_0"))
    kernel = "status: {nodeInfo: {kernelVersion: 5.14.0-503.11.1.el9_5.x86_64}}\n"
    (tmp_path / "nodes.yaml").write_text(
        f"apiVersion: v1\nkind: Node\nmetadata:\n  name: n1\n  labels:\n    gpu: 'yes'\n{BIG}{kernel}"
    )
    done = process("krmfn", command, str(tmp_path), *(["--wide"] if command == "nodes" else []))
    assert done.code == {"check": 1, "nodes": 0, "images": 2, "report": 1}[command]
    assert ("no node would pull an image" if command == "images" else "n1") in done.text + done.err
