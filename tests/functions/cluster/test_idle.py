"""What nobody reads: a configuration file with another name, an inventory of no cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import process
from tests.functions.comparing.test_base import repository
from tests.trees import plant

from .test_one_result import config, node

CLUSTERS = "clusters:\n  oslo: [oslo, inventories/oslo.yaml]\n"
FILES = {
    "oslo/kustomization.yaml": "resources: [gpu.yaml]\n",
    "oslo/gpu.yaml": config("gpu", "card: a"),
    "inventories/oslo.yaml": node("gpu-1", card="a"),
}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    return plant(tmp_path, FILES)


def check(repo: Path, *paths: str) -> tuple[int, list[str]]:
    done = process("krmfn", "check", *(paths or ["."]), cwd=repo)
    return done.code, [line for line in done.text.splitlines() if "[KRM521]" in line or "[KRM524]" in line]


@pytest.mark.parametrize("name", [".krmfn.yml", "krmfn.yaml", "krmfn.yml", ".krmfn.json", ".Krmfn.yaml"])
@pytest.mark.parametrize("path", [".", "oslo"])
def test_a_configuration_file_with_another_name_is_an_error(repo: Path, name: str, path: str) -> None:
    plant(repo, {name: CLUSTERS})
    code, lines = check(repo, path)
    assert (code, lines[:1]) == (
        2,
        [f"{name}: error: the configuration file is .krmfn.yaml, so nobody reads this one [KRM521]"],
    )
    plant(repo, {".krmfn.yaml": CLUSTERS})
    assert check(repo, path)[0] == 2, "beside the right one nobody reads it either"
    (repo / name).unlink()
    assert check(repo, path) == (0, [])


@pytest.mark.parametrize(
    "files",
    [
        {"krmfn.yaml": FILES["oslo/gpu.yaml"].replace("name: gpu", "name: nic").replace("card: a", "card: b")},
        {"krmfn/README": "", ".krmfn.yml.bak": "", "tools/krmfn.yml": CLUSTERS, "my-krmfn.yaml": "a: b\n"},
        {"krmfn.yml/a": ""},
    ],
)
def test_other_files_may_have_such_names(repo: Path, files: dict[str, str]) -> None:
    """A file with resources, as krmfn.yaml may be one, a folder, and what is not at the root."""
    plant(repo, {**files, ".krmfn.yaml": CLUSTERS})
    assert [line for line in check(repo)[1] if "KRM521" in line] == []


@pytest.mark.parametrize("member", ["inventories/oslo.yaml", "inventories"])
def test_an_inventory_that_only_such_a_file_names_is_told(repo: Path, member: str) -> None:
    plant(repo, {".krmfn.yml": f"clusters:\n  oslo: [oslo, {member}]\n"})
    assert check(repo)[1][1:] == [
        f".krmfn.yml:2:16: warning: {member} is no inventory of the cluster oslo, since nobody reads this file: its "
        "nodes count nowhere [KRM524]"
    ]
    plant(repo, {".krmfn.yaml": CLUSTERS})
    assert len(check(repo)[1]) == 1, "the file that is read gives it to a cluster"


def test_below_the_root_it_is_a_warning_as_with_the_right_name(repo: Path) -> None:
    plant(repo, {"oslo/.krmfn.yml": CLUSTERS})
    code, lines = check(repo, "oslo")
    assert (code, [line.partition(":")[0] for line in lines]) == (0, ["oslo/.krmfn.yml"])


def test_a_change_that_gives_it_the_right_name_is_compared(tmp_path: Path) -> None:
    repo = repository(tmp_path, {**FILES, ".krmfn.yml": CLUSTERS})
    assert process("krmfn", "diff", "--base", "HEAD", ".", cwd=repo).code == 2
    (repo / ".krmfn.yml").rename(repo / ".krmfn.yaml")
    done = process("krmfn", "diff", "--base", "HEAD", ".", cwd=repo)
    assert done.code in (0, 1), done.text + done.err


LINE = (
    "inventories/oslo.yaml:1: warning: Node gpu-1: no cluster has this inventory, so its nodes count nowhere [KRM524]"
)
HELP = "  help: write `clusters: {{{}, inventories/oslo.yaml]}}` in .krmfn.yaml at the root of the repository"


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, "oslo: [oslo"),
        ({"bergen/gpu.yaml": config("nic", "card: b"), "bergen/kustomization.yaml": "resources: [gpu.yaml]\n"},
         "oslo: [oslo"),
        ({"b/k.yaml": config("nic", "card: b"), "b/kustomization.yaml": "resources: [k.yaml]\n",
          "oslo": None, "c/k.yaml": config("gpu", "card: a"), "c/kustomization.yaml": "resources: [k.yaml]\n"},
         "gpu-1: [FOLDER"),
    ],
)  # fmt: skip
def test_an_inventory_of_no_cluster_is_a_warning_with_the_line(
    tmp_path: Path, files: dict[str, str | None], words: str
) -> None:
    (tmp_path / ".git").mkdir()
    planted = {name: text for name, text in FILES.items() if not ("oslo" in files and name.startswith("oslo/"))}
    repo = plant(tmp_path, {**planted, **{name: text for name, text in files.items() if text is not None}})
    done = process("krmfn", "check", ".", cwd=repo)
    assert (done.code, done.text.splitlines()[:2]) == (0, [LINE, HELP.format(words)])
    if "FOLDER" not in words:
        line = done.text.partition("`")[2].partition("`")[0]
        plant(repo, {".krmfn.yaml": f"{line}\n"})
        assert check(repo)[1] == [], "the line helps"


@pytest.mark.parametrize("paths", [["inventories"], ["oslo"]])
def test_an_inventory_that_is_checked_alone_is_no_warning(repo: Path, paths: list[str]) -> None:
    assert check(repo, *paths) == (0, [])


def test_an_inventory_beside_what_it_is_for_counts(repo: Path) -> None:
    plant(repo, {"oslo/nodes.yaml": node("gpu-1", card="a")})
    (repo / "inventories/oslo.yaml").unlink()
    assert check(repo) == (0, [])


def test_nodes_of_a_repository_without_modules_are_nobodys_business(repo: Path) -> None:
    plant(repo, {"oslo/gpu.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: kmm}\n"})
    assert check(repo) == (0, [])


HUB = """apiVersion: hub.kmm.sigs.x-k8s.io/v1beta1
kind: ManagedClusterModule
metadata: {name: gpu}
spec:
  spokeNamespace: kmm
  selector: {site: edge}
  moduleSpec:
    selector: {card: a}
    moduleLoader:
      container:
        modprobe: {moduleName: gpu}
        kernelMappings: [{regexp: '^.+$', containerImage: 'registry.example.com/gpu:${KERNEL_FULL_VERSION}'}]
"""
SPOKE = """apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: edge-1, labels: {site: edge}}
"""


def hub_with_a_spoke(folder: Path, *, managed: str) -> Path:
    (folder / ".git").mkdir()
    files = {
        "hub/kustomization.yaml": "resources: [gpu.yaml, managed.yaml]\n",
        "hub/gpu.yaml": HUB,
        "hub/managed.yaml": managed,
        "edge-1/kustomization.yaml": "resources: [nodes.yaml]\n",
        "edge-1/nodes.yaml": node("gpu-1", card="a"),
    }
    return plant(folder, files)


def test_nodes_beside_a_hub_are_those_of_a_spoke_without_labels(tmp_path: Path) -> None:
    """A hub brings Modules to other clusters: its own PATH with this inventory would say the opposite."""
    namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: kmm}\n"
    repo = hub_with_a_spoke(tmp_path, managed=namespace)
    done = process("krmfn", "check", ".", cwd=repo)
    line = "clusters: {hub: [hub], edge-1: {paths: [edge-1], labels: {KEY: VALUE}}}"
    assert f"  help: write `{line}` with the spoke's labels in .krmfn.yaml" in done.text.splitlines()
    plant(repo, {".krmfn.yaml": line.replace("KEY: VALUE", "site: edge") + "\n"})
    assert check(repo) == (0, []), "the line helps"
    assert "planned" in process("krmfn", "nodes", ".", cwd=repo).text


def test_the_nodes_of_a_managed_cluster_are_no_idle_inventory(tmp_path: Path) -> None:
    repo = hub_with_a_spoke(tmp_path, managed=SPOKE)
    assert check(repo) == (0, [])
    assert "planned" in process("krmfn", "nodes", ".", cwd=repo).text
