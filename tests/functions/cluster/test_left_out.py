"""Files that Argo CD leaves out of a folder which it applies file by file, and what nothing deploys at all."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from krmfn.yamltext import emit
from tests.builders import module
from tests.commands import process
from tests.trees import config_map, plant

APPLICATION = (
    "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: lab, namespace: argocd}\nspec:\n"
    "  source: {repoURL: https://git.example.com/fleet.git, path: drivers, directory: {DIRECTORY}}\n"
    "  destination: {name: lab}\n"
)
WARNING, INFO = "warning", "info"
LEFT_OUT = {
    "below, without recurse": ("", "drivers/sub/m.yaml", WARNING, "recurse: true"),
    "include": ("include: 'a*.yaml'", "drivers/m.yaml", WARNING, "directory.include"),
    "include, below": ("recurse: true, include: 'sub/a*'", "drivers/sub/m.yaml", WARNING, "directory.include"),
    "exclude": ("recurse: true, exclude: '**/m.yaml'", "drivers/sub/m.yaml", INFO, "directory.exclude"),
}


def driver(name: str = "card") -> str:
    return emit.dump(module(name=name, modprobe={"moduleName": name}))


@pytest.mark.parametrize(("directory", "file", "severity", "remedy"), LEFT_OUT.values(), ids=LEFT_OUT)
@pytest.mark.parametrize("others", [True, False])
def test_a_module_that_its_folder_s_application_leaves_out_is_told_at_its_file(
    directory: str, file: str, severity: str, remedy: str, others: bool, tmp_path: Path
) -> None:
    """Also where nothing else of ours is in the repository."""
    (tmp_path / ".git").mkdir()
    files = {file: driver(), "apps/lab.yaml": APPLICATION.replace("DIRECTORY", directory)}
    plant(tmp_path, {**files, **({"else/m.yaml": driver("other")} if others else {})})
    done = process("krmfn", "check", ".", "--format", "json", cwd=tmp_path)
    report = json.loads(done.out)
    (finding,) = (finding for finding in report["findings"] if finding["rule"] == "KRM536")
    assert (finding["severity"], finding["file"]) == (severity, file)
    assert remedy in finding["remedy"]
    gaps = [gap for gap in report["notJudged"] if gap["subject"] == "files in folders of Argo CD"]
    assert [gap["names"] for gap in gaps] == [[file]], report["notJudged"]


@pytest.mark.parametrize(
    "beside",
    [
        {"apps/two.yaml": APPLICATION.replace("drivers", "drivers/sub").replace("{name: lab,", "{name: two,")},
        {"drivers/sub/kustomization.yaml": "resources: [m.yaml]\n"},
        {"other/kustomization.yaml": "resources: [../drivers/sub/m.yaml]\n"},
    ],
    ids=["another Application", "a kustomization", "a kustomization elsewhere"],
)
def test_what_something_else_reads_is_not_left_out(beside: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    plant(tmp_path, {"drivers/sub/m.yaml": driver(), "drivers/c.yaml": config_map("a"), **beside})
    plant(tmp_path, {"apps/lab.yaml": APPLICATION, **beside})
    for file in tmp_path.glob("apps/*.yaml"):
        file.write_text(file.read_text().replace("DIRECTORY", ""))
    assert "KRM536" not in process("krmfn", "check", ".", cwd=tmp_path).text


def test_a_file_of_others_may_be_left_out(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    files = {"drivers/m.yaml": driver(), "drivers/sub/c.yaml": config_map("a"), "apps/lab.yaml": APPLICATION}
    plant(tmp_path, {name: text.replace("DIRECTORY", "") for name, text in files.items()})
    assert "KRM536" not in process("krmfn", "check", ".", cwd=tmp_path).text


@pytest.mark.parametrize("is_listed", [True, False])
def test_one_config_that_nothing_deploys_is_told_where_engines_deploy_others(is_listed: bool, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    names = "m.yaml, n.yaml" if is_listed else "m.yaml"
    application = APPLICATION.replace(", directory: {DIRECTORY}", "").replace("path: drivers", "path: lab")
    files = {
        "base/kustomization.yaml": f"resources: [{names}]\n",
        "base/m.yaml": driver(),
        "base/n.yaml": driver("nic"),
        "lab/kustomization.yaml": "resources: [../base]\n",
        "apps/lab.yaml": application,
    }
    text = process("krmfn", "check", ".", cwd=plant(tmp_path, files)).text
    assert ("base/n.yaml:1: warning: Module kmm/nic: no object of an engine deploys it, so " in text) is not is_listed
    assert ("KRM544" in text) is not is_listed, text


def test_one_config_that_nothing_deploys_is_told_where_all_else_is_of_others(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    application = APPLICATION.replace(", directory: {DIRECTORY}", "").replace("path: drivers", "path: web")
    files = {"web/c.yaml": config_map("a"), "apps/lab.yaml": application}
    files |= {"gpu/kustomization.yaml": "resources: [m.yaml]\n", "gpu/m.yaml": driver()}
    text = process("krmfn", "check", ".", cwd=plant(tmp_path, files)).text
    assert "no object of an engine deploys it, so " in text, text


def test_a_file_that_cannot_be_read_may_be_ours(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    plant(tmp_path, {"drivers/m.yaml": driver(), "apps/lab.yaml": APPLICATION.replace("DIRECTORY", "include: m.yaml")})
    os.mkfifo(tmp_path / "drivers/n.yaml")
    text = process("krmfn", "check", ".", cwd=tmp_path).text
    assert "drivers/n.yaml: warning: Application argocd/lab leaves it out" in text, text


def test_a_link_that_leads_out_is_not_followed(tmp_path: Path) -> None:
    top = tmp_path / "repository"
    (top / ".git").mkdir(parents=True)
    (tmp_path / "secret.yaml").write_text(driver())
    files = {"drivers/m.yaml": driver(), "drivers/n.yaml": "-> ../../secret.yaml"}
    plant(top, {**files, "apps/lab.yaml": APPLICATION.replace("DIRECTORY", "include: m.yaml")})
    assert "KRM536" not in process("krmfn", "check", ".", cwd=top).text
