"""What engines' objects say of the clusters that .krmfn.yaml names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import process
from tests.functions.cluster.test_one_result import config, node
from tests.trees import plant

APPLICATION = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: gpu, namespace: argocd}
spec:
  source: {repoURL: 'https://git.example.com/f.git', path: gpu}
  destination: {name: lab}
"""
PLUGIN = APPLICATION.replace("path: gpu", "path: gpu, plugin: {name: krmfn}")
FLUX = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: gpu, namespace: flux-system}
spec: {path: ./gpu, sourceRef: {kind: GitRepository, name: f}}
"""
NODES = {"inventories/lab.yaml": node("gpu-1", card="a")}


def findings(folder: Path, *args: str, **files: str) -> dict[str, str]:
    """The messages of `check`, by their rules."""
    plant(folder, {".git/config": "", "gpu/gpu.yaml": config("gpu", "card: a"), **NODES, **files})
    found = json.loads(process("krmfn", "check", "--format", "json", *args, cwd=folder).text)["findings"]
    return {finding["rule"]: finding["message"] for finding in found}


LISTED = "clusters: {lab: [gpu, inventories/lab.yaml]}\n"


@pytest.mark.parametrize("engine", [APPLICATION, FLUX])
def test_a_config_that_is_applied_as_it_is_is_told_beside_a_configuration_file(engine: str, tmp_path: Path) -> None:
    """With one, which an inventory needs, `check` had no findings, and no Module would have come of it."""
    found = findings(tmp_path, **{"apps/gpu.yaml": engine, ".krmfn.yaml": LISTED})
    assert "so no Module is made of it" in found["KRM545"]
    assert "KRM544" not in found
    (tmp_path / ".krmfn.yaml").unlink()
    named = findings(tmp_path, "--cluster", "lab=gpu", **{"apps/gpu.yaml": engine})
    assert "so no Module is made of it" in named["KRM545"]


def test_an_object_that_names_another_cluster_there_is_about_that_one(tmp_path: Path) -> None:
    both = "clusters: {lab: [gpu, inventories/lab.yaml], prod: [gpu]}\n"
    files = {"apps/gpu.yaml": PLUGIN + "---\n" + APPLICATION.replace("lab", "prod").replace("name: gpu", "name: b")}
    plant(
        tmp_path, {".git/config": "", "gpu/gpu.yaml": config("gpu", "card: a"), **NODES, **files, ".krmfn.yaml": both}
    )
    found = json.loads(process("krmfn", "check", "--format", "json", cwd=tmp_path).text)["findings"]
    assert [finding["clusters"] for finding in found if finding["rule"] == "KRM545"] == [["prod"]]


@pytest.mark.parametrize("mark", ["", ', annotations: {config.kubernetes.io/local-config: "true"}'])
def test_a_folder_that_an_engine_deploys_and_no_cluster_there_has_is_told(mark: str, tmp_path: Path) -> None:
    """An inventory alone was named: the config counted nowhere, or was said to be deployed nowhere."""
    files = {
        "apps/gpu.yaml": PLUGIN,
        ".krmfn.yaml": "clusters: {lab: [inventories/lab.yaml]}\n",
        "gpu/gpu.yaml": config("gpu", "card: a").replace("namespace: kmm", f"namespace: kmm{mark}"),
    }
    found = findings(tmp_path, **files)
    assert "deploys gpu to lab, but no cluster of .krmfn.yaml has it, so it is judged apart" in found["KRM544"]
    assert "is deployed nowhere" not in found.get("KRM524", "")
    assert "KRM544" not in findings(tmp_path, **{**files, ".krmfn.yaml": LISTED})


def test_an_object_that_names_a_cluster_which_has_not_its_folder_is_about_those_that_have(tmp_path: Path) -> None:
    """It was about none, and a config that is applied as it is was no finding."""
    files = {
        "apps/gpu.yaml": APPLICATION.replace("name: lab", "name: prod"),
        ".krmfn.yaml": "clusters: {lab: [gpu, inventories/lab.yaml], prod: [other]}\n",
        "other/map.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: kmm}\n",
    }
    assert "so no Module is made of it" in findings(tmp_path, **files)["KRM545"]
