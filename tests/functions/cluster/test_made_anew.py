"""An engine that deletes and makes anew what it cannot change is told where it applies Modules, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import process
from tests.functions.cluster.test_engine_additions import MODULE
from tests.functions.cluster.test_engines import application, kustomization, root
from tests.functions.cluster.test_one_result import config
from tests.functions.comparing.test_base import repository
from tests.trees import config_map

ARGOCD = application("a", "lab")
REPLACING = ARGOCD + "  syncPolicy: {syncOptions: [Validate=false, Replace=true]}\n"
FORCING = kustomization("a").replace("spec: {", "spec: {force: true, ")
APPLICATION_SET = """\
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: all}
spec:
  generators: [{list: {elements: [{cluster: lab}]}}]
  template:
    spec:
      source: {repoURL: 'https://git.example.com/fleet.git', path: a, plugin: {name: krmfn}}
      destination: {name: '{{cluster}}', namespace: kmm}
      syncPolicy: {syncOptions: [Replace=true]}
"""
CASES: dict[str, tuple[str, str, bool]] = {
    "a config, replaced": (config("a", "card: x"), REPLACING, True),
    "a Module, replaced": (MODULE, REPLACING, True),
    "a Module, by a set": (MODULE, APPLICATION_SET, True),
    "a Module, forced": (MODULE, FORCING, True),
    "a Module, neither": (MODULE, ARGOCD, False),
    "a Module, not forced": (MODULE, FORCING.replace("true", "false"), False),
    "something else": (config_map("a"), REPLACING, False),
}


@pytest.mark.parametrize("name", CASES)
def test_modules_that_an_engine_makes_anew(name: str, tmp_path: Path) -> None:
    text, engine, is_told = CASES[name]
    files = root("a", text) | {"apps/a.yaml": engine} | root("b", MODULE.replace("gpu", "nic"))
    done = process("krmfn", "check", ".", "--all", cwd=repository(tmp_path / "repo", files))
    told = [line for line in done.text.splitlines() if "[KRM618]" in line]
    assert [line.partition(":")[0] for line in told] == ["apps/a.yaml"] * is_told, done.text
    for line in told:
        assert ": warning: " in line and "of a, so all nodes of its Modules unload and load them again" in line
