"""An inventory with all labels of a fleet of many pools is a file that `check` reads: not every label divides it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from krmfn_functions.fleet import collecting

from krmfn.yamltext.simple import MAX_NODES
from tests.commands import process
from tests.trees import plant

from ..cluster.test_one_result import config

POOLS, LABELS = 2_000, 40


def dump(of_each_pool: int) -> bytes:
    """Return Nodes as kubectl prints them; nodes of a pool have the same labels."""
    items = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": f"n{number}-{pool}",
                "labels": {"card": "a" if pool else "b"} | {f"example.com/l{at}": f"v{pool}" for at in range(LABELS)},
            },
            "status": {"nodeInfo": {"kernelVersion": "6.1.0"}},
        }
        for number in range(of_each_pool)
        for pool in range(POOLS)
    ]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items}).encode()


@pytest.mark.parametrize("of_each_pool", [1, collecting.FEWEST])
def test_an_inventory_of_many_pools_is_read(of_each_pool: int, tmp_path: Path) -> None:
    assert POOLS * LABELS * 2 > MAX_NODES, "with a group for each pool it would be refused"
    (tmp_path / "nodes.json").write_bytes(dump(of_each_pool))
    plant(tmp_path, {"lab/gpu.yaml": config("gpu", "card: b")})
    arguments = ["nodes.json", "--all-labels", "-o", "lab/nodes.yaml"]
    process("krmfn", "inventory", *arguments, cwd=tmp_path).ended(0)
    process("krmfn", "check", "lab", cwd=tmp_path).ended(0)
    (cluster,) = json.loads(process("krmfn", "nodes", "lab", "--format", "json", cwd=tmp_path).text)["clusters"]
    planned = [row for row in cluster["rows"] if row["state"] == "planned"]
    assert {row["node"] for row in planned} == {f"n{number}-0" for number in range(of_each_pool)}
