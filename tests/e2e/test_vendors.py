"""Two vendors are two files: in a kustomization, a kpt package, an Argo CD application; a platform team's layer."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from krmfn import Manifest
from tests import builders
from tests.commands import COMMANDS, ROOT, process
from tests.pages import blocks
from tests.trees import altered, plant

from .argo import Plugin, plugin
from .engines import EXAMPLES, EXEC, documents, must, run

VENDORS = {"amd-gpu": "gpu.yaml", "neuron": "neuron.yaml"}
MONITOR = "ServiceMonitor gpu-operator-metrics-exporter"
ROLE = "ClusterRole krmfn.aws-neuron-operator.device-config:device-plugin"
NOTES = {
    "config.kubernetes.io/function": "exec:\n  path: krmfn\n",
    "config.kubernetes.io/local-config": "true",
}
SETTINGS = builders.manifest("krmfn.dev/v1alpha1", "RenderDeviceConfigs", "settings", "", annotations=NOTES)
EXPORTER = builders.manifest("monitoring.coreos.com/v1", "ServiceMonitor", "$KRMFN_NAME-metrics-exporter", "")
PODS = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}
OVERRIDES = {
    "amd-gpu": {"extraObjects": [{**EXPORTER, "enabled": False}]},
    "neuron": {"devicePlugin": {"serviceAccount": {"clusterRules": [PODS]}}},
}


DRIVER = {"moduleName": "gpu", "driverImage": "x/y:1", "nodeSelector": {"a": "b"}, "devicePlugin": {"image": "x/y:1"}}
GPU = """\
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {name: gpu, namespace: kmm}
spec: {profile: p}
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a file of each vendor below `vendors`, and their custom resources in `lab`."""
    folder = tmp_path / "repository"
    (folder / "vendors").mkdir(parents=True)
    (folder / "lab").mkdir()
    for vendor, config in VENDORS.items():
        shutil.copy(EXAMPLES / "vendor-profiles" / vendor / "profile.yaml", folder / "vendors" / f"{vendor}.yaml")
        shutil.copy(EXAMPLES / "vendor-profiles" / vendor / config, folder / "lab" / config)
    return folder


def settings(folder: Path, **spec: Any) -> None:
    (folder / "function.yaml").write_text(yaml.safe_dump({**SETTINGS, "spec": spec}))


def marked(folder: Path) -> None:
    """Mark the vendors' files as those that are read where the engine calls the function, and not deployed."""
    for path in folder.rglob("*.yaml"):
        document = yaml.safe_load(path.read_text())
        if "metadata" in document:  # no kustomization
            document["metadata"].setdefault("annotations", {})["config.kubernetes.io/local-config"] = "true"
        path.write_text(yaml.safe_dump(document))


def prepared(repository: Path, engine: str, **spec: Any) -> Path:
    """Return a folder for an engine with the custom resources, the vendors' files and a functionConfig."""
    folder = Path(shutil.copytree(repository / "lab", repository / engine, dirs_exist_ok=True))
    shutil.copytree(repository / "vendors", folder / "vendors", dirs_exist_ok=True)
    marked(folder)
    settings(folder, **spec)
    return folder


def named(output: bytes) -> dict[str, Manifest]:
    """The objects of an output that reach a cluster, by kind and name."""
    deployed = (
        manifest for manifest in documents(output) if "local-config" not in str(manifest["metadata"].get("annotations"))
    )
    return {f"{manifest['kind']} {manifest['metadata']['name']}": manifest for manifest in deployed}


def by_kustomize(kustomize: str, repository: Path, **spec: Any) -> dict[str, Manifest]:
    files = [*VENDORS.values(), *(f"vendors/{vendor}.yaml" for vendor in VENDORS)]
    folder = prepared(repository, "kustomize", **spec)
    (folder / "kustomization.yaml").write_text(yaml.safe_dump({"resources": files, "transformers": ["function.yaml"]}))
    return named(must(kustomize, "build", *EXEC, folder))


def by_kpt(kpt: str, repository: Path, **spec: Any) -> dict[str, Manifest]:
    folder = prepared(repository, "kpt", **spec)
    pipeline = {"mutators": [{"exec": "krmfn", "configPath": "function.yaml"}]}
    head = {"apiVersion": "kpt.dev/v1", "kind": "Kptfile", "metadata": {"name": "lab"}, "pipeline": pipeline}
    (folder / "Kptfile").write_text(yaml.safe_dump(head))
    must(kpt, "fn", "render", "--allow-exec", folder)
    texts = [path.read_bytes() for path in sorted(folder.rglob("*.yaml"))]
    return named(b"\n---\n".join(texts))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plugin]:
    with plugin(tmp_path_factory.mktemp("cmp")) as running:
        yield running


def by_argo(server: Plugin, repository: Path, **spec: Any) -> dict[str, Manifest]:
    settings(repository / "vendors", **spec)
    manifests = server.manifests(repository, "lab", ARGOCD_APP_PARAMETERS=parameters())
    return named(yaml.safe_dump_all(manifests).encode())


def parameters() -> str:
    """What the Application of gitops/argocd's page sets."""
    [page] = [block.text for block in blocks(ROOT / "docs/engines/argocd.md") if "profiles-from" in block.text]
    return json.dumps(yaml.safe_load(page)["spec"]["source"]["plugin"]["parameters"])


def test_two_vendors_are_two_files_and_each_engine_makes_the_same(
    kustomize: str, kpt: str, server: Plugin, repository: Path
) -> None:
    objects = by_kustomize(kustomize, repository)
    profiles = [manifest["metadata"]["annotations"]["krmfn.dev/profile"] for manifest in objects.values()]
    assert {profile.partition("@")[0] for profile in profiles} == VENDORS.keys()
    assert objects.keys() >= {"Module gpu-operator", "Module device-config", MONITOR, ROLE}
    assert by_kpt(kpt, repository) == objects
    assert by_argo(server, repository) == objects


def test_a_platform_team_drops_a_service_monitor_and_a_right(
    kustomize: str, kpt: str, server: Plugin, repository: Path
) -> None:
    before = by_kustomize(kustomize, repository)
    assert "nodes/proxy" in str(before[ROLE]["rules"])
    after = by_kustomize(kustomize, repository, overrides=OVERRIDES)
    assert after[ROLE]["rules"] == [PODS]
    assert before.keys() - after.keys() == {MONITOR}
    assert {name: manifest for name, manifest in after.items() if name != ROLE} == {
        name: manifest for name, manifest in before.items() if name not in (ROLE, MONITOR)
    }
    assert by_kpt(kpt, repository, overrides=OVERRIDES) == after
    assert by_argo(server, repository, overrides=OVERRIDES) == after


def test_a_new_version_of_a_vendor_is_one_replaced_file(repository: Path) -> None:
    old = Path(shutil.copytree(repository, repository.parent / "old"))
    new = repository / "vendors" / "amd-gpu.yaml"
    altered(new, "version: 1.4.1\n", "version: 1.5.0\n")
    altered(new, "terminationGracePeriodSeconds: 1", "terminationGracePeriodSeconds: 5")
    done = run(COMMANDS / "krmfn", "diff", old, repository).ended(1)
    assert done.text.splitlines()[0] == "! changed Profile: amd-gpu@1.4.1 becomes amd-gpu@1.5.0"
    assert "3 changed, 22 unchanged" in done.text


def test_a_kustomization_gives_no_rights_by_calling_krmfn_itself(kustomize: str, tmp_path: Path) -> None:
    place = tmp_path / "app"
    plant(place, {"kustomization.yaml": "resources: [gpu.yaml]\ntransformers: [config.yaml]\n", "gpu.yaml": GPU})
    account = {"serviceAccountName": "gpu", "serviceAccount": {"create": True, "clusterRules": [PODS]}}
    settings(place, profiles={"p": {**DRIVER, **account}})
    (place / "function.yaml").rename(place / "config.yaml")
    assert b"kind: ClusterRole" in process("krmfn", "render", str(place)).out
    for trusted in (tmp_path / "vendors", place):
        trusted.mkdir(exist_ok=True)
        done = process("krmfn", "render", str(place), "--profiles-from", str(trusted))
        assert "app/config.yaml:" in done.refused(1)
        assert "error: RenderDeviceConfigs settings: kind: a kustomization calls krmfn with this" in done.err


def test_who_commits_a_config_gains_no_rights_by_a_profile_beside_it(server: Plugin, repository: Path) -> None:
    settings(repository / "vendors")
    shutil.copy(repository / "vendors" / "neuron.yaml", repository / "lab" / "more.yaml")
    refusal = server.refusal(repository, "lab", ARGOCD_APP_PARAMETERS=parameters())
    assert "a Profile gives rights, and --profiles-from takes them from" in refusal
