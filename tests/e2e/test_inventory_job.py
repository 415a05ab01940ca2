"""gitops/inventory on a real API server: what it may read, and its steps in their order, up to the pushed branch."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.builders import CONFIG, node
from tests.commands import ROOT, Done
from tests.trees import plant

from .conftest import Env
from .engines import find, must, path_of, run
from .kube import Cluster

JOB = ROOT / "gitops" / "inventory"
NAMESPACE = "krmfn-inventory"
ACCOUNT = f"system:serviceaccount:{NAMESPACE}:{NAMESPACE}"


@pytest.fixture(scope="module")
def installed(cluster: Cluster, kustomize: str) -> Iterator[Cluster]:
    """The job, applied as a person does it, on a cluster of two nodes."""
    (cluster.folder / "job.yaml").write_bytes(must(kustomize, "build", JOB))
    for _ in range(2):  # the namespace comes first
        done = cluster.kubectl("apply", "--server-side", "-f", cluster.folder / "job.yaml")
    assert done.code == 0, done.err
    for name in ("gpu-1", "gpu-2"):
        add_node(cluster, name, "6.8.0-40-generic")
    yield cluster
    cluster.kubectl("delete", "--wait=false", "-f", cluster.folder / "job.yaml")
    cluster.kubectl("delete", "node", "--all")


def add_node(cluster: Cluster, name: str, kernel: str) -> None:
    """A Node with its status, as its kubelet writes it."""
    listed = node(name, a="b", other="x")
    cluster.apply(f"/api/v1/nodes/{name}", json.dumps(listed).encode())
    info = {"kernelVersion": kernel, "architecture": "amd64", "osImage": "Linux", "kubeletVersion": "v1.34.2"}
    status = {**listed, "status": {"nodeInfo": info}}
    place = f"/api/v1/nodes/{name}/status?fieldManager=kubelet&force=true"
    code, answer = cluster.request("PATCH", place, json.dumps(status).encode(), "application/apply-patch+yaml")
    assert code == 200, answer


@pytest.mark.parametrize(
    ("right", "is_given"),
    [
        (["list", "nodes"], True),
        (["get", "nodes"], True),
        (["patch", "nodes"], False),
        (["get", "nodes", "--subresource=proxy"], False),
        (["get", "secrets", "--all-namespaces"], False),
        (["list", "pods", "--all-namespaces"], False),
        (["create", "pods", "-n", NAMESPACE], False),
    ],
)
def test_the_account_reads_nodes_and_nothing_else(installed: Cluster, right: list[str], is_given: bool) -> None:
    done = installed.kubectl("auth", "can-i", *right, "--as", ACCOUNT)
    assert done.text.strip() == ("yes" if is_given else "no"), done.err


def job(cluster: Cluster) -> dict[str, Any]:
    done = cluster.kubectl("get", "cronjob", NAMESPACE, "-n", NAMESPACE, "-o", "json")
    return dict(json.loads(done.out)["spec"]["jobTemplate"]["spec"]["template"]["spec"])


def test_only_the_step_that_lists_nodes_has_the_account(installed: Cluster) -> None:
    pod = job(installed)
    containers = [*pod["initContainers"], *pod["containers"]]
    held = {
        container["name"]: {mount["name"] for mount in container["volumeMounts"]} - {"work", "steps"}
        for container in containers
    }
    # krmfn writes to /tmp, and its root file system is read-only
    assert held == {"clone": {"git"}, "nodes": {"account"}, "inventory": {"tmp"}, "push": {"git"}}
    assert pod["automountServiceAccountToken"] is False


class Steps:
    """The steps of the job, run here as its containers would, against the server and a repository beside it."""

    def __init__(self, cluster: Cluster, folder: Path, env: Env) -> None:
        self.cluster, self.home, self.remote = cluster, folder / "work", folder / "clusters.git"
        self.env = path_of() | {key: env[key] for key in env if key.startswith("GIT_")}
        must("git", "init", "--quiet", "--bare", "--initial-branch=main", self.remote, env=self.env)
        source = plant(
            folder / "source", {"lab/config.yaml": CONFIG.replace("a: b", 'a: b, "zone": z'), "inventories/x": ""}
        )
        for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "a"]):
            must("git", "-C", source, "-c", "user.name=a", "-c", "user.email=a@example.com", *command, env=self.env)
        must("git", "-C", source, "push", "-q", self.remote, "main", env=self.env)

    def run(self) -> Done:
        """Run all steps, each with the settings and the account that it has in the cluster; the last one's end."""
        self.home.mkdir()
        pod = job(self.cluster)
        maps = self.cluster.kubectl("get", "configmap", "-n", NAMESPACE, "-o", "json")
        data = {entry["metadata"]["name"]: entry.get("data", {}) for entry in json.loads(maps.out)["items"]}
        for container in [*pod["initContainers"], *pod["containers"]]:
            (source,) = container["envFrom"]
            settings = data[source["configMapRef"]["name"]] | {"REPOSITORY": str(self.remote), "HOME": str(self.home)}
            steps = next(entry["configMap"]["name"] for entry in pod["volumes"] if entry["name"] == "steps")
            script = data[steps][container["command"][1].removeprefix("/steps/")]
            account = {"KUBECONFIG": str(self.account())} if container["name"] == "nodes" else {}
            done = run("sh", "-c", script, env=self.env | settings | account, cwd=self.home)
            assert done.code == 0, (container["name"], done.err)
        for path in sorted(self.home.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
        self.home.rmdir()
        return done

    def account(self) -> Path:
        """A kubeconfig with a token of the job's account."""
        token = self.cluster.kubectl("create", "token", NAMESPACE, "-n", NAMESPACE).text.strip()
        config = yaml.safe_load((self.cluster.folder / "kubeconfig").read_text())
        config["users"] = [{"name": user["name"], "user": {"token": token}} for user in config["users"]]
        path = self.home.parent / "kubeconfig"
        path.write_text(yaml.safe_dump(config))
        return path

    def pushed(self) -> dict[str, Any]:
        text = must("git", "-C", self.remote, "show", "inventory/lab:inventories/lab.yaml", env=self.env).decode()
        return dict(yaml.safe_load(text))


def test_the_nodes_of_a_cluster_come_to_a_branch(installed: Cluster, tmp_path: Path) -> None:
    steps = Steps(installed, tmp_path, path_of())
    assert "pushed to inventory/lab" in steps.run().text
    spec = steps.pushed()["spec"]
    assert (spec["nodeCount"], spec["kubeletVersions"]) == (2, ["v1.34.2"])
    assert {"a", "zone"} <= set(spec["labelKeys"]) and "other" not in spec["labelKeys"]
    assert spec["groups"][0]["nodes"] == "gpu-1 6.8.0-40-generic\ngpu-2 6.8.0-40-generic\n"
    main = must("git", "-C", steps.remote, "rev-parse", "main", "inventory/lab^", env=steps.env).decode().split()
    assert len(set(main)) == 1, "one commit on top of what is deployed, and main is as it was"
    add_node(installed, "gpu-1", "6.8.0-50-generic")
    steps.run()
    assert "gpu-1 6.8.0-50-generic" in steps.pushed()["spec"]["groups"][0]["nodes"]
    parent = must("git", "-C", steps.remote, "rev-parse", "inventory/lab^", env=steps.env).decode().strip()
    assert parent == main[0], "the branch has the newest inventory alone"
    must("git", "-C", steps.remote, "branch", "-f", "main", "inventory/lab", env=steps.env)
    stale = must("git", "-C", steps.remote, "rev-parse", "main^", env=steps.env).decode().strip()
    must("git", "-C", steps.remote, "branch", "-f", "inventory/lab", stale, env=steps.env)
    assert "the inventory of lab is as it was" in steps.run().text
    assert "inventory/lab" not in must("git", "-C", steps.remote, "branch", env=steps.env).decode(), "its nodes are old"
    assert "removed" not in steps.run().text


def test_a_step_that_fails_pushes_nothing(installed: Cluster, tmp_path: Path) -> None:
    find("kubectl", "tests/e2e/install builds it with go")
    steps = Steps(installed, tmp_path, path_of())
    must("git", "-C", steps.remote, "branch", "-m", "main", "other", env=steps.env)
    with pytest.raises(AssertionError, match="clone"):
        steps.run()
    assert "inventory/lab" not in must("git", "-C", steps.remote, "branch", env=steps.env).decode()
