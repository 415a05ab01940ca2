"""The command `clusters`: which root goes to which cluster, and where that is written."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.commands import FLEET, ROOT, process
from tests.functions.comparing.test_base import repository, run_git
from tests.trees import config_map, plant

APPLICATION = """\
# The first line is a comment.
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: lab, namespace: argocd}
spec:
  source: {repoURL: https://git.example.com/fleet.git, path: lab, plugin: {name: krmfn}}
  destination: {name: lab}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: prod, namespace: argocd}
spec:
  source: {repoURL: https://git.example.com/other.git, path: prod}
  destination: {name: prod}
"""
FILES = {
    "argocd/all.yaml": APPLICATION,
    "lab/kustomization.yaml": "resources: [a.yaml]\n",
    "lab/a.yaml": config_map("a"),
    "prod/kustomization.yaml": "resources: [a.yaml]\n",
    "prod/a.yaml": config_map("a"),
}


def test_each_root_has_its_engine_and_its_place(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo", FILES)
    run_git(repo, "remote", "add", "origin", "git@git.example.com:fleet.git")
    done = process("krmfn", "clusters", ".", "--format", "json", cwd=repo).ended(0, "")
    clusters = {cluster["name"]: cluster["roots"] for cluster in json.loads(done.out)["clusters"]}
    place = {"file": "argocd/all.yaml", "line": 2}
    assert clusters["lab"] == [{"path": "lab", "engine": "argocd", "how": "plugin", "from": place}]
    assert clusters["prod"] == [{"path": "prod", "engine": "none", "how": "unknown", "from": None}]
    lines = process("krmfn", "clusters", cwd=repo).ended(0, "").text.splitlines()
    assert lines[1].split() == ["lab", "lab", "argocd", "plugin", "argocd/all.yaml:2"]


def test_the_configuration_file_is_written_once(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo", FILES)
    process("krmfn", "clusters", "--write", cwd=repo).ended(0, "wrote .krmfn.yaml with 2 clusters\n")
    assert (repo / ".krmfn.yaml").read_text() == 'clusters:\n  "lab": ["lab"]\n  "prod": ["prod"]\n'
    assert "is there already" in process("krmfn", "clusters", "--write", cwd=repo).refused()
    (row,) = [line for line in process("krmfn", "clusters", cwd=repo / "prod").text.splitlines() if "prod" in line]
    assert row.split() == ["prod", "prod", "argocd", "raw", "argocd/all.yaml:9"]


def test_the_fleet_of_the_examples_needs_no_configuration_file(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    shutil.copytree(ROOT / "examples" / FLEET, repo)
    (repo / ".krmfn.yaml").unlink()
    run_git(repo, "init", "-q")
    text = process("krmfn", "clusters", cwd=repo).ended(0, "").text
    assert [line.split()[:2] for line in text.splitlines()[1:5]] == [
        [name, f"clusters/{name}"] for name in ("dev", "prod-a", "prod-b", "stage")
    ]


def test_an_application_without_a_path_is_said_at_its_line(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo", FILES)
    plant(repo, {"argocd/bad.yaml": APPLICATION.replace("path: lab, ", "")})
    done = process("krmfn", "check", cwd=repo)
    assert "argocd/bad.yaml:2" in done.text and "has no path" in done.text
