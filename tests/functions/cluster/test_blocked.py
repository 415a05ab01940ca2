"""A root that cannot be built does not hide what it holds, and a baseline may hold why it cannot be built."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.commands import process
from tests.functions.cluster.test_one_result import config
from tests.functions.comparing.test_base import repository, run_git
from tests.trees import plant

RIGHT = config("gpu", "card: x")
WRONG = RIGHT.replace("  moduleName: gpu\n", "")
REMOTE = "- https://git.example.com/catalog//operators/nfd?ref=v1.2.3\n"
BLOCKED = {
    "remote": f"resources:\n{REMOTE}- gpu.yaml\n",
    "chart": "resources: [gpu.yaml]\nhelmCharts: [{name: app, repo: 'https://charts.example.com', version: 1.0.0}]\n",
    "generator": "resources: [gpu.yaml]\ngenerators: [ksops.yaml]\n",
    "base": f"resources:\n{REMOTE}- base\n",
}
KSOPS = (
    "apiVersion: viaduct.ai/v1\nkind: ksops\nmetadata:\n  name: s\n  annotations:\n"
    "    config.kubernetes.io/function: |\n      exec: {path: ksops}\n"
)


def check(folder: Path, *args: str) -> tuple[int, str]:
    done = process("krmfn", "check", ".", *args, cwd=folder)
    return done.code, done.text


def planted(folder: Path, sort: str, text: str) -> None:
    files = {"ksops.yaml": KSOPS} if sort == "generator" else {}
    where = "base/gpu.yaml" if sort == "base" else "gpu.yaml"
    base = {"base/kustomization.yaml": "resources: [gpu.yaml]\n"} if sort == "base" else {}
    plant(folder, {"kustomization.yaml": BLOCKED[sort], **files, **base, where: text})


@pytest.mark.parametrize("sort", BLOCKED)
def test_what_a_blocked_root_lists_is_judged(sort: str, tmp_path: Path) -> None:
    planted(tmp_path, sort, WRONG)
    code, text = check(tmp_path)
    assert code == 2, text
    assert "[KRM121]" in text, text
    assert text.count("other files are judged as they stand") == 1, text
    planted(tmp_path, sort, RIGHT)
    code, text = check(tmp_path)
    assert (code, "[KRM121]" in text, text.count(": error: ")) == (2, False, 1), text


@pytest.mark.parametrize("sort", BLOCKED)
def test_a_baseline_holds_why_a_root_cannot_be_built(sort: str, tmp_path: Path) -> None:
    planted(tmp_path, sort, RIGHT)
    assert check(tmp_path, "--write-baseline", "known.json") == (0, "")
    assert check(tmp_path, "--baseline", "known.json")[0] == 0
    planted(tmp_path, sort, WRONG)
    code, text = check(tmp_path, "--baseline", "known.json")
    assert (code, "[KRM121]" in text) == (1, True), text


def test_what_a_baseline_does_not_know_still_blocks(tmp_path: Path) -> None:
    planted(tmp_path, "remote", RIGHT)
    check(tmp_path, "--write-baseline", "known.json")
    plant(tmp_path, {"kustomization.yaml": BLOCKED["remote"] + "- https://git.example.com/catalog//operators/other\n"})
    assert check(tmp_path, "--baseline", "known.json")[0] == 2


CHANGED = {
    "patch": "patches: [{target: {kind: DeviceConfig}, patch: '[{op: add, path: /spec/moduleName, value: gpu}]'}]\n",
    "component": "components: [part]\n",
    "replacement": "replacements: []\n",
}


@pytest.mark.parametrize("field", CHANGED.values(), ids=CHANGED)
def test_what_a_kustomization_changes_is_not_judged_by_its_files(field: str, tmp_path: Path) -> None:
    """The patch may be what makes it right."""
    planted(tmp_path, "remote", WRONG)
    part = {"part/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"}
    plant(tmp_path, {"kustomization.yaml": BLOCKED["remote"] + field, **part})
    code, text = check(tmp_path)
    assert (code, "KRM121" in text, "KRM509" in text) == (2, False, True), text


def test_the_namespace_of_the_kustomization_counts(tmp_path: Path) -> None:
    planted(tmp_path, "remote", RIGHT.replace(", namespace: kmm", ""))
    plant(tmp_path, {"kustomization.yaml": BLOCKED["remote"] + "namespace: kmm\n"})
    code, text = check(tmp_path)
    assert (code, text.count(": error: ")) == (2, 1), text


def test_render_prints_nothing_of_a_blocked_root(tmp_path: Path) -> None:
    planted(tmp_path, "remote", RIGHT)
    done = process("krmfn", "render", ".", cwd=tmp_path)
    assert (done.code, done.text) == (2, "")


def test_a_component_that_nobody_lists_costs_no_builds(tmp_path: Path) -> None:
    """It cannot be built, and says nothing about the roots; those without a change were all built on both sides."""
    part = f"apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources:\n{REMOTE}"
    roots = {f"{name}/kustomization.yaml": "resources: [gpu.yaml]\n" for name in "abc"}
    configs = {f"{name}/gpu.yaml": config(name, "card: x") for name in "abc"}
    repo = repository(tmp_path / "repo", {**roots, **configs, "part/kustomization.yaml": part})
    plant(repo, {"a/gpu.yaml": config("a", "card: y")})
    plant(tmp_path, {"bin/kustomize": "#!/bin/sh\nexit 3\n"})
    (tmp_path / "bin/kustomize").chmod(0o755)
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    done = process("krmfn", "diff", "--base", "main", ".", cwd=repo, PATH=path)
    assert [name for name in "abc" if f"kustomize build {name} failed" in done.text + done.err] == ["a"], done.err


def test_a_component_that_nobody_lists_and_nobody_changes_is_no_cluster(tmp_path: Path) -> None:
    """It made two more rows, and exit code 2."""
    part = f"apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources:\n{REMOTE}"
    repo = repository(tmp_path, {"a/gpu.yaml": RIGHT, "part/kustomization.yaml": part})
    plant(repo, {"a/gpu.yaml": config("gpu", "card: w")})
    done = process("krmfn", "diff", "--base", "main", ".", cwd=repo)
    assert (done.code, "part" in done.text, "[KRM509]" in done.err) == (1, False, True), done.text + done.err
    plant(repo, {"part/kustomization.yaml": part.replace("v1.2.3", "v1.2.4")})
    done = process("krmfn", "diff", "--base", "main", ".", cwd=repo)
    told = "no kustomization lists this Component, so it is neither built nor judged" in done.err
    assert (done.code, "part" in done.text, told) == (1, False, True), "nobody deploys it, however it is changed"


def of_three(tmp_path: Path, sort: str) -> Path:
    """Return a repository with three roots that cannot be built, and a config that changes."""
    repo = repository(tmp_path, {"loose/gpu.yaml": config("card", "card: z")})
    for name in "abc":
        planted(repo / name, sort, RIGHT)
        plant(repo / name, {"s.enc.yaml": "a: ENC[b]\n", "charts/app/values.yaml": "a: b\n"})
    run_git(repo, "add", "--all")
    run_git(repo, "commit", "--quiet", "--message", "three")
    plant(repo, {"loose/gpu.yaml": config("card", "card: w")})
    return repo


@pytest.mark.parametrize("sort", BLOCKED)
def test_roots_that_cannot_be_built_and_stay_as_they_are_are_unchanged(sort: str, tmp_path: Path) -> None:
    done = process("krmfn", "diff", "--base", "HEAD", ".", cwd=of_three(tmp_path, sort))
    assert done.code == 1, done.text + done.err
    same = [line.split(" ")[0] for line in done.text.splitlines() if "nothing changes: its files" in line]
    assert (same, done.err.count("error")) == (["a", "b", "c"], 0), done.text + done.err


CHANGES = {
    "remote": ("kustomization.yaml", BLOCKED["remote"].replace("v1.2.3", "v1.2.4")),
    "chart": ("kustomization.yaml", BLOCKED["chart"].replace("1.0.0", "1.0.1")),
    "generator": ("s.enc.yaml", "a: ENC[c]\n"),
    "base": ("base/gpu.yaml", WRONG),
}


@pytest.mark.parametrize("sort", CHANGES)
def test_one_of_them_that_changes_is_not_said_to_be_the_same(sort: str, tmp_path: Path) -> None:
    repo = of_three(tmp_path, sort)
    file, text = CHANGES[sort]
    plant(repo, {f"b/{file}": text})
    done = process("krmfn", "diff", "--base", "HEAD", ".", cwd=repo)
    same = [line.split(" ")[0] for line in done.text.splitlines() if "nothing changes" in line]
    assert (done.code, same) == (2, ["a", "c"]), done.text + done.err


def test_ci_says_the_same_of_them(tmp_path: Path) -> None:
    repo = of_three(tmp_path, "remote")
    done = process("krmfn", "ci", "--base", "HEAD", "--out", "../results", cwd=repo)
    comment = (tmp_path.parent / "results/comment.md").read_text()
    assert "cannot be rendered" not in comment, comment
    assert done.code == 2, "the error of the check stays"
