"""A real Kubernetes API server for the session, with the CRDs of a KMM version: what it answers to an object."""

from __future__ import annotations

import http.client
import json
import shutil
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from krmfn_functions.kmm.versions import DEFAULT

from krmfn import Manifest
from tests import kmm_crds
from tests.commands import HANGS, Done
from tests.kmm_crds import Crds

from .control_plane import HOST, apiserver_command, etcd_command, free_port, process, wait, write_access
from .engines import find, path_of, run

DRY_RUN = "fieldManager=krmfn-e2e&fieldValidation=Strict&dryRun=All"
APPLY, JSON, YAML = "application/apply-patch+yaml", "application/json", "application/yaml"
MERGE = "application/merge-patch+json"
one_version = pytest.mark.parametrize("kmm", kmm_crds.crds(DEFAULT), indirect=True, ids=str)
"""For a test that needs a KMM, whichever its version."""
STARTS_WITHIN = HANGS
"""Seconds; on an idle machine it is about four."""


class Verdict(NamedTuple):
    """What the server said to a dry run: its message, "" when the object was accepted."""

    refusal: str

    @property
    def accepted(self) -> bool:
        return not self.refusal


class Cluster:
    """A running API server: requests, dry runs, and the kubectl that talks to it."""

    def __init__(self, port: int, folder: Path, token: str) -> None:
        self.folder = folder
        self.crds: Crds | None = None
        self.url, self.token = f"https://{HOST}:{port}", token
        self._port, self._headers = port, {"Authorization": f"Bearer {token}"}
        self._connection: http.client.HTTPSConnection | None = None
        self._plurals: dict[str, dict[str, tuple[str, bool]]] = {}

    def request(self, method: str, path: str, body: bytes | None = None, content: str = JSON) -> tuple[int, Any]:
        """One request; the status code and the answer's body, read when it is JSON."""
        if self._connection is not None:
            try:
                return self._exchange(self._connection, method, path, body, content)
            except (OSError, http.client.HTTPException):
                self.close()  # the server drops connections that were idle for a while
        trust = ssl.create_default_context(cafile=str(self.folder / "certs" / "apiserver.crt"))
        self._connection = http.client.HTTPSConnection(HOST, self._port, timeout=HANGS, context=trust)
        try:
            return self._exchange(self._connection, method, path, body, content)
        except (OSError, http.client.HTTPException):
            self.close()
            raise

    def _exchange(
        self, connection: http.client.HTTPSConnection, method: str, path: str, body: bytes | None, content: str
    ) -> tuple[int, Any]:
        connection.request(method, path, body, self._headers | {"Content-Type": content})
        answer = connection.getresponse()
        text = answer.read()
        return answer.status, json.loads(text) if text[:1] == b"{" else text.decode()

    def close(self) -> None:
        """Drop the connection; the next request makes a new one."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def path_of(self, api_version: str, kind: str, namespace: str, name: str) -> str:
        """Where the server keeps an object."""
        root = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
        if kind not in self._plurals.get(root, {}):
            code, answer = self.request("GET", root)
            assert code == 200, f"the server does not know {api_version}: {answer}"
            self._plurals[root] = {
                r["kind"]: (r["name"], r["namespaced"]) for r in answer["resources"] if "/" not in r["name"]
            }
        plural, namespaced = self._plurals[root][kind]
        return f"{root}/namespaces/{namespace}/{plural}/{name}" if namespaced else f"{root}/{plural}/{name}"

    def place_of(self, manifest: Manifest, namespace: str = "") -> str:
        """Where the server keeps an object that may name no namespace of its own."""
        metadata = manifest["metadata"]
        namespace = namespace or metadata.get("namespace", "")
        return self.path_of(manifest["apiVersion"], manifest["kind"], namespace, metadata["name"])

    def get(self, place: str) -> Manifest | None:
        """Return an object; None when it is not there."""
        code, answer = self.request("GET", place)
        assert code in (200, 404), answer
        return dict(answer) if code == 200 else None

    def is_served(self, place: str) -> bool:
        return bool(self.request("GET", place)[0] == 200)

    def merge(self, place: str, change: Any) -> Manifest:
        """Merge a change into an object; return what has become of it."""
        code, answer = self.request("PATCH", place, json.dumps(change).encode(), MERGE)
        assert code == 200, answer
        return dict(answer)

    def dry_run(self, place: str, text: bytes) -> Verdict:
        """What `kubectl apply --server-side --validate=strict --dry-run=server` asks, and the server's answer."""
        code, answer = self.request("PATCH", f"{place}?{DRY_RUN}", text, APPLY)
        if code in (200, 201):
            return Verdict("")
        assert isinstance(answer, dict) and answer.get("kind") == "Status", f"{code}: {answer}"
        assert code in (400, 422, 500), f"the server judged nothing: {code}: {answer['message']}"
        return Verdict(answer["message"])

    def apply(self, place: str, text: bytes) -> None:
        """Server-side apply, for good."""
        code, answer = self.request("PATCH", f"{place}?fieldManager=krmfn-e2e&force=true", text, APPLY)
        assert code in (200, 201), answer

    def namespace(self, name: str) -> None:
        """Let a namespace exist."""
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        self.apply(f"/api/v1/namespaces/{name}", json.dumps(namespace).encode())

    @property
    def kmm(self) -> str:
        """The KMM version whose CRDs are installed."""
        assert self.crds, "a test that asks has the fixture `kmm`"
        return self.crds.version

    def kubectl(self, *arguments: str | Path) -> Done:
        """Run kubectl against this server, with nothing of the user's own configuration."""
        program = find("kubectl", "tests/e2e/install builds it with go")
        env = {"KUBECONFIG": str(self.folder / "kubeconfig"), "HOME": str(self.folder), "KUBERC": "off"}
        return run(program, *arguments, env=path_of() | env)


@contextmanager
def started(folder: Path) -> Iterator[Cluster]:
    """etcd and kube-apiserver in a folder, ready; gone when the block ends."""
    etcd, port = free_port(), free_port()
    token = write_access(folder, port)
    commands = etcd_command(folder, etcd), apiserver_command(folder, port, etcd)
    with process("etcd", *commands[0], folder=folder) as stored, process("api", *commands[1], folder=folder) as served:
        cluster = Cluster(port, folder, token)

        def ready() -> bool:
            stored(), served()
            try:
                return cluster.request("GET", "/readyz")[0] == 200
            except OSError:
                return False

        wait("kube-apiserver is ready", STARTS_WITHIN, ready)
        try:
            yield cluster
        finally:
            cluster.close()


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """An empty cluster, without KMM."""
    folder = tmp_path_factory.mktemp("cluster")
    with started(folder) as running:
        yield running
    shutil.rmtree(folder / "etcd")


def install_crd(cluster: Cluster, crd: bytes, name: str) -> None:
    """Install a CRD in place of whatever had its name, and wait until its kind is served."""
    place = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}"
    cluster.request("DELETE", place)
    wait(f"{name} is gone", 30, lambda: cluster.request("GET", place)[0] == 404)
    cluster.apply(place, crd)

    def established() -> bool:
        conditions = cluster.request("GET", place)[1].get("status", {}).get("conditions") or []
        return any(c["type"] == "Established" and c["status"] == "True" for c in conditions)

    wait(f"{name} is established", 30, established)


@pytest.fixture(scope="session")
def kmm(cluster: Cluster, request: pytest.FixtureRequest) -> Cluster:
    """The cluster with the CRDs that the test is parametrised with, and a namespace `kmm`."""
    crds: Crds = request.param
    if cluster.crds == crds:
        return cluster
    for crd in (crds.module(), crds.hub()):
        install_crd(cluster, json.dumps(crd).encode(), crd["metadata"]["name"])
    cluster.namespace("kmm")
    group = "kmm.sigs.x-k8s.io"
    served = [f"/apis/{group}/v1beta1/namespaces/kmm/modules", f"/apis/hub.{group}/v1beta1/managedclustermodules"]
    wait("the kinds are served", 30, lambda: all(cluster.request("GET", path)[0] == 200 for path in served))
    cluster.crds = crds
    return cluster
