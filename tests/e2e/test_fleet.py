"""examples/fleet: four clusters, three vendors, 118 nodes; and a fleet of forty like them."""

from __future__ import annotations

import json
import os
import re
import shutil
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from tests.commands import COMMANDS, ROOT, Done, process
from tests.functions.cluster.test_one_result import config, hold, node
from tests.functions.comparing.test_base import OWN, repository
from tests.trees import altered, plant

FLEET = ROOT / "examples" / "fleet"
CLUSTERS = ("dev", "stage", "prod-a", "prod-b")
BUMPS = {"gpu": ("2.26.0", "2.27.0"), "nic": ("1.8.2", "1.9.0"), "fpga": ('"5.3"', '"5.4"')}


def files(copies: int = 1) -> dict[str, str]:
    """The files of the fleet, with each cluster as often under other names."""
    kept = {str(path.relative_to(FLEET)): path.read_text() for path in FLEET.rglob("*") if path.is_file()}
    clusters = re.findall(r"^  (\S+): \[(.*)\]$", kept[".krmfn.yaml"], re.MULTILINE)
    assert tuple(name for name, _ in clusters) == CLUSTERS
    for copy in range(1, copies):
        for name, members in clusters:
            kept |= {
                path.replace(name, f"{name}-{copy}"): text.replace(f"{name}-", f"{name}-{copy}-").replace(
                    f"  name: {name}\n", f"  name: {name}-{copy}\n"
                )
                for path, text in [*kept.items()]
                if path in (f"clusters/{name}/kustomization.yaml", f"inventories/{name}.yaml")
            }
            kept[".krmfn.yaml"] += f"  {name}-{copy}: [{members.replace(name, f'{name}-{copy}')}]\n"
    return kept


def bump(folder: Path) -> None:
    """Move three versions."""
    for name, (old, new) in BUMPS.items():
        altered(folder / f"base/{name}.yaml", old, new)


def krmfn(folder: Path, kustomize: str, *args: str, **env: str) -> Done:
    path = os.pathsep.join([str(Path(kustomize).parent), os.environ["PATH"]])
    return process("krmfn", *args, cwd=folder, PATH=path, **OWN, **env)


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    """The example as a repository."""
    return repository(tmp_path / "fleet", files())


def test_three_versions_over_four_clusters_are_one_screen(fleet: Path, kustomize: str) -> None:
    bump(fleet)
    done = krmfn(fleet, kustomize, "diff", "--base", "main", ".", "--format", "markdown").ended(1)
    assert len(done.out) <= 8_000
    headline, _, gaps, *head = done.text.splitlines()[:14]
    assert headline == "**78 nodes in 4 clusters reload at once, 20 keep 2.26.0**"
    assert gaps == "not judged: KMM versions other than 2.6 (none is named)"
    assert [row.split(" | ")[:5] for row in head[3:7]] == [
        ["| dev", "0", "0", "6", "0"],
        ["| stage", "0", "0", "10", "0"],
        ["| prod-a", "0", "0", "50", "0"],
        ["| prod-b", "0", "0", "12", "20"],
    ]
    assert "| changed | Module kmm/gpu | 3 fields | dev, stage, prod-a |" in done.text
    assert done.text.count("<details>") == 4
    assert done.text.count("tried again as long as") == 1
    text = krmfn(fleet, kustomize, "diff", "--base", "main", ".").text
    assert text.splitlines()[0] == "78 nodes in 4 clusters reload at once, 20 keep 2.26.0"
    document = json.loads(krmfn(fleet, kustomize, "diff", "--base", "main", ".", "--format", "json").text)
    assert [entry["nodes"]["reloaded"] for entry in document["clusters"]] == [6, 10, 50, 12]
    assert [entry["clusters"] for entry in document["changes"]] == [
        list(CLUSTERS),
        [*CLUSTERS[:3]],
        [*CLUSTERS[:3]],
        ["prod-b"],
    ]


def test_forty_clusters_are_one_screen_too(tmp_path: Path, kustomize: str) -> None:
    fleet = repository(tmp_path / "fleet", files(10))
    bump(fleet)
    done = krmfn(fleet, kustomize, "diff", "--base", "main", ".", "--format", "markdown").ended(1)
    assert len(done.out) <= 12_000
    headline, _, gaps, *table = done.text.splitlines()
    assert (headline, gaps[:12]) == ("**780 nodes in 40 clusters reload at once, 200 keep 2.26.0**", "not judged: ")
    rows = [row.split(" | ")[0].removeprefix("| ") for row in table[3:]]
    rows = rows[: rows.index("")]
    heads = [f"{name} ... {name}-9: 10 clusters" for name in CLUSTERS]
    assert [row.partition(", ")[0] for row in rows] == heads, "those that change alike are one"
    assert "do not fit" not in done.text


def test_an_inventory_elsewhere_is_an_input_of_a_cluster(fleet: Path, kustomize: str) -> None:
    """A cluster whose inventory changed is not the same, also when only its folder is given."""
    path = fleet / "inventories/dev.yaml"
    altered(path, "nodeCount: 8", "nodeCount: 9")
    path.write_text(f"{path.read_text()}      dev-gpu-99 5.14.0-503.11.1.el9_5.x86_64\n")
    done = krmfn(fleet, kustomize, "diff", "--base", "main", "clusters/dev")
    assert "nothing changes: its files are those of the base" not in done.text
    same = krmfn(fleet, kustomize, "diff", "--base", "main", "clusters/stage")
    assert (same.code, same.text) == (0, "nothing changes: its files are those of the base\n")


@pytest.mark.parametrize("name", CLUSTERS)
def test_argo_cd_renders_what_ci_has_checked(fleet: Path, kustomize: str, name: str) -> None:
    """In Argo CD's copy, which has no .git; and with a node that two vendors' drivers of one module would share."""
    assert krmfn(fleet, kustomize, "check", ".").code == 0
    shutil.rmtree(fleet / ".git")
    env = {"ARGOCD_APP_SOURCE_PATH": f"clusters/{name}"}
    done = krmfn(fleet / "clusters" / name, kustomize, "render", ".", **env)
    assert (done.code, done.text.count("\nkind: Module\n")) == (0, 2 if name == "prod-b" else 3), done.err
    gpu = (fleet / "base/gpu.yaml").read_text()
    plant(fleet, {"base/nic.yaml": gpu.replace("name: gpu", "name: gpu-2").replace("/gpu:", "/nic:")})
    clash = krmfn(fleet / "clusters" / name, kustomize, "render", ".", **env)
    assert ("[KRM301]" in clash.err, clash.code) == ((False, 0) if name == "prod-b" else (True, 1)), clash.err


def test_of_kustomizations_all_ways_in_say_the_same(tmp_path_factory: pytest.TempPathFactory, kustomize: str) -> None:
    """As of loose files, whose test this is, too."""
    path = os.pathsep.join([str(Path(kustomize).parent), str(COMMANDS), os.environ["PATH"]])
    hold(tmp_path_factory.mktemp, 10, is_built=True, PATH=path)


def test_a_call_inside_kustomize_that_sees_no_node_says_so_once(tmp_path: Path, kustomize: str) -> None:
    """The inventory shows no node that both would drive; kustomize shows it to nobody."""
    function = (
        "apiVersion: krmfn.dev/v1alpha1\nkind: RenderDeviceConfigs\nmetadata:\n  name: f\n  annotations:\n"
        '    config.kubernetes.io/function: "exec: {path: krmfn}"\n'
    )
    local = 'namespace: kmm, annotations: {config.kubernetes.io/local-config: "true"}'
    both = {f"lab/{name}.yaml": config(name, f"{name}: x").replace("namespace: kmm", local) for name in ("a", "b")}
    kustomization = "resources: [a.yaml, b.yaml]\ntransformers: [f.yaml]\n"
    nodes = {"inventories/lab.yaml": node("n-1", a="x", b="y"), ".krmfn.yaml": "clusters: {lab: [lab, inventories]}\n"}
    plant(tmp_path, {".git/x": "", "lab/kustomization.yaml": kustomization, "lab/f.yaml": function} | both | nodes)
    for command, path in (("check", "."), ("render", "lab")):
        done = krmfn(tmp_path, kustomize, command, path)
        lines = [line for line in (done.text + done.err).splitlines() if "[KRM302]" in line]
        assert (done.code, len(lines)) == (1, 1), done.text + done.err
        hint = "lab calls krmfn, which does not see the nodes in inventories/lab.yaml there"
        assert (done.text + done.err).count(hint) == 1, "it is part of the remedy"


def test_a_kernel_without_a_mapping_is_told_at_the_profile(fleet: Path, kustomize: str) -> None:
    for name in ("dev", "stage"):
        path = fleet / "inventories" / f"{name}.yaml"
        path.write_text(re.sub(r"5\.14\.0-\S+", "7.1.0-99.fc50.x86_64", path.read_text(), count=3))
    rows = krmfn(fleet, kustomize, "check", ".").text.splitlines()
    ((line, remedy),) = ((row, below) for row, below in pairwise(rows) if "[KRM604]" in row)
    assert line.startswith(
        "base/gpu-profile.yaml:9:5: error: DeviceConfig kmm/gpu: spec.kernelMappings: 6 of the 10 nodes"
    )
    assert line.endswith(" on 6 nodes (dev 3, stage 3) [KRM604] (dev, stage)")
    assert remedy.startswith("  help: ")
    assert remedy.endswith("(in Profile gpu, spec.config.kernelMappings)")


def dump_of(fleet: Path, cluster: str, manifests: bytes) -> str:
    """A dump of a cluster that runs these manifests on the nodes of its inventory, as kubectl prints it."""
    items = [{**item, "metadata": {**item["metadata"], "uid": "1"}} for item in yaml.safe_load_all(manifests)]
    inventory = yaml.safe_load((fleet / f"inventories/{cluster}.yaml").read_text())
    for group in inventory["spec"]["groups"]:
        for line in group["nodes"].splitlines():
            name, kernel, *pairs = line.split()
            labels = {**group.get("labels", {}), **dict(pair.split("=", 1) for pair in pairs)}
            facts = {"nodeInfo": {"kernelVersion": kernel, "kubeletVersion": "v1.31.2"}}
            head = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}
            items.append({**head, "status": facts})
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})


def test_a_repository_made_from_four_clusters_changes_nothing_on_any_node(fleet: Path, kustomize: str) -> None:
    """`init --live` over what runs: it is clean, and Git can take over."""
    new = repository(fleet.parent / "new", {})
    live = []
    for cluster in CLUSTERS:
        manifests = krmfn(fleet, kustomize, "render", f"clusters/{cluster}").ended(0).out
        (fleet.parent / f"{cluster}.json").write_text(dump_of(fleet, cluster, manifests))
        live += ["--live", f"{cluster}=../{cluster}.json"]
    text = krmfn(new, kustomize, "init", "gpus", *live).ended(0).text
    assert [line for line in text.splitlines() if " in place of " in line] == [
        *(f"{cluster}: 3 DeviceConfigs in place of 3 Modules" for cluster in CLUSTERS[:3]),
        "prod-b: 2 DeviceConfigs in place of 2 Modules",
    ]
    kept = [line.partition("; ")[2] for line in text.splitlines() if "fields equal" in line]
    assert kept == [f"nodes: {number} kept, 0 reloaded, 0 lost" for number in (6, 10, 50, 32)], text
    assert krmfn(new, kustomize, "check", ".").ended(0).reported.startswith("no findings: 4 clusters, 11 DeviceConfigs")
    data = json.loads(krmfn(new, kustomize, "adopt", ".", *live, "--format", "json").ended(0).out)
    nodes = [entry["nodes"] for entry in data]
    assert [len(entry["kept"]) for entry in nodes] == [6, 10, 50, 32]
    assert [(entry["reloaded"], entry["lost"]) for entry in nodes] == [([], [])] * 4


def test_a_first_config_is_clean(tmp_path: Path, kustomize: str) -> None:
    for args in ((), ("--cluster", "dev", "--cluster", "prod")):
        new = repository(tmp_path / str(len(args)), {})
        krmfn(new, kustomize, "init", *args).ended(0)
        assert krmfn(new, kustomize, "check", ".").ended(0).reported.startswith("no findings: ")
