"""A repository whose objects name the repository that it is a fork of."""

from __future__ import annotations

from pathlib import Path

import pytest

from functions.deployments.deployment import EngineObject, Repository
from functions.deployments.forks import problems
from krmfn import Manifest, Place, Ref
from krmfn.yamltext import emit
from tests.builders import module
from tests.commands import process
from tests.functions.comparing.test_base import repository, run_git

OURS = "git@git.example.com:me/fleet.git"
CASES: dict[str, tuple[Manifest, bool]] = {
    "ours": ({"source": {"repoURL": "https://git.example.com/me/fleet"}}, False),
    "of a fork": ({"source": {"repoURL": "https://git.example.com/team/fleet.git"}}, True),
    "of a mirror, in sources": ({"sources": [{"repoURL": "https://other.example.com/me/fleet"}]}, True),
    "in a generator": ({"generators": [{"git": {"repoURL": "https://git.example.com/team/fleet.git"}}]}, True),
    "Flux": ({"url": "ssh://git@git.example.com/team/fleet.git"}, True),
    "Fleet": ({"repo": "https://git.example.com/team/fleet"}, True),
    "another repository": ({"source": {"repoURL": "https://git.example.com/me/charts.git"}}, False),
    "a name that only begins so": ({"source": {"repoURL": "https://git.example.com/me/fleet-infra"}}, False),
    "no URL": ({"source": {"path": "fleet"}}, False),
    "odd types": ({"source": {"repoURL": 7}, "sources": "fleet", "generators": [None, ["fleet"]]}, False),
}


def of(spec: Manifest) -> EngineObject:
    return EngineObject(Ref("argoproj.io", "Application", "argocd", "lab"), {"spec": spec}, Place("a.yaml"))


@pytest.mark.parametrize(("spec", "is_told"), CASES.values(), ids=CASES)
def test_a_repository_called_as_this_one_is_told(spec: Manifest, is_told: bool) -> None:
    found = list(problems([of(spec)], Repository(frozenset({OURS}))))
    assert bool(found) is is_told, found
    assert all("git remote add upstream " in problem.remedy for problem in found)


def test_nothing_is_told_where_one_object_names_a_remote_or_none_is_known() -> None:
    fork, ours = (of(CASES[name][0]) for name in ("of a fork", "ours"))
    assert not list(problems([fork, ours], Repository(frozenset({OURS}))))
    assert not list(problems([fork], Repository()))


@pytest.mark.parametrize("is_named", [True, False])
def test_it_is_told_only_where_the_objects_decide(is_named: bool, tmp_path: Path) -> None:
    """With clusters in the configuration file nothing depends on it: so in CI, which clones from another URL."""
    objects = (
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: lab, namespace: argocd}\nspec:\n"
        "  source: {repoURL: 'https://git.example.com/team/fleet.git', path: drivers}\n  destination: {name: lab}\n"
    )
    files = {"drivers/m.yaml": emit.dump(module(name="card")), "apps/a.yaml": objects}
    files |= {".krmfn.yaml": "clusters: {lab: [drivers]}\n"} if is_named else {}
    repository(tmp_path, files)
    run_git(tmp_path, "remote", "add", "origin", OURS)
    assert ("git remote add upstream" in process("krmfn", "check", ".", cwd=tmp_path).text) is not is_named
