"""What --fail-on makes an error has a place in a build, too: a reviewer has to know where to look."""

from __future__ import annotations

import json
from pathlib import Path

from tests.commands import process
from tests.functions.commands.test_verdict import Cluster
from tests.functions.comparing.test_base import commit, repository

PATCH = """\
- op: replace
  path: /spec/nodeSelector
  value: {example.com/gpu: "ture"}
"""
OVERLAY = "resources: [../base, nodes.yaml]\n"


def test_an_error_of_fail_on_names_the_line_of_the_change(tmp_path: Path) -> None:
    files = Cluster(ordered=True).files("lab", False)
    sides = {"base/all.yaml": files["lab/all.yaml"], "base/kustomization.yaml": "resources: [all.yaml]\n"}
    sides |= {"lab/nodes.yaml": files["lab/nodes.yaml"], "lab/kustomization.yaml": OVERLAY}
    nodes = Cluster(ordered=True).files("prod", False)["prod/nodes.yaml"]
    sides |= {"prod/nodes.yaml": nodes.replace('gpu: "1"', 'gpu: "0"')}
    sides |= {"prod/kustomization.yaml": OVERLAY, ".krmfn.yaml": "clusters: {lab: [lab], prod: [prod]}\n"}
    repo = repository(tmp_path / "repo", sides)
    patched = f"{OVERLAY}patches: [{{path: p.yaml, target: {{kind: DeviceConfig}}}}]\n"
    commit(repo, {"lab/p.yaml": PATCH, "lab/kustomization.yaml": patched})
    words = ("--fail-on", "lost", "--fail-on", "uncovered")
    process("krmfn", "ci", "--base", "main", "--out", "../out", *words, cwd=repo).ended(1)
    found = json.loads((tmp_path / "out/result.json").read_text())["check"]["findings"]
    places = {(f["file"], f["line"], *f["clusters"]) for f in found if f["severity"] == "error"}
    assert places == {("lab/p.yaml", 3, "lab"), ("base/all.yaml", 1, "prod")}, found
