"""What is wrong with the nodes of one cluster does not stop the answer about another."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import process
from tests.examples import pairs_of
from tests.functions.cluster.test_one_result import config
from tests.trees import altered, plant

KERNEL = "5.14.0-503.el9.x86_64"
INVENTORY = """\
apiVersion: krmfn.dev/v1alpha1
kind: NodeInventory
metadata: {{name: {0}}}
spec:
  labelKeys: [card]
  groups:
  - labels: {{card: a}}
    nodes: |
      {0}-1 5.14.0-503.el9.x86_64
"""
UNKNOWN = "warning: what the nodes of a get is not known: "


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Two clusters of one node each."""
    (tmp_path / "repo/.git").mkdir(parents=True)
    files = {".krmfn.yaml": "clusters: {a: [a, inventories/a.yaml], b: [b, inventories/b.yaml]}\n"}
    for name in ("a", "b"):
        gpu = config("gpu", "card: a").replace("driverImage", "#").replace("driverVersion", "#")
        gpu += f'  kernelMappings: [{{literal: {KERNEL}, image: "registry.example.com/gpu:1"}}]\n'
        files |= {f"{name}/gpu.yaml": gpu, f"{name}/kustomization.yaml": "resources: [gpu.yaml]\n"}
        files |= {f"inventories/{name}.yaml": INVENTORY.format(name)}
    return plant(tmp_path / "repo", files)


def spoil(repo: Path, rule: str) -> None:
    file = repo / "inventories/a.yaml"
    if rule == "KRM603":
        altered(file, "labelKeys: [card]", "labelKeys: [pool]")
        altered(file, "card: a", "pool: a")
    else:
        altered(file, "5.14", "5.15")


@pytest.mark.parametrize("rule", ["KRM603", "KRM604"])
def test_why_answers_about_a_node_of_another_cluster(repo: Path, rule: str) -> None:
    spoil(repo, rule)
    assert process("krmfn", "check", ".", cwd=repo).text.count(f"[{rule}]") == 1
    done = process("krmfn", "why", "b-1", ".", cwd=repo)
    assert (done.code, done.text.startswith("b: b-1: kmm/gpu is planned")) == (0, True), done.err
    assert done.err.startswith(UNKNOWN) == (rule == "KRM603")


def test_why_does_not_answer_about_a_node_that_may_have_more(repo: Path) -> None:
    spoil(repo, "KRM603")
    for name in ("a-1", "nobody"):
        done = process("krmfn", "why", name, ".", cwd=repo)
        assert (done.code, "[KRM603]" in done.err, done.text) == (2, True, "")
    altered(repo / "inventories/a.yaml", "a-1", "b-1")
    assert process("krmfn", "why", "b-1", ".", cwd=repo).code == 2, "it is in both"


OTHERS = (
    *(["nodes", "."], ["nodes", ".", "--node", "b-1"], ["images", "."], ["resolve", ".", "--kernel", KERNEL]),
    *(["render", ".", "--output-dir", "../files"], ["inventory", "--check", "."]),
)


@pytest.mark.parametrize(("rule", "command"), pairs_of(["KRM603", "KRM604"], OTHERS))
def test_the_other_commands_answer_about_it(repo: Path, rule: str, command: list[str]) -> None:
    sound = process("krmfn", *command, cwd=repo)
    spoil(repo, rule)
    command = [word.replace("files", "again") for word in command]
    done = process("krmfn", *command, cwd=repo)
    assert done.code in (0, 1), done.err
    assert "registry.example.com/gpu:1" in done.text or "registry.example.com/gpu:1" not in sound.text


def test_resolve_answers_beside_a_root_without_modules(repo: Path) -> None:
    (repo / ".krmfn.yaml").unlink()
    assert process("krmfn", "resolve", ".", "--kernel", KERNEL, cwd=repo).code == 0
    done = process("krmfn", "resolve", "inventories", "--kernel", KERNEL, cwd=repo)
    assert (done.code, done.err) == (2, "error: no Module in inventories, neither hand-written nor generated\n")
