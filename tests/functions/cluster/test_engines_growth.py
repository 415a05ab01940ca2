"""Twice the Applications, each with a folder of its own, are about twice the work of judging how all is deployed."""

from __future__ import annotations

from pathlib import Path

import pytest
from krmfn_functions.cluster import cluster_streams, deployers, engine_additions, engine_checks, engine_files, reached
from krmfn_functions.cluster.deployed import Clusters
from krmfn_functions.command import Context
from krmfn_functions.options import RunOptions
from krmfn_functions.settings import CHECK
from krmfn_functions.sources import Sources

from krmfn.streams import Log
from tests.call_counts import call_count
from tests.functions.comparing.test_base import repository

APPLICATION = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: app-{at}, namespace: argocd}}
spec:
  source: {{repoURL: https://git.example.com/o/r, path: /apps/{at}, kustomize: {{commonLabels: {{a: b}}}}}}
  destination: {{name: lab, namespace: kmm}}
  syncPolicy: {{syncOptions: [Replace=true]}}
"""
MODULE = """\
apiVersion: kmm.sigs.x-k8s.io/v1beta1
kind: Module
metadata: {{name: m{at}, namespace: kmm}}
spec:
  selector: {{node: n{at}}}
  moduleLoader:
    container:
      modprobe: {{moduleName: gpu{at}}}
      kernelMappings: [{{regexp: ^.+$, containerImage: "registry.example.com/gpu:1"}}]
"""


def rendered(folder: Path, number: int) -> Clusters:
    """So many Applications of one cluster, each of a folder with one Module."""
    files = {f"argocd/{at}.yaml": APPLICATION.format(at=at) for at in range(number)}
    files |= {f"apps/{at}/module.yaml": MODULE.format(at=at) for at in range(number)}
    root = repository(folder / str(number), files)
    return cluster_streams.render(Context(RunOptions(), CHECK, Log(quiet=True), Sources()), [str(root)])


def calls(streams: Clusters) -> int:
    """How many functions are called to find out by what each object is deployed."""
    top = streams.engines.top
    assert len(streams.engines.deployments) in (30, 60)

    def work() -> None:
        deployers.note_each(streams.clusters, top)
        engine_checks.check(streams, top)
        engine_additions.check(streams, top)
        for cluster in streams.clusters:
            reached.replaced(cluster, top)

    return call_count(work)[1]


def test_the_work_is_linear(tmp_path: Path) -> None:
    few, many = rendered(tmp_path, 30), rendered(tmp_path, 60)
    assert calls(many) < 2.5 * calls(few)


def test_many_paths_are_not_asked_for_each_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seen with 2,000 PATHs: a third of the time went into asking of each file which of them it is below."""
    asked: list[str] = []

    def noted(folder: str) -> list[str]:
        asked.append(folder)
        return [folder]

    monkeypatch.setattr(engine_files, "parents", noted)
    seen = engine_files.Seen([f"/a/{number}" for number in range(100)])
    for number in range(200):
        seen.note(f"/a/{number % 2}/{number}.yaml", b"a: b\n")
    assert (asked, len(seen.texts)) == (["/a/0", "/a/1"], 200)
