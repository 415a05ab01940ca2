"""Which roots make a cluster: by the configuration file, by --cluster, or each its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from krmfn_functions.cluster import config
from krmfn_functions.cluster import layout as layouts
from krmfn_functions.cluster.deployed import Clusters
from krmfn_functions.options import RunOptions

from krmfn import KrmfnError
from tests.builders import CONFIG
from tests.commands import ROOT, process
from tests.functions.comparing.test_base import OWN, repository
from tests.trees import plant

FILES = {
    "apps/gpu/kustomization.yaml": "namePrefix: gpu-\n",
    "apps/nic/kustomization.yaml": "namePrefix: nic-\n",
    "nodes/lab/config.yaml": CONFIG,
    "nodes/prod/config.yaml": CONFIG,
    "inventory.yaml": CONFIG,
}


@pytest.fixture(autouse=True)
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with two apps and loose files, as working folder."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return plant(tmp_path, FILES)


def roots_of(laid: Clusters) -> dict[str, list[str]]:
    """Return the roots of each cluster, with the files of those that are files."""
    return {
        cluster.name: [
            f"{root.name}: {' '.join(file.name for file in root.files)}".rstrip(": ") for root in cluster.roots
        ]
        for cluster in laid.clusters
    }


def layout(config: str = "", *paths: str, named: dict[str, list[str]] | None = None) -> Clusters:
    if config:
        plant(Path.cwd(), {".krmfn.yaml": config})
    return layouts.layout(paths or ["."], RunOptions(), named or {})


def findings(config: str, *paths: str) -> list[str]:
    return [str(finding) for finding in layout(config, *paths).findings]


def test_each_root_is_a_cluster_of_its_own() -> None:
    assert roots_of(layout()) == {
        ".": [".: inventory.yaml nodes/lab/config.yaml nodes/prod/config.yaml"],
        "apps/gpu": ["apps/gpu"],
        "apps/nic": ["apps/nic"],
    }


def test_the_configuration_file_joins_roots_folders_of_files_and_files() -> None:
    config = "clusters:\n  lab: [apps, nodes/lab, inventory.yaml]\n  prod: [nodes/prod, apps/gpu]\n"
    laid = layout(config)
    assert laid.findings == []
    assert roots_of(laid) == {
        "lab": ["apps/gpu", "apps/nic", "inventory.yaml: inventory.yaml", "nodes/lab: nodes/lab/config.yaml"],
        "prod": ["apps/gpu", "nodes/prod: nodes/prod/config.yaml"],
    }


def test_the_option_goes_before_the_file_and_adds_its_paths() -> None:
    config = "clusters: {lab: [apps/gpu, apps/nic], prod: [nodes/prod]}\n"
    laid = layout(config, "nodes", named={"lab": ["apps/gpu", "nodes/lab"]})
    assert laid.findings == []
    assert roots_of(laid) == {
        "lab": ["nodes/lab: nodes/lab/config.yaml", "apps/gpu"],
        "prod": ["nodes/prod: nodes/prod/config.yaml"],
    }


def test_a_part_of_a_cluster_that_is_not_given_is_said() -> None:
    config = "clusters:\n  lab:\n  - nodes/lab\n  - apps/gpu\n"
    assert findings(config, "nodes") == [
        ".krmfn.yaml:4:5: warning: apps/gpu also belongs to the cluster lab, but is not among the PATHs; "
        "pass it as a PATH, too [KRM522]"
    ]
    assert findings(config, "nodes/prod") == []
    assert findings(config, "apps", "nodes/lab") == []


def test_several_paths_hold_each_root_once() -> None:
    assert roots_of(layout("", "apps", "apps/gpu", ".", "nodes/lab/config.yaml")) == {
        ".": [".: inventory.yaml nodes/prod/config.yaml"],
        "apps/gpu": ["apps/gpu"],
        "apps/nic": ["apps/nic"],
        "nodes/lab/config.yaml": ["nodes/lab/config.yaml: nodes/lab/config.yaml"],
    }
    assert roots_of(layout("", "-", "apps/gpu")) == {"-": ["-"], "apps/gpu": ["apps/gpu"]}


def test_a_cluster_with_the_name_of_a_folder_takes_none_of_it() -> None:
    plant(Path.cwd(), {"lab/kustomization.yaml": "namePrefix: a-"})
    assert roots_of(layout("clusters: {lab: [apps]}", "lab", "apps")) == {
        "lab": ["apps/gpu", "apps/nic"],
        "./lab": ["lab"],
    }


def test_what_the_file_excludes() -> None:
    laid = layout("exclude: [apps, 'nodes/p*']\nformat: sarif\n")
    assert len(laid.excluded) == 3
    assert roots_of(laid) == {".": [".: inventory.yaml nodes/lab/config.yaml"]}
    assert laid.config.format == "sarif"


OUTSIDE = "is not a path inside the repository; correct the path, or remove it from the list [KRM522]"
WRONG = {
    "cluster: {}": "1:1: error: cluster: unknown field 'cluster'; did you mean 'clusters'? [KRM521]",
    "kustomize: --enable-helm": "1:1: error: kustomize: unknown field 'kustomize'; known here: clusters, exclude, "
    "format, profiles [KRM521]",
    "clusters: {lab: apps}": "1:12: error: clusters.lab: is the string 'apps'; must be a list or a mapping; write it "
    'as a list, ["apps"] [KRM521]',
    "clusters: {lab: []}": "1:12: error: clusters.lab: must not be empty; leave the field out if it is not "
    "needed [KRM521]",
    "clusters: {../lab: [apps]}": "1:12: error: clusters[../lab]: its key is '../lab'; must be letters, digits, dots, "
    "dashes and underscores: it becomes the name of a folder [KRM521]",
    "format: pdf": "1:1: error: format: is 'pdf'; must be one of ",
    "exclude: [1]": '1:11: error: exclude[0]: is the number 1; must be a string; write it in quotes, "1" [KRM521]',
    "format: text\nformat: json": "2:1: error: format: this key appears twice; remove one [KRM521]",
    "- a": "1: error: must be a mapping [KRM521]",
    "a: [": "2: error: did not find expected node content (while parsing a flow node) [KRM521]",
    "clusters:\n  lab: [apps, app]": "2:15: error: clusters.lab[1]: app: No such file or directory; did you "
    "mean apps? [KRM522]",
    "clusters: {lab: [../apps]}": f"1:18: error: clusters.lab[0]: ../apps: {OUTSIDE}",
    "clusters: {lab: [/]}": f"1:18: error: clusters.lab[0]: /: {OUTSIDE}",
    "clusters: {lab: [out]}": f"1:18: error: clusters.lab[0]: out: {OUTSIDE}",
    "clusters: {lab: [empty]}": "1:18: error: empty holds nothing that would reach the cluster lab; correct the path, "
    "or remove it from the list [KRM522]",
}


@pytest.mark.parametrize("config", WRONG)
def test_what_is_wrong_with_the_configuration_file(config: str, repo: Path) -> None:
    plant(repo, {"out": "-> /etc", "empty/values.yaml": "a: b"})
    (finding,) = [finding for finding in findings(config) if "KRM523" not in finding]
    assert finding.startswith(f".krmfn.yaml:{WRONG[config]}")


def test_a_path_of_the_configuration_file_is_the_same_on_every_machine(repo: Path) -> None:
    (finding,) = findings(f"clusters: {{lab: [{repo}/apps]}}")
    assert "is not a path inside the repository; correct the path" in finding


def test_the_configuration_file_is_no_link_out(repo: Path) -> None:
    plant(repo, {".krmfn.yaml": "-> /etc/passwd"})
    assert findings("") == [".krmfn.yaml: error: is a link that leads out of the repository [KRM521]"]


def test_the_configuration_file_is_the_one_at_the_root_of_the_repository(repo: Path) -> None:
    plant(repo, {"apps/.krmfn.yaml": "clusters: {lab: [gpu, nic]}", ".krmfn.yaml": "clusters: {all: [apps]}"})
    laid = layout("", "apps/nic", "apps/gpu")
    assert roots_of(laid) == {"all": ["apps/nic", "apps/gpu"]}
    [other] = [finding for finding in laid.findings if finding.rule == "KRM521"]
    assert str(other).startswith("apps/.krmfn.yaml: warning: this configuration file is not read")
    laid = layouts.layout(["apps"], RunOptions(root="apps"), {})
    assert roots_of(laid) == {"lab": ["apps/gpu", "apps/nic"]}
    assert (laid.config.name, laid.findings) == ("apps/.krmfn.yaml", [])


def test_two_repositories_with_a_file_each_are_refused(repo: Path) -> None:
    plant(repo, {"apps/gpu/.git": "", "apps/gpu/.krmfn.yaml": "exclude: []", ".krmfn.yaml": "exclude: []"})
    assert roots_of(layout("", "apps/gpu")) == {"apps/gpu": ["apps/gpu"]}
    with pytest.raises(KrmfnError, match=r"apps/gpu/.krmfn.yaml and .krmfn.yaml both define clusters"):
        layout("", "apps/gpu", "apps/nic")


def test_the_option() -> None:
    assert config.parse("lab=a,b/c,") == ("lab", ["a", "b/c"])
    for text in ("lab", "lab=", "=a", "lab=,"):
        with pytest.raises(KrmfnError, match="must be NAME=PATH"):
            config.parse(text)


def test_two_clusters_with_one_name_are_refused(repo: Path) -> None:
    args = ("check", "--cluster", "lab=nodes/lab", "--cluster", "lab=nodes/prod")
    assert process("krmfn", *args, cwd=repo).refused() == (
        "error: --cluster names lab twice; give one of the two clusters another name, or write "
        "--cluster lab=nodes/lab,nodes/prod if they are one\n"
    )


def test_two_folders_with_one_last_name_are_two_clusters(repo: Path) -> None:
    other = CONFIG.replace("name: drv", "name: other")
    plant(repo, {"east/lab/a.yaml": CONFIG, "west/lab/a.yaml": other})
    done = process("krmfn", "nodes", "east/lab", "west/lab", "--format", "json", "--nodes", "x", cwd=repo)
    assert (done.code, "write --live CLUSTER=DUMP with one of 2 clusters" in done.err) == (2, True)
    both = process("krmfn", "check", "east/lab", "west/lab", "--format", "json", cwd=repo)
    assert json.loads(both.text)["clusters"] == ["east/lab", "west/lab"]
    rendered = process("krmfn", "render", "east/lab", "west/lab", "--output-dir", "out", cwd=repo)
    assert (rendered.code, "would both be written to the folder lab" in rendered.err) == (2, True)
    assert not (repo / "out").exists()


def test_a_path_of_the_option_that_is_not_there_is_said_once() -> None:
    done = process("krmfn", "check", "--cluster", "lab=apps,nowhere", cwd=Path.cwd())
    assert (done.code, done.reported.count("nowhere")) == (2, 1), done.text


@pytest.mark.parametrize("command", ["render", "nodes", "images", "report", "diff"])
def test_what_the_file_leaves_out_is_said(tmp_path: Path, command: str) -> None:
    config = (ROOT / "examples/smallest/deviceconfig.yaml").read_text()
    nodes = "apiVersion: v1\nkind: Node\n"
    nodes += "metadata: {name: n1, labels: {feature.node.kubernetes.io/pci-1da3.present: 'true'}}\n"
    nodes += "status: {nodeInfo: {kernelVersion: 5.14.0-503.el9.x86_64}}\n"
    files = {"lab/a.yaml": config, "lab/b.yaml": config.replace("name: gaudi", "name: other"), "lab/nodes.yaml": nodes}
    plant(tmp_path, files | {".krmfn.yaml": "exclude: [b.yaml]\n"})
    repository(tmp_path, {})
    args = ["lab", *(("--base", "HEAD") if command == "diff" else ())]
    assert ".krmfn.yaml excludes b.yaml" in process("krmfn", command, *args, cwd=tmp_path, **OWN).ended(0).err
    assert "leaves out" not in process("krmfn", command, *args, "--quiet", cwd=tmp_path, **OWN).err
