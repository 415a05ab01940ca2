"""What gitops/argocd ships for a cluster merges with Argo CD's own objects, and Argo CD's CRDs take the examples."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import yaml

from tests.commands import ROOT, process
from tests.pages import blocks
from tests.trees import plant

from .argo import HYDRATOR, PLUGIN, crds
from .control_plane import wait
from .engines import documents, must
from .kube import Cluster, install_crd

ARGOCD = PLUGIN.parent
EXAMPLES = sorted((ARGOCD.parent / "argocd-applications").glob("*.yaml"))
STAND_IN = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: argocd-repo-server, labels: {app.kubernetes.io/part-of: argocd}}
spec:
  selector: {matchLabels: {app.kubernetes.io/name: argocd-repo-server}}
  template:
    metadata: {labels: {app.kubernetes.io/name: argocd-repo-server}}
    spec:
      initContainers:
      - name: copyutil
        image: registry.example.com/argocd:v3.2.1
        volumeMounts: [{name: var-files, mountPath: /var/run/argocd}]
      containers:
      - name: argocd-repo-server
        image: registry.example.com/argocd:v3.2.1
        volumeMounts:
        - {name: tmp, mountPath: /tmp}
        - {name: plugins, mountPath: /home/argocd/cmp-server/plugins}
      volumes:
      - {name: var-files, emptyDir: {}}
      - {name: plugins, emptyDir: {}}
      - {name: tmp, emptyDir: {}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: argocd-cm, labels: {app.kubernetes.io/part-of: argocd}}
data: {url: "https://argocd.example.com"}
"""


def built(kustomize: str, folder: Path, kustomization: str) -> dict[str, dict[str, Any]]:
    """What a kustomization makes of the shipped folder, as `krmfn`, and parts of an Argo CD, by kind and name."""
    shutil.copytree(ARGOCD, folder / "krmfn")
    plant(folder, {"kustomization.yaml": kustomization, "argocd.yaml": STAND_IN})
    manifests = documents(must(kustomize, "build", folder))
    return {f"{manifest['kind']} {manifest['metadata']['name']}": manifest for manifest in manifests}


@pytest.fixture
def merged(kustomize: str, tmp_path: Path) -> dict[str, dict[str, Any]]:
    """What the README's kustomization makes of it."""
    overlay, both = (block.text for block in blocks(ROOT / "docs/engines/argocd.md") if "components:" in block.text)
    return built(kustomize, tmp_path, dedent(overlay).replace("components: [krmfn]", line(both)))


def line(text: str) -> str:
    """Return the last line of a block."""
    return text.strip().splitlines()[-1].strip()


SIDECARS = {"krmfn": PLUGIN, "krmfn-hydrator": HYDRATOR}
OWN = ("plugin", "tmp")
"""The volumes that each sidecar has for itself."""


def test_the_repo_server_gets_the_sidecars(merged: dict[str, dict[str, Any]]) -> None:
    pod = merged["Deployment argocd-repo-server"]["spec"]["template"]["spec"]
    by_name = {entry["name"]: entry for entry in pod["containers"]}
    assert set(by_name) == {"argocd-repo-server", *SIDECARS}
    deployment = yaml.safe_load(STAND_IN.split("---\n", 1)[0])
    assert by_name["argocd-repo-server"] == deployment["spec"]["template"]["spec"]["containers"][0]
    volumes = {entry["name"]: entry for entry in pod["volumes"]}
    assert set(volumes) == {"var-files", "plugins", "tmp", *(f"{name}-{end}" for name in SIDECARS for end in OWN)}
    for name, shipped in SIDECARS.items():
        sidecar = by_name[name]
        assert sidecar["image"] == "registry.example.com/mine/krmfn-argocd:0.1.0"
        mounts = {entry["name"] for entry in sidecar["volumeMounts"]}
        assert mounts == {"var-files", "plugins", *(f"{name}-{end}" for end in OWN)}
        plugin = merged[f"ConfigMap {volumes[f'{name}-plugin']['configMap']['name']}"]
        assert plugin["data"] == {"plugin.yaml": shipped.read_text()}
    assert {entry["metadata"].get("namespace") for entry in merged.values()} == {"argocd"}


def test_the_network_component_is_for_the_pods_that_have_the_sidecar(kustomize: str, tmp_path: Path) -> None:
    top = {"namespace": "gitops", "resources": ["argocd.yaml"], "components": ["krmfn", "krmfn/network"]}
    manifests = built(kustomize, tmp_path, yaml.safe_dump(top)).values()
    by_kind = {manifest["kind"]: manifest for manifest in manifests}
    pod = by_kind["Deployment"]["spec"]["template"]
    assert "krmfn" in [entry["name"] for entry in pod["spec"]["containers"]]
    policy, labels = by_kind["NetworkPolicy"], pod["metadata"]["labels"]
    assert policy["metadata"]["namespace"] == "gitops"
    selected = policy["spec"]["podSelector"]
    assert selected == {"matchLabels": selected["matchLabels"]}
    assert selected["matchLabels"].items() <= labels.items()


def test_argocd_cm_keeps_what_it_had(merged: dict[str, dict[str, Any]]) -> None:
    data = merged["ConfigMap argocd-cm"]["data"]
    assert data["url"] == "https://argocd.example.com"
    assert data == {"url": data["url"]} | yaml.safe_load((ARGOCD / "argocd-cm.yaml").read_text())["data"]


def test_the_lenient_scripts_merge_as_well(kustomize: str, tmp_path: Path) -> None:
    """With the component that the README names."""
    listing = "resources: [argocd.yaml]\ncomponents: [krmfn, krmfn/lenient]\n"
    manifests = built(kustomize, tmp_path, listing)
    lenient = yaml.safe_load((ARGOCD / "lenient" / "argocd-cm.yaml").read_text())["data"]
    assert manifests["ConfigMap argocd-cm"]["data"] == {"url": "https://argocd.example.com"} | lenient


def test_what_is_copied_gives_no_finding(tmp_path: Path) -> None:
    """Step 2 of the page, word for word, in a repository that has a DeviceConfig, too."""
    shutil.copytree(ROOT / "examples" / "quickstart", tmp_path / "lab")
    shutil.copytree(ARGOCD, tmp_path / "argo" / "krmfn")
    overlay = next(block.text for block in blocks(ROOT / "docs/engines/argocd.md") if "components:" in block.text)
    plant(tmp_path, {"argo/kustomization.yaml": dedent(overlay), "argo/argocd.yaml": STAND_IN})
    done = process("krmfn", "check", str(tmp_path))
    assert (done.code, done.reported.partition(":")[0], done.err) == (0, "no findings", "")


def test_the_api_server_takes_it(merged: dict[str, dict[str, Any]], cluster: Cluster) -> None:
    cluster.namespace("argocd")
    for manifest in merged.values():
        place = cluster.place_of(manifest, "argocd")
        assert cluster.dry_run(place, yaml.safe_dump(manifest).encode()).refusal == ""


@pytest.fixture(scope="module")
def argo_cluster(cluster: Cluster) -> Cluster:
    """The cluster with Argo CD's own CRDs."""
    for name, crd in crds().items():
        install_crd(cluster, crd, name)
        plural = name.partition(".")[0]
        path = f"/apis/argoproj.io/v1alpha1/namespaces/argocd/{plural}"
        wait(f"{plural} are served", 60, partial(cluster.is_served, path))
    cluster.namespace("argocd")
    return cluster


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: str(path.stem))
def test_argo_cd_s_crds_take_the_examples(path: Path, argo_cluster: Cluster) -> None:
    [manifest] = yaml.safe_load_all(path.read_text())
    place = argo_cluster.place_of(manifest, "argocd")
    assert argo_cluster.dry_run(place, path.read_bytes()).refusal == ""
    wrong = path.read_bytes().replace(b"repoURL:", b"repoUrl:")
    assert "repoUrl" in argo_cluster.dry_run(place, wrong).refusal


def test_there_are_examples() -> None:
    assert [path.stem for path in EXAMPLES] == ["application", "applicationset", "rendered", "source-hydrator"]
    assert all(path.is_relative_to(ROOT) for path in EXAMPLES)
