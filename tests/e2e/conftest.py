"""Engines for the session: kustomize, kpt, podman, and the functions as an image that is built once."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import COMMANDS, ROOT
from tests.trees import plant

from .argo_loop import loop as loop
from .engines import KUSTOMIZE, TOOLS, absent, allowed, find, missing, must, path_of, run
from .kube import cluster as cluster
from .kube import kmm as kmm

Env = dict[str, str]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder is end to end."""
    folder = f"{Path(__file__).parent}{os.sep}"
    for item in items:
        if str(item.path).startswith(folder):
            item.add_marker("e2e")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the engines that engines.txt lists, and those that were missing, so that a skip count hides nothing."""
    reports = [report for group in terminalreporter.stats.values() for report in group]
    if not any("e2e" in getattr(report, "keywords", ()) for report in reports):
        return
    for engine, reason in allowed().items():
        terminalreporter.write_line(f"may be missing (tests/e2e/engines.txt): {engine}: {reason}")
    for engine, reason in sorted(missing.items()):
        terminalreporter.write_line(f"ENGINE MISSING, ITS TESTS DID NOT RUN: {engine}: {reason}", red=True, bold=True)


@pytest.fixture(scope="session", autouse=True)
def engines_on_path() -> None:
    """Put what tests/e2e/install made on PATH, for these tests alone."""
    os.environ["PATH"] = os.pathsep.join([str(COMMANDS), str(TOOLS), os.environ["PATH"]])


@pytest.fixture(scope="session")
def kustomize() -> str:
    """A kustomize of the minor version that the facts were measured with."""
    program = find("kustomize", "tests/e2e/install makes it with go")
    version = must(program, "version").decode().strip()
    if not version.startswith(KUSTOMIZE):
        absent("kustomize", f"{program} is {version}, not {KUSTOMIZE}x")
    return program


@pytest.fixture(scope="session")
def kpt() -> str:
    """The kpt on PATH."""
    return find("kpt", "put it on PATH")


@pytest.fixture(scope="session")
def containers(tmp_path_factory: pytest.TempPathFactory) -> Env:
    """An environment in which `podman` runs containers with runc, and `docker` is podman."""
    podman = find("podman", "install the Debian packages podman and runc")
    folder = tmp_path_factory.mktemp("containers")
    shim = plant(folder, {"bin/docker": f'#!/bin/sh\nexec {podman} "$@"\n'}) / "bin" / "docker"
    env = path_of(shim.parent) | {"KPT_FN_RUNTIME": "podman"}
    if shutil.which("runc", path=env["PATH"]):  # hosts with hybrid cgroups or fixed limits fail with crun
        conf = folder / "containers.conf"
        conf.write_text(
            '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]\n[engine]\nruntime = "runc"\n'
        )
        env["CONTAINERS_CONF"] = str(conf)
    return env


@pytest.fixture(scope="session")
def released(containers: Env, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder dist/ that `make release` fills in a clone; the base of its images is made of Debian packages."""
    if os.getuid() != 0:
        absent("base image", "only root can make it with debootstrap")
    for program, package in (("debootstrap", "debootstrap"), ("buildah", "buildah"), ("go", "golang-go")):
        find(program, f"install the Debian package {package}")
    clone = tmp_path_factory.mktemp("release") / "clone"
    must("git", "clone", "--quiet", ROOT, clone)
    patch = tmp_path_factory.mktemp("patch") / "patch"
    patch.write_bytes(must("git", "diff", "--binary", "HEAD", cwd=ROOT))
    if patch.stat().st_size:
        me = ("git", "-c", "user.name=me", "-c", "user.email=me@example.com")
        must("git", "apply", "--index", patch, cwd=clone)
        must(*me, "commit", "--quiet", "--message", "what is not committed yet", cwd=clone)
    must("make", "release", cwd=clone, env=containers, timeout=1800)
    yield clone / "dist"
    shutil.rmtree(clone)


def loaded(released: Path, name: str, env: Env) -> Iterator[str]:
    """Give an image of the release a name of this process alone."""
    [layout] = (released / "images").glob(f"{name}/index.json")
    ident = must("podman", "pull", "--quiet", f"oci:{layout.parent}", env=env).decode().strip()
    tag = f"localhost/krmfn-e2e/{name}:{os.getpid()}"
    must("podman", "tag", ident, tag, env=env)
    yield tag
    run("podman", "rmi", "--force", ident, env=env)


@pytest.fixture(scope="session")
def image(released: Path, containers: Env) -> Iterator[str]:
    """The image of the function."""
    yield from loaded(released, "krmfn", containers)


@pytest.fixture(scope="session")
def sidecar(released: Path, containers: Env) -> Iterator[str]:
    """The image of the sidecar."""
    yield from loaded(released, "krmfn-argocd", containers)
