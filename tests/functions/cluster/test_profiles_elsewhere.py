"""A profile that only another cluster's configs name is judged there, and not once more on its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import process
from tests.trees import plant

SETTINGS = """\
apiVersion: krmfn.dev/v1alpha1
kind: RenderDeviceConfigs
metadata: {name: shared, annotations: {config.kubernetes.io/local-config: "true"}}
spec:
  profiles:
    amd: {moduleName: amdgpu}
"""
CONFIG = """\
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {name: gpu, namespace: kmm}
spec:
  profile: amd
  driverImage: registry.example.com/amd
  driverVersion: "1"
  nodeSelector: {gpu: amd}
"""
OTHER = CONFIG.replace("profile: amd", "moduleName: other").replace("name: gpu", "name: other")
REMOVED = "  inTreeModulesToRemove: [amdgpu]\n"
CLUSTERS = ".krmfn.yaml"


@pytest.mark.parametrize(
    ("lab", "finds"),
    [
        (CONFIG + REMOVED, False),
        (CONFIG, True),  # in the cluster that uses it
        (OTHER, True),  # nobody uses it, so it is tried
    ],
)
def test_a_profile_is_judged_where_it_is_used(lab: str, finds: bool, tmp_path: Path) -> None:
    files = {".git/HEAD": "", CLUSTERS: "clusters: {lab: [base, lab], stage: [base, stage]}\n"}
    plant(tmp_path, files | {"base/settings.yaml": SETTINGS, "lab/gpu.yaml": lab, "stage/other.yaml": OTHER})
    done = process("krmfn", "check", ".", cwd=tmp_path)
    assert done.code == 0, done
    assert ("[KMM089]" in done.text) == finds, done.text
