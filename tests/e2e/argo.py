"""Argo CD's plugin server as a plain process, and the client with which the repo-server asks it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import yaml

from tests.commands import COMMANDS, HANGS, ROOT
from tests.gitops.test_argocd_plugin import request_environment

from .control_plane import process, wait
from .engines import TOOLS, find, must, run

PLUGIN = ROOT / "gitops" / "argocd" / "plugin.yaml"
HYDRATOR = PLUGIN.parent / "hydrator" / "plugin.yaml"
PROGRAMS = (COMMANDS, TOOLS, Path("/usr/bin"), Path("/bin"))
NOTHING: Mapping[str, str] = MappingProxyType({})
DEADLINE = HANGS
"""Seconds for a request; Argo CD's own are 60, which an idle machine keeps."""


class Answer(NamedTuple):
    """What the repo-server gets for one request."""

    manifests: list[dict[str, Any]]
    error: str


class Plugin(NamedTuple):
    """A running plugin server with the shipped plugin.yaml."""

    socket: Path
    temporary: Path
    """The sidecar's /tmp: the copies of repositories, and what the command writes."""

    def ask(
        self, repository: Path, path: str, env: Mapping[str, str] = NOTHING, times: int = 1, at_once: int = 1
    ) -> list[Answer]:
        """Ask for the manifests of a path in a repository, so many times, and no more than so many at once."""
        question = self._question(repository, path, env, times=times, atOnce=at_once)
        done = run(client(), "generate", stdin=question, env=self._environment(), timeout=DEADLINE + 60).ended(0)
        answers = json.loads(done.out)
        return [Answer([json.loads(text) for text in answer["manifests"] or ()], answer["error"]) for answer in answers]

    def manifests(self, repository: Path, path: str = ".", **env: str) -> list[dict[str, Any]]:
        """Ask for manifests that have to come."""
        [answer] = self.ask(repository, path, env)
        assert answer.error == ""
        return answer.manifests

    def refusal(self, repository: Path, path: str = ".", **env: str) -> str:
        """Ask for manifests that must not come, and return why they do not."""
        [answer] = self.ask(repository, path, env)
        assert answer.manifests == []
        assert answer.error
        return answer.error

    def start(self, repository: Path, path: str = ".") -> subprocess.Popen[bytes]:
        """Start a request, for a test that ends it."""
        asking = subprocess.Popen(
            [client(), "generate"], env=self._environment(), stdin=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert asking.stdin
        asking.stdin.write(self._question(repository, path, times=1, atOnce=1))
        asking.stdin.close()
        return asking

    def announced(self, repository: Path) -> list[dict[str, Any]]:
        """Return the parameters that it announces."""
        done = run(client(), "announce", stdin=self._question(repository, "."), env=self._environment()).ended(0)
        return list(json.loads(done.out))

    def remains(self) -> list[Path]:
        """Return what requests have left in the temporary folder."""
        mine = self.temporary / "_cmp_server"
        return [path for path in [*self.temporary.iterdir(), *mine.iterdir()] if path != mine]

    def _question(self, repository: Path, path: str, env: Mapping[str, str] = NOTHING, **options: int) -> bytes:
        question = {"socket": str(self.socket), "repository": str(repository), "path": path, "seconds": DEADLINE}
        return json.dumps(question | options | {"env": request_environment(path, "kmm") | dict(env)}).encode()

    def _environment(self) -> dict[str, str]:
        """The client packs the repository in a temporary folder, too; it is none of the sidecar's."""
        folder = self.socket.parent / "client"
        folder.mkdir(exist_ok=True)
        return os.environ | {"TMPDIR": str(folder)}


def client() -> str:
    """Return the program: Argo CD's servers, and the client."""
    return find("argocd", "tests/e2e/install builds it with go")


@contextmanager
def plugin(
    folder: Path, programs: tuple[Path, ...] = PROGRAMS, shipped: Path = PLUGIN, env: Mapping[str, str] = NOTHING
) -> Iterator[Plugin]:
    """Run the plugin server with the environment of a sidecar: programs on PATH, and no home or locale.

    Its socket is in `folder`, which several servers may share as the sidecars of a Pod do.
    """
    name = str(yaml.safe_load(shipped.read_text())["metadata"]["name"])
    home = folder / name
    config, temporary = home / "config", home / "tmp"
    config.mkdir(parents=True)
    temporary.mkdir()
    shutil.copy(shipped, config)
    path = os.pathsep.join(map(str, programs))
    environment = {"PATH": path, "TMPDIR": str(temporary), "ARGOCD_PLUGINSOCKFILEPATH": str(folder), **env}
    command: list[str | Path] = [client(), "argocd-cmp-server", "--config-dir-path", config]
    with process("cmp", *command, folder=home, env=environment) as alive:
        socket = folder / f"{name}.sock"
        wait("the plugin server listens", 90, lambda: alive() and socket.exists())
        yield Plugin(socket, temporary)


def crds() -> dict[str, bytes]:
    """Return Argo CD's CRDs by their names, of the version that go.mod pins."""
    module = ROOT / "tests" / "e2e" / "argocd"
    where = must(find("go", "install Go"), "-C", module, "list", "-m", "-f={{.Dir}}", "github.com/argoproj/argo-cd/v3")
    files = sorted(Path(where.decode().strip(), "manifests", "crds").glob("*-crd.yaml"))
    texts = [path.read_bytes() for path in files]
    assert texts, "the module has been downloaded to build the servers"
    return {yaml.safe_load(text)["metadata"]["name"]: text for text in texts}
