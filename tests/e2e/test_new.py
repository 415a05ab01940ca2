"""What `python -m krmfn.new` makes, as it comes out: its tests, its image, and the image run by kpt."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from krmfn.new import make
from tests.commands import ROOT

from .conftest import Env
from .engines import absent, find, must, run

BASE = "localhost/krmfn-e2e/debian-python:bookworm"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new function, with the wheels of this krmfn and of all that its image needs: a container has no index."""
    folder = make("own-it", tmp_path_factory.mktemp("new"))
    source = tmp_path_factory.mktemp("source") / "krmfn"
    must("git", "clone", "--quiet", ROOT, source)
    for name in must("git", "ls-files", "-z", "-m", "-o", "--exclude-standard", cwd=ROOT).decode().split("\0"):
        if name and (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, source / name)
    wheels = folder / "wheels"
    must(sys.executable, "-m", "pip", "wheel", "-q", "-w", wheels, source / "sdk", "setuptools")
    [sdk] = wheels.glob("krmfn_sdk-*.whl")
    (wheels / "SHA256SUMS").write_bytes(must("sha256sum", sdk.name, cwd=wheels))
    return folder


@pytest.fixture(scope="module")
def base(containers: Env, tmp_path_factory: pytest.TempPathFactory) -> str:
    """An image with python3, made of Debian packages."""
    if run("podman", "image", "exists", BASE, env=containers).code:
        if os.getuid() != 0:
            absent("base image", "only root can make it with debootstrap")
        root = tmp_path_factory.mktemp("base")
        options = ("--variant=minbase", "--include=python3,python3-venv,ca-certificates")
        must(find("debootstrap", "install the Debian package"), *options, "bookworm", root, timeout=900)
        subprocess.run(f"tar -C {root} -c . | podman import - {BASE}", shell=True, check=True, env=containers)
        shutil.rmtree(root)
    return BASE


@pytest.fixture(scope="module")
def image(folder: Path, base: str, containers: Env) -> Iterator[str]:
    """The image that the Dockerfile makes as it comes out."""
    name = "localhost/krmfn-e2e/own-it:new"
    options = ("--build-arg", f"BASE_IMAGE={base}", "--env", "PIP_NO_INDEX=1", "-t", name)
    must("podman", "build", "-q", *options, folder, env=containers, timeout=600)
    yield name
    run("podman", "rmi", "--force", name, env=containers)


def test_its_tests_pass_with_krmfn_installed(folder: Path, tmp_path: Path) -> None:
    python = tmp_path / "venv/bin/python"
    must(sys.executable, "-m", "venv", tmp_path / "venv")
    [sdk] = (folder / "wheels").glob("krmfn_sdk-*.whl")
    must(python, "-m", "pip", "install", "-q", sdk, folder, "pytest")
    out = must(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=folder).decode()
    assert "2 passed" in out
    assert b"functionConfig: OwnIt" in must(tmp_path / "venv/bin/own-it", "--help")


def test_its_image_runs_as_nobody_and_does_its_work(image: str, folder: Path, containers: Env) -> None:
    locked = ["--rm", "-i", "--read-only", "--network=none", "--cap-drop=all"]
    expected = (folder / "testdata/simple/_expected.yaml").read_bytes()
    assert run("podman", "run", *locked, image, env=containers, stdin=expected).ended(0).out == expected
    uid = must("podman", "image", "inspect", "--format", "{{.Config.User}}", image, env=containers).decode()
    assert uid.strip() == "65532:65532"


def test_kpt_runs_its_image(image: str, folder: Path, containers: Env, kpt: str, tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    shutil.copy(folder / "testdata/simple/resources.yaml", package)
    shutil.copy(folder / "testdata/simple/_fnconfig.yaml", tmp_path / "config.yaml")
    options = ("--fn-config", tmp_path / "config.yaml", "--image-pull-policy=IfNotPresent")
    must(kpt, "fn", "eval", package, "--image", image, *options, env=containers)
    assert "team: shop" in (package / "resources.yaml").read_text()
    assert "name: web # comments stay" in (package / "resources.yaml").read_text()
