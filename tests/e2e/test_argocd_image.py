"""The sidecar of the repo-server, as its patch runs it: read-only, uid 999, without network and rights."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import ROOT

from .argo import PLUGIN, Plugin, client
from .conftest import Env, build_options
from .control_plane import wait
from .engines import EXAMPLES, must, run

LOCKED = ["--read-only", "--network=none", "--security-opt=no-new-privileges", "--cap-drop=all", "--tmpfs=/tmp"]


@pytest.fixture(scope="module")
def sidecar(
    base_image: str, kustomize: str, containers: Env, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The target `argocd`; kustomize is the one of these tests, in an image with nothing else."""
    folder = tmp_path_factory.mktemp("kustomize")
    shutil.copy(kustomize, folder / "kustomize")
    (folder / "Dockerfile").write_text("FROM scratch\nCOPY kustomize /app/kustomize\n")
    names = [f"localhost/krmfn-e2e/{name}:{os.getpid()}" for name in ("kustomize", "argocd")]
    must("podman", "build", "--tag", names[0], folder, env=containers, timeout=300)
    options = [*build_options(base_image), "--build-arg", f"KUSTOMIZE_IMAGE={names[0]}", "--target", "argocd"]
    must("podman", "build", *options, "--tag", names[1], ROOT, env=containers, timeout=900)
    yield names[1]
    run("podman", "rmi", "--force", *names, env=containers)


def test_the_user_is_argo_cd_s(sidecar: str, containers: Env) -> None:
    [image] = json.loads(must("podman", "image", "inspect", sidecar, env=containers))
    assert image["Config"]["User"] == "999:999"
    assert image["Config"]["Entrypoint"] == ["/var/run/argocd/argocd-cmp-server"]


@pytest.fixture
def running(sidecar: str, containers: Env, tmp_path: Path) -> Iterator[Plugin]:
    """The sidecar with its volumes: the server from the repo-server, the socket for it, and plugin.yaml."""
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins").chmod(0o777)
    (tmp_path / "server").mkdir()
    shutil.copy(client(), tmp_path / "server" / "argocd-cmp-server")
    shutil.copy(PLUGIN, tmp_path)
    volumes = {"server": "/var/run/argocd", "plugins": "/home/argocd/cmp-server/plugins"}
    volumes["plugin.yaml"] = "/home/argocd/cmp-server/config/plugin.yaml"
    options = [f"--volume={tmp_path / name}:{place}" for name, place in volumes.items()]
    ident = must("podman", "run", "--detach", *LOCKED, *options, sidecar, env=containers).decode().strip()
    try:
        socket = tmp_path / "plugins" / "krmfn.sock"

        def listens() -> bool:
            state = must("podman", "inspect", "--format={{.State.Running}}", ident, env=containers)
            assert state.strip() == b"true", must("podman", "logs", ident, env=containers)
            return socket.exists()

        wait("the plugin server listens", 120, listens)
        yield Plugin(socket, tmp_path)
    finally:
        run("podman", "rm", "--force", "--time=0", ident, env=containers)


def test_it_serves_a_kustomization(running: Plugin, tmp_path: Path) -> None:
    """With what the patch allows it, and no more."""
    repository = tmp_path / "repository"
    shutil.copytree(EXAMPLES / "smallest", repository / "lab")
    (repository / "lab" / "kustomization.yaml").write_text("resources: [deviceconfig.yaml]\nnamePrefix: lab-\n")
    [module] = running.manifests(repository, "lab")
    assert (module["kind"], module["metadata"]["name"]) == ("Module", "lab-gaudi")
    (repository / "lab" / "deviceconfig.yaml").write_text("kind: [\n")
    assert "kustomize build" in running.refusal(repository, "lab")
