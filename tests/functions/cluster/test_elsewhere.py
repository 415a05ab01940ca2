"""What engines bring from elsewhere is not here to be judged, which is said; so is a file that nobody can edit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import process
from tests.functions.cluster.test_engine_additions import MODULE
from tests.functions.cluster.test_engines import application, kustomization
from tests.functions.comparing.test_base import repository, run_git
from tests.trees import config_map

URL = "https://git.example.com/fleet.git"
OURS = {"apps/lab.yaml": application("lab", "site", "directory: {recurse: true}"), "lab/m.yaml": MODULE}
OTHER = application("x", "site")
RELEASE = (
    "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: x, namespace: f}\n"
    "spec: {chart: {spec: {chart: x, sourceRef: {kind: HelmRepository, name: x}}}}\n"
)
ELSEWHERE = {
    "another repository": (OTHER.replace(URL, "https://git.example.com/other.git"), "Application x"),
    "a chart": (OTHER.replace("path: x, plugin: {name: krmfn}", "chart: x, targetRevision: 1.0.0"), "Application x"),
    "a second source": (
        OTHER.replace("source: {", "sources: [{").replace(
            "}}\n  destination", f"}}}}, {{repoURL: '{URL}x', path: y}}]\n  destination"
        ),
        "Application x",
    ),
    "an image": (kustomization("x").replace("GitRepository", "OCIRepository"), "Kustomization f/x"),
    "a release of a chart": (RELEASE, "HelmRelease f/x"),
}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_what_is_not_here_is_not_judged(name: str, tmp_path: Path) -> None:
    """It was a new object like any other, and nothing else was said."""
    text, holder = ELSEWHERE[name]
    repo = repository(tmp_path, OURS | {"apps/x.yaml": text, "x/a.yaml": config_map("a")})
    run_git(repo, "remote", "add", "origin", URL)
    found = json.loads(process("krmfn", "check", "--format", "json", cwd=repo).ended(0).text)
    gaps = {gap["subject"]: gap for gap in found["notJudged"]}
    assert gaps["what engines bring from elsewhere"]["names"] == [holder]
    (repo / "apps/x.yaml").write_text(OTHER)
    found = json.loads(process("krmfn", "check", "--format", "json", cwd=repo).ended(0).text)
    assert "what engines bring from elsewhere" not in {gap["subject"] for gap in found["notJudged"]}


WHAT = {
    "another repository": "https://git.example.com/other.git",
    "a chart": f"chart x of {URL}",
    "a second source": f"{URL}x",
    "an image": "OCIRepository f",
    "a release of a chart": "chart x",
}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_it_is_said_where_nothing_of_this_repository_is_deployed(name: str, tmp_path: Path) -> None:
    """An Application with the URL of a mirror: there was no word of it, neither by `check` nor by `clusters`."""
    text, holder = ELSEWHERE[name]
    text = text.replace("path: x, plugin: {name: krmfn}", "ref: x") if "sources" in text else text
    repo = repository(tmp_path, {"apps/x.yaml": text, "lab/m.yaml": MODULE})
    run_git(repo, "remote", "add", "origin", URL)
    found = json.loads(process("krmfn", "check", "--format", "json", cwd=repo).ended(0).text)
    gaps = {gap["subject"]: gap for gap in found["notJudged"]}
    assert gaps["what engines bring from elsewhere"]["names"] == [holder]
    listing = json.loads(process("krmfn", "clusters", "--format", "json", cwd=repo).ended(0).text)
    (other,) = listing["elsewhere"]
    assert (other["object"], other["from"]) == (holder, {"file": "apps/x.yaml", "line": 1})
    assert other["deploys"] == WHAT[name]
    assert f"\n{holder} " in process("krmfn", "clusters", cwd=repo).ended(0).text
    assert "elsewhere" not in json.loads(process("krmfn", "clusters", "lab", "--format", "json", cwd=repo).text)


HERE = {
    "a patch of a release": RELEASE.partition("spec:")[0] + "spec: {values: {a: b}}\n",
    "no path": OTHER.replace("path: x, ", ""),
    "a set without folders": OTHER.replace("kind: Application", "kind: ApplicationSet")
    .replace("spec:\n", "spec:\n  generators: [{list: {elements: []}}]\n  template:\n   spec:\n")
    .replace("  source", "    source")
    .replace("  destination", "    destination"),
}


@pytest.mark.parametrize("name", HERE)
def test_what_deploys_nothing_of_this_repository_brings_nothing_from_elsewhere(name: str, tmp_path: Path) -> None:
    repo = repository(tmp_path, OURS | {"apps/x.yaml": HERE[name]})
    run_git(repo, "remote", "add", "origin", URL)
    assert "elsewhere" not in process("krmfn", "check", cwd=repo).text
    assert "ELSEWHERE" not in process("krmfn", "clusters", cwd=repo).text


def test_a_repository_without_anything_of_ours_has_no_word_of_it(tmp_path: Path) -> None:
    repo = repository(tmp_path, {"apps/x.yaml": ELSEWHERE["a chart"][0], "x/a.yaml": config_map("a")})
    run_git(repo, "remote", "add", "origin", URL)
    assert "elsewhere" not in process("krmfn", "check", cwd=repo).ended(0).text


def test_a_key_that_stands_twice_stops_nothing_else(tmp_path: Path) -> None:
    """The namespace of the Application cannot be written into it, and there was no result at all, nor a file's name."""
    twice = config_map("a").replace("kind:", "kind: Secret\nkind:")
    done = process(
        "krmfn", "check", cwd=repository(tmp_path, OURS | {"lab/a.yaml": twice, "lab/b.yaml": config_map("b")})
    )
    assert "1 Module in 4 resources" in done.ended(0).text, done.text
