"""Objects of engines that Helm makes: which folders they deploy is not known, and that is said."""

from __future__ import annotations

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
