"""The sidecar of the repo-server, as its patch runs it: read-only, uid 999, without network and rights."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from .argo import PLUGIN, Plugin, client
from .conftest import Env
from .control_plane import wait
from .engines import EXAMPLES, must, run

LOCKED = ["--read-only", "--network=none", "--security-opt=no-new-privileges", "--cap-drop=all"]
WITH_TMP, WITHOUT = ["--tmpfs=/tmp"], ["--read-only-tmpfs=false"]


def test_the_user_is_argo_cd_s(sidecar: str, containers: Env) -> None:
    [image] = json.loads(must("podman", "image", "inspect", sidecar, env=containers))
    assert image["Config"]["User"] == "999:999"
    assert image["Config"]["Entrypoint"] == ["/var/run/argocd/argocd-cmp-server"]


@contextmanager
def started(image: str, env: Env, folder: Path, *options: str) -> Iterator[Callable[[], bool]]:
    """Start the sidecar with its volumes: the server from the repo-server, the socket for it, and plugin.yaml.

    Inside, a question that is true while it runs and writes its log into `folder` when it has ended.
    """
    (folder / "plugins").mkdir()
    (folder / "plugins").chmod(0o777)
    (folder / "server").mkdir()
    shutil.copy(client(), folder / "server" / "argocd-cmp-server")
    shutil.copy(PLUGIN, folder)
    volumes = {"server": "/var/run/argocd", "plugins": "/home/argocd/cmp-server/plugins"}
    volumes["plugin.yaml"] = "/home/argocd/cmp-server/config/plugin.yaml"
    places = [f"--volume={folder / name}:{place}" for name, place in volumes.items()]
    ident = must("podman", "run", "--detach", *LOCKED, *options, *places, image, env=env).decode().strip()

    def is_running() -> bool:
        if must("podman", "inspect", "--format={{.State.Running}}", ident, env=env).strip() == b"true":
            return True
        (folder / "log").write_text(run("podman", "logs", ident, env=env).err)
        return False

    try:
        yield is_running
    finally:
        run("podman", "rm", "--force", "--time=0", ident, env=env)


@contextmanager
def serving(image: str, env: Env, folder: Path, *options: str) -> Iterator[Plugin]:
    """Run the sidecar, for questions to its server."""
    with started(image, env, folder, *options) as is_running:
        socket = folder / "plugins" / "krmfn.sock"

        def listens() -> bool:
            assert is_running(), (folder / "log").read_text()
            return socket.exists()

        wait("the plugin server listens", 120, listens)
        yield Plugin(socket, folder)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a kustomization in `lab`."""
    folder = tmp_path / "repository"
    shutil.copytree(EXAMPLES / "smallest", folder / "lab")
    (folder / "lab" / "kustomization.yaml").write_text("resources: [deviceconfig.yaml]\nnamePrefix: lab-\n")
    return folder


def test_it_serves_a_kustomization(sidecar: str, containers: Env, repository: Path, tmp_path: Path) -> None:
    """With what the patch allows it, and no more."""
    with serving(sidecar, containers, tmp_path, *WITH_TMP) as plugin:
        [module] = plugin.manifests(repository, "lab")
        assert (module["kind"], module["metadata"]["name"]) == ("Module", "lab-gaudi")
        (repository / "lab" / "deviceconfig.yaml").write_text("kind: [\n")
        assert "deviceconfig.yaml:2: error: did not find expected" in plugin.refusal(repository, "lab")


def test_without_tmp_the_server_ends(sidecar: str, containers: Env, tmp_path: Path) -> None:
    """The volume is missing: Argo CD's server has no place for its copies, and says so in the sidecar's log."""
    with started(sidecar, containers, tmp_path, *WITHOUT) as is_running:
        wait("the plugin server ends", 120, lambda: not is_running())
    assert "/tmp/_cmp_server: read-only file system" in (tmp_path / "log").read_text()


def test_a_krmfn_without_tmp_says_so(sidecar: str, containers: Env, repository: Path, tmp_path: Path) -> None:
    """The server has a place of its own, and krmfn none but the copy; only a build needs one."""
    place = ["--env=ARGOCD_CMP_WORKDIR=/copies", "--tmpfs=/copies"]
    with serving(sidecar, containers, tmp_path, *WITHOUT, *place) as plugin:
        refusal = plugin.refusal(repository, "lab")
        assert "/lab is in ., where temporary files would be read as your own; set the environment" in refusal
        (repository / "lab" / "kustomization.yaml").unlink()
        assert [manifest["kind"] for manifest in plugin.manifests(repository, "lab")] == ["Module"]
