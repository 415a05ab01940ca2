"""gitops/kpt/package under a real kpt: got from Git, rendered by its image, updated."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.commands import ROOT
from tests.trees import altered

from .conftest import Env
from .engines import must, tree
from .test_kpt import kinds, rendered

PACKAGE = "gitops/kpt/package"
IMAGE = "registry.example.com/krmfn:0.1.0"


@pytest.fixture
def upstream(tmp_path: Path) -> Path:
    """A repository with the package, at v0.1.0; and at v0.2.0 with another default and another label."""
    made = tmp_path / "krmfn"
    shutil.copytree(ROOT / PACKAGE, made / PACKAGE)
    git = ("git", "-C", made, "-c", "user.name=e2e", "-c", "user.email=e2e@git.example.com")
    must("git", "init", "--quiet", "--initial-branch=main", made)
    must(*git, "add", "--all")
    must(*git, "commit", "--quiet", "--message", "the package")
    must(*git, "tag", "v0.1.0")
    altered(made / PACKAGE / "function.yaml", "IfNotPresent", "Always")
    must(*git, "commit", "--quiet", "--all", "--message", "another default")
    must(*git, "tag", "v0.2.0")
    return made


def get(kpt: str, upstream: Path) -> Path:
    """Get the package as the page says."""
    folder = upstream.parent / "mine" / "accelerators"
    folder.parent.mkdir()
    must(kpt, "pkg", "get", f"{upstream.as_uri()}.git/{PACKAGE}@v0.1.0", folder)
    return folder


def replaced(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_the_image_and_the_program_write_the_same(kpt: str, upstream: Path, containers: Env, image: str) -> None:
    by_program = get(kpt, upstream)
    by_image = Path(shutil.copytree(by_program, upstream.parent / "by-image"))
    replaced(by_program / "Kptfile", f"image: {IMAGE}", "exec: krmfn")
    replaced(by_image / "Kptfile", IMAGE, image)
    must(kpt, "fn", "render", by_image, env=containers)  # an image needs no --allow-exec
    ours, theirs = rendered(kpt, by_program), tree(by_image)
    assert kinds(ours) >= {"Module", "DaemonSet"}
    assert {path for path in ours if ours[path] != theirs.get(path)} == {"Kptfile"}
    assert ours.keys() == theirs.keys()


def test_an_update_keeps_what_was_changed(kpt: str, upstream: Path) -> None:
    folder = get(kpt, upstream)
    replaced(folder / "Kptfile", f"image: {IMAGE}", "exec: krmfn")
    replaced(folder / "deviceconfig.yaml", 'driverVersion: "1.16.2"', 'driverVersion: "1.17.0"')
    first = rendered(kpt, folder)
    git = ("git", "-C", folder.parent, "-c", "user.name=e2e", "-c", "user.email=e2e@git.example.com")
    must("git", "init", "--quiet", folder.parent)
    must(*git, "add", "--all")
    must(*git, "commit", "--quiet", "--message", "mine")  # kpt updates what is committed
    must(kpt, "pkg", "update", f"{folder.name}@v0.2.0", cwd=folder.parent)
    second = rendered(kpt, folder)
    assert first.keys() == second.keys()
    module = second["kmm/module_gaudi.yaml"].decode()
    assert ":1.17.0-" in module
    assert "imagePullPolicy: Always" in module
    assert "imagePullPolicy: IfNotPresent" in first["kmm/module_gaudi.yaml"].decode()


def test_kpt_shows_the_help_of_the_image(kpt: str, containers: Env, image: str) -> None:
    assert must(kpt, "fn", "doc", f"--image={image}", env=containers).startswith(b"usage: krmfn")
