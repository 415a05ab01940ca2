"""What is not judged is a result: of files, roots, clusters, kinds and areas, in every output, with --fail-on."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from krmfn_functions.formats.unjudged import Gap, joined, line

from tests.commands import Done, process
from tests.functions.comparing.test_base import commit, repository

KMM = """\
apiVersion: krmfn.dev/v1alpha1
kind: RenderDeviceConfigs
metadata: {name: settings, annotations: {config.kubernetes.io/local-config: "true"}}
spec: {kmm: {version: VERSION}}
"""
CONFIG = """\
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {name: gpu, namespace: kmm}
spec:
  driverImage: registry.example.com/gpu:1-$KERNEL_FULL_VERSION
  moduleName: gpu
  nodeSelector: {example.com/gpu: "true"}
"""
NODES = """\
apiVersion: krmfn.dev/v1alpha1
kind: NodeInventory
metadata: {name: lab}
spec:
  labelKeys: [example.com/gpu]
  groups:
  - labels: {example.com/gpu: "true"}
    nodes: |
      n1 5.14.0-503.11.1.el9_5.x86_64
"""
WORK = """\
apiVersion: work.open-cluster-management.io/v1
kind: ManifestWork
metadata: {name: site, namespace: site-1}
spec: {workload: {manifests: [{apiVersion: kmm.sigs.x-k8s.io/v1beta1, kind: Module, metadata: {name: a}}]}}
"""
HUB = """\
apiVersion: hub.kmm.sigs.x-k8s.io/v1beta1
kind: ManagedClusterModule
metadata: {name: gpu}
spec:
  spokeNamespace: kmm
  selector: {tier: lab}
  moduleSpec:
    selector: {example.com/gpu: "true"}
    moduleLoader:
      container:
        modprobe: {moduleName: gpu}
        kernelMappings: [{regexp: ^.+$, containerImage: "registry.example.com/gpu:$KERNEL_FULL_VERSION"}]
"""
APPLICATION = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: gpu, namespace: argocd}
spec:
  project: default
  destination: {name: lab, namespace: kmm}
  source: {repoURL: https://git.example.com/team/fleet.git, path: gpu}
"""
PROJECT = "apiVersion: project.openshift.io/v1\nkind: Project\nmetadata: {name: kmm}\n"
JUDGED = {"gpu.yaml": CONFIG, "kmm.yaml": KMM.replace("VERSION", '"2.6"'), "nodes.yaml": NODES}
"""Of this all is judged."""
CASES: dict[str, tuple[dict[str, str], str]] = {
    "all is judged": ({}, ""),
    "no version": ({"kmm.yaml": ""}, "KMM versions other than 2.6 (none is named)"),
    "a version that is newer": (
        {"kmm.yaml": KMM.replace("VERSION", '"9.9"')},
        "KMM 9.9 (newer than this krmfn, so judged as main)",
    ),
    "OpenShift": ({"project.yaml": PROJECT}, "what OpenShift's KMM does otherwise (judged as KMM 2.6)"),
    "OpenShift's KMM": ({"project.yaml": PROJECT, "kmm.yaml": KMM.replace("VERSION", "openshift-2.6")}, ""),
    "no inventory": ({"nodes.yaml": ""}, "which nodes get a driver (no inventory)"),
    "a label that the inventory lacks": (
        {"nodes.yaml": NODES.replace("[example.com/gpu]", "[zone]").replace('{example.com/gpu: "true"}', "{zone: a}")},
        "which nodes get a driver (its nodes or their labels are not known)",
    ),
    "a wrapped Module": (
        {"work.yaml": WORK},
        "what others wrap (keep it in files of its own: ManifestWork site-1/site)",
    ),
    "a wrapper of another": ({"work.yaml": WORK.replace("kmm.sigs.x-k8s.io/v1beta1", "v1")}, ""),
    "spokes that are not known": (
        {"hub.yaml": HUB, "gpu.yaml": ""},
        "what spokes get of a hub (no cluster has labels in .krmfn.yaml: ManagedClusterModule gpu)",
    ),
    "exclusivity turned off": (
        {"kmm.yaml": KMM.replace("{kmm", "{exclusivity: {mode: 'off'}, kmm").replace("VERSION", '"2.6"')},
        "node exclusivity (turned off)",
    ),
    "a template": (
        {"chart/t.yaml": "{{ if .Values.a }}\napiVersion: v1\nkind: Service\nmetadata: {name: a}\n{{ end }}\n"},
        "files of other tools, charts and submodules (not read: chart/t.yaml)",
    ),
    "a file that is no YAML": ({"bad.yaml": "apiVersion: v1\nkind: ["}, "files (cannot be read: bad.yaml)"),
    "an excluded file": (
        {".krmfn.yaml": "exclude: [old]\n", "old/a.yaml": CONFIG},
        "1 file (excluded, or of Helm charts)",
    ),
}
"""Files beside or in place of those of JUDGED, "" for none; and what is not judged."""
MEANT = {"exclusivity turned off", "an excluded file", "all is judged", "OpenShift's KMM", "a wrapper of another"}
"""Of these nothing makes --fail-on unjudged fail."""


def plant(folder: Path, files: dict[str, str]) -> Path:
    for name, text in {**JUDGED, **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if text:
            (folder / name).write_text(text)
    return folder


def check(folder: Path, *args: str) -> Done:
    return process("krmfn", "check", *args, cwd=folder)


def gaps_line(text: str) -> str:
    """The line about what is not judged, without its beginning; "" for none."""
    found = re.findall("(?:^|; )not judged: (.*)$", text, re.MULTILINE)
    assert len(found) < 2
    return "".join(found)


@pytest.mark.parametrize("name", CASES)
def test_what_is_not_judged_is_said(name: str, tmp_path: Path) -> None:
    files, gap = CASES[name]
    done = check(plant(tmp_path, files), "--fail-on", "unjudged")
    said = gaps_line(done.text)
    assert said == gap or (done.code and gap in said.split("; ")), done.text
    fails = [text for text in done.text.splitlines() if "(--fail-on unjudged)" in text]
    assert (name not in MEANT) == bool(fails)
    assert bool(done.code) == bool(fails)


def test_jsonnet_that_argo_cd_runs_is_not_judged(tmp_path: Path) -> None:
    remote = {
        "apps/gpu.yaml": APPLICATION,
        "gpu/a.jsonnet": "{kind: 'DeviceConfig', apiVersion: 'krmfn.dev/v1alpha1'}\n",
    }
    files = {**remote, "gpu/gpu.yaml": CONFIG, "gpu/b.jsonnet": "{kind: 'ConfigMap'}\n"}
    repo = repository(tmp_path / "repo", files)
    assert "jsonnet of Argo CD (not run: gpu/a.jsonnet)" in gaps_line(check(repo).text)


def test_clusters_that_lack_the_same_are_said_once_and_alike_in_each_format(tmp_path: Path) -> None:
    config = "clusters:\n  dev: [dev]\n  lab: [lab]\n  out: [out]\n"
    pairs = [(name, file, text) for name in ("dev", "lab", "out") for file, text in JUDGED.items()]
    # each cluster has nodes of its own
    own = {
        f"{name}/{file}": text.replace("name: lab", f"name: {name}").replace("n1", f"n-{name}")
        for name, file, text in pairs
    }
    files = {path: text for path, text in own.items() if path != "dev/nodes.yaml"}
    repo = repository(tmp_path / "repo", {".krmfn.yaml": config, **files})
    said = "which nodes get a driver (no inventory: dev)"
    assert gaps_line(check(repo).text) == said
    (repo / "lab" / "nodes.yaml").unlink()
    (repo / "out" / "nodes.yaml").unlink()
    said = "which nodes get a driver (no inventory)"
    assert gaps_line(check(repo).text) == said, "of all clusters"
    (repo / "out" / "nodes.yaml").write_text(files["out/nodes.yaml"])
    said = "which nodes get a driver (no inventory: dev, lab)"
    document = json.loads(check(repo, "--format", "json").out)
    gap = {"kind": "clusters", "subject": "which nodes get a driver", "reason": "no inventory", "names": ["dev", "lab"]}
    assert document["notJudged"] == [{**gap, "number": 2, "meant": False}]
    (run,) = json.loads(check(repo, "--format", "sarif").out)["runs"]
    notes = run["invocations"][0]["toolExecutionNotifications"]
    assert [note["message"]["text"] for note in notes] == [f"not judged: {said}"]
    assert f"<system-out>not judged: {said}</system-out>" in check(repo, "--format", "junit").text
    assert f"::notice title=not judged::not judged: {said}\n" in check(repo, "--format", "github").text
    assert 'krmfn_not_judged{kind="clusters"} 1\n' in check(repo, "--format", "prometheus").text
    page = process("krmfn", "report", cwd=repo).text
    assert f"<li>{said}</li>" in page
    assert '<h2 id="h-unjudged">Not judged</h2>' in page


def test_a_change_that_is_not_judged_fails_diff_and_ci(tmp_path: Path) -> None:
    moved = {"gpu.yaml": CONFIG.replace("gpu:1", "gpu:2")}
    repo = repository(tmp_path / "repo", JUDGED)
    commit(repo, moved)
    fails: tuple[str, ...] = ("--fail-on", "unjudged")
    done = process("krmfn", "diff", "--base", "main", *fails, cwd=repo)
    assert (done.code, "not judged" in done.text) == (0, False)
    assert process("krmfn", "ci", "--base", "main", "--out", "out", *fails, cwd=repo).code == 0
    assert "not judged" not in (repo / "out" / "comment.md").read_text()
    commit(repo, {"nodes.yaml": "---\n"})
    done = process("krmfn", "diff", "--base", "main", *fails, cwd=repo)
    assert done.code == 1
    assert "error: which nodes get a driver (no inventory): not judged (--fail-on unjudged)" in done.err
    _, last = done.text.splitlines()[-2:]
    assert (gaps_line(done.text), "changed" in last) == ("which nodes get a driver (no inventory)", True)
    done = process("krmfn", "diff", "--base", "main", "--format", "json", cwd=repo)
    assert [gap["reason"] for gap in json.loads(done.out)["notJudged"]] == ["no inventory"]
    done = process("krmfn", "diff", "--base", "main", "--format", "markdown", cwd=repo)
    assert done.text.splitlines()[2] == "not judged: which nodes get a driver (no inventory)", "after the headline"
    done = process("krmfn", "ci", "--base", "main", "--out", "out", *fails, cwd=repo)
    assert done.code == 1
    said = "which nodes get a driver (no inventory)"
    result: dict[str, Any] = json.loads((repo / "out" / "result.json").read_text())
    assert [gap["reason"] for gap in result["verdict"]["notJudged"]] == ["no inventory"]
    assert said in gaps_line(done.text)
    assert f"not judged: {said}" in (repo / "out" / "comment.md").read_text()


def test_gaps_are_joined_by_kind_and_name() -> None:
    gaps = [Gap("areas", "x", "y", ("b",)), Gap("files", "files", "z", number=2), Gap("areas", "x", "y", ("a",))]
    gaps.append(Gap("files", "files", "z", number=1))
    assert line(joined(gaps, ["a", "b", "c"])) == "not judged: 3 files (z); x (y: a, b)"
    assert line(joined(gaps, ["a", "b"])) == "not judged: 3 files (z); x (y)"
    assert line(()) == ""


def test_a_root_or_file_with_the_name_of_a_cluster_keeps_its_name() -> None:
    roots = Gap("roots", "what stands in roots", "not built or not read", ("lab",))
    assert joined([roots, roots._replace(kind="files")], ["lab"]) == (roots, roots._replace(kind="files"))
