"""kustomize runs once for each root, and what it prints is what it prints when it is not asked for origins."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import builders
from tests.functions.cluster.test_engines import application
from tests.functions.cluster.test_one_result import config
from tests.functions.comparing.test_base import repository
from tests.functions.kustomization.test_untouched import UNTOUCHED
from tests.trees import altered, config_map, plant

from .conftest import Env
from .engines import must, path_of, run

LOCAL = 'namespace: kmm, annotations: {config.kubernetes.io/local-config: "true"}'
CONFIG = builders.CONFIG.replace("drv", "gpu").replace("namespace: kmm", LOCAL).replace("{a: b}", "{a: b}, fualt: 1")


def counting(folder: Path, kustomize: str) -> tuple[Env, Path]:
    """Return an environment whose kustomize notes each run, and the file with a line for each."""
    notes = folder / "notes"
    plant(folder, {"bin/kustomize": f'#!/bin/sh\necho run >> "{notes}"\nexec "{kustomize}" "$@"\n', "notes": ""})
    # it writes where kustomize may not
    return path_of(folder / "bin") | {"KRMFN_CONFINE": "off"}, notes


def overlays(number: int, fields: str = "") -> dict[str, str]:
    """Return the files of some overlays of one base with a fault."""
    files = {"base/kustomization.yaml": "resources: [config.yaml]\n", "base/config.yaml": CONFIG}
    tops = {f"o{at}/kustomization.yaml": f"resources: [../base]\nnamePrefix: o{at}-\n{fields}" for at in range(number)}
    return files | tops


@pytest.mark.parametrize(("fields", "runs"), [("", 5), ("commonAnnotations: {a: b}\n", 10)])
def test_each_root_with_a_finding_is_built_once(kustomize: str, tmp_path: Path, fields: str, runs: int) -> None:
    counted, notes = counting(tmp_path, kustomize)
    done = run("krmfn", "check", plant(tmp_path / "repo", overlays(5, fields)), env=counted).ended(1)
    assert "repo/base/config.yaml:4:" in done.text
    assert len(notes.read_text().splitlines()) == runs


def test_clusters_that_share_roots_share_their_builds(kustomize: str, tmp_path: Path) -> None:
    """64 clusters get the same two folders from Argo CD."""
    counted, notes = counting(tmp_path, kustomize)
    names = ("gpu", "nic")
    roots = {f"{name}/kustomization.yaml": "resources: [a.yaml]\n" for name in names}
    files = roots | {f"{name}/a.yaml": config(name, f"card: {name}", name) for name in names}
    apps = [application(name, f"site-{at}") for at in range(64) for name in names]
    folder = repository(tmp_path / "repo", files | {"apps/all.yaml": "---\n".join(apps)})
    done = run("krmfn", "check", ".", cwd=folder, env=counted).ended(0)
    assert "64 clusters" in done.text or "65 clusters" in done.text
    assert len(notes.read_text().splitlines()) == 2


def test_builds_are_looked_up_several_at_a_time(kustomize: str, tmp_path: Path) -> None:
    """The second run of each waits for that of the other one."""
    counted, notes = counting(tmp_path, kustomize)
    waits = f'PATH=/usr/bin:/bin\nfor _ in $(seq 100); do [ "$(wc -l < "{notes}")" != 3 ] || sleep 0.1; done\n'
    waits += f'[ "$(wc -l < "{notes}")" != 3 ] || echo late >> "{notes}"\n'
    altered(tmp_path / "bin" / "kustomize", "exec", f"{waits}exec")
    folder = plant(tmp_path / "repo", overlays(2, "commonAnnotations: {a: b}\n"))
    assert run("krmfn", "check", folder, "--jobs", "2", env=counted).code == 1
    assert notes.read_text().split() == ["run"] * 4


@pytest.mark.parametrize("name", UNTOUCHED)
def test_the_output_is_that_of_a_plain_build(kustomize: str, tmp_path: Path, name: str) -> None:
    folder = plant(tmp_path, UNTOUCHED[name] | {"other/kustomization.yaml": "resources: [a.yaml]\n"})
    plant(folder, {"other/a.yaml": config_map("other")})
    plain = must(kustomize, "build", folder)
    assert run("krmfn", "render", "--include-inputs", "--root", folder, folder).out == plain


def test_ci_builds_each_cluster_once_per_side(kustomize: str, tmp_path: Path) -> None:
    """And a cluster whose inputs are those of the base once: of five overlays one has changed."""
    counted, notes = counting(tmp_path, kustomize)
    repo = repository(tmp_path / "repo", overlays(5))
    for name, runs in (("o0", 5 + 1), ("base", 5 + 5)):
        kustomization = repo / name / "kustomization.yaml"
        kustomization.write_text(f"{kustomization.read_text()}labels: [{{pairs: {{a: b}}}}]\n")
        notes.write_text("")
        run("krmfn", "ci", "--base", "main", "--out", "out", cwd=repo, env=counted).ended(1)
        assert len(notes.read_text().splitlines()) == runs
        assert "fualt" in (repo / "out" / "annotations.txt").read_text()
