"""gitops/kpt/package under a real kpt: got from Git, rendered by its image, updated."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.commands import ROOT
from tests.functions.comparing.test_base import commit, repository, run_git
from tests.trees import altered

from .conftest import Env
from .engines import must, tree
from .test_kpt import kinds, rendered

PACKAGE = "gitops/kpt/package"
IMAGE = "registry.example.com/krmfn:0.1.0"


@pytest.fixture
def upstream(tmp_path: Path) -> Path:
    """A repository with the package, at v0.1.0; and at v0.2.0 with another default and another label."""
    shutil.copytree(ROOT / PACKAGE, tmp_path / "krmfn" / PACKAGE)
    folder = repository(tmp_path / "krmfn", {})
    run_git(folder, "tag", "v0.1.0")
    altered(folder / PACKAGE / "function.yaml", "IfNotPresent", "Always")
    commit(folder)
    run_git(folder, "tag", "v0.2.0")
    return folder


def get(kpt: str, upstream: Path) -> Path:
    """Get the package as the page says."""
    folder = upstream.parent / "mine" / "accelerators"
    folder.parent.mkdir()
    must(kpt, "pkg", "get", f"{upstream.as_uri()}.git/{PACKAGE}@v0.1.0", folder)
    return folder


def test_the_image_and_the_program_write_the_same(kpt: str, upstream: Path, containers: Env, image: str) -> None:
    by_program = get(kpt, upstream)
    by_image = Path(shutil.copytree(by_program, upstream.parent / "by-image"))
    altered(by_program / "Kptfile", f"image: {IMAGE}", "exec: krmfn")
    altered(by_image / "Kptfile", IMAGE, image)
    must(kpt, "fn", "render", by_image, env=containers)  # an image needs no --allow-exec
    ours, contained = rendered(kpt, by_program), tree(by_image)
    assert kinds(ours) >= {"Module", "DaemonSet"}
    assert {path for path in ours if ours[path] != contained.get(path)} == {"Kptfile"}
    assert ours.keys() == contained.keys()


def test_an_update_keeps_what_was_changed(kpt: str, upstream: Path) -> None:
    folder = get(kpt, upstream)
    altered(folder / "Kptfile", f"image: {IMAGE}", "exec: krmfn")
    altered(folder / "deviceconfig.yaml", 'driverVersion: "1.16.2"', 'driverVersion: "1.17.0"')
    first = rendered(kpt, folder)
    repository(folder.parent, {})  # kpt updates what is committed
    must(kpt, "pkg", "update", f"{folder.name}@v0.2.0", cwd=folder.parent)
    second = rendered(kpt, folder)
    assert first.keys() == second.keys()
    module = second["kmm/module_gaudi.yaml"].decode()
    assert ":1.17.0-" in module
    assert "imagePullPolicy: Always" in module
    assert "imagePullPolicy: IfNotPresent" in first["kmm/module_gaudi.yaml"].decode()


def test_kpt_shows_the_help_of_the_image(kpt: str, containers: Env, image: str) -> None:
    assert must(kpt, "fn", "doc", f"--image={image}", env=containers).startswith(b"usage: krmfn")
