"""The command `clusters`: which root goes to which cluster."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.commands import ROOT, process
from tests.functions.cluster.test_foreign import CHART
from tests.functions.comparing.test_base import repository
from tests.trees import COMPONENT, config_map


def test_the_fleet_without_a_configuration_file_has_four_clusters(tmp_path: Path) -> None:
    fleet = tmp_path / "fleet"
    shutil.copytree(ROOT / "examples/fleet", fleet)
    (fleet / ".krmfn.yaml").unlink()
    repository(fleet, {})
    rows = json.loads(process("krmfn", "clusters", ".", "--format", "json", cwd=fleet).ended(0).out)["clusters"]
    names = ["dev", "prod-a", "prod-b", "stage"]
    assert [row["name"] for row in rows if row["roots"][0]["engine"] == "argocd"] == names
    assert [row["roots"][0]["path"] for row in rows[:4]] == [f"clusters/{name}" for name in names]
    assert rows[0]["roots"][0] == {
        "path": "clusters/dev",
        "engine": "argocd",
        "how": "plugin",
        "from": {"file": "argocd/applicationset.yaml", "line": 2},
    }
    lines = process("krmfn", "clusters", cwd=fleet).text.splitlines()
    assert [line.split()[0] for line in lines[1:5]] == names


def test_what_may_not_be_built_hides_no_cluster(tmp_path: Path) -> None:
    """Nothing is built for it: a Component with a chart, which no root lists, was exit code 2."""
    files = {"a/a.yaml": config_map("a"), "part/kustomization.yaml": COMPONENT + CHART}
    done = process("krmfn", "clusters", cwd=repository(tmp_path, files)).ended(0)
    assert "part" not in done.text + done.err
