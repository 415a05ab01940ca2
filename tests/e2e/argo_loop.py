"""A whole Argo CD as plain processes: its servers and controllers, redis, and the shipped plugins.

The test plays what a cluster's controllers would do to what is synced: KMM, the DaemonSet controller and the garbage
collector act when it says so, so that no test depends on their speed.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import pytest
import yaml
from krmfn_functions.kmm.versions import DEFAULT

from tests.commands import HANGS
from tests.kmm_crds import Crds

from .argo import HYDRATOR, PLUGIN, client, crds, plugin
from .control_plane import HOST, free_port, process, wait
from .engines import find, must
from .kube import MERGE, Cluster, install_crd, started

Object = dict[str, Any]
PATIENCE = HANGS
"""Seconds for a state to be reached; on an idle machine each takes less than ten."""
KMM, APPS, ARGO = "kmm.sigs.x-k8s.io/v1beta1", "apps/v1", "argoproj.io/v1alpha1"


class Loop(NamedTuple):
    """A running Argo CD with the cluster that it serves, which is also the one it lives in."""

    cluster: Cluster
    repository: Path

    def commit(self, message: str, **files: str | None) -> None:
        """Commit files by their paths with `__` for a slash; None removes one."""
        for name, text in files.items():
            path = self.repository / f"{name.replace('__', '/')}.yaml"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink() if text is None else path.write_text(text)
        must("git", "-C", self.repository, "add", "--all")
        must("git", "-C", self.repository, *AUTHOR, "commit", "--quiet", "--message", message)

    def application(self, name: str, **parameters: str) -> None:
        """Create an Application of the folder `name` for the namespace `name`, synced by itself."""
        source = {"repoURL": f"file://{self.repository}", "targetRevision": "main", "path": name}
        listed = [{"name": key.replace("_", "-"), "string": value} for key, value in parameters.items()]
        policy = {"automated": {"prune": True, "selfHeal": True}, "syncOptions": ["ServerSideApply=true"]}
        plugin = {"name": "krmfn", "parameters": listed}
        self.create(name, {"project": "default", "source": {**source, "plugin": plugin}, "syncPolicy": policy})

    def create(self, name: str, spec: Object) -> None:
        """Create an Application for the namespace `name`."""
        self.cluster.namespace(name)
        destination = {"server": self.cluster.url, "namespace": name}
        application = {"apiVersion": ARGO, "kind": "Application", "metadata": {"name": name, "namespace": "argocd"}}
        text = json.dumps(application | {"spec": spec | {"destination": destination}}).encode()
        self.cluster.apply(self.cluster.place_of(application), text)

    def status(self, name: str) -> Object:
        """Return the status of an Application."""
        return dict(self.get(ARGO, "Application", "argocd", name).get("status", {}))

    def sync(self, name: str) -> None:
        """Let Argo CD apply all of an Application, and wait until it has.

        An operation is asked for only where none waits or runs, as Argo CD's own server does: one that is merged into
        another (a self-heal that has just begun) would end with it, and never run.
        """
        place, info = self._place(ARGO, "Application", "argocd", name), [{"name": "e2e", "value": uuid4().hex}]

        def is_asked_for() -> bool:
            now = self.get(ARGO, "Application", "argocd", name)
            if "operation" in now or now["status"]["operationState"]["phase"] in ("Running", "Terminating"):
                return False
            options = now["spec"]["syncPolicy"].get("syncOptions", [])
            operation = {"sync": {"prune": True, "syncOptions": options}, "initiatedBy": {"username": "e2e"}}
            version = {"resourceVersion": now["metadata"]["resourceVersion"]}
            change = {"metadata": version, "operation": operation | {"info": info}}
            code, answer = self.cluster.request("PATCH", place, json.dumps(change).encode(), MERGE)
            assert code in (200, 409), answer
            return code == 200

        def synced() -> bool:
            state = self.status(name)["operationState"]
            return bool(state["operation"].get("info") == info and state["phase"] == "Succeeded")

        self.until("a sync is asked for", name, is_asked_for)
        self.until("another sync is done", name, synced)

    def refresh(self, name: str) -> None:
        """Let Argo CD look at Git again, and wait until it has."""
        before = self.status(name).get("reconciledAt")
        annotations = {"argocd.argoproj.io/refresh": "hard"}
        self.patch(ARGO, "Application", "argocd", name, {"metadata": {"annotations": annotations}})

        def refreshed() -> bool:
            now = self.get(ARGO, "Application", "argocd", name)
            waits = "argocd.argoproj.io/refresh" in now["metadata"].get("annotations", {})
            return not waits and now.get("status", {}).get("reconciledAt") is not None

        wait(f"{name} is refreshed (last at {before})", PATIENCE, refreshed)

    def until(self, state: str, name: str, done: Callable[[], bool]) -> None:
        """Wait for a state; fail with what Argo CD says of the Application."""
        try:
            wait(state, PATIENCE, done)
        except AssertionError as late:
            status = self.status(name)
            report = {key: status.get(key) for key in ("sync", "health", "conditions", "operationState", "resources")}
            raise AssertionError(f"{late}\n{yaml.safe_dump(report)[:6000]}") from late

    def get(self, api_version: str, kind: str, namespace: str, name: str) -> Object:
        """Return an object; {} when there is none."""
        return self.cluster.get(self._place(api_version, kind, namespace, name)) or {}

    def patch(self, api_version: str, kind: str, namespace: str, name: str, change: Object, part: str = "") -> None:
        """Merge a change into an object, or into its subresource `part`."""
        self.cluster.merge(self._place(api_version, kind, namespace, name) + part, change)

    def load(self, namespace: str, name: str, available: int = 3) -> None:
        """Write the status that KMM writes when a Module is loaded on so many of three nodes."""
        counters = {"nodesMatchingSelectorNumber": 3, "desiredNumber": 3, "availableNumber": available}
        self.patch(KMM, "Module", namespace, name, {"status": {"moduleLoader": counters}}, "/status")

    def roll_out(self, namespace: str, name: str) -> None:
        """Write the status of a DaemonSet that has nothing to do."""
        generation = self.get(APPS, "DaemonSet", namespace, name)["metadata"]["generation"]
        counters = dict.fromkeys(("currentNumberScheduled", "desiredNumberScheduled", "numberReady"), 0)
        status = {"observedGeneration": generation, "numberMisscheduled": 0, **counters}
        self.patch(APPS, "DaemonSet", namespace, name, {"status": status}, "/status")

    def collect(self, namespace: str, name: str, api_version: str = APPS, kind: str = "DaemonSet") -> None:
        """Let an object go that is deleted, as the garbage collector does when all that it owns is gone."""
        self.patch(api_version, kind, namespace, name, {"metadata": {"finalizers": None}})

    def _place(self, api_version: str, kind: str, namespace: str, name: str) -> str:
        return self.cluster.path_of(api_version, kind, namespace, name)


AUTHOR = ("-c", "user.name=e2e", "-c", "user.email=e2e@git.example.com")


def _settings(cluster: Cluster) -> Iterator[Object]:
    """Yield what Argo CD expects in its namespace, with the shipped argocd-cm."""
    labels = {"app.kubernetes.io/part-of": "argocd"}
    shipped = yaml.safe_load((PLUGIN.parent / "argocd-cm.yaml").read_text())["data"]
    for name, data in (
        ("argocd-cm", shipped),
        *(
            (f"argocd-{settings}-cm", {})
            for settings in ("rbac", "ssh-known-hosts", "tls-certs", "gpg-keys", "cmd-params")
        ),
    ):
        yield {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": labels}, "data": data}
    secret = {"apiVersion": "v1", "kind": "Secret"}
    yield secret | {"metadata": {"name": "argocd-secret", "labels": labels}, "stringData": {"server.secretkey": "e2e"}}
    authority = base64.b64encode((cluster.folder / "certs" / "apiserver.crt").read_bytes()).decode()
    config = {"bearerToken": cluster.token, "tlsClientConfig": {"caData": authority}}
    data = {"name": "e2e", "server": cluster.url, "config": json.dumps(config)}
    kind = {"argocd.argoproj.io/secret-type": "cluster"}
    yield secret | {"metadata": {"name": "cluster-e2e", "labels": kind}, "stringData": data}
    spec = {
        "sourceRepos": ["*"],
        "destinations": [{"namespace": "*", "server": "*"}],
        "clusterResourceWhitelist": [{"group": "*", "kind": "*"}],
    }
    yield {"apiVersion": ARGO, "kind": "AppProject", "metadata": {"name": "default"}, "spec": spec}


def _prepare(cluster: Cluster) -> None:
    """Install the CRDs of Argo CD and of KMM, and Argo CD's settings."""
    kmm = Crds(DEFAULT).module()
    for name, crd in {**crds(), kmm["metadata"]["name"]: json.dumps(kmm).encode()}.items():
        install_crd(cluster, crd, name)
    cluster.namespace("argocd")

    def served() -> bool:
        paths = ("argoproj.io/v1alpha1/namespaces/argocd/appprojects", "kmm.sigs.x-k8s.io/v1beta1/modules")
        return all(cluster.request("GET", f"/apis/{path}")[0] == 200 for path in paths)

    wait("the kinds are served", 90, served)
    for manifest in _settings(cluster):
        cluster.apply(cluster.place_of(manifest, "argocd"), json.dumps(manifest).encode())


@contextmanager
def running(folder: Path) -> Iterator[Loop]:
    """Start all of it; gone when the block ends."""
    repository = folder / "fleet"
    repository.mkdir()
    must("git", "-C", repository, "init", "--quiet", "--initial-branch=main")
    redis, repo, commit = free_port(), free_port(), free_port()
    for name in ("control", "home", "known", "sidecar", "tmp"):
        (folder / name).mkdir()
    env = os.environ | {
        "HOME": str(folder / "home"),
        "KUBECONFIG": str(folder / "control" / "kubeconfig"),
        "TMPDIR": str(folder / "tmp"),
        "ARGOCD_GPG_ENABLED": "false",
        "ARGOCD_PLUGINSOCKFILEPATH": str(folder / "sidecar"),
        "ARGOCD_SSH_DATA_PATH": str(folder / "known"),
        "ARGOCD_TLS_DATA_PATH": str(folder / "known"),
    }
    store = [find("redis-server", "install the Debian package"), "--port", str(redis), "--bind", HOST, "--save", ""]
    shared = ["--redis", f"{HOST}:{redis}", "--metrics-port"]
    server = [client(), "argocd-repo-server", *shared, str(free_port()), "--port", str(repo), "--disable-tls"]
    server += ["--address", HOST, "--metrics-address", HOST]
    pushes = [client(), "argocd-commit-server", "--address", HOST, "--port", str(commit)]
    pushes += ["--metrics-address", HOST, "--metrics-port", str(free_port())]
    control = [client(), "argocd-application-controller", *shared, str(free_port()), "--namespace", "argocd"]
    control += ["--repo-server", f"{HOST}:{repo}", "--repo-server-plaintext", "--app-resync", "60"]
    control += ["--hydrator-enabled", "--commit-server", f"{HOST}:{commit}"]
    sets = [client(), "argocd-applicationset-controller", "--namespace", "argocd", "--repo-server-plaintext"]
    sets += ["--argocd-repo-server", f"{HOST}:{repo}"]
    sets += [f"--{name}-addr={HOST}:{free_port()}" for name in ("metrics", "probe", "webhook")]
    with ExitStack() as stack:
        cluster = stack.enter_context(started(folder / "control"))
        _prepare(cluster)
        for shipped in (PLUGIN, HYDRATOR):
            stack.enter_context(plugin(folder / "sidecar", shipped=shipped))
        servers = {"redis": store, "repo-server": server, "commit-server": pushes, "controller": control, "sets": sets}
        alive = [
            stack.enter_context(process(name, *command, folder=folder, env=env)) for name, command in servers.items()
        ]
        yield Loop(cluster, repository)
        assert all(is_alive() for is_alive in alive)


@pytest.fixture(scope="session")
def loop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loop]:
    """One Argo CD for all tests; each has an Application, a folder and a namespace of its own name."""
    with running(tmp_path_factory.mktemp("argocd")) as argocd:
        yield argocd
