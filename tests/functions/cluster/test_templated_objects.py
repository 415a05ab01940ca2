"""Objects of engines that Helm makes: which folders they deploy is not known, and that is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import process
from tests.functions.cluster.test_engines import CONFIGS, A, application, root
from tests.functions.comparing.test_base import repository
from tests.trees import config_map

TEMPLATE = application("a", "lab").replace("https://git.example.com/fleet.git", "{{ .Values.repo }}")
CHART = {"apps/Chart.yaml": "apiVersion: v2\nname: apps\nversion: 0.1.0\n", "apps/templates/a.yaml": TEMPLATE}
SOLE = {"apps.yaml": application("apps", "lab", "helm: {releaseName: apps}")}
WORDS = "(what Helm makes of apps/templates/a.yaml may)"
FILES: dict[str, tuple[dict[str, str], str]] = {
    "with an Application of the chart": (CONFIGS | CHART | SOLE, "deploys a, b (what"),
    "without one": (CONFIGS | CHART, "deploys a, b (what"),
    "one root": (root("a", A) | CHART, "deploys it (what"),
    "a chart without objects of engines": (
        CONFIGS | {"apps/Chart.yaml": CHART["apps/Chart.yaml"], "apps/templates/a.yaml": config_map("{{ .Values.a }}")},
        "",
    ),
    "no chart": (CONFIGS | {"apps/templates/a.yaml": TEMPLATE}, ""),
    "nothing of ours": (root("a", config_map("a")) | CHART, ""),
    "the configuration file decides": (CONFIGS | CHART | {".krmfn.yaml": "clusters: {lab: [a], prod: [b]}\n"}, ""),
}


@pytest.mark.parametrize("name", FILES)
def test_what_helm_may_deploy_is_judged_apart_and_that_is_said(name: str, tmp_path: Path) -> None:
    files, words = FILES[name]
    done = process("krmfn", "check", ".", cwd=repository(tmp_path, files))
    assert (WORDS in done.text) is bool(words), done.text
    assert words in done.text


APPS = "applications:\n  a: {source: {repoURL: 'https://git.example.com/fleet.git', path: a}}\n"
CHARTED = "helmCharts:\n- name: argocd-apps\n  repo: https://argoproj.github.io/argo-helm\n  valuesFile: values.yaml\n"
DEPENDENT = "apiVersion: v2\nname: apps\nversion: 0.1.0\ndependencies:\n- {name: argocd-apps, version: 2.0.0}\n"
INLINE = (
    "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: apps, namespace: argocd}\nspec:\n"
    "  source:\n    repoURL: https://argoproj.github.io/argo-helm\n    chart: argocd-apps\n    helm:\n"
    "      values: |\n        applications:\n          a: {}\n"
)
OTHER = SOLE["apps.yaml"]
VALUES: dict[str, tuple[dict[str, str], str]] = {
    "a kustomization": (
        {"apps/kustomization.yaml": CHARTED, "apps/values.yaml": f"# all\n{APPS}"},
        "apps/values.yaml:2",
    ),
    "a dependency": (
        {"apps/Chart.yaml": DEPENDENT, "apps/values.yaml": f"argocd-apps:\n  {APPS}"},
        "apps/values.yaml:2",
    ),
    "an Application": ({"apps.yaml": INLINE}, "apps.yaml:10"),
    "values elsewhere": ({"apps.yaml": INLINE.partition("    helm")[0]}, "apps.yaml:7"),
    "an Application that is called so": ({"a.yaml": OTHER.replace("name: apps", "name: argocd-apps")}, ""),
    "another chart": (
        {
            "apps/kustomization.yaml": CHARTED.replace("argocd-apps", "x"),
            "apps/values.yaml": APPS,
            "a.yaml": SOLE["apps.yaml"],
        },
        "",
    ),
}


@pytest.mark.parametrize("name", VALUES)
def test_values_of_argocd_apps_are_named(name: str, tmp_path: Path) -> None:
    files, place = VALUES[name]
    repo = repository(tmp_path, CONFIGS | files)
    gaps = json.loads(process("krmfn", "check", ".", "--format", "json", cwd=repo).text)["notJudged"]
    names = [gap["names"] for gap in gaps if gap["subject"] == "objects of engines that Helm makes"]
    assert names == ([[place]] if place else []), gaps
    assert (f"(what Helm makes of {place} may)" in process("krmfn", "check", ".", cwd=repo).text) is bool(place)


def test_each_folder_with_argocd_apps_is_named(tmp_path: Path) -> None:
    """Values in one folder say nothing about a chart in another one, whose values are elsewhere."""
    elsewhere = {"b/apps.yaml": VALUES["values elsewhere"][0]["apps.yaml"]}
    repo = repository(tmp_path, CONFIGS | VALUES["a kustomization"][0] | elsewhere)
    gaps = json.loads(process("krmfn", "check", ".", "--format", "json", cwd=repo).text)["notJudged"]
    names = [gap["names"] for gap in gaps if gap["subject"] == "objects of engines that Helm makes"]
    assert names == [["apps/values.yaml:2", "b/apps.yaml:7"]], gaps


def test_values_of_argocd_apps_without_anything_of_ours_are_no_word(tmp_path: Path) -> None:
    repo = repository(tmp_path, root("a", config_map("a")) | VALUES["a kustomization"][0])
    assert "argocd-apps" not in process("krmfn", "check", ".", cwd=repo).text.replace("charts", "")
    assert "Helm makes" not in process("krmfn", "check", ".", cwd=repo).ended(0).text
