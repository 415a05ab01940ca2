"""A NodeInventory behind a real kustomize: every line comes out as it went in."""

from __future__ import annotations

import json
from pathlib import Path

from tests.builders import CONFIG, node

from .engines import must

SELECTING = CONFIG.replace("{a: b}", "{gpu: 'true'}, kernelMappings: [{regexp: el9}]")


def test_an_inventory_says_the_same_behind_kustomize(kustomize: str, tmp_path: Path) -> None:
    nodes = [
        {
            **node(f"1e{number}", gpu="true", yes="no", rack=f"0{number}"),
            "status": {"nodeInfo": {"kernelVersion": f"5.14.0-{number}.el{8 + number % 2}.x86_64+"}},
        }
        for number in range(12)
    ]
    dump, plain, built = tmp_path / "dump.json", tmp_path / "plain", tmp_path / "built"
    dump.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": nodes}))
    inventory = must("krmfn", "inventory", dump, "--all-labels")
    for folder in (plain, built):
        folder.mkdir()
        (folder / "config.yaml").write_text(SELECTING)
        (folder / "nodes.yaml").write_bytes(inventory)
    (built / "kustomization.yaml").write_text("resources: [config.yaml, nodes.yaml]\nlabels: [{pairs: {team: a}}]\n")
    rows = [json.loads(must("krmfn", "nodes", folder, "--format", "json")) for folder in (plain, built)]
    rows = [document["clusters"][0]["rows"] for document in rows]
    assert rows[0] == rows[1]
    assert [row["state"] for row in rows[0]].count("planned") == 6
