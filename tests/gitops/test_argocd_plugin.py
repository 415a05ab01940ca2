"""The plugin as Argo CD's cmpserver runs it: a private copy, its environment, its reading of what comes out."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from krmfn_functions.options import SETTINGS

from tests.commands import HANGS, ROOT, Done

PLUGIN = yaml.safe_load((ROOT / "gitops/argocd/plugin.yaml").read_text())
NOT_FOR_A_CLUSTER = {"DeviceConfig", "Ptemplate", "RenderDeviceConfigs", "ResourceList", "Kptfile", "Kustomization"}
LOCAL_CONFIG = "config.kubernetes.io/local-config"

BYSTANDERS = f"""
apiVersion: v1
kind: ConfigMap
metadata:
  name: kept  # neither ours nor local
data:
  answer: "yes"
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: local
  annotations:
    {LOCAL_CONFIG}: "true"
"""


def request_environment(app: str, namespace: str) -> dict[str, str]:
    """What the repo-server adds to the sidecar's own environment (reposerver/repository/repository.go)."""
    return {
        "ARGOCD_APP_NAME": app,
        "ARGOCD_APP_NAMESPACE": namespace,
        "ARGOCD_APP_PROJECT_NAME": "default",
        "ARGOCD_APP_REVISION": "0123456789abcdef0123456789abcdef01234567",
        "ARGOCD_APP_REVISION_SHORT": "0123456",
        "ARGOCD_APP_REVISION_SHORT_8": "01234567",
        "ARGOCD_APP_SOURCE_PATH": app,
        "ARGOCD_APP_SOURCE_REPO_URL": "https://git.example.com/fleet.git",
        "ARGOCD_APP_SOURCE_TARGET_REVISION": "main",
        "KUBE_API_VERSIONS": "apps/v1,apps/v1/DaemonSet,kmm.sigs.x-k8s.io/v1beta1,kmm.sigs.x-k8s.io/v1beta1/Module,v1",
        "KUBE_VERSION": "1.34.2",
    }


def sidecar_environment(temporary: Path) -> dict[str, str]:
    """The sidecar's own: no home, no locale, nothing of the shell that runs the tests."""
    path = os.pathsep.join([str(Path(sys.executable).parent), "/usr/bin", "/bin"])
    return {"PATH": path, "TMPDIR": str(temporary), "PYTHONDONTWRITEBYTECODE": "1"}


def private_copy(app: Path, workdir: Path) -> Path:
    """The app folder as it is untarred for one request: files 0644, directories 0755."""
    target = Path(shutil.copytree(app, workdir / "_cmp_server" / "c0ffee" / app.name))
    for path in [target, *target.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    return target


def manifests_of(out: bytes) -> list[dict[str, Any]]:
    """stdout as Argo CD reads it: empty documents skipped, lists exploded, every object with a kind."""
    documents = [document for document in yaml.safe_load_all(out) if document]
    objects = [o for d in documents for o in (d["items"] if isinstance(d.get("items"), list) else [d])]
    for manifest in objects:
        assert manifest.get("kind"), f"Object 'Kind' is missing in {manifest}"
        assert manifest["metadata"]["name"]
    return objects


def generate(app: Path, workdir: Path, namespace: str = "kmm") -> Done:
    """Run spec.generate as plugin.go's runCommand does, and read its answer."""
    temporary = workdir / "tmp"
    temporary.mkdir(parents=True)
    args = PLUGIN["spec"]["generate"]["command"] + PLUGIN["spec"]["generate"].get("args", [])
    process = subprocess.Popen(
        args,
        cwd=private_copy(app, workdir),
        env=sidecar_environment(temporary) | request_environment(app.name, namespace),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=HANGS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise
    assert not list(temporary.iterdir()), "something was left in the temporary folder"
    return Done(process.returncode, out, err.decode())


def app_from(example: str, folder: Path) -> Path:
    """An example as the app folder of an Application."""
    ignored = shutil.ignore_patterns("expected*")
    return Path(shutil.copytree(ROOT / "examples" / example, folder / "repo" / example, ignore=ignored))


def test_the_plugin_is_chosen_by_name_alone() -> None:
    """With `discover` it takes over Applications of others; with `version` its name changes with every release."""
    assert (PLUGIN["apiVersion"], PLUGIN["kind"]) == ("argoproj.io/v1alpha1", "ConfigManagementPlugin")
    assert PLUGIN["metadata"]["name"] == "krmfn"
    assert not {"discover", "version"} & set(PLUGIN["spec"])


def test_the_parameters_are_announced_without_a_default() -> None:
    """Argo CD never sends a default to the plugin; without one the functionConfig decides."""
    announced = PLUGIN["spec"]["parameters"]["static"]
    assert [parameter["name"] for parameter in announced] == sorted(["function-config", "profiles-from", *SETTINGS])
    assert all(set(parameter) == {"name", "title", "tooltip"} for parameter in announced)


@pytest.mark.parametrize("example", ["quickstart", "two-vendors"])
def test_an_app_is_manifests_and_nothing_else(example: str, tmp_path: Path) -> None:
    manifests = manifests_of(generate(app_from(example, tmp_path), tmp_path).ended(0).out)
    kinds = Counter(manifest["kind"] for manifest in manifests)
    assert kinds["Module"] >= 1
    assert not NOT_FOR_A_CLUSTER & set(kinds)
    named = [(m["apiVersion"], m["kind"], m["metadata"]) for m in manifests]
    ids = Counter((version, kind, meta.get("namespace"), meta["name"]) for version, kind, meta in named)
    assert set(ids.values()) == {1}, "RepeatedResourceWarning"


def test_bystanders_come_along_and_local_ones_stay(tmp_path: Path) -> None:
    app = app_from("quickstart", tmp_path)
    (app / "configmaps.yaml").write_text(BYSTANDERS)
    answer = generate(app, tmp_path).ended(0)
    config_maps = [manifest for manifest in manifests_of(answer.out) if manifest["kind"] == "ConfigMap"]
    assert [manifest["metadata"]["name"] for manifest in config_maps] == ["kept"]
    assert config_maps[0]["data"] == {"answer": "yes"}
    assert LOCAL_CONFIG not in answer.out.decode()


def test_the_same_app_answers_with_the_same_bytes(tmp_path: Path) -> None:
    app = app_from("quickstart", tmp_path)
    first, second = generate(app, tmp_path / "first"), generate(app, tmp_path / "second")
    assert (first.code, first.out) == (second.code, second.out)


def test_a_conflict_is_an_error_with_the_finding_and_no_manifest(tmp_path: Path) -> None:
    refusal = generate(app_from("conflict", tmp_path), tmp_path).refused(1)
    assert ("Traceback" in refusal, "error" in refusal) == (False, True)


def test_a_folder_without_manifests_is_an_error(tmp_path: Path) -> None:
    """Zero output with exit 0 would be a valid empty set, and Argo CD would prune everything."""
    app = tmp_path / "repo" / "empty"
    app.mkdir(parents=True)
    answer = generate(app, tmp_path)
    assert (answer.code != 0, answer.out, answer.err != "") == (True, b"", True)


def test_the_destination_namespace_serves_a_config_without_one(tmp_path: Path) -> None:
    app = app_from("quickstart", tmp_path)
    for path in app.glob("*.yaml"):
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join(line for line in lines if not line.strip().startswith("namespace:")))
    answer = generate(app, tmp_path, namespace="accelerators").ended(0)
    assert {m["metadata"]["namespace"] for m in manifests_of(answer.out)} == {"accelerators"}
