"""Objects that deploy a tag or a commit: what stands in this tree may be another state."""

from __future__ import annotations

from pathlib import Path

import pytest

from functions.deployments.deployment import pinned
from krmfn.yamltext import emit
from tests.builders import module
from tests.commands import process
from tests.trees import plant

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    "revision", ["v1.2.3", "1.2.3-rc.1", "1.2.*", "^1.2.0", ">= 1.2.0 < 2.0.0", "refs/tags/release", COMMIT]
)
def test_a_tag_a_range_of_versions_and_a_commit_are_pinned(revision: str) -> None:
    assert pinned(revision) == revision


@pytest.mark.parametrize(
    "revision", ["", "HEAD", "main", "release-1.2", "production", "v1", "abcdef", "refs/heads/v1.2"]
)
def test_a_branch_is_not(revision: str) -> None:
    assert pinned(revision) == ""


def _argocd(revision: str) -> str:
    return (
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: lab, namespace: argocd}\nspec:\n"
        f"  source: {{repoURL: 'https://git.example.com/f.git', path: drivers, targetRevision: {revision}}}\n"
        "  destination: {name: lab}\n"
    )


def _flux(reference: str) -> str:
    return (
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: lab, namespace: f}\n"
        "spec: {path: ./drivers, prune: true, sourceRef: {kind: GitRepository, name: g}}\n---\n"
        "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: g, namespace: f}\n"
        f"spec: {{url: 'https://git.example.com/f.git', ref: {{{reference}}}}}\n"
    )


def _fleet(revision: str) -> str:
    return (
        "apiVersion: fleet.cattle.io/v1alpha1\nkind: GitRepo\nmetadata: {name: g, namespace: fleet-default}\n"
        "spec: {repo: 'https://git.example.com/f.git', paths: [drivers], targets: [{clusterName: lab}]"
        f"{revision}}}\n"
    )


CASES = {
    "Argo CD, a tag": (_argocd("v1.2.3"), "Argo CD deploys v1.2.3"),
    "Argo CD, a branch": (_argocd("main"), ""),
    "Flux, a tag": (_flux("tag: one, branch: main"), "Flux deploys one"),
    "Flux, a range": (_flux("semver: 1.x"), "Flux deploys 1.x"),
    "Flux, a tag by its name": (_flux("name: refs/tags/two"), "Flux deploys refs/tags/two"),
    "Flux, a branch": (_flux("branch: main"), ""),
    "Fleet, a revision": (_fleet(", revision: one"), "Fleet deploys one"),
    "Fleet, a branch": (_fleet(", branch: main"), ""),
}


@pytest.mark.parametrize(("objects", "words"), CASES.values(), ids=CASES)
def test_whether_this_state_is_deployed_is_not_judged_then(objects: str, words: str, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    plant(tmp_path, {"drivers/m.yaml": emit.dump(module(name="card")), "clusters/lab/o.yaml": objects})
    text = process("krmfn", "check", ".", cwd=tmp_path).text
    assert ("whether this state is deployed (" in text) is bool(words), text
    assert words in text
