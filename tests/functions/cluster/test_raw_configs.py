"""A config that is marked as local-config, in a folder that an engine deploys without krmfn."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import process
from tests.functions.cluster.test_named import APPLICATION, FLUX, PLUGIN
from tests.functions.cluster.test_one_result import config
from tests.trees import plant

FLEET = """\
apiVersion: fleet.cattle.io/v1alpha1
kind: GitRepo
metadata: {name: gpu, namespace: fleet-default}
spec: {repo: 'https://git.example.com/f.git', paths: [gpu], targets: [{clusterName: lab}]}
"""
MARKED = config("gpu", "card: a").replace(
    "namespace: kmm", 'namespace: kmm, annotations: {config.kubernetes.io/local-config: "true"}'
)
APPLIED = (
    "applies DeviceConfig kmm/gpu of gpu as it is, though it is marked as local-config, so no Module is made of it"
)
ENGINES = {
    "Argo CD": (APPLICATION, f"Argo CD {APPLIED}"),
    "Fleet": (FLEET, f"Fleet {APPLIED}"),
    "Flux": (
        FLUX,
        "Flux leaves out DeviceConfig kmm/gpu of gpu, which is marked as local-config, so no Module is made",
    ),
}


def rules(folder: Path, files: dict[str, str]) -> dict[str, str]:
    """The messages of `check`, by their rules."""
    plant(folder, {".git/config": "", "gpu/gpu.yaml": MARKED, **files})
    found = json.loads(process("krmfn", "check", "--format", "json", cwd=folder).text)["findings"]
    return {finding["rule"]: finding["message"] for finding in found}


@pytest.mark.parametrize(("engine", "words"), ENGINES.values(), ids=ENGINES)
def test_no_module_is_made_of_it(engine: str, words: str, tmp_path: Path) -> None:
    """`check` had no findings: it renders what it finds, and none of these engines does."""
    assert rules(tmp_path, {"apps/gpu.yaml": engine})["KRM545"].startswith(words)


@pytest.mark.parametrize("engine", [APPLICATION, FLUX])
def test_what_a_function_made_in_place_is_applied(engine: str, tmp_path: Path) -> None:
    plant(tmp_path, {"gpu/gpu.yaml": MARKED})
    rendered = process("krmfn", "render", "gpu", cwd=tmp_path).ended(0).text
    assert "KRM545" not in rules(tmp_path, {"apps/gpu.yaml": engine, "gpu/rendered.yaml": rendered})


def test_the_plugin_renders_it_and_a_kustomization_has_a_rule_of_its_own(tmp_path: Path) -> None:
    assert "KRM545" not in rules(tmp_path, {"apps/gpu.yaml": PLUGIN})
    listed = rules(tmp_path, {"apps/gpu.yaml": FLUX, "gpu/kustomization.yaml": "resources: [gpu.yaml]\n"})
    assert "KRM190" in listed
    assert "KRM545" not in listed
