"""An application that is switched off or on, while the folder that it deploys stays."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from krmfn.yamltext import emit
from tests.builders import module
from tests.commands import process
from tests.functions.comparing.test_base import commit, repository
from tests.trees import config_map

APPLICATION = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: NAME, namespace: argocd, finalizers: [resources-finalizer.argocd.argoproj.io]}
spec:
  source: {repoURL: 'https://git.example.com/f.git', path: PATH}
  destination: {name: lab}
"""
FLUX = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: NAME, namespace: flux-system}
spec: {path: PATH, sourceRef: {kind: GitRepository, name: f}, prune: true}
"""
DRIVER = emit.dump(module(name="card", modprobe={"moduleName": "card"}))
ENGINES = {"Argo CD": APPLICATION, "Flux": FLUX}
SAID = "is deleted, but apps/card.yaml stays: what it deploys (drivers) goes with it, and counts here as if it stayed"


def fleet(engine: str, driver: str = DRIVER) -> dict[str, str]:
    """A folder of applications with its kustomization, which is deployed, and the folder of one of them."""
    return {
        "apps/kustomization.yaml": "resources: [card.yaml, other.yaml]\n",
        "apps/card.yaml": engine.replace("NAME", "card").replace("PATH", "drivers"),
        "apps/other.yaml": engine.replace("NAME", "other").replace("PATH", "other"),
        "root.yaml": engine.replace("NAME", "root").replace("PATH", "apps"),
        "drivers/driver.yaml": driver,
        "other/map.yaml": config_map("a"),
    }


def switched_off(tmp_path: Path, files: dict[str, str], rest: str = "other.yaml") -> Path:
    repo = repository(tmp_path / "repo", files)
    commit(repo, {"apps/kustomization.yaml": f"resources: [{rest}]\n"})
    return repo


@pytest.mark.parametrize("engine", ENGINES)
def test_what_it_deploys_is_not_known_to_stay(engine: str, tmp_path: Path) -> None:
    """`--fail-on lost` was green: the file of the object is there as before, and so is the folder."""
    repo = switched_off(tmp_path, fleet(ENGINES[engine]))
    done = process("krmfn", "diff", "--base", "main", "--fail-on", "lost", cwd=repo)
    assert done.code == 1
    assert SAID in done.text, done.text
    ci = process("krmfn", "ci", "--base", "main", "--fail-on", "lost", "--out", "../out", cwd=repo)
    assert ci.code == 1
    assert SAID in (tmp_path / "out/comment.md").read_text()


CONFIG = {".krmfn.yaml": "clusters: {lab: [apps, drivers, other]}\n"}


def removed(tmp_path: Path, files: dict[str, str], others: Mapping[str, str] = MappingProxyType({})) -> Path:
    """A repository without the file of an object that the base has, and with some other files."""
    repo = repository(tmp_path / "repo", files)
    (repo / "apps/card.yaml").unlink()
    listed = ", ".join(["other.yaml", *(Path(name).name for name in others)])
    commit(repo, {"apps/kustomization.yaml": f"resources: [{listed}]\n", **others})
    return repo


@pytest.mark.parametrize("engine", ENGINES)
def test_so_it_is_where_the_file_is_removed_and_the_folder_stays_a_cluster_s(engine: str, tmp_path: Path) -> None:
    """`--fail-on lost` was green: .krmfn.yaml said that the cluster has the folder, as before."""
    repo = removed(tmp_path, {**fleet(ENGINES[engine]), **CONFIG})
    done = process("krmfn", "diff", "--base", "main", "--fail-on", "lost", cwd=repo)
    assert SAID.replace("apps/card.yaml stays", ".krmfn.yaml still names drivers") in done.text, done.text
    assert done.code == 1


@pytest.mark.parametrize("engine", ENGINES)
def test_another_object_may_deploy_it_now(engine: str, tmp_path: Path) -> None:
    other = ENGINES[engine].replace("NAME", "renamed").replace("PATH", "drivers")
    repo = removed(tmp_path, {**fleet(ENGINES[engine]), **CONFIG}, {"apps/renamed.yaml": other})
    done = process("krmfn", "diff", "--base", "main", cwd=repo)
    assert "- " in done.text
    assert "is deleted, but" not in done.text, done.text


@pytest.mark.parametrize("name", ["its resources stay", "it deploys nothing of ours"])
def test_nothing_is_said_of_a_removed_one_where_nothing_is_lost(name: str, tmp_path: Path) -> None:
    repo = removed(tmp_path, {**fleet(*KEPT[name]), **CONFIG})
    done = process("krmfn", "diff", "--base", "main", "--fail-on", "lost", cwd=repo)
    assert "is deleted, but" not in done.text
    assert done.code == 0, done.text


KEPT = {
    "its resources stay": (APPLICATION.replace(", finalizers: [resources-finalizer.argocd.argoproj.io]", ""), DRIVER),
    "it deploys nothing of ours": (APPLICATION, config_map("b")),
}


@pytest.mark.parametrize("name", KEPT)
def test_nothing_is_said_where_nothing_is_lost(name: str, tmp_path: Path) -> None:
    repo = switched_off(tmp_path, fleet(*KEPT[name]))
    done = process("krmfn", "diff", "--base", "main", "--fail-on", "lost", cwd=repo)
    assert "is deleted, but" not in done.text
    assert done.code == 0, done.text


def test_so_it_is_between_two_folders(tmp_path: Path) -> None:
    for side, listed in (("old", "card.yaml, other.yaml"), ("new", "other.yaml")):
        files = {**fleet(FLUX), "apps/kustomization.yaml": f"resources: [{listed}]\n"}
        for path, text in files.items():
            (tmp_path / side / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / side / path).write_text(text)
    assert SAID in process("krmfn", "diff", "old", "new", "--fail-on", "lost", cwd=tmp_path).text


def test_what_it_deploys_may_be_of_another_cluster(tmp_path: Path) -> None:
    """Nothing changes in that one, so it is not even read."""
    lab = APPLICATION.replace("destination: {name: lab}", "destination: {name: hub}")
    files = {**fleet(APPLICATION), "root.yaml": lab.replace("NAME", "root").replace("PATH", "apps")}
    files |= {"drivers/kustomization.yaml": "resources: [driver.yaml]\n"}
    repo = switched_off(tmp_path, files)
    done = process("krmfn", "diff", "--base", "main", "--fail-on", "lost", cwd=repo)
    assert SAID in done.text
    assert done.code == 1


def test_another_cluster_may_have_an_object_of_that_name(tmp_path: Path) -> None:
    """As Flux has them: that one goes on, and the other one is deleted with its file."""
    files = {f"clusters/{name}/ks.yaml": FLUX.replace("NAME", "card").replace("PATH", "drivers") for name in ("a", "b")}
    files |= {"drivers/driver.yaml": DRIVER, "clusters/a/map.yaml": config_map("a")}
    repo = repository(tmp_path / "repo", files)
    (repo / "clusters/a/ks.yaml").unlink()
    commit(repo, {})
    assert "stays" not in process("krmfn", "diff", "--base", "main", cwd=repo).text


def test_it_may_deploy_a_part_of_a_folder_that_a_cluster_is_given(tmp_path: Path) -> None:
    """The files below that folder are one root, which is above what the application deploys."""
    files = {**fleet(APPLICATION), ".krmfn.yaml": "clusters: {lab: [all]}\n", "all/drivers/driver.yaml": DRIVER}
    files["apps/card.yaml"] = APPLICATION.replace("NAME", "card").replace("PATH", "all/drivers")
    del files["drivers/driver.yaml"]
    repo = switched_off(tmp_path, files)
    done = process("krmfn", "diff", "--base", "main", "--fail-on", "lost", cwd=repo)
    assert SAID.replace("(drivers)", "(all/drivers)") in done.text, done.text
    assert done.code == 1


ADDED = "what it deploys (drivers) comes with it, and counts here as if it had been deployed"


def test_what_is_switched_on_comes_with_it(tmp_path: Path) -> None:
    """`diff` said nothing of the drivers, as if they were there before."""
    files = {**fleet(APPLICATION), "apps/kustomization.yaml": "resources: [other.yaml]\n"}
    repo = switched_off(tmp_path, files, "card.yaml, other.yaml")
    done = process("krmfn", "diff", "--base", "main", "--fail-on", "lost", cwd=repo)
    assert f"is created, but apps/card.yaml was there: {ADDED}" in done.text, done.text
    assert done.code == 0
    assert ADDED not in process("krmfn", "diff", "--base", "HEAD", cwd=repo).text


@pytest.mark.parametrize("engine", ENGINES)
def test_so_it_is_where_the_configuration_file_had_the_folder_already(engine: str, tmp_path: Path) -> None:
    files = {**fleet(ENGINES[engine]), **CONFIG, "apps/kustomization.yaml": "resources: [other.yaml]\n"}
    card = files.pop("apps/card.yaml")
    repo = repository(tmp_path / "repo", files)
    commit(repo, {"apps/kustomization.yaml": "resources: [card.yaml, other.yaml]\n", "apps/card.yaml": card})
    assert f".krmfn.yaml named drivers: {ADDED}" in process("krmfn", "diff", "--base", "main", cwd=repo).text


def test_a_folder_that_comes_with_its_application_is_told_as_such(tmp_path: Path) -> None:
    """Without a configuration file its cluster has it from then on."""
    files = {**fleet(APPLICATION), "apps/kustomization.yaml": "resources: [other.yaml]\n"}
    card, driver = files.pop("apps/card.yaml"), files.pop("drivers/driver.yaml")
    repo = repository(tmp_path / "repo", files)
    new = {"apps/card.yaml": card, "drivers/driver.yaml": driver}
    commit(repo, {"apps/kustomization.yaml": "resources: [card.yaml, other.yaml]\n", **new})
    done = process("krmfn", "diff", "--base", "main", cwd=repo)
    assert "is created, but" not in done.text
    assert "+ Module kmm/card" in done.text
