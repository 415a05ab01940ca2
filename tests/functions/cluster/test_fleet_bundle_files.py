"""Fleet builds a bundle only with a `kustomization.yaml` of its own; otherwise it applies all files, listed or not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import process
from tests.functions.cluster.test_fleet_ignores import GIT_REPO
from tests.functions.cluster.test_one_result import config
from tests.functions.comparing.test_base import repository
from tests.trees import config_map

RIGHT = config("gpu", "card: x")
LISTS = "resources: [a.yaml]\n"
BUNDLE = {"gitrepo.yaml": GIT_REPO, "bundles/nic/a.yaml": config_map("a")}
LAYOUTS: dict[str, tuple[dict[str, str], str]] = {
    "its own kustomization": ({"bundles/nic/kustomization.yaml": LISTS, "bundles/nic/gpu.yaml": RIGHT}, "KRM524"),
    "kustomization.yml": ({"bundles/nic/kustomization.yml": LISTS, "bundles/nic/gpu.yaml": RIGHT}, "KRM545"),
    "Kustomization": ({"bundles/nic/Kustomization": LISTS, "bundles/nic/gpu.yaml": RIGHT}, "KRM545"),
    "one below": (
        {"bundles/nic/x/kustomization.yaml": "resources: []\n", "bundles/nic/x/gpu.yaml": RIGHT},
        "KRM545",
    ),
    "a JSON file": (
        {
            "bundles/nic/kustomization.yml": LISTS,
            "bundles/nic/gpu.json": '{"apiVersion": "krmfn.dev/v1alpha1", "kind": "DeviceConfig", "metadata": '
            '{"name": "gpu", "namespace": "kmm"}, "spec": {"moduleName": "gpu", "driverImage": "r.example.com/gpu:1", '
            '"nodeSelector": {"card": "x"}}}',
        },
        "KRM545",
    ),
    "`kustomize.dir` without one": (
        {
            "bundles/nic/fleet.yaml": "kustomize: {dir: x}\n",
            "bundles/nic/x/kustomization.yml": "resources: []\n",
            "bundles/nic/gpu.yaml": RIGHT,
        },
        "KRM545",
    ),
    "a kustomization for some targets": (
        {
            "bundles/nic/fleet.yaml": "targetCustomizations: [{name: dev, kustomize: {dir: x}, clusterGroup: dev}]\n",
            "bundles/nic/x/kustomization.yaml": "resources: []\n",
            "bundles/nic/x/gpu.yaml": RIGHT,
        },
        "KRM524",
    ),
    "fleet.yml": (
        {
            "bundles/nic/fleet.yml": "kustomize: {dir: x}\n",
            "bundles/nic/x/kustomization.yaml": "resources: [gpu.yaml]\n",
            "bundles/nic/x/gpu.yaml": RIGHT,
        },
        "KRM545",
    ),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_which_files_fleet_applies(name: str, tmp_path: Path) -> None:
    files, rule = LAYOUTS[name]
    done = process("krmfn", "check", ".", cwd=repository(tmp_path, BUNDLE | files))
    rules = [word for word in ("KRM524", "KRM545") if f"[{word}]" in done.text]
    assert rules == [rule], done.text


def test_a_bundle_below_is_its_own(tmp_path: Path) -> None:
    """It was a part of the one above it, in whose clusters its config would have been told, too."""
    files = {
        "bundles/nic/x/kustomization.yaml": "resources: []\n",
        "bundles/nic/y/fleet.yml": "overrideTargets: [{clusterName: other}]\n",
        "bundles/nic/y/gpu.yaml": RIGHT,
    }
    done = process("krmfn", "check", ".", cwd=repository(tmp_path, BUNDLE | files))
    (line,) = (line for line in done.text.splitlines() if "KRM545" in line and ": error: " in line)
    assert "bundles/nic/y" in line, done.text
