"""A dump is of the cluster whose inventory has the same uid of kube-system, and of no other."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.builders import manifest
from tests.commands import ROOT, process
from tests.kmm_dumps import node

NIC = {"example.com/nic": "true", "example.com/pool": "main", "example.com/card": "gpu"}
LAB, PROD = "2c9b4b7e-3f1d-4a52-9d8e-0a4f5f9c1b11", "9f1c0a55-8d27-4c0e-b6cb-51d1f6d2a3e4"
COMMANDS = ("why", "nodes", "check", "report")


def dump(uid: str | None, *names: str) -> str:
    """Return a dump of nodes, with the Namespace kube-system unless `uid` is None."""
    system = {**manifest("v1", "Namespace", "kube-system", "")}
    system["metadata"] = {"name": "kube-system", "uid": uid}
    other = manifest("v1", "Namespace", "kmm", "", uid="another")
    items = [other, *([system] if uid is not None else []), *(node(NIC, name=name) for name in names)]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    """Two clusters with the same names of nodes; the inventories are made by the command, of dumps."""
    for name, uid in (("lab", LAB), ("prod", PROD)):
        folder = shutil.copytree(ROOT / "examples/one-cluster", tmp_path / name)
        args = ("--labels", ",".join(NIC), "-o", str(folder / "nodes.yaml"), "--name", name)
        process("krmfn", "inventory", *args, stdin=dump(uid, "n1", "n2", "n3")).ended(0)
    return tmp_path


def run(fleet: Path, command: str, text: str, cluster: str = "lab", paths: tuple[str, ...] = ("lab", "prod")) -> Any:
    node = ["n1"] if command == "why" else []
    return process("krmfn", command, *node, *paths, "--live", f"{cluster}=-", cwd=fleet, stdin=text)


def test_the_inventory_has_the_uid_of_the_dump(fleet: Path) -> None:
    spec = yaml.safe_load((fleet / "lab/nodes.yaml").read_text())["spec"]
    assert (spec["clusterUID"], spec["nodeCount"]) == (LAB, 3)
    done = process("krmfn", "inventory", "--all-labels", stdin=dump(None, "n1")).ended(0)
    assert "clusterUID" not in done.text


@pytest.mark.parametrize("command", COMMANDS)
def test_a_dump_with_another_uid_is_refused_whatever_its_nodes(command: str, fleet: Path) -> None:
    err = run(fleet, command, dump(PROD, "n1", "n2", "n3")).refused()
    assert f"the dump is of another cluster: its kube-system has the uid {PROD}, the inventory of lab has" in err
    assert "; pass --live prod=-\n" in err
    assert "; pass a dump of lab, or renew its inventory\n" in run(fleet, command, dump("else", "n1")).refused()


def test_a_dump_with_the_same_uid_is_taken_though_all_nodes_are_new(fleet: Path) -> None:
    done = run(fleet, "nodes", dump(LAB, "m1", "m2"))
    assert "lab: 2 live nodes in place of 3 committed\n" in done.err
    assert "none of the 2 nodes of the dump is among the 3" in run(fleet, "nodes", dump(None, "m1", "m2")).refused()


def test_without_a_uid_on_one_side_the_nodes_decide(fleet: Path) -> None:
    text = yaml.safe_load((fleet / "lab/nodes.yaml").read_text())
    assert "3 live nodes in place of 3" in run(fleet, "nodes", dump(None, "n1", "n2", "n3")).err
    assert "3 live nodes in place of 3" in run(fleet, "nodes", dump("", "n1", "n2", "n3")).err
    del text["spec"]["clusterUID"]
    (fleet / "lab/nodes.yaml").write_text(yaml.safe_dump(text))
    assert "3 live nodes in place of 3" in run(fleet, "nodes", dump(PROD, "n1", "n2", "n3")).err


def test_an_inventory_in_the_place_of_a_dump_has_its_uid(fleet: Path) -> None:
    text = (fleet / "prod/nodes.yaml").read_text()
    assert "the dump is of another cluster" in run(fleet, "nodes", text).refused()
    assert "3 nodes in place of 3" in run(fleet, "nodes", (fleet / "lab/nodes.yaml").read_text()).err


@pytest.mark.parametrize("command", ["nodes", "inventory"])
def test_dumps_of_two_clusters_in_one_file_are_refused(command: str, fleet: Path) -> None:
    text = dump(LAB, "n1") + dump(PROD, "n2")
    inventory = process("krmfn", "inventory", "--all-labels", stdin=text)
    done = inventory if command == "inventory" else run(fleet, command, text)
    assert "it holds dumps of two clusters (two Namespaces kube-system); pass " in done.refused()
