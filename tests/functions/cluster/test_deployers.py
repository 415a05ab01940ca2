"""Annotations for engines are judged by the engine that deploys the object; those for others are an info."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import process
from tests.functions.cluster.test_engine_additions import MODULE
from tests.functions.cluster.test_engines import application, kustomization, root
from tests.functions.comparing.test_base import repository
from tests.trees import altered

ENGINES = {
    "argocd": {"apps/a.yaml": application("a", "lab", "x: y")},
    "flux": {"clusters/lab/ks.yaml": kustomization("a")},
    "both": {"apps/a.yaml": application("a", "lab", "x: y"), "clusters/lab/ks.yaml": kustomization("a")},
    "nobody": {},
}
HOOK, FORCE, HELM = (
    "argocd.argoproj.io/hook: Sync",
    "kustomize.toolkit.fluxcd.io/force: enabled",
    "helm.sh/resource-policy: keep",
)
READERS = {HOOK: {"argocd", "both", "nobody"}, FORCE: {"flux", "both", "nobody"}, HELM: {"argocd", "both", "nobody"}}


def annotated(annotation: str) -> str:
    return MODULE.replace("namespace: kmm}", f"namespace: kmm, annotations: {{{annotation}}}}}")


@pytest.mark.parametrize("annotation", READERS)
@pytest.mark.parametrize("engine", ENGINES)
def test_an_annotation_is_for_the_engine_that_deploys(engine: str, annotation: str, tmp_path: Path) -> None:
    repo = repository(tmp_path, root("a", annotated(annotation)) | ENGINES[engine])
    done = process("krmfn", "check", ".", "--format", "json", cwd=repo)
    rows = [row for row in json.loads(done.out)["findings"] if row["rule"] == "KRM720"]
    expected = "warning" if engine in READERS[annotation] else "info"
    assert [row["severity"] for row in rows] == [expected], done.text


@pytest.mark.parametrize("engine", ["argocd", "flux"])
def test_a_change_is_held_back_by_its_own_engine_only(engine: str, tmp_path: Path) -> None:
    repo = repository(tmp_path, root("a", MODULE) | ENGINES[engine])
    altered(repo / "a/a.yaml", "namespace: kmm}", f"namespace: kmm, annotations: {{{HOOK}}}}}")
    out = process("krmfn", "diff", "--base", "main", ".", cwd=repo).out.decode()
    assert ("Argo CD deletes and recreates it" in out) is (engine == "argocd"), out
