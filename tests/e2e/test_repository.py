"""`check .` at the top of a repository as teams have them: no false finding, and each true one that is planted."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
import yaml

from tests.commands import COMMANDS, ROOT, Done, environment, execute, process
from tests.trees import function, plant

CONFIG = """\
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {{name: {name}, namespace: {namespace}}}
spec:
  moduleName: {module}
  driverImage: registry.example.com/{name}
  driverVersion: "1.2"
  nodeSelector: {{example.com/driver: {label}}}
"""
GPU = CONFIG.format(name="gpu", namespace="kmm", module="gpu_drv", label="gpu")
NIC = CONFIG.format(name="nic", namespace="kmm", module="nic_drv", label="nic")
LOCAL = 'config.kubernetes.io/local-config: "true"'
NODE = """\
apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {{example.com/driver: {label}}}}}
status: {{nodeInfo: {{kernelVersion: 5.14.0-427.13.1.el9_4.x86_64}}}}
"""
WORKFLOW = "name: ci\non: push\njobs: {test: {runs-on: ubuntu, steps: [{run: make}]}}\n"
REPOSITORY = {
    "README.md": "# Clusters\n",
    "mkdocs.yml": "site_name: clusters\nplugins: [search]\nmarkdown_extensions: [!!python/name:emoji.twemoji]\n",
    ".gitlab-ci.yml": "check: {script: [krmfn check .]}\n",
    ".github/workflows/ci.yaml": WORKFLOW,
    "ci/pipeline.yaml": WORKFLOW,
    "renovate.json": '{"extends": ["config:base"]}\n',
    "base/kustomization.yaml": "resources: [gpu.yaml]\n",
    "base/gpu.yaml": GPU,
    "clusters/lab/kustomization.yaml": "resources: [../../base]\npatches: [{path: patch.yaml}]\n",
    "clusters/lab/patch.yaml": "apiVersion: krmfn.dev/v1alpha1\nkind: DeviceConfig\n"
    'metadata: {name: gpu, namespace: kmm}\nspec: {driverVersion: "1.3"}\n',
    "clusters/lab/nodes.yaml": NODE.format(name="lab-1", label="gpu"),
    "clusters/prod/kustomization.yaml": "resources: [../../base, nic.yaml]\n"
    "configMapGenerator: [{name: settings, namespace: kmm, files: [data.yaml]}]\n",
    "clusters/prod/nic.yaml": NIC,
    "clusters/prod/data.yaml": "apiVersion: v1\nkind: NotForTheCluster\n",
    "clusters/prod/nodes.yaml": NODE.format(name="prod-1", label="gpu")
    + "---\n"
    + NODE.format(name="prod-2", label="nic"),
    "packages/nic/Kptfile": "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: nic}\n"
    "pipeline: {mutators: [{image: krmfn}]}\n",
    "packages/nic/config.yaml": NIC.replace("namespace: kmm", f"namespace: kmm, annotations: {{{LOCAL}}}"),
    "packages/nic/app.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app, namespace: kmm}\n",
    "charts/app/Chart.yaml": "apiVersion: v2\nname: app\nversion: 1.0.0\n",
    "charts/app/values.yaml": "kind: Deployment\nimage: {name: app}\n",
    "charts/app/templates/deployment.yaml": "apiVersion: apps/v1\nkind: {{ .Values.kind }}\n"
    "metadata: {name: {{ .Release.Name }}}\n",
    "values.yaml": "replicas: {{ broken\n",
}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository with two clusters that share a base, a package, a chart, and files that are nobody's business."""
    (tmp_path / ".git").mkdir()
    return plant(tmp_path, REPOSITORY)


def check(repo: Path, *args: str) -> Done:
    return process("krmfn", "check", *args, cwd=repo)


def test_a_sound_repository_has_one_finding(repo: Path) -> None:
    """Nothing says which of its folders reach one cluster: that is a person's to say."""
    done = check(repo).ended(0, "")
    assert [line for line in done.text.splitlines() if line.startswith("warning: ")] == [
        "warning: no object of an engine deploys clusters/lab, clusters/prod, packages/nic, so they are judged apart "
        "[KRM544] (clusters/lab)"
    ]
    assert "\n1 warning: 3 clusters, 4 DeviceConfigs in 9 resources, 11 files\n" in done.text
    assert "1 file (excluded, or of Helm charts)" in done.text
    assert check(repo, ".", "--jobs", "1") == done
    assert check(repo, "--strict").code == 1


def test_an_inventory_that_kustomize_builds_and_no_cluster_lists_is_told(repo: Path) -> None:
    """Where it is written is looked up later, and its remedy is made before that: it was a traceback."""
    spec = 'spec:\n  labelKeys: ["*"]\n  groups:\n  - nodes: |\n      n 6.1.0\n'
    inventory = f"apiVersion: krmfn.dev/v1alpha1\nkind: NodeInventory\nmetadata: {{name: lab}}\n{spec}"
    files = {"nodes/kustomization.yaml": "resources: [lab.yaml]\n", "nodes/lab.yaml": inventory}
    plant(repo, {**files, ".krmfn.yaml": "clusters: {lab: [clusters/lab]}\n"})
    text = check(repo).text
    assert "nodes/lab.yaml:3:12: error: NodeInventory lab: metadata.name: has the name of a cluster in " in text, text
    assert "help: list its file there\n" in text


PLANTED: dict[str, tuple[dict[str, str], str, int]] = {
    "a misspelt field in the shared base": (
        {"base/gpu.yaml": GPU.replace("driverVersion", "driverVersoin")},
        "base/gpu.yaml:7:3: error: DeviceConfig kmm/gpu: spec.driverVersoin: ",
        1,
    ),
    "a value that a patch sets": (
        {"clusters/lab/patch.yaml": REPOSITORY["clusters/lab/patch.yaml"].replace('"1.3"', '"not a tag"')},
        "clusters/lab/patch.yaml:4",
        1,
    ),
    "a conflict in one cluster": (
        {"clusters/prod/nic.yaml": NIC.replace("driver: nic", "driver: gpu")},
        "node prod-1 is selected by DeviceConfig kmm/gpu",
        1,
    ),
    "an error in the package": (
        {"packages/nic/config.yaml": NIC.replace("moduleName: nic_drv", "moduleNaem: nic_drv")},
        "packages/nic/config.yaml:5:3: error: DeviceConfig kmm/nic: spec.moduleNaem: ",
        1,
    ),
    "a broken file in the package": (
        {"packages/nic/app.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app\n"},
        "packages/nic/app.yaml:4: error: ",
        2,
    ),
    "a broken inventory": ({"clusters/lab/nodes.yaml": "apiVersion: v1\nkind: [\n"}, "clusters/lab/nodes.yaml:3: ", 2),
    "a broken kustomization": (
        {"clusters/lab/kustomization.yaml": "resources: [../../base\n"},
        "clusters/lab/kustomization.yaml:2: error: ",
        2,
    ),
    "a base that is not there": (
        {"clusters/prod/kustomization.yaml": "resources: [../../bsae]\n"},
        "clusters/prod/kustomization.yaml:1:13: error: ",
        2,
    ),
    "a config that nobody lists": (
        {"clusters/prod/forgotten.yaml": CONFIG.format(name="fpga", namespace="kmm", module="fpga", label="fpga")},
        "clusters/prod/forgotten.yaml:1: warning: DeviceConfig kmm/fpga: no kustomization lists it",
        0,
    ),
    "a loose config": (
        {"extra/config.yaml": GPU.replace("nodeSelector", "nodeSelektor")},
        "extra/config.yaml:8:3: error: DeviceConfig kmm/gpu: spec.nodeSelektor: ",
        1,
    ),
    "a link that leads out": ({"packages/nic/out.yaml": "-> /etc/hostname"}, "packages/nic/out.yaml: error: ", 2),
    "a misspelt configuration file": ({".krmfn.yaml": "cluster: {}\n"}, ".krmfn.yaml:1:1: error: cluster: ", 2),
    "a cluster of nothing": ({".krmfn.yaml": "clusters: {lab: [labs]}\n"}, ".krmfn.yaml:1:18: error: ", 2),
    "one config in two roots of a cluster": (
        {".krmfn.yaml": "clusters: {all: [clusters/prod, packages/nic]}\n"},
        "another root of this cluster has this DeviceConfig, too",
        1,
    ),
    "one node for two roots of a cluster": (
        {
            ".krmfn.yaml": "clusters: {all: [clusters/lab, packages/nic]}\n",
            "packages/nic/config.yaml": NIC.replace("driver: nic", "driver: gpu"),
        },
        "node lab-1 is selected by DeviceConfig kmm/gpu",
        1,
    ),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_found_and_hides_nothing(fault: str, repo: Path) -> None:
    planted, message, code = PLANTED[fault]
    for name in planted:
        (repo / name).unlink(missing_ok=True)
    plant(repo, planted)
    done = check(repo)
    lines = [line for line in done.text.splitlines() if " [K" in line]
    assert any(message in line for line in lines), done.text
    assert done.code == code
    second = repo / "packages" / "nic" / "second.yaml"
    second.write_text(
        CONFIG.format(name="second", namespace="kmm", module="second", label="second") + "  wrong: true\n"
    )
    assert ("packages/nic/second.yaml:9:3: error: " in check(repo).text) is (fault != "a misspelt configuration file")


def test_a_repository_is_rendered_into_a_folder_per_cluster(repo: Path) -> None:
    assert "--output-dir" in process("krmfn", "render", cwd=repo).refused()
    process("krmfn", "render", "--output-dir", "out", cwd=repo).ended(0)
    assert sorted(path.name for path in (repo / "out").iterdir()) == ["lab", "nic", "prod"]
    for name, path in (("lab", "clusters/lab"), ("prod", "clusters/prod"), ("nic", "packages/nic")):
        process("krmfn", "render", path, "--output-dir", f"alone/{name}", cwd=repo).ended(0)
        files = {file.name: file.read_bytes() for file in (repo / "out" / name).iterdir()}
        assert files == {file.name: file.read_bytes() for file in (repo / "alone" / name).iterdir()}


@pytest.mark.parametrize("command", [("nodes",), ("images",), ("resolve", "--kernel", "5.14.0-1.el9.x86_64")])
def test_every_cluster_is_told(command: tuple[str, ...], repo: Path) -> None:
    done = process("krmfn", *command, "clusters", "--format", "json", cwd=repo).ended(0)
    assert "gpu" in done.text
    assert "nic" in done.text
    if command[0] == "nodes":
        names = {cluster["cluster"] for cluster in json.loads(done.out)["clusters"]}
        assert names == {"clusters/lab", "clusters/prod"}


def test_the_pre_commit_hook_works_as_it_is(repo: Path) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert hook["pass_filenames"] is False
    command = shlex.split(hook["entry"])
    assert COMMANDS.joinpath(command[0]).exists()
    execute(*command, cwd=repo, env=environment()).ended(0)
    plant(repo, {"packages/nic/config.yaml": NIC.replace("moduleName: nic_drv", "moduleNaem: nic_drv")})
    execute(*command, cwd=repo, env=environment()).ended(1)


def test_a_fault_in_a_base_that_two_clusters_build_is_reported_once(repo: Path) -> None:
    (repo / "base" / "gpu.yaml").write_text(GPU.replace("moduleName", "moduleNam"))
    done = check(repo).ended(1)
    lines = [line for line in done.out.decode().splitlines() if "moduleNam:" in line]
    assert lines == [
        "base/gpu.yaml:5:3: error: DeviceConfig kmm/gpu: spec.moduleNam: unknown field 'moduleNam' [KRM101] "
        "(clusters/lab, clusters/prod)"
    ]


def test_a_config_that_kpt_would_apply_is_reported(repo: Path) -> None:
    (repo / "packages" / "nic" / "config.yaml").write_text(NIC)
    done = check(repo).ended(0)
    (line,) = [line for line in done.out.decode().splitlines() if "KRM708]" in line]
    assert line.startswith("packages/nic/config.yaml:1: warning: DeviceConfig kmm/nic: is only read")


ENGINES = {
    "flux": (
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a, namespace: flux-system}\n"
        "spec: {path: ./a, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}\n",
        "error",
    ),
    "fleet": (
        "apiVersion: fleet.cattle.io/v1alpha1\nkind: GitRepo\nmetadata: {name: a, namespace: fleet-default}\n"
        "spec: {repo: a, paths: [a], targets: [{clusterName: lab}]}\n",
        "error",
    ),
    "argocd": (
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a, namespace: argocd}\n"
        "spec: {source: {repoURL: a, path: a}, destination: {name: lab, namespace: kmm}}\n",
        "warning",
    ),
    "our plugin": (
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a, namespace: argocd}\n"
        "spec: {source: {repoURL: a, path: a, plugin: {name: krmfn}}, destination: {name: lab, namespace: kmm}}\n",
        "",
    ),
}


@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_that_does_not_call_krmfn_for_a_kustomization_is_told(engine: str, tmp_path: Path) -> None:
    """Flux and Fleet refuse to build it; Argo CD runs functions only where its settings let it."""
    text, severity = ENGINES[engine]
    config = GPU.replace("namespace: kmm", f"namespace: kmm, annotations: {{{LOCAL}}}")
    files = {"a/kustomization.yaml": "resources: [gpu.yaml]\ntransformers: [f.yaml]\n", "a/gpu.yaml": config}
    (tmp_path / ".git").mkdir()
    plant(tmp_path, files | {"a/f.yaml": function("exec: {path: krmfn}"), "clusters/lab/a.yaml": text})
    done = process("krmfn", "check", ".", cwd=tmp_path)
    lines = [line for line in done.text.splitlines() if "[KRM545]" in line]
    assert [f": {severity}: " in line for line in lines] == [True] * bool(severity), done.text + done.err
