"""A repository, a branch or a chart that a cluster gets anew is what a reviewer reads first."""

from __future__ import annotations

import pytest
import yaml
from krmfn_functions.comparing.origins import new_origins
from krmfn_functions.plan import plan

from krmfn import Manifest


def application(source: str, name: str = "lab") -> Manifest:
    metadata = {"name": name, "namespace": "argocd"}
    spec = yaml.safe_load(f"{{source: {{{source}}}, destination: {{name: lab}}}}")
    return {"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": metadata, "spec": spec}


def repository(url: str, ref: str = "") -> Manifest:
    spec = yaml.safe_load(f"{{url: {url}, ref: {{{ref}}}}}")
    metadata = {"name": "fleet", "namespace": "flux-system"}
    kind = {"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository"}
    return {**kind, "metadata": metadata, "spec": spec}


def git_repo(url: str, branch: str) -> Manifest:
    metadata, spec = {"name": "fleet", "namespace": "fleet-default"}, {"repo": url, "branch": branch}
    return {"apiVersion": "fleet.cattle.io/v1alpha1", "kind": "GitRepo", "metadata": metadata, "spec": spec}


OURS, OTHER = "https://git.example.com/fleet.git", "https://git.example.com/other.git"
CASES: dict[str, tuple[Manifest, Manifest, list[str]]] = {
    "a path": (application(f"repoURL: {OURS}, path: a"), application(f"repoURL: {OURS}, path: b"), []),
    "a repository": (application(f"repoURL: {OURS}"), application(f"repoURL: {OTHER}"), [OTHER]),
    "a branch": (
        application(f"repoURL: {OURS}, targetRevision: main"),
        application(f"repoURL: {OURS}, targetRevision: x"),
        [f"{OURS} x"],
    ),
    "another of the same": (
        application(f"repoURL: {OURS}, targetRevision: main"),
        application(f"repoURL: {OURS}, targetRevision: main", "two"),
        [],
    ),
    "a version of a chart": (
        application(f"repoURL: {OURS}, chart: a, targetRevision: 1.0.0"),
        application(f"repoURL: {OURS}, chart: a, targetRevision: 1.0.1"),
        [],
    ),
    "a chart": (application(f"repoURL: {OURS}, chart: a"), application(f"repoURL: {OURS}, chart: b"), [f"{OURS} b"]),
    "Flux's repository": (repository(OURS), repository(OTHER), [OTHER]),
    "Flux's branch": (repository(OURS, "branch: main"), repository(OURS, "branch: x"), [f"{OURS} x"]),
    "Fleet's branch": (git_repo(OURS, "main"), git_repo(OURS, "x"), [f"{OURS} x"]),
}


@pytest.mark.parametrize(("old", "new", "origins"), CASES.values(), ids=CASES)
def test_what_comes_from_elsewhere_anew_is_told(old: Manifest, new: Manifest, origins: list[str]) -> None:
    sentences = list(new_origins(plan([old], [new])))
    assert [sentence.partition(" deploys ")[2] for sentence in sentences] == origins


def test_the_first_object_of_an_engine_is_told() -> None:
    module: Manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    assert len(list(new_origins(plan([module], [module, repository(OTHER)])))) == 1


def test_a_new_cluster_has_nothing_but_new_sources() -> None:
    assert list(new_origins(plan([], [application(f"repoURL: {OURS}")]))) == []
