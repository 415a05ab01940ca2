"""Engines for the session: kustomize, kpt, podman, and the functions as an image that is built once."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import ROOT

from .argo_loop import loop as loop
from .engines import BASE_IMAGE, KUSTOMIZE, absent, allowed, find, missing, must, path_of, run
from .kube import cluster as cluster
from .kube import kmm as kmm

Env = dict[str, str]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder is end to end."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("e2e")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the engines that engines.txt lists, and those that were missing, so that a skip count hides nothing."""
    reports = [report for group in terminalreporter.stats.values() for report in group]
    if not any("e2e" in getattr(report, "keywords", ()) for report in reports):
        return
    for engine, why in allowed().items():
        terminalreporter.write_line(f"may be missing (tests/e2e/engines.txt): {engine}: {why}")
    for engine, why in sorted(missing.items()):
        terminalreporter.write_line(f"ENGINE MISSING, ITS TESTS DID NOT RUN: {engine}: {why}", red=True, bold=True)


@pytest.fixture(scope="session")
def env() -> Env:
    """PATH with the commands under test and the tools, and nothing else changed."""
    return path_of()


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
    shim = folder / "bin" / "docker"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec {podman} "$@"\n')
    shim.chmod(0o755)
    env = path_of(shim.parent) | {"KPT_FN_RUNTIME": "podman"}
    if shutil.which("runc", path=env["PATH"]):  # hosts with hybrid cgroups or fixed limits fail with crun
        conf = folder / "containers.conf"
        conf.write_text(
            '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]\n[engine]\nruntime = "runc"\n'
        )
        env["CONTAINERS_CONF"] = str(conf)
    return env


@pytest.fixture(scope="session")
def base_image(containers: Env, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A base image made of Debian packages, so that no image registry is needed; podman keeps it for the next run."""
    if run("podman", "image", "exists", BASE_IMAGE, env=containers).code == 0:
        return BASE_IMAGE
    if os.getuid() != 0:
        absent("base image", f"only root can make {BASE_IMAGE} with debootstrap")
    debootstrap = find("debootstrap", "install the Debian package")
    root = tmp_path_factory.mktemp("root")
    packages = "--include=python3,python3-venv,ca-certificates"
    must(debootstrap, "--variant=minbase", packages, "bookworm", root, env=containers, timeout=600)
    archive = root.with_suffix(".tar")
    must("tar", "-C", root, "-cf", archive, ".", timeout=300)
    must("podman", "import", archive, BASE_IMAGE, env=containers, timeout=300)
    archive.unlink()
    shutil.rmtree(root)
    return BASE_IMAGE


def build_options(base: str) -> list[str]:
    """What `podman build` needs on this machine: our base, and pip's way out as the host has it."""
    shared = [path for path in ("/etc/ssl/certs", "/etc/pip.conf") if Path(path).exists()]
    return ["--build-arg", f"BASE_IMAGE={base}", "--network", "host", *(f"--volume={p}:{p}:ro" for p in shared)]


@pytest.fixture(scope="session")
def image(base_image: str, containers: Env) -> Iterator[str]:
    """Build the image under a name of this process alone."""
    name = f"localhost/krmfn-e2e/krmfn:{os.getpid()}"
    must("podman", "build", *build_options(base_image), "--tag", name, ROOT, env=containers, timeout=900)
    yield name
    run("podman", "rmi", "--force", name, env=containers)
