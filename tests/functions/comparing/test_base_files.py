"""What of a commit the PATHs need: enough, so that a base is read as from the whole commit, and not much more."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from krmfn_functions.comparing import base, base_files
from krmfn_functions.paths.git import LINK, Entry

from tests.functions.comparing.test_base import repository
from tests.trees import COMPONENT

PLUGIN = "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: a}\nname: a\nfiles: [k=more/text]\n"
FILES = {
    "app/kustomization.yaml": "resources: [../base, ../linked/deep]\ncomponents: [../part]\n",
    "app/loose.yaml": "",
    "app/up": "-> ../shared",
    "base/kustomization.yaml": "resources: [a.yaml]\ngenerators: [plugin.yaml]\n"
    "secretGenerator: [{name: s, envs: [e]}]\n",
    "base/a.yaml": "",
    "base/e": "",
    "base/plugin.yaml": PLUGIN,
    "base/more/text": "",
    "base/unused.yaml": "",
    "part/kustomization.yml": f"{COMPONENT}generators:\n- |\n  {PLUGIN.replace(chr(10), chr(10) + '  ').strip()}\n",
    "part/more/text": "",
    "linked": "-> real",
    "real/deep/Kustomization": "patches: [{path: p.yaml}]\nhelmCharts: [{name: a}]\n",
    "real/deep/p.yaml": "",
    "real/deep/charts/a/Chart.yaml": "",
    "real/other.yaml": "",
    "shared/nodes.yaml": "",
    "other/kustomization.yaml": "resources: [a.yaml]\n",
    "other/a.yaml": "",
    "round": "-> round",
    ".krmfn.yaml": "clusters: {lab: [app, inventory.yaml], far: [other]}\n",
    "inventory.yaml": "",
}
UNUSED = {"base/unused.yaml", "real/other.yaml", "other/kustomization.yaml", "other/a.yaml"}


def entries(files: dict[str, str]) -> tuple[list[Entry], base_files.Read]:
    listing = [Entry(LINK if text.startswith("-> ") else "100644", path, path) for path, text in files.items()]
    return listing, lambda entry: files[entry.path].removeprefix("-> ").encode()


@pytest.mark.parametrize("path", ["app", "./app/", "up"])
def test_what_the_paths_lead_to_is_taken(path: str) -> None:
    files = FILES | {"up": "-> app"}
    listing, read = entries(files)
    names = {entry.path for entry in base_files.needed_entries(listing, [path], read)}
    assert files.keys() - names == UNUSED


def test_the_whole_is_the_whole() -> None:
    listing, read = entries(FILES)
    assert {entry.path for entry in base_files.needed_entries(listing, ["."], read)} == FILES.keys()


def test_a_submodule_above_is_taken_to_be_named() -> None:
    listing, read = entries({"app/kustomization.yaml": "resources: [../sub/base]\n"})
    listing.append(Entry("160000", "sub", "sub"))
    paths = [entry.path for entry in base_files.needed_entries(listing, ["app"], read)]
    assert sorted(paths) == ["app/kustomization.yaml", "sub"]


def test_what_is_no_yaml_leads_nowhere() -> None:
    listing, read = entries({"app/kustomization.yaml": "resources: [", "base/kustomization.yaml": ""})
    assert [entry.path for entry in base_files.needed_entries(listing, ["app"], read)] == ["app/kustomization.yaml"]


def test_only_that_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository(tmp_path, FILES)
    monkeypatch.chdir(tmp_path)
    with base.check_out("main", ["app"]) as checkout:
        written = {os.path.relpath(path, checkout.folder) for path in Path(checkout.folder).rglob("*")}
    assert FILES.keys() - written == UNUSED
    assert "app/up" in written
