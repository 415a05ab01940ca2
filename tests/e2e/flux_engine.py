"""Flux as plain processes: kustomize-controller on a cluster of its own, a source it can read, and Flux's libraries."""

from __future__ import annotations

import functools
import hashlib
import http.client
import http.server
import io
import json
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from krmfn_functions.kmm.versions import DEFAULT

from krmfn import Manifest
from tests.commands import HANGS, Done
from tests.kmm_crds import Crds

from .control_plane import HOST, free_port, process, wait
from .engines import TOOLS, absent, documents, find, must, run
from .kube import Cluster, install_crd, started

REMEDY = "tests/e2e/install builds it with go"
SYSTEM = "flux-system"
CRDS = TOOLS.parent / "flux-crds"
WITHIN = HANGS
"""Seconds; on an idle machine a reconciliation takes about two."""


def library(*args: str | Path, question: Any) -> Done:
    """Ask Flux's libraries; the question is JSON."""
    return run(find("fluxlib", REMEDY), *args, stdin=json.dumps(question).encode())


class Flux:
    """A cluster with kustomize-controller; source-controller's part, to fetch and to serve artifacts, is done here."""

    def __init__(self, cluster: Cluster, served: Path, address: str) -> None:
        self.cluster, self._served, self._address = cluster, served, address
        self._revision = 0

    def create(self, manifest: Manifest) -> None:
        """Apply an object of Flux's."""
        self.cluster.apply(self.cluster.place_of(manifest), json.dumps(manifest).encode())

    def publish(self, source: Manifest, folder: Path) -> str:
        """Give a source a new artifact with the files of a folder; return its revision."""
        self._revision += 1
        archive = packed(folder)
        name, digest = f"{self._revision}.tar.gz", f"sha256:{hashlib.sha256(archive).hexdigest()}"
        (self._served / name).write_bytes(archive)
        artifact = {
            "url": f"{self._address}/{name}",
            "path": name,
            "revision": f"rendered@{digest}",
            "digest": digest,
            "lastUpdateTime": f"2026-01-01T00:00:{self._revision:02}Z",
        }
        self.cluster.merge(f"{self.cluster.place_of(source)}/status", {"status": {"artifact": artifact}})
        return str(artifact["revision"])

    def ready(self, name: str) -> tuple[str, str, str]:
        """Return the Ready condition of a Kustomization, its message, and the revision that it has applied."""
        place = f"/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/{SYSTEM}/kustomizations/{name}"
        status = self.cluster.request("GET", place)[1].get("status", {})
        condition: Manifest = next((entry for entry in status.get("conditions", []) if entry["type"] == "Ready"), {})
        return condition.get("status", ""), condition.get("message", ""), status.get("lastAppliedRevision", "")

    def applied(self, revision: str, *names: str) -> None:
        """Wait until these Kustomizations have applied a revision and are ready."""
        for name in names:
            wait(
                f"{name} has applied {revision}",
                WITHIN,
                lambda name=name: self.ready(name)[::2] == ("True", revision),  # type: ignore[misc]
            )

    def get(self, api: str, kind: str, namespace: str, name: str) -> Manifest | None:
        """Return an object as it is on the cluster; None when it is not there."""
        return self.cluster.get(self.cluster.path_of(api, kind, namespace, name))


def packed(folder: Path) -> bytes:
    """Return the files of a folder as source-controller packs them: names, bytes and modes, and nothing else."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                entry = tarfile.TarInfo(str(path.relative_to(folder)))
                entry.size, entry.mode = path.stat().st_size, 0o644
                archive.addfile(entry, io.BytesIO(path.read_bytes()))
    return out.getvalue()


def built(folder: Path) -> list[Manifest]:
    """Return the objects of a kustomization, as kustomize builds it."""
    return documents(must(find("kustomize", REMEDY), "build", folder))


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


@contextmanager
def _served(folder: Path) -> Iterator[str]:
    server = http.server.ThreadingHTTPServer((HOST, 0), functools.partial(_Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://{HOST}:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(20)


def _crds() -> dict[str, Manifest]:
    """Return the CRDs of Flux by name, as tests/e2e/install has put them here."""
    files = sorted(CRDS.glob("*.yaml"))
    if not files:
        absent("flux-crds", "tests/e2e/install takes them from Flux's modules with go")
    return {crd["metadata"]["name"]: crd for file in files for crd in documents(file.read_bytes())}


@contextmanager
def flux(folder: Path) -> Iterator[Flux]:
    """A cluster with KMM's and Flux's CRDs, and kustomize-controller, ready; gone when the block ends."""
    controller = find("kustomize-controller", REMEDY)
    kmm = Crds(DEFAULT)
    crds = {definition["metadata"]["name"]: definition for definition in (kmm.module(), kmm.hub())} | _crds()
    served, scratch = folder / "served", folder / "scratch"
    served.mkdir()
    scratch.mkdir()
    health = free_port()
    env = {"KUBECONFIG": folder / "kubeconfig", "RUNTIME_NAMESPACE": SYSTEM, "TMPDIR": scratch, "HOME": folder}
    command: list[str | Path] = ["env", *(f"{key}={value}" for key, value in env.items()), controller]
    command += [f"--metrics-addr={HOST}:0", f"--health-addr={HOST}:{health}", "--requeue-dependency=1s"]
    with started(folder) as cluster, _served(served) as address:
        for name, crd in crds.items():
            install_crd(cluster, json.dumps(crd, default=str).encode(), name)
        cluster.namespace(SYSTEM)
        with process("kustomize-controller", *command, folder=folder) as alive:
            wait("kustomize-controller is ready", WITHIN, lambda: alive() and _answers(health))
            yield Flux(cluster, served, address)


def _answers(port: int) -> bool:
    connection = http.client.HTTPConnection(HOST, port, timeout=5)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()
