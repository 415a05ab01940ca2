"""Files that Flux does not fetch, since a .sourceignore or the GitRepository leaves them out."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from krmfn.yamltext import emit
from tests.builders import module
from tests.commands import process
from tests.functions.comparing.test_base import repository
from tests.trees import config_map

KUSTOMIZATION = (
    "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: lab, namespace: flux-system}\n"
    "spec: {path: ./drivers, prune: true, sourceRef: {kind: GitRepository, name: fleet}}\n---\n"
    "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: fleet, namespace: flux-system}\n"
    "spec: {url: 'https://git.example.com/fleet.git'IGNORE}\n"
)
FILES = {"drivers/m.yaml": emit.dump(module(name="card")), "drivers/sub/n.yaml": config_map("a")}
CASES = {
    "nothing": ("", "", False),
    "the folder": ("/drivers/\n", "", True),
    "all but another folder": ("/*\n!/other\n", "", True),
    "all but this one": ("/*\n!/drivers\n!/clusters\n", "", False),
    "another file": ("n.yaml\n", "", False),
    "taken back by the object": ("*.yaml\n", "!m.yaml", False),
    "the object": ("", "# drivers\nm.yaml", True),
    "a comment": ("# m.yaml\n", "", False),
}


@pytest.mark.parametrize(("ignored", "patterns", "is_told"), CASES.values(), ids=CASES)
def test_a_module_that_flux_does_not_fetch_is_told(ignored: str, patterns: str, is_told: bool, tmp_path: Path) -> None:
    ignore = f", ignore: {patterns!r}".replace("\\n", "\n\n") if patterns else ""
    files = {**FILES, "clusters/lab/drivers.yaml": KUSTOMIZATION.replace("IGNORE", ignore)}
    repository(tmp_path, {**files, **({".sourceignore": ignored} if ignored else {})})
    text = process("krmfn", "check", ".", cwd=tmp_path).text
    assert ("drivers/m.yaml: warning: " in text and "[KRM537]" in text) is is_told, text


@pytest.mark.parametrize("ignored", ["", "n.*\n"])
def test_a_module_that_flux_does_not_fetch_is_not_judged(ignored: str, tmp_path: Path) -> None:
    """Two Modules of one kernel module on the nodes of one cluster, if Flux gets both."""
    files = {**FILES, "clusters/lab/drivers.yaml": KUSTOMIZATION.replace("IGNORE", "")}
    files["drivers/n.yaml"] = FILES["drivers/m.yaml"].replace("name: card\n", "name: other\n", 1)
    done = process("krmfn", "check", ".", cwd=repository(tmp_path, {**files, ".sourceignore": ignored}))
    assert done.code == int(not ignored), done.text
    assert ("drivers/n.yaml: warning: a .sourceignore leaves it out" in done.text) is bool(ignored)


def test_the_file_of_a_folder_counts(tmp_path: Path) -> None:
    files = {**FILES, "clusters/lab/drivers.yaml": KUSTOMIZATION.replace("IGNORE", "")}
    repository(tmp_path, {**files, "drivers/.sourceignore": "m.*\n"})
    assert "[KRM537]" in process("krmfn", "check", ".", cwd=tmp_path).text


@pytest.mark.parametrize("file", [".sourceignore", "drivers/.sourceignore", ""])
def test_without_a_repository_it_is_not_known(file: str, tmp_path: Path) -> None:
    files = {**FILES, "clusters/lab/drivers.yaml": KUSTOMIZATION.replace("IGNORE", "")}
    repository(tmp_path, {**files, **({file: "m.*\n"} if file else {})})
    shutil.rmtree(tmp_path / ".git")
    text = process("krmfn", "check", ".", cwd=tmp_path).text
    assert ("what Flux leaves out of this repository is not known" in text) is bool(file), text


def test_of_very_many_patterns_it_is_not_known(tmp_path: Path) -> None:
    """Those behind the last that Git is given may leave a file out, or take it back."""
    patterns = "\n\n".join(f"n{number}.yaml" for number in range(600))
    ignore = KUSTOMIZATION.replace("IGNORE", f", ignore: '{patterns}\n\n'")
    repository(tmp_path, {**FILES, "clusters/lab/drivers.yaml": ignore})
    assert (
        "spec.ignore of a GitRepository has 600 patterns [KRM537]" in process("krmfn", "check", ".", cwd=tmp_path).text
    )
