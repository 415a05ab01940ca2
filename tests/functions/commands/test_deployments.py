"""The command `clusters`: which root goes to which cluster."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from krmfn.yamltext import emit
from tests.builders import SPEC, device_config
from tests.commands import ROOT, process
from tests.functions.cluster.test_foreign import CHART
from tests.functions.comparing.test_base import repository
from tests.trees import COMPONENT, config_map


def test_the_fleet_without_a_configuration_file_has_four_clusters(tmp_path: Path) -> None:
    fleet = tmp_path / "fleet"
    shutil.copytree(ROOT / "examples/fleet", fleet)
    (fleet / ".krmfn.yaml").unlink()
    repository(fleet, {})
    listing = json.loads(process("krmfn", "clusters", ".", "--format", "json", cwd=fleet).ended(0).out)
    rows = listing["clusters"]
    names = ["dev", "prod-a", "prod-b", "stage"]
    assert [row["name"] for row in rows] == names  # argocd/ and the inventories are in none
    assert listing["unassigned"] == [{"path": "."}]
    assert [row["roots"][0]["path"] for row in rows[:4]] == [f"clusters/{name}" for name in names]
    assert rows[0]["roots"][0] == {
        "path": "clusters/dev",
        "engine": "argocd",
        "how": "plugin",
        "from": {"file": "argocd/applicationset.yaml", "line": 2},
    }
    deployed, rest = (part.splitlines() for part in process("krmfn", "clusters", cwd=fleet).text.split("\n\n"))
    assert [line.split()[0] for line in deployed[1:]] == names
    assert [line.split() for line in rest] == [["CLUSTER", "READ,", "NOT", "DEPLOYED", "FROM"], ["-", ".", "-"]]


def test_what_nobody_applies_is_no_root(tmp_path: Path) -> None:
    """The inventories of .krmfn.yaml were rows with kubectl, as if somebody applied them."""
    fleet = tmp_path / "fleet"
    shutil.copytree(ROOT / "examples/fleet", fleet)
    repository(fleet, {})
    names = ["dev", "prod-a", "prod-b", "stage"]
    listing = json.loads(process("krmfn", "clusters", "--format", "json", cwd=fleet).ended(0).out)
    assert [(row["name"], [root["path"] for root in row["roots"]]) for row in listing["clusters"]] == [
        (name, [f"clusters/{name}"]) for name in names
    ]
    assert [row["notDeployed"][0]["path"] for row in listing["clusters"]] == [f"inventories/{n}.yaml" for n in names]
    deployed, rest = (part.splitlines() for part in process("krmfn", "clusters", cwd=fleet).text.split("\n\n"))
    assert [line.split()[1:3] for line in deployed[1:]] == [[f"clusters/{name}", "argocd"] for name in names]
    assert [line.split()[1] for line in rest[1:]] == [*(f"inventories/{name}.yaml" for name in names), "."]
    # with one object that is applied, the file is a root
    file = fleet / "inventories/dev.yaml"
    file.write_text(file.read_text() + "---\n" + config_map("c"))
    deployed = process("krmfn", "clusters", cwd=fleet).text.split("\n\n")[0].splitlines()
    assert [line.split()[1:3] for line in deployed[1:3]] == [
        ["clusters/dev", "argocd"],
        ["inventories/dev.yaml", "kubectl"],
    ]


def test_all_commands_say_the_same_clusters(tmp_path: Path) -> None:
    """`check` and `ci` counted the files that are about clusters as one more; `clusters` left out more than these."""
    fleet = tmp_path / "fleet"
    shutil.copytree(ROOT / "examples/fleet", fleet)
    (fleet / ".krmfn.yaml").unlink()
    repository(fleet, {})
    four = ["dev", "prod-a", "prod-b", "stage"]
    assert _clusters_of_each_command(fleet) == [four, four, four]
    assert "no nodes are known" in process("krmfn", "nodes", ".", cwd=fleet).err  # not that nothing selects these
    process("krmfn", "render", "--output-dir", "../rendered", ".", cwd=fleet).ended(0)
    assert sorted(folder.name for folder in (tmp_path / "rendered").iterdir()) == four
    (fleet / "README.yaml").write_text("a: 1\n")
    assert _clusters_of_each_command(fleet) == [four, four, four]
    (fleet / "namespace.yaml").write_text(config_map("one-that-somebody-applies"))
    five = [".", *four]
    assert _clusters_of_each_command(fleet) == [five, five, five]
    # a config is deployed as what is made from it, also one that is marked for kustomize not to print
    marked = {"annotations": {"config.kubernetes.io/local-config": "true"}}
    resource = device_config(SPEC, "top", "kmm")
    (fleet / "namespace.yaml").write_text(emit.dump({**resource, "metadata": resource["metadata"] | marked}))
    assert _clusters_of_each_command(fleet) == [five, five, five]


def _clusters_of_each_command(folder: Path) -> list[list[str]]:
    """Return the clusters of `clusters`, `check` and `ci`, all of them as they are, and not counted as foreign."""
    listing = json.loads(process("krmfn", "clusters", ".", "--format", "json", cwd=folder).text)
    checked = json.loads(process("krmfn", "check", "--all", ".", "--format", "json", cwd=folder).text)
    process("krmfn", "ci", "--base", "HEAD", "--out", "../out", ".", cwd=folder)
    result = json.loads((folder / "../out/result.json").read_text())
    names = [row["name"] for row in listing["clusters"]], checked["clusters"], result["check"]["clusters"]
    return [sorted(name for name in part) for part in names]


def test_what_changes_beside_all_clusters_is_seen(tmp_path: Path) -> None:
    fleet = tmp_path / "fleet"
    shutil.copytree(ROOT / "examples/fleet", fleet)
    (fleet / ".krmfn.yaml").unlink()
    repository(fleet, {})
    assert "\n." not in process("krmfn", "diff", "--base", "HEAD", cwd=fleet).ended(0).text
    file = fleet / "argocd/applicationset.yaml"
    file.write_text(file.read_text().replace("name: accelerators\n", "name: others\n"))
    assert "+ ApplicationSet argocd/others" in process("krmfn", "diff", "--base", "HEAD", cwd=fleet).ended(1).text


def test_what_may_not_be_built_hides_no_cluster(tmp_path: Path) -> None:
    """Nothing is built for it: a Component with a chart, which no root lists, was exit code 2."""
    files = {"a/a.yaml": config_map("a"), "part/kustomization.yaml": COMPONENT + CHART}
    done = process("krmfn", "clusters", cwd=repository(tmp_path, files)).ended(0)
    assert "part" not in done.text + done.err


def test_what_stands_in_a_folder_that_an_object_deploys_has_its_engine(tmp_path: Path) -> None:
    flux = (
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a, namespace: f}\n"
        "spec: {path: ./a, sourceRef: {kind: GitRepository, name: f}}\n"
    )
    files = {
        "clusters/lab/ks.yaml": flux,
        "a/c.yaml": config_map("c"),
        "a/b/kustomization.yaml": "resources: [d.yaml]\n",
    }
    folder = repository(tmp_path, files | {"a/b/d.yaml": config_map("d")})
    lines = process("krmfn", "clusters", cwd=folder).ended(0).text.splitlines()
    assert ["lab", "a/b", "flux", "raw", "clusters/lab/ks.yaml:1"] in [line.split() for line in lines]


def test_a_cluster_has_the_name_that_the_configuration_file_gives_it(tmp_path: Path) -> None:
    """Argo CD calls each cluster that it runs in `in-cluster`: two of these are the clusters of .krmfn.yaml."""
    app = (
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {0}, namespace: argocd}}\nspec:\n"
        "  source: {{repoURL: 'https://git.example.com/fleet.git', path: {0}, plugin: {{name: krmfn}}}}\n"
        "  destination: {{server: 'https://kubernetes.default.svc', namespace: kmm}}\n"
    )
    files = {f"apps/{name}.yaml": app.format(name) for name in ("a", "b")}
    files |= {f"{name}/c.yaml": config_map(name) for name in ("a", "b")}
    files[".krmfn.yaml"] = "clusters: {lab: [a, apps], prod: [b]}\n"
    folder = repository(tmp_path, files)
    lines = process("krmfn", "clusters", cwd=folder).ended(0).text.splitlines()
    assert [line.split()[:2] for line in lines[1:]] == [["lab", "a"], ["lab", "apps"], ["prod", "b"]]
    assert [line.endswith(" (in-cluster)") for line in lines[1:]] == [True, False, True]
    listing = json.loads(process("krmfn", "clusters", "--format", "json", cwd=folder).ended(0).out)
    assert [cluster["roots"][0].get("destination") for cluster in listing["clusters"]] == ["in-cluster", "in-cluster"]
